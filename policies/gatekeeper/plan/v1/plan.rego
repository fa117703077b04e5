# METADATA
# title: The plan
# description: Which tier a change is in, and what that tier demands. Evaluated before anything runs.
# entrypoint: true
package gatekeeper.plan.v1

import data.gatekeeper.config
import data.gatekeeper.rules.tier

expected := config.rules.plan

outcomes["tier/input_complete"] := tier.input_complete.outcome

outcomes["tier/ticket_floor"] := tier.ticket_floor.outcome

outcomes["tier/settings_floor"] := tier.settings_floor.outcome

outcomes["tier/sensitive_paths"] := tier.sensitive_paths.outcome

outcomes["tier/sensitive_content"] := tier.sensitive_content.outcome

outcomes["tier/change_shape"] := tier.change_shape.outcome

evaluated := [id |
	some id in expected
	is_array(outcomes[id].reasons)
]

reasons := [reason |
	some id in evaluated
	some found in outcomes[id].reasons
	reason := {
		"tier": found.tier,
		"rule": sprintf("%s:%s", [id, found.area]),
		"message": found.message,
		"paths": found.paths,
	}
]

raised := [reason.tier | some reason in reasons]

# Without proof that every rule was evaluated the tier is the highest.
default level := "high"

level := "medium" if {
	whole
	not "high" in raised
	"medium" in raised
}

level := "low" if {
	whole
	not "high" in raised
	not "medium" in raised
	every word in raised { word == "low" }
}

whole if {
	count(expected) > 0
	count(evaluated) == count(expected)
}

demands := config.demands[level]

result := {
	"tier": level,
	"reasons": reasons,
	"required_evidence": demands.evidence,
	"approvals": demands.approvals,
	"expiry_s": demands.expiry_s,
	"extra_runs": demands.extra_runs,
	"isolation": demands.isolation,
	"rules_expected": count(expected),
	"rules_evaluated": count(evaluated),
}
