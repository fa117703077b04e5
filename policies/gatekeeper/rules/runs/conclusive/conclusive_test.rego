package gatekeeper.rules.runs.conclusive_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.runs.conclusive

test_success_whole_input if conclusive.outcome.satisfied == true with input as example_test.decision

test_fail_without_proof if {
	changed := json.patch(example_test.decision, [{"op": "add", "path": "/observed/runs/0/termination", "value": "timed_out"}])
	conclusive.outcome.satisfied == false with input as changed
}

test_fail_empty_input if conclusive.outcome.satisfied == false with input as {}
