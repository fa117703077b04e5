package gatekeeper.rules.evidence.proof_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.evidence.proof

test_success_whole_input if proof.outcome.satisfied == true with input as example_test.decision

test_fail_without_proof if {
	changed := json.patch(example_test.decision, [{"op": "add", "path": "/claimed/parts", "value": {"commands": true}}])
	proof.outcome.satisfied == false with input as changed
}

test_fail_empty_input if proof.outcome.satisfied == false with input as {}
