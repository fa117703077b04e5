"""The messages say what the domain and the JSON of `gatekeeper check` say, no less."""

from __future__ import annotations

import ast
import inspect
from enum import StrEnum

import pytest

from gatekeeper.api.v1 import (
    change_pb2,
    finding_pb2,
    policy_use_pb2,
    principal_pb2,
    run_pb2,
    verdict_pb2,
    verification_pb2,
)
from gatekeeper.domain.finding import finding
from gatekeeper.domain.testrun import RunRole, Termination
from gatekeeper.domain.ticket import Risk
from gatekeeper.domain.verdict import Blame, Effect, Mode, Verdict
from gatekeeper.formats import report_json


def fields(message) -> set[str]:
    return {f.name for f in message.DESCRIPTOR.fields}


def words(enum, prefix: str) -> set[str]:
    names = enum.keys()
    assert all(n.startswith(prefix) for n in names)
    return {n.removeprefix(prefix).lower() for n in names} - {"unspecified"}


@pytest.mark.parametrize(
    "domain, enum, prefix",
    [
        (Verdict, verdict_pb2.Verdict, "VERDICT_"),
        (Mode, verdict_pb2.Mode, "MODE_"),
        (Effect, verdict_pb2.Effect, "EFFECT_"),
        (Blame, verdict_pb2.Blame, "BLAME_"),
        (Risk, verdict_pb2.Tier, "TIER_"),
        (RunRole, run_pb2.Run.Role, "ROLE_"),
        (Termination, run_pb2.Run.Termination, "TERMINATION_"),
    ],
)
def test_enums_have_the_words_of_the_domain(domain: type[StrEnum], enum, prefix):
    assert words(enum, prefix) == {w.value for w in domain}


def test_verdicts_are_numbered_in_their_order():
    values = [verdict_pb2.Verdict.Value(f"VERDICT_{v.name}") for v in sorted(Verdict, key=lambda v: v.rank)]
    assert values == [1, 2, 3, 4]


def test_states_are_those_of_the_life_of_a_change():
    assert words(change_pb2.Change.State, "STATE_") == {
        "queued", "running", "verification_failed", "human_decision_needed", "mergeable", "landing", "merged", "stale",
        "declined", "abandoned",
    }  # fmt: skip
    assert words(verification_pb2.Verification.State, "STATE_") == {
        "queued", "running", "decided", "cancelled", "superseded",
    }  # fmt: skip


def test_a_finding_has_every_field_of_the_report():
    row = report_json.finding_row(finding("TESTS_FAILED", "one test failed"))
    assert fields(finding_pb2.Finding) == set(row)


def keys_of_the_dict_in(function) -> set[str]:
    """Keys of the outermost dict that a function of the report returns."""
    tree = ast.parse(inspect.getsource(function))
    found = next(n.value for n in ast.walk(tree) if isinstance(n, ast.Return) and isinstance(n.value, ast.Dict))
    return {k.value for k in found.keys if isinstance(k, ast.Constant)}


def test_a_run_has_every_field_of_the_report():
    renamed = {"wall_s": "wall_time", "cpu_s": "cpu_time"}
    assert fields(run_pb2.Run) == {renamed.get(k, k) for k in keys_of_the_dict_in(report_json.run_row)}
    assert fields(run_pb2.Engine) == {"name", "version", "isolation", "missing"}


def test_a_verification_has_every_field_of_the_report():
    elsewhere = {
        "schema",  # the package's version
        "reasons",  # the findings that block or ask, which come first
        "run_id",  # the name
        "base", "head",  # base_commit, head_commit
        "brief",  # repair_brief
    }  # fmt: skip
    wanted = keys_of_the_dict_in(report_json.document) - elsewhere
    assert wanted <= fields(verification_pb2.Verification)
    assert {"base_commit", "head_commit", "ticket_digest"} <= fields(verification_pb2.Verification)
    assert fields(policy_use_pb2.PolicyUse) == {"bundle", "revision", "digest", "tier", "tier_reasons"}
    assert fields(finding_pb2.Need) == {"cause", "role", "count"}
    assert fields(principal_pb2.Principal) == {"issuer", "subject", "kind", "on_behalf_of"}
