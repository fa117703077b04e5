package gatekeeper.rules.runs.present_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.runs.present

test_success_whole_input if present.outcome.satisfied == true with input as example_test.decision

test_fail_without_proof if {
	changed := json.patch(example_test.decision, [{"op": "add", "path": "/observed/runs", "value": []}])
	present.outcome.satisfied == false with input as changed
}

test_fail_empty_input if present.outcome.satisfied == false with input as {}
