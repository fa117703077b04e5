# METADATA
# title: No finding stands against the change
# description: No policy can lift a finding, so the decision is at most the worst finding. A finding that asks is answered by an approval.
# custom:
#   effect: echoes the worst finding
package gatekeeper.rules.findings.none_blocking

import data.gatekeeper.rules.approvals.enough

default satisfied := false

satisfied if {
	input.floor == "accepted"
	none_rejects
	none_undecided
	none_asks
}

satisfied if {
	input.floor == "needs_human"
	none_rejects
	none_undecided
	enough.counted > 0
}

default none_rejects := false

none_rejects if input.observed.findings.by_verdict.rejected == 0

default none_undecided := false

none_undecided if input.observed.findings.by_verdict.undecided == 0

default none_asks := false

none_asks if input.observed.findings.by_verdict.needs_human == 0

# Two witnesses, so that taking one away never lifts the other.
default rejects := false

rejects if input.floor == "rejected"

rejects if input.observed.findings.by_verdict.rejected > 0

# Where both witnesses are gone, nothing tells that no finding rejects.
rejects if {
	not known_floor
	not known_count
}

default known_floor := false

known_floor if input.floor in {"rejected", "undecided", "needs_human", "accepted"}

default known_count := false

known_count if input.observed.findings.by_verdict.rejected >= 0

default asks := false

asks if {
	input.floor in {"needs_human", "accepted"}
	none_rejects
	none_undecided
}

default effect := "undecided"

effect := "deny" if rejects

effect := "ask" if {
	not rejects
	asks
}

outcome := {
	"satisfied": satisfied,
	"effect": effect,
	"code": "",
	"message": "Findings stand against the change.",
	"role": "reviewer",
	"count": 1,
}
