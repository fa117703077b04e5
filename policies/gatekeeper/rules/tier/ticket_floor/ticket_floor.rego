# METADATA
# title: The ticket's risk is a floor
# description: The tier is never lower than the risk that the ticket states.
# custom:
#   effect: raises the tier
package gatekeeper.rules.tier.ticket_floor

default risk := "high"

risk := input.ticket.risk if input.ticket.risk in {"low", "medium"}

reasons := [] if risk == "low"

reasons := [{"tier": risk, "area": "ticket", "message": "The ticket states this risk.", "paths": []}] if {
	risk != "low"
}

outcome := {"reasons": reasons}
