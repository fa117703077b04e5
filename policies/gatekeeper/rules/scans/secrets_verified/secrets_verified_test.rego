package gatekeeper.rules.scans.secrets_verified_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.scans.secrets_verified

test_success_whole_input if secrets_verified.outcome.satisfied == true with input as example_test.decision

test_fail_without_proof if {
	changed := json.patch(example_test.decision, [{"op": "add", "path": "/observed/scans/secrets/missing", "value": 1}])
	secrets_verified.outcome.satisfied == false with input as changed
}

test_fail_empty_input if secrets_verified.outcome.satisfied == false with input as {}
