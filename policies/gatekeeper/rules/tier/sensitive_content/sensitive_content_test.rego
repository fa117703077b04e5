package gatekeeper.rules.tier.sensitive_content_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.tier.sensitive_content

test_success_stays_low if sensitive_content.outcome.reasons == [] with input as example_test.plan

test_fail_raises_the_tier if {
	changed := json.patch(example_test.plan, [{"op": "add", "path": "/observed/signals/sql_destroy/count", "value": 2}])
	count(sensitive_content.outcome.reasons) == 1 with input as changed
}
