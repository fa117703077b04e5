# METADATA
# title: Large, cut off and unusual changes raise the tier
# description: Very many paths, facts that had to be cut off, and links or submodules raise the tier.
# custom:
#   effect: raises the tier
package gatekeeper.rules.tier.change_shape

import data.gatekeeper.config

large := [{"tier": config.tiers.many_paths.tier, "area": "size", "message": "The change touches very many paths.", "paths": []} |
	input.observed.paths_total > config.tiers.many_paths.over
]

cut := [{"tier": config.tiers.truncated, "area": "size", "message": "The change is too large to be looked at as a whole.", "paths": []} |
	input.observed.truncated == true
]

special := [{"tier": config.tiers.special_modes, "area": "modes", "message": "The change adds links, submodules or executable files.", "paths": []} |
	input.observed.special_modes > 0
]

outcome := {"reasons": array.concat(large, array.concat(cut, special))}
