# METADATA
# title: The code scan saw every target
# description: A scanner that did not look at every target, or failed, proves nothing.
# custom:
#   effect: undecided
#   codes: [CODE_SCAN_FAILED]
package gatekeeper.rules.scans.code_verified

default satisfied := false

satisfied if {
	scan := input.observed.scans.code
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
	"code": "CODE_SCAN_FAILED",
	"message": "The code scan did not see every target.",
	"role": "",
	"count": 0,
}
