package gatekeeper.rules.input.complete_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.input.complete

test_success_whole_input if complete.outcome.satisfied == true with input as example_test.decision

test_fail_without_proof if {
	changed := json.patch(example_test.decision, [{"op": "remove", "path": "/now"}])
	complete.outcome.satisfied == false with input as changed
}

test_fail_empty_input if complete.outcome.satisfied == false with input as {}
