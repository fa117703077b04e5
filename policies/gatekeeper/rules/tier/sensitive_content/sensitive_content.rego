# METADATA
# title: Sensitive lines raise the tier
# description: Lines added to or removed from code that is no test are counted by kind; the configuration says which kind gives which tier.
# custom:
#   effect: raises the tier
package gatekeeper.rules.tier.sensitive_content

import data.gatekeeper.config

reasons := [reason |
	some name in sort([key | some key in object.keys(config.tiers.signals)])
	input.observed.signals[name].count > 0
	signal := config.tiers.signals[name]
	reason := {
		"tier": signal.tier,
		"area": signal.area,
		"message": sprintf("%d changed lines of the kind %s.", [input.observed.signals[name].count, name]),
		"paths": object.get(input.observed.signals[name], "paths", []),
	}
]

outcome := {"reasons": reasons}
