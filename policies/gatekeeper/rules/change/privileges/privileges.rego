# METADATA
# title: Nothing gains privileges without a person
# description: More rights for code, a workflow or an account need an approval; no permit covers them.
# custom:
#   effect: ask
#   codes: [PRIVILEGE_WIDENING]
package gatekeeper.rules.change.privileges

import data.gatekeeper.rules.approvals.enough

default satisfied := false

satisfied if input.plan.privilege_widening == false

satisfied if enough.counted > 0

outcome := {
	"satisfied": satisfied,
	"effect": "ask",
	"code": "PRIVILEGE_WIDENING",
	"message": "The change widens privileges.",
	"role": "reviewer",
	"count": 1,
}
