package gatekeeper.rules.tier.change_shape_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.tier.change_shape

test_success_stays_low if change_shape.outcome.reasons == [] with input as example_test.plan

test_fail_raises_the_tier if {
	changed := json.patch(example_test.plan, [{"op": "add", "path": "/observed/truncated", "value": true}])
	count(change_shape.outcome.reasons) == 1 with input as changed
}
