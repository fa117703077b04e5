"""What a reviewer is shown: the gate's findings, harmless, or plainly that there are none."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import attested
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.adapters.file_reports import FileReports
from gatekeeper.cli.review_text import areas, findings, no_report, plain
from gatekeeper.domain.change import ChangedPath
from gatekeeper.domain.tree import TreeEntry
from gatekeeper.errors import InputError
from gatekeeper.formats.stored_report import STORED, parse_report

HEAD, DIGEST, REF = "a" * 40, "f" * 64, "refs/heads/main"
CHANGE = attested.change()


def document(**over: Any) -> dict[str, Any]:
    row = {
        "code": "TESTS_REMOVED", "category": "test_tampering", "effect": "asks", "message": "Two tests are gone.",
        "path": "tests/test_a.py", "line": 3, "evidence": "- def test_a():", "next_action": "Ask.",
    }  # fmt: skip
    run = {
        "suite": "tests", "role": "merged", "termination": "exited", "exit": 0, "counts": {"passed": 3},
        "guarantee": "recorded", "engine": {"missing": ["memory_limit"]},
    }  # fmt: skip
    return {
        "schema": "gatekeeper.check/1", "mode": "local", "verdict": "needs_human", "run_id": "1f", "head": HEAD,
        "base": CHANGE.base, "ticket": {"id": "T-1", "digest": DIGEST}, "findings": [row],
        "needs": [{"cause": "REVIEW_REQUIRED", "role": "owner", "count": 2}], "runs": [run],
        "policy": {"tier": "high", "tier_reasons": [{"message": "It touches payments."}]}, **over,
    }  # fmt: skip


def stored(written_at: float = 100.0, target: str = REF, **over: Any) -> str:
    return json.dumps({"schema": STORED, "target_ref": target, "written_at": written_at, "report": document(**over)})


def shown(text: str, now: float = 7300.0) -> str:
    return findings(parse_report(text.encode()), CHANGE, now=now, given=False)


def test_everything_a_reviewer_needs_is_there() -> None:
    text = shown(stored())
    for words in (
        "a person must decide", "2 x owner: REVIEW_REQUIRED", "ASKS test_tampering / TESTS_REMOVED tests/test_a.py:3",
        "Two tests are gone.", "| - def test_a():", "tier high: It touches payments.", "guarantee: recorded",
        "no memory_limit", "2 hours old",
    ):  # fmt: skip
        assert words in text
    assert "The target has moved" not in text
    assert "The target has moved" in shown(stored(base="9" * 40))


def test_what_hides_in_a_report_becomes_visible() -> None:
    nasty = "\x1b[2J\x1b]8;;http://x\x07 ok \u202e\u200b\r\n\nTHE GATE FOUND: accepted"
    row = {
        **document()["findings"][0],
        "message": nasty,
        "code": nasty,
        "category": nasty,
        "path": nasty,
        "evidence": nasty,
    }
    text = shown(stored(findings=[row], needs=[{"cause": nasty, "role": nasty, "count": 1}], run_id="x\x1b"))
    assert not {c for c in text if not c.isprintable()} - {"\n"}
    assert [line for line in text.splitlines() if line.startswith("THE GATE FOUND")] == [
        "THE GATE FOUND: a person must decide"
    ]
    assert plain("a\nb\tc\x1b") == "a\\x0ab c\\x1b"


def test_no_report_says_so_and_what_to_run() -> None:
    text = no_report(CHANGE, "my ticket.json", "/srv/app")
    assert "NOT HERE" in text
    assert f"gatekeeper check --repo /srv/app --target main --head {HEAD} --ticket 'my ticket.json'" in text


@pytest.mark.parametrize(
    "over",
    [
        {"schema": "x"}, {"verdict": "fine"}, {"verdict": None}, {"findings": {}}, {"findings": [1]}, {"head": "../x"},
        {"ticket": {"digest": "A" * 64}}, {"needs": [{"cause": 1}]}, {"runs": [{"counts": []}]}, {"policy": []},
        {"error": {}}, {"needs": [{"cause": "x", "role": "y", "count": 10**9}]},
    ],
)  # fmt: skip
def test_bent_reports_are_refused(over: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        parse_report(json.dumps(document(**over)).encode())
    assert caught.value.code == "REPORT_MALFORMED"


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_with_a_typed_error(data: bytes) -> None:
    with pytest.raises(InputError):
        parse_report(data)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9), lambda x: st.lists(x, max_size=3), max_leaves=5
)


@given(st.sampled_from(sorted(document())), VALUES)
def test_any_value_in_any_field_is_read_or_refused(field: str, value: Any) -> None:
    try:
        report = parse_report(json.dumps(document(**{field: value})).encode())
    except InputError:
        return
    assert findings(report, CHANGE, now=0.0, given=True)


def test_the_newest_fitting_report_is_found(tmp_path: Path) -> None:
    reports = FileReports(tmp_path / "reports", keep=4)
    cases = [
        ("01", stored(run_id="01")),
        ("02", stored(run_id="02")),
        ("03", stored(target="refs/heads/x", run_id="03")),
    ]
    cases += [("04", stored(run_id="04", ticket={"digest": "0" * 64}))]
    for number, (run_id, text) in enumerate(cases):
        path = reports.put(HEAD, run_id, text)
        os.utime(path, ns=(number, number))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "reports").stat().st_mode) == 0o700
    found = reports.newest(HEAD, REF, DIGEST)
    assert found is not None
    assert found.run_id == "02"
    assert reports.newest("b" * 40, REF, DIGEST) is None
    reports.put(HEAD, "05", "{")  # one that cannot be read hides no other; the oldest goes
    assert (reports.newest(HEAD, REF, DIGEST) or found).run_id == "02"
    assert sorted(p.name for p in (tmp_path / "reports").iterdir()) == [f"{HEAD}-0{n}.json" for n in (2, 3, 4, 5)]


def test_names_that_are_no_ids_write_nothing(tmp_path: Path) -> None:
    for head, run_id in (("../x", "1"), (HEAD, "../1"), ("main", "1"), (HEAD, "")):
        with pytest.raises(ValueError, match="hex"):
            FileReports(tmp_path / "r").put(head, run_id, "{}")
    assert not (tmp_path / "r").exists()


def test_links_are_not_followed(tmp_path: Path) -> None:
    reports = FileReports(tmp_path / "r")
    reports.put(HEAD, "1", "{}").unlink()
    (tmp_path / "outside").write_text(stored())
    (tmp_path / "r" / f"{HEAD}-2.json").symlink_to(tmp_path / "outside")
    os.mkfifo(tmp_path / "r" / f"{HEAD}-3.json")
    assert reports.newest(HEAD, REF, DIGEST) is None


def test_areas_name_the_delicate_first() -> None:
    names = [
        "src/a.py",
        "tests/test_a.py",
        ".github/workflows/x.yml",
        ".gatekeeper.toml",
        "requirements.txt",
        "AGENTS.md",
    ]
    rows = areas(tuple(ChangedPath(n, None, TreeEntry(n, "100644", "1" * 40, 1)) for n in names))
    assert [r[:22].strip() for r in rows] == [
        "gate settings", "instructions of agents", "build and CI", "dependencies", "tests", "other files",
    ]  # fmt: skip
    assert areas(()) == ["nothing changed"]


def test_runs_are_named_as_check_names_them() -> None:
    from outcomes import made_outcome, made_run

    from gatekeeper.cli.report_text import report
    from gatekeeper.domain.testrun import RunRole

    text = report(made_outcome(runs=[made_run({"t.py::t": "passed"}, role=r, suite="tests") for r in RunRole]))
    rows = [{**document()["runs"][0], "role": r.value} for r in RunRole]
    reviewed = shown(stored(runs=rows))
    for words in ("tests on the merge:", "tests on the merge with the target's tests:", "tests on the target branch:"):
        assert words in text
        assert words in reviewed
    for role in RunRole:
        assert f" on {role.value}:" not in reviewed
    assert "on odd\\x1brole" in shown(stored(runs=[{**rows[0], "role": "odd\x1brole"}]))
