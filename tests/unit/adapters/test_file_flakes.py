"""The register of flaky tests as a file: merged, bounded, private, and read strictly."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from gatekeeper.adapters import file_flakes
from gatekeeper.adapters.file_flakes import FileFlakes
from gatekeeper.domain.flake import MAX_BASES, FlakeRecord
from gatekeeper.domain.principal import Principal
from gatekeeper.errors import CouldNotCheck

ONE = FlakeRecord("repo", "verify", "tests/test_a.py::test_a[\u00e9\n]", 1, 4, ("a" * 40,), 100.0, 100.0, 1000.0)
WHO = Principal("os", "ada", "human")


@pytest.fixture
def flakes(tmp_path) -> FileFlakes:
    return FileFlakes(tmp_path / "deep" / "register.jsonl")


def test_what_is_seen_again_is_merged(flakes):
    flakes.seen([ONE])
    flakes.seen(
        [replace(ONE, failed=2, runs=3, bases=("b" * 40,), first_seen=200.0, last_seen=200.0, expires_at=2000.0)]
    )
    (found,) = flakes.records()
    assert found == replace(ONE, failed=3, runs=7, bases=("a" * 40, "b" * 40), last_seen=200.0, expires_at=2000.0)


def test_bases_are_bounded_the_newest_last(flakes):
    for n in range(MAX_BASES + 3):
        flakes.seen([replace(ONE, bases=(f"{n:040d}",))])
    (found,) = flakes.records()
    assert [int(b) for b in found.bases] == list(range(3, MAX_BASES + 3))


def test_only_what_is_asked_for_and_not_expired_is_known(flakes):
    flakes.seen([ONE, replace(ONE, test="other"), replace(ONE, suite="lint")])
    assert flakes.known("repo", "verify", [ONE.test, "none"], 500.0) == [ONE]
    assert flakes.known("repo", "verify", [ONE.test], 1000.0) == []
    assert flakes.known("else", "verify", [ONE.test], 500.0) == []


def test_a_person_names_an_owner_and_what_is_seen_later_keeps_it(flakes):
    flakes.seen([ONE])
    flakes.own(replace(ONE, owner="ada", note="issue 7", expires_at=5000.0, failed=99), WHO, 1.0)
    flakes.seen([ONE])
    (found,) = flakes.records()
    assert (found.owner, found.note, found.expires_at, found.failed) == ("ada", "issue 7", 5000.0, 2)


def test_what_is_not_there_cannot_be_owned_or_forgotten(flakes):
    with pytest.raises(KeyError):
        flakes.own(ONE, WHO, 1.0)
    with pytest.raises(KeyError):
        flakes.forget(ONE, WHO, 1.0)


def test_forgotten_is_gone(flakes):
    flakes.seen([ONE])
    flakes.forget(ONE, WHO, 1.0)
    assert flakes.records() == []


def test_the_file_is_private(flakes, tmp_path):
    flakes.seen([ONE])
    assert (tmp_path / "deep" / "register.jsonl").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "deep").stat().st_mode & 0o777 == 0o700


def test_many_at_once_lose_nothing(flakes):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: flakes.seen([replace(ONE, test=f"t{n % 4}")]), range(24)))
    assert [r.runs for r in flakes.records()] == [24, 24, 24, 24]


def test_the_register_is_bounded(flakes, monkeypatch):
    monkeypatch.setattr(file_flakes, "MAX_RECORDS", 3)
    flakes.seen([replace(ONE, test=f"t{n}", expires_at=1000.0 + n) for n in range(6)])
    assert [r.test for r in flakes.records()] == ["t3", "t4", "t5"]


def test_a_register_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CouldNotCheck) as told:
        FileFlakes(tmp_path / "file" / "register.jsonl").seen([ONE])
    assert told.value.code in ("STORE_FAILED", "FLAKE_REGISTER_UNREADABLE")
