# METADATA
# title: Every run that is needed took place
# description: Each suite of the settings, the ticket's own suite and every extra run of the plan must be there.
# custom:
#   effect: undecided
#   codes: [RUN_MISSING]
package gatekeeper.rules.runs.present

default satisfied := false

satisfied if {
	count(input.observed.runs) > 0
	settings_suites_ran
	ticket_suite_ran
	extra_runs_ran
}

deciding := [run |
	some run in input.observed.runs
	run.role in {"merged", "base_instruments"}
]

ran := [run.suite | some run in deciding]

default settings_suites_ran := false

settings_suites_ran if {
	is_array(input.observed.required_suites)
	every suite in input.observed.required_suites { suite in ran }
}

default ticket_suite_ran := false

ticket_suite_ran if {
	input.observed.ticket_suite == false
	count(deciding) > 0
}

ticket_suite_ran if {
	input.observed.ticket_suite == true
	some suite in ran
	not suite in input.observed.required_suites
}

default extra_runs_ran := false

extra_runs_ran if {
	is_array(input.plan.extra_runs)
	roles := [run.role | some run in input.observed.runs]
	every role in input.plan.extra_runs { role in roles }
}

outcome := {
	"satisfied": satisfied,
	"effect": "undecided",
	"code": "RUN_MISSING",
	"message": "A run that the verdict needs did not take place.",
	"role": "",
	"count": 0,
}
