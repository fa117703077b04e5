# METADATA
# title: Tests ran on the merge result
# description: A suite that reports tests must have reported at least one; zero tests never pass.
# custom:
#   effect: undecided
#   codes: [RUN_INCONCLUSIVE]
package gatekeeper.rules.runs.tests_ran

default satisfied := false

satisfied if {
	count(input.observed.runs) > 0
	every run in input.observed.runs { reported(run) }
}

reported(run) if run.tests > 0

reported(run) if run.guarantee == "exit_status"

reported(run) if run.role in {"base", "new_tests_on_base", "base_instruments"}

outcome := {
	"satisfied": satisfied,
	"effect": "undecided",
	"code": "RUN_INCONCLUSIVE",
	"message": "A suite ran no test on the merge result.",
	"role": "",
	"count": 0,
}
