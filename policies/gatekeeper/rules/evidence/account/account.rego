# METADATA
# title: The claim accounts for what the tier demands
# description: Parts in prose (summary, risks, rollback) prove nothing; where the tier demands them and they are missing, a person decides.
# custom:
#   effect: ask
#   codes: [EVIDENCE_INCOMPLETE]
package gatekeeper.rules.evidence.account

import data.gatekeeper.config
import data.gatekeeper.rules.approvals.enough

default satisfied := false

satisfied if {
	is_array(input.plan.required_evidence)
	every part in input.plan.required_evidence { given(part) }
	every part in config.demands[input.plan.tier].evidence { given(part) }
}

satisfied if enough.counted > 0

given(part) if input.claimed.parts[part] == true

given(part) if part in config.evidence.proof

outcome := {
	"satisfied": satisfied,
	"effect": "ask",
	"code": "EVIDENCE_INCOMPLETE",
	"message": "The claim lacks parts that the tier demands.",
	"role": "reviewer",
	"count": 1,
}
