# METADATA
# title: Every finding has a known category
# description: A category that this bundle does not know cannot be judged by it.
# custom:
#   effect: undecided
#   codes: [FINDING_CATEGORY_UNKNOWN]
package gatekeeper.rules.findings.known_categories

import data.gatekeeper.config

default satisfied := false

satisfied if {
	is_object(input.observed.findings.by_category)
	every category in object.keys(input.observed.findings.by_category) {
		category in config.categories
	}
}

outcome := {
	"satisfied": satisfied,
	"effect": "undecided",
	"code": "FINDING_CATEGORY_UNKNOWN",
	"message": "A finding has a category that the policy does not know.",
	"role": "",
	"count": 0,
}
