# METADATA
# title: Every deciding run ended by itself and is accounted for
# description: A run that was cut off, gave no exit status or whose records are incomplete proves nothing.
# custom:
#   effect: undecided
#   codes: [RUN_INCONCLUSIVE]
package gatekeeper.rules.runs.conclusive

default satisfied := false

satisfied if {
	count(deciding) > 0
	every run in deciding { conclusive(run) }
}

# A run whose role is missing is taken for a deciding one.
deciding := [run |
	some run in input.observed.runs
	not control(run)
]

control(run) if run.role in {"base", "new_tests_on_base"}

conclusive(run) if {
	run.termination == "exited"
	is_number(run.exit_code)
	run.sessions_complete == run.sessions
}

# The base's own tests may honestly not load on the new code (a module went, with its tests): such a session ends early.
# What that means is for the checks to say; here it only must have ended by itself.
conclusive(run) if {
	run.role == "base_instruments"
	run.termination == "exited"
	is_number(run.exit_code)
}

outcome := {
	"satisfied": satisfied,
	"effect": "undecided",
	"code": "RUN_INCONCLUSIVE",
	"message": "A deciding run did not end by itself, or its records are incomplete.",
	"role": "",
	"count": 0,
}
