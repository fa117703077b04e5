package gatekeeper.rules.tier.input_complete_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.tier.input_complete

test_success_stays_low if input_complete.outcome.reasons == [] with input as example_test.plan

test_fail_raises_the_tier if {
	changed := json.patch(example_test.plan, [{"op": "remove", "path": "/now"}])
	count(input_complete.outcome.reasons) == 1 with input as changed
}
