# METADATA
# title: Sensitive places raise the tier
# description: Whole words and globs of changed paths outside tests and documentation are compared with the areas in the configuration.
# custom:
#   effect: raises the tier
package gatekeeper.rules.tier.sensitive_paths

import data.gatekeeper.config

areas := config.tiers.areas

# Engines go through a set in an order of their own; reasons come in the order of names.
names := sort([name | some name in object.keys(areas)])

permitted := {name |
	some name in object.keys(areas)
	input.ticket.permits[areas[name].permit] > 0
}

tiers[name] := areas[name].tier if {
	some name in object.keys(areas)
	not name in permitted
}

tiers[name] := areas[name].permitted_tier if some name in permitted

# Built-ins find the words; going through words and areas one by one takes ten times as long.
by_word := [{"area": name, "path": path} |
	some name in object.keys(areas)
	found := object.filter(input.observed.words, areas[name].words)
	some word in sort([key | some key in object.keys(found)])
	some path in found[word]
]

# A word counts by itself: its examples are for people to read.
known := {name |
	some name in object.keys(areas)
	count(object.filter(input.observed.words, areas[name].words)) > 0
}

by_glob := [{"area": name, "path": path} |
	some name in object.keys(areas)
	some pattern in areas[name].globs
	some path in input.observed.paths
	glob.match(pattern, ["/"], path)
]

hits := array.concat(by_word, by_glob)

touched := known | {hit.area | some hit in hits}

reasons := [reason |
	some name in names
	name in touched
	reason := {
		"tier": tiers[name],
		"area": name,
		"message": sprintf("The change touches files of the area %s.", [name]),
		"paths": array.slice([hit.path | some hit in hits; hit.area == name], 0, 3),
	}
]

outcome := {"reasons": reasons}
