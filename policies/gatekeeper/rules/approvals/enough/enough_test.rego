package gatekeeper.rules.approvals.enough_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.approvals.enough

test_success_whole_input if enough.outcome.satisfied == true with input as example_test.decision

test_fail_without_proof if {
	changed := json.patch(example_test.decision, [{"op": "add", "path": "/plan/approvals", "value": 1}])
	enough.outcome.satisfied == false with input as changed
}

test_fail_empty_input if enough.outcome.satisfied == false with input as {}
