# METADATA
# title: The repository's [tiers] can only raise
# description: Globs of the settings on the protected branch raise the tier of what they match; they never lower it.
# custom:
#   effect: raises the tier
package gatekeeper.rules.tier.settings_floor

reasons := [reason |
	some tier in ["medium", "high"]
	input.settings.tiers[tier] > 0
	reason := {"tier": tier, "area": "settings", "message": "The repository puts changed paths into this tier.", "paths": []}
]

outcome := {"reasons": reasons}
