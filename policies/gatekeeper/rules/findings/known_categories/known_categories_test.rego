package gatekeeper.rules.findings.known_categories_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.findings.known_categories

test_success_whole_input if known_categories.outcome.satisfied == true with input as example_test.decision

test_fail_without_proof if {
	changed := json.patch(example_test.decision, [{"op": "add", "path": "/observed/findings/by_category", "value": {"new": 1}}])
	known_categories.outcome.satisfied == false with input as changed
}

test_fail_empty_input if known_categories.outcome.satisfied == false with input as {}
