# METADATA
# title: Sensitive places raise the tier
# description: Whole words and globs of changed paths outside tests and documentation are compared with the areas in the configuration.
# custom:
#   effect: raises the tier
package gatekeeper.rules.tier.sensitive_paths

import data.gatekeeper.config

hits[name] := paths if {
	some name in object.keys(config.tiers.areas)
	paths := array.concat(by_word(name), by_glob(name))
	count(paths) > 0
}

by_word(name) := [path |
	some word in config.tiers.areas[name].words
	some path in input.observed.words[word]
]

by_glob(name) := [path |
	some pattern in config.tiers.areas[name].globs
	some path in input.observed.paths
	glob.match(pattern, ["/"], path)
]

tier_of(name) := config.tiers.areas[name].permitted_tier if permitted(name)

tier_of(name) := config.tiers.areas[name].tier if not permitted(name)

permitted(name) if input.ticket.permits[config.tiers.areas[name].permit] > 0

reasons := [reason |
	some name in object.keys(hits)
	reason := {
		"tier": tier_of(name),
		"area": name,
		"message": sprintf("The change touches files of the area %s.", [name]),
		"paths": array.slice(hits[name], 0, 3),
	}
]

outcome := {"reasons": reasons}
