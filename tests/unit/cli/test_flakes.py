"""`gatekeeper flakes`: what it shows of hostile names, what it changes, and what it refuses."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gatekeeper.adapters.file_flakes import FileFlakes
from gatekeeper.cli.main import build
from gatekeeper.config import paths
from gatekeeper.domain.flake import FlakeRecord
from gatekeeper.errors import UsageError
from gatekeeper.wiring.server import service_records
from gatekeeper.workflow.service.flakes import ServiceFlakes

NOW = time.time()
TEST = "tests/test_a.py::test_b[\x1b[31m\u202ered\n]"


def record(**over) -> FlakeRecord:
    values = {
        "repository": "file:///r", "suite": "verify", "test": TEST, "failed": 1, "runs": 7, "bases": ("a" * 40,),
        "first_seen": NOW - 100, "last_seen": NOW - 50, "expires_at": NOW + 86_400,
    }  # fmt: skip
    return FlakeRecord(**{**values, **over})


@pytest.fixture
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileFlakes:
    monkeypatch.setenv("GATEKEEPER_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("GATEKEEPER_CONFIG_DIR", str(tmp_path / "config"))
    made = FileFlakes(paths().flakes)
    made.seen([record(), record(test="tests/test_a.py::old", expires_at=NOW - 1)])
    return made


def run(*words: str):
    return CliRunner().invoke(build("flakes"), ["flakes", *words], catch_exceptions=False, standalone_mode=False)


def test_the_list_says_how_often_until_when_and_whose(register):
    shown = run("list").stdout
    assert "1 of 7 runs failed" in shown
    assert "no owner" in shown
    assert "expired" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert len(shown.splitlines()) == 4


def test_json_has_every_field(register):
    rows = json.loads(run("list", "--format", "json").stdout)["flakes"]
    assert {r["test"]: r["expired"] for r in rows} == {TEST: False, "tests/test_a.py::old": True}


def test_an_empty_register_is_no_fault(tmp_path, monkeypatch):
    monkeypatch.setenv("GATEKEEPER_STATE_DIR", str(tmp_path / "state"))
    assert run("list").stdout == ""


def test_an_owner_and_a_time_can_be_given(register):
    run("own", TEST, "--owner", "ada@example.org", "--expires", "30d", "--note", "issue 7")
    found = {r.test: r for r in register.records()}[TEST]
    assert (found.owner, found.note, found.failed) == ("ada@example.org", "issue 7", 1)
    assert found.expires_at == pytest.approx(time.time() + 30 * 86_400, abs=120)


@pytest.mark.parametrize(
    "words",
    [
        ("own", TEST, "--owner", "a", "--expires", "never"),
        ("own", TEST, "--owner", "a", "--expires", "91d"),
        ("own", TEST, "--owner", "a\nb"),
        ("own", TEST, "--owner", ""),
        ("own", TEST, "--owner", "a" * 401),
        ("own", "unknown", "--owner", "a"),
        ("forget", "unknown"),
        ("forget", TEST, "--suite", "another"),
    ],
)
def test_what_cannot_be_is_a_usage_error_and_changes_nothing(register, words):
    before = register.records()
    with pytest.raises(UsageError):
        run(*words)
    assert register.records() == before


def test_one_of_several_must_be_named(register):
    register.seen([record(repository="file:///other")])
    with pytest.raises(UsageError):
        run("forget", TEST)
    run("forget", TEST, "--repository", "file:///other")
    assert [r.repository for r in register.records() if r.test == TEST] == ["file:///r"]


def test_the_services_register_has_audit_entries(register):
    records = service_records(paths())
    try:
        desk = ServiceFlakes(records)
        desk.seen([record()])
        desk.seen([record(bases=("b" * 40,))])
        run("own", TEST, "--owner", "ada", "--service")
        (found,) = desk.records()
        assert (found.failed, found.runs, found.bases, found.owner) == (2, 14, ("a" * 40, "b" * 40), "ada")
        assert list(desk.known("file:///r", "verify", [TEST], NOW)) == [found]
        assert list(desk.known("file:///r", "verify", [TEST], found.expires_at)) == []
        assert list(desk.known("file:///other", "verify", [TEST], NOW)) == []
        run("forget", TEST, "--service")
        assert desk.records() == []
        from gatekeeper.domain.records import Page

        with records.reading() as tx:
            actions = [e.action for e in tx.audit_entries(Page(10))]
        assert actions == ["flake.own", "flake.forget"]
    finally:
        records.close()


def test_old_records_of_the_service_go(register):
    records = service_records(paths())
    try:
        desk = ServiceFlakes(records)
        desk.seen([record(test="old", first_seen=1.0, last_seen=1.0, expires_at=2.0)])
        desk.seen([record()])
        assert [r.test for r in desk.records()] == [TEST]
    finally:
        records.close()
