# METADATA
# title: The secret scan saw every target
# description: A scanner that did not look at every target, or failed, proves nothing.
# custom:
#   effect: undecided
#   codes: [SECRET_SCAN_FAILED]
package gatekeeper.rules.scans.secrets_verified

default satisfied := false

satisfied if {
	scan := input.observed.scans.secrets
	is_string(scan.tool)
	scan.tool != ""
	scan.errors == 0
	scan.missing == 0
	scan.scanned >= scan.targets
	scan.targets >= 0
}

outcome := {
	"satisfied": satisfied,
	"effect": "undecided",
	"code": "SECRET_SCAN_FAILED",
	"message": "The secret scan did not see every target.",
	"role": "",
	"count": 0,
}
