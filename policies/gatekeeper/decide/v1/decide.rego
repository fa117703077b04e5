# METADATA
# title: The decision
# description: The verdict on a change after everything ran. Accepted only where every rule says so itself.
# entrypoint: true
package gatekeeper.decide.v1

import data.gatekeeper.config
import data.gatekeeper.rules

expected := config.rules.decide

outcomes["input/complete"] := rules.input.complete.outcome

outcomes["findings/none_blocking"] := rules.findings.none_blocking.outcome

outcomes["findings/known_categories"] := rules.findings.known_categories.outcome

outcomes["runs/present"] := rules.runs.present.outcome

outcomes["runs/conclusive"] := rules.runs.conclusive.outcome

outcomes["runs/tests_ran"] := rules.runs.tests_ran.outcome

outcomes["scans/secrets_verified"] := rules.scans.secrets_verified.outcome

outcomes["scans/code_verified"] := rules.scans.code_verified.outcome

outcomes["evidence/proof"] := rules.evidence.proof.outcome

outcomes["evidence/account"] := rules.evidence.account.outcome

outcomes["approvals/enough"] := rules.approvals.enough.outcome

outcomes["risk/ticket_floor"] := rules.risk.ticket_floor.outcome

outcomes["change/not_empty"] := rules.change.not_empty.outcome

outcomes["change/data_migration"] := rules.change.data_migration.outcome

outcomes["change/privileges"] := rules.change.privileges.outcome

evaluated := [id |
	some id in expected
	is_boolean(outcomes[id].satisfied)
]

failed := [message |
	some id in evaluated
	outcomes[id].satisfied == false
	message := {
		"rule": id,
		"effect": outcomes[id].effect,
		"code": outcomes[id].code,
		"message": outcomes[id].message,
		"role": outcomes[id].role,
		"count": outcomes[id].count,
	}
]

effects := [message.effect | some message in failed]

whole if {
	count(expected) > 0
	count(evaluated) == count(expected)
}

default verdict := "undecided"

verdict := "rejected" if "deny" in effects

verdict := "needs_human" if {
	whole
	count(failed) > 0
	every effect in effects { effect == "ask" }
}

verdict := "accepted" if {
	whole
	count(failed) == 0
}

# What would only matter after the verdict's own reasons are mended is left out; so is the echo of findings (no code).
effect_of := {"rejected": "deny", "undecided": "undecided", "needs_human": "ask", "accepted": "none"}

bearing := [message |
	some message in failed
	message.effect == effect_of[verdict]
	message.code != ""
]

result := {
	"verdict": verdict,
	"violations": [message |
		some message in bearing
		message.effect != "ask"
	],
	"warnings": [],
	"questions": [message |
		some message in bearing
		message.effect == "ask"
	],
	"waived": [],
	"rules_expected": count(expected),
	"rules_evaluated": count(evaluated),
}
