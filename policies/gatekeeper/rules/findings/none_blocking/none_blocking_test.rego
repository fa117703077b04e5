package gatekeeper.rules.findings.none_blocking_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.findings.none_blocking

test_success_whole_input if none_blocking.outcome.satisfied == true with input as example_test.decision

test_fail_without_proof if {
	changed := json.patch(example_test.decision, [{"op": "add", "path": "/floor", "value": "rejected"}])
	none_blocking.outcome.satisfied == false with input as changed
}

test_fail_empty_input if none_blocking.outcome.satisfied == false with input as {}
