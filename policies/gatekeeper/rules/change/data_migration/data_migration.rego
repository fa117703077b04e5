# METADATA
# title: A data migration is permitted or a person looks at it
# description: Migrations and the deletion of data need the permit migrate_data or an approval.
# custom:
#   effect: ask
#   codes: [DATA_MIGRATION]
package gatekeeper.rules.change.data_migration

import data.gatekeeper.rules.approvals.enough

default satisfied := false

satisfied if input.plan.data_migration == false

satisfied if input.ticket.permits.migrate_data > 0

satisfied if enough.counted > 0

outcome := {
	"satisfied": satisfied,
	"effect": "ask",
	"code": "DATA_MIGRATION",
	"message": "The change migrates or deletes data, and no permit says so.",
	"role": "reviewer",
	"count": 1,
}
