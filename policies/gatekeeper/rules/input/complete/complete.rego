# METADATA
# title: The input of the decision is whole
# description: What is missing from the input is never taken for a proof.
# custom:
#   effect: undecided
#   codes: [POLICY_INPUT_INCOMPLETE]
package gatekeeper.rules.input.complete

default satisfied := false

satisfied if {
	input.schema == "gatekeeper.policy.decide/1"
	is_number(input.now)
	input.mode in {"enforced", "shadow", "local"}
	input.floor in {"rejected", "undecided", "needs_human", "accepted"}
	ticket_complete
	plan_complete
	findings_complete
	runs_complete
	is_object(input.claimed.parts)
	input.observed.approvals_total == count(input.observed.approvals)
}

default ticket_complete := false

ticket_complete if {
	input.ticket.risk in {"low", "medium", "high"}
	is_boolean(input.ticket.approved)
	is_object(input.ticket.permits)
}

default plan_complete := false

plan_complete if {
	input.plan.tier in {"low", "medium", "high"}
	input.plan.approvals >= 0
	input.plan.expiry_s > 0
	input.plan.required_evidence_total == count(input.plan.required_evidence)
	input.plan.extra_runs_total == count(input.plan.extra_runs)
	is_boolean(input.plan.data_migration)
	is_boolean(input.plan.privilege_widening)
}

default findings_complete := false

findings_complete if {
	every word in ["rejected", "undecided", "needs_human", "accepted"] {
		is_number(input.observed.findings.by_verdict[word])
	}
	sum([n | some n in input.observed.findings.by_verdict]) == input.observed.findings.total
	sum([n | some n in input.observed.findings.by_category]) == input.observed.findings.total
}

default runs_complete := false

runs_complete if {
	input.observed.runs_total == count(input.observed.runs)
	input.observed.required_suites_total == count(input.observed.required_suites)
	is_boolean(input.observed.ticket_suite)
}

outcome := {
	"satisfied": satisfied,
	"effect": "undecided",
	"code": "POLICY_INPUT_INCOMPLETE",
	"message": "The facts about the change are incomplete.",
	"role": "",
	"count": 0,
}
