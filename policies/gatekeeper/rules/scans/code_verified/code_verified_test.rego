package gatekeeper.rules.scans.code_verified_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.scans.code_verified

test_success_whole_input if code_verified.outcome.satisfied == true with input as example_test.decision

test_fail_without_proof if {
	changed := json.patch(example_test.decision, [{"op": "add", "path": "/observed/scans/code/errors", "value": 1}])
	code_verified.outcome.satisfied == false with input as changed
}

test_fail_empty_input if code_verified.outcome.satisfied == false with input as {}
