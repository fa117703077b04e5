package gatekeeper.rules.runs.tests_ran_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.runs.tests_ran

test_success_whole_input if tests_ran.outcome.satisfied == true with input as example_test.decision

test_fail_without_proof if {
	changed := json.patch(example_test.decision, [{"op": "add", "path": "/observed/runs/0/tests", "value": 0}])
	tests_ran.outcome.satisfied == false with input as changed
}

test_fail_empty_input if tests_ran.outcome.satisfied == false with input as {}
