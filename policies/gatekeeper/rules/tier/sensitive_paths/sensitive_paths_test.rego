package gatekeeper.rules.tier.sensitive_paths_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.tier.sensitive_paths

test_success_stays_low if sensitive_paths.outcome.reasons == [] with input as example_test.plan

test_fail_raises_the_tier if {
	changed := json.patch(example_test.plan, [{"op": "add", "path": "/observed/words/login", "value": ["src/login.py"]}])
	count(sensitive_paths.outcome.reasons) == 1 with input as changed
}
