package gatekeeper.rules.evidence.account_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.evidence.account

test_success_whole_input if account.outcome.satisfied == true with input as example_test.decision

test_fail_without_proof if {
	changed := json.patch(example_test.decision, [{"op": "add", "path": "/plan/tier", "value": "high"}])
	account.outcome.satisfied == false with input as changed
}

test_fail_empty_input if account.outcome.satisfied == false with input as {}
