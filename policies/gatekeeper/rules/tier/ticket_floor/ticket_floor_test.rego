package gatekeeper.rules.tier.ticket_floor_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.tier.ticket_floor

test_success_stays_low if ticket_floor.outcome.reasons == [] with input as example_test.plan

test_fail_raises_the_tier if {
	changed := json.patch(example_test.plan, [{"op": "add", "path": "/ticket/risk", "value": "high"}])
	count(ticket_floor.outcome.reasons) == 1 with input as changed
}
