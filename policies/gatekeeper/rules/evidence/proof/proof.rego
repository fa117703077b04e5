# METADATA
# title: The claim holds the proof that the tier demands
# description: The parts that the configuration calls proof must be in the claim. A report is not demanded where no suite reports tests.
# custom:
#   effect: deny
#   codes: [EVIDENCE_REQUIRED]
package gatekeeper.rules.evidence.proof

import data.gatekeeper.config

default satisfied := false

satisfied if {
	is_array(input.plan.required_evidence)
	is_array(config.evidence.proof)
	is_array(config.demands[input.plan.tier].evidence)
	count(missing) == 0
}

# What the tier at hand demands, and what the plan demanded: the larger of both.
demanded := array.concat(
	[part | some part in input.plan.required_evidence],
	[part | some part in config.demands[input.plan.tier].evidence],
)

missing := [part |
	some part in config.evidence.proof
	part in demanded
	not present(part)
]

present(part) if input.claimed.parts[part] == true

present("report") if {
	count(input.observed.runs) > 0
	input.observed.runs_total == count(input.observed.runs)
	every run in input.observed.runs { run.guarantee == "exit_status" }
}

outcome := {
	"satisfied": satisfied,
	"effect": "deny",
	"code": "EVIDENCE_REQUIRED",
	"message": "The claim lacks proof that the tier demands: the commands run, or the report of the tests.",
	"role": "",
	"count": 0,
}
