# METADATA
# title: Inputs for the tests of rules
# description: The whole input of an accepted decision and of a plan of the lowest tier.
package gatekeeper.example_test

decision := {
	"schema": "gatekeeper.policy.decide/1",
	"now": 1.0,
	"mode": "local",
	"floor": "accepted",
	"ticket": {
		"risk": "low",
		"approved": false,
		"permits": {},
	},
	"plan": {
		"tier": "low",
		"approvals": 0,
		"expiry_s": 100,
		"required_evidence": [
			"commands",
			"report",
		],
		"required_evidence_total": 2,
		"extra_runs": [],
		"extra_runs_total": 0,
		"data_migration": false,
		"privilege_widening": false,
	},
	"claimed": {
		"present": true,
		"parts": {
			"commands": true,
			"report": true,
		},
	},
	"observed": {
		"paths_total": 1,
		"findings": {
			"total": 0,
			"by_verdict": {
				"rejected": 0,
				"undecided": 0,
				"needs_human": 0,
				"accepted": 0,
			},
			"by_category": {},
		},
		"runs": [
			{
				"suite": "verify",
				"role": "merged",
				"termination": "exited",
				"exit_code": 0,
				"guarantee": "recorded",
				"tests": 3,
				"sessions": 1,
				"sessions_complete": 1,
			},
		],
		"runs_total": 1,
		"required_suites": [],
		"required_suites_total": 0,
		"ticket_suite": true,
		"scans": {
			"secrets": {
				"tool": "s",
				"targets": 1,
				"scanned": 1,
				"missing": 0,
				"errors": 0,
			},
			"code": {
				"tool": "c",
				"targets": 1,
				"scanned": 1,
				"missing": 0,
				"errors": 0,
			},
		},
		"approvals": [],
		"approvals_total": 0,
	},
}

plan := {
	"schema": "gatekeeper.policy.plan/1",
	"now": 1.0,
	"mode": "local",
	"ticket": {
		"risk": "low",
		"approved": false,
		"permits": {},
	},
	"settings": {
		"present": false,
		"tiers": {
			"medium": 0,
			"high": 0,
		},
	},
	"claimed": {
		"present": true,
		"parts": {},
	},
	"observed": {
		"paths_total": 1,
		"paths_listed": 1,
		"paths": [
			"src/a.py",
		],
		"words_listed": 2,
		"words": {
			"a": [
				"src/a.py",
			],
			"src": [
				"src/a.py",
			],
		},
		"special_modes": 0,
		"truncated": false,
		"signals": {
			"sql_destroy": {
				"count": 0,
				"paths": [],
			},
			"orm_destroy": {
				"count": 0,
				"paths": [],
			},
			"store_destroy": {
				"count": 0,
				"paths": [],
			},
			"tree_remove": {
				"count": 0,
				"paths": [],
			},
			"password_hash": {
				"count": 0,
				"paths": [],
			},
			"token_verify": {
				"count": 0,
				"paths": [],
			},
			"access_guard": {
				"count": 0,
				"paths": [],
			},
			"payment_client": {
				"count": 0,
				"paths": [],
			},
			"cipher": {
				"count": 0,
				"paths": [],
			},
			"tls_weakened": {
				"count": 0,
				"paths": [],
			},
			"secret_read": {
				"count": 0,
				"paths": [],
			},
			"file_mode": {
				"count": 0,
				"paths": [],
			},
			"privilege_gain": {
				"count": 0,
				"paths": [],
			},
			"ci_privilege": {
				"count": 0,
				"paths": [],
			},
		},
	},
}
