# METADATA
# title: Enough people approved the diff
# description: Approvals count when they are bound to this ticket and this diff, have not expired and come from distinct people who wrote none of it.
# custom:
#   effect: ask
#   codes: [REVIEW_REQUIRED]
package gatekeeper.rules.approvals.enough

import data.gatekeeper.config

default satisfied := false

satisfied if {
	input.plan.approvals >= 0
	counted >= input.plan.approvals
	counted >= config.demands[input.plan.tier].approvals
}

valid := [approval |
	some approval in input.observed.approvals
	approval.binds_ticket == true
	approval.binds_diff == true
	approval.is_author == false
	approval.expired == false
	approval.reviewer != ""
	approval.key != ""
]

reviewers := {approval.reviewer | some approval in valid}

keys := {approval.key | some approval in valid}

default counted := 0

# One person with two keys, or one key with two names, counts once.
counted := min([count(reviewers), count(keys)])

default needed := 1

needed := max([input.plan.approvals, config.demands[input.plan.tier].approvals])

outcome := {
	"satisfied": satisfied,
	"effect": "ask",
	"code": "REVIEW_REQUIRED",
	"message": "The risk tier demands that people look at the diff.",
	"role": config.review.role,
	"count": needed,
}
