package gatekeeper.rules.change.data_migration_test

import data.gatekeeper.example_test
import data.gatekeeper.rules.change.data_migration

test_success_whole_input if data_migration.outcome.satisfied == true with input as example_test.decision

test_fail_without_proof if {
	changed := json.patch(example_test.decision, [{"op": "add", "path": "/plan/data_migration", "value": true}])
	data_migration.outcome.satisfied == false with input as changed
}

test_fail_empty_input if data_migration.outcome.satisfied == false with input as {}
