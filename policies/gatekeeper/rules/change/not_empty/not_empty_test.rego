package gatekeeper.rules.change.not_empty_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.change.not_empty

test_success_whole_input if not_empty.outcome.satisfied == true with input as example_test.decision

test_fail_without_proof if {
	changed := json.patch(example_test.decision, [{"op": "add", "path": "/observed/paths_total", "value": 0}])
	not_empty.outcome.satisfied == false with input as changed
}

test_fail_empty_input if not_empty.outcome.satisfied == false with input as {}
