package gatekeeper.rules.risk.ticket_floor_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.risk.ticket_floor

test_success_whole_input if ticket_floor.outcome.satisfied == true with input as example_test.decision

test_fail_without_proof if {
	changed := json.patch(example_test.decision, [{"op": "add", "path": "/ticket/risk", "value": "high"}])
	ticket_floor.outcome.satisfied == false with input as changed
}

test_fail_empty_input if ticket_floor.outcome.satisfied == false with input as {}
