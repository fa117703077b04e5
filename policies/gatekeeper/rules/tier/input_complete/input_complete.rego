# METADATA
# title: The input of the plan is whole
# description: An incomplete input gives the highest tier, since nothing that is missing may lower it.
# custom:
#   effect: raises the tier
package gatekeeper.rules.tier.input_complete

import data.gatekeeper.config

default complete := false

complete if {
	input.schema == "gatekeeper.policy.plan/1"
	is_number(input.now)
	input.mode in {"enforced", "shadow", "local"}
	ticket_complete
	settings_complete
	observed_complete
	signals_complete
}

default ticket_complete := false

ticket_complete if {
	input.ticket.risk in {"low", "medium", "high"}
	is_boolean(input.ticket.approved)
	is_object(input.ticket.permits)
}

default settings_complete := false

settings_complete if {
	is_boolean(input.settings.present)
	is_number(input.settings.tiers.medium)
	is_number(input.settings.tiers.high)
}

default observed_complete := false

observed_complete if {
	is_boolean(input.observed.truncated)
	is_number(input.observed.special_modes)
	input.observed.paths_total > 0
	input.observed.paths_listed == count(input.observed.paths)
	input.observed.words_listed == count(input.observed.words)
}

default signals_complete := false

signals_complete if {
	count(config.tiers.signals) > 0
	every name in object.keys(config.tiers.signals) {
		is_number(input.observed.signals[name].count)
	}
}

reasons := [] if complete

reasons := [{"tier": config.tiers.incomplete, "area": "input", "message": "The facts about the change are incomplete.", "paths": []}] if {
	not complete
}

outcome := {"reasons": reasons}
