# METADATA
# title: The tier is at least the ticket's risk
# description: A plan with a lower tier than the ticket states was not made for this ticket.
# custom:
#   effect: undecided
#   codes: [TIER_BELOW_TICKET]
package gatekeeper.rules.risk.ticket_floor

default satisfied := false

rank := {"low": 0, "medium": 1, "high": 2}

satisfied if rank[input.plan.tier] >= rank[input.ticket.risk]

outcome := {
	"satisfied": satisfied,
	"effect": "undecided",
	"code": "TIER_BELOW_TICKET",
	"message": "The tier of the plan is lower than the risk that the ticket states.",
	"role": "",
	"count": 0,
}
