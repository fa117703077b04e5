# METADATA
# title: The change changes something
# description: A change without paths proves nothing and lands nothing.
# custom:
#   effect: deny
#   codes: [NOTHING_TO_MERGE]
package gatekeeper.rules.change.not_empty

default satisfied := false

satisfied if input.observed.paths_total > 0

outcome := {
	"satisfied": satisfied,
	"effect": "deny",
	"code": "NOTHING_TO_MERGE",
	"message": "The change touches no path.",
	"role": "",
	"count": 0,
}
