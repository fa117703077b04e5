package gatekeeper.rules.change.privileges_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.change.privileges

test_success_whole_input if privileges.outcome.satisfied == true with input as example_test.decision

test_fail_without_proof if {
	changed := json.patch(example_test.decision, [{"op": "add", "path": "/plan/privilege_widening", "value": true}])
	privileges.outcome.satisfied == false with input as changed
}

test_fail_empty_input if privileges.outcome.satisfied == false with input as {}
