"""Claims that look better than the run, and honest ones that only look odd."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from evidence_builder import HEAD, build_claim, build_evidence, build_run

from gatekeeper.checks.rerun_match import check
from gatekeeper.domain.submission import ABSENT_CLAIM
from gatekeeper.domain.tree import MemoryTree
from gatekeeper.formats.claim import parse_claim
from gatekeeper.formats.junit_xml import contradictions, parse_junit

A, B, C = "tests/test_a.py::test_one", "tests/test_a.py::TestX::test_two[a.b-1]", "tests/test_a.py::test_three"
GREEN = {A: "passed", B: "passed", C: "passed"}


def codes(claim, seen, **run) -> set[str]:
    return {f.code for f in check(build_evidence(claim=claim, runs=[build_run(seen, **run)]))}


@pytest.mark.parametrize(
    ("said", "seen", "code"),
    [
        (GREEN, {**GREEN, A: "failed"}, "CLAIM_PASSED_SEEN_FAILED"),
        ({**GREEN, C: "failed"}, {**GREEN, A: "failed"}, "CLAIM_PASSED_SEEN_FAILED"),
        (GREEN, {**GREEN, A: "skipped"}, "CLAIM_PASSED_SEEN_SKIPPED"),
        (GREEN, {**GREEN, A: "xfailed"}, "CLAIM_PASSED_SEEN_SKIPPED"),
        (GREEN, {A: "passed", B: "passed"}, "CLAIM_PASSED_NOT_SEEN"),
        ({A: "passed"}, GREEN, "CLAIM_INCOMPLETE"),
    ],
)
def test_better_than_seen_is_found(said, seen, code) -> None:
    assert code in codes(build_claim(said), seen)


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        (GREEN, GREEN),
        (GREEN, dict(reversed(GREEN.items()))),
        ({**GREEN, A: "skipped"}, {**GREEN, A: "skipped"}),
        ({**GREEN, A: "skipped"}, {**GREEN, A: "xfailed"}),
        ({**GREEN, A: "skipped"}, GREEN),
        ({**GREEN, A: "failed"}, {**GREEN, A: "failed"}),
        (
            {"tests.test_a::test_one": "passed", "tests.test_a.TestX::test_two[a.b-1]": "passed"},
            {A: "passed", B: "passed"},
        ),
    ],
)
def test_honest_differences_pass(said, seen) -> None:
    assert codes(build_claim(said), seen) == set()


@pytest.mark.parametrize(
    "cmd",
    [
        "python -m pytest -q -k one",
        "python -m pytest -q tests/test_a.py",
        "python -m pytest -q --deselect tests/test_a.py::test_one",
        "python -m pytest -q -x",
        "python -m pytest -q -m 'not slow'",
        "PYTEST_ADDOPTS='-k one' python -m pytest -q",
        "true",
        "python -m pytest -q; true",
    ],
)
def test_another_command_is_found(cmd) -> None:
    assert "CLAIM_OTHER_COMMAND" in codes(build_claim(GREEN, cmd=cmd), GREEN)


@pytest.mark.parametrize(
    "cmd",
    [
        "python3 -m pytest -vv --junitxml=/tmp/r.xml",
        "pytest --junitxml r.xml --tb=short -rA",
        "PYTEST_ADDOPTS=--junitxml=r.xml python -m pytest -q",
        ".venv/bin/python -m pytest  -q",
    ],
)
def test_same_command_with_other_output_passes(cmd) -> None:
    assert codes(build_claim(GREEN, cmd=cmd), GREEN) == set()


def test_missing_parts_and_other_commit_are_found() -> None:
    claim = build_claim(GREEN)
    assert codes(ABSENT_CLAIM, GREEN) == {"CLAIM_MISSING"}
    assert codes(replace(claim, reports=()), GREEN) == {"CLAIM_REPORT_MISSING"}
    assert codes(replace(claim, head_sha="c" * 40), GREEN) == {"CLAIM_OTHER_COMMIT"}
    assert codes(replace(claim, head_sha=HEAD[:9]), GREEN) == set()
    assert "CLAIM_EXIT_CODE" in codes(build_claim({**GREEN, A: "failed"}, exit_code=0), {**GREEN, A: "failed"})


def test_entity_and_contradiction_are_faults_of_the_claim() -> None:
    def faults(xml: str) -> set[str]:
        return {code for code, _ in parse_claim(json.dumps({"junit_xml": xml}).encode()).report_faults}

    case = '<testcase classname="t" name="a"/>'
    assert faults(f'<testsuite tests="1">{case}</testsuite>') == set()
    assert faults(f'<testsuite tests="0">{case}</testsuite>') == {"CLAIM_REPORT_CONTRADICTS_ITSELF"}
    assert faults(f'<testsuite tests="1" failures="1">{case}</testsuite>') == {"CLAIM_REPORT_CONTRADICTS_ITSELF"}
    assert faults(f'<testsuite tests="1">{case}') == {"CLAIM_REPORT_MALFORMED"}
    entity = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    assert faults(f'{entity}<testsuite tests="1">{case}</testsuite>') == {"CLAIM_REPORT_MALFORMED"}


def test_tests_that_came_with_the_moved_target_are_not_missing_from_the_claim() -> None:
    evidence = build_evidence(
        {"src/x.py": "a"}, {"src/x.py": "b"}, claim=build_claim({A: "passed"}), runs=[build_run(GREEN)]
    )
    assert "CLAIM_INCOMPLETE" in {f.code for f in check(evidence)}
    moved = replace(evidence, change=replace(evidence.change, merge_base="e" * 40))
    assert check(moved) == ()


def test_a_moved_target_excuses_nothing_in_files_that_the_change_touched() -> None:
    evidence = build_evidence(
        {"tests/test_a.py": "a"}, {"tests/test_a.py": "b"}, claim=build_claim({A: "passed"}), runs=[build_run(GREEN)]
    )
    moved = replace(evidence, change=replace(evidence.change, merge_base="e" * 40))
    assert {f.code for f in check(moved)} == {"CLAIM_INCOMPLETE"}


def test_a_test_that_the_target_added_to_a_touched_file_is_not_missing_and_an_invented_one_is() -> None:
    own = "def test_one(): ...\n\n\nclass TestX:\n    def test_two(self): ...\n"
    merged = own + "\n\ndef test_three(): ...\n"

    def seen(said: dict[str, str], run: dict[str, str]) -> set[str]:
        evidence = build_evidence(
            {"tests/test_a.py": "a"}, {"tests/test_a.py": merged}, claim=build_claim(said), runs=[build_run(run)]
        )
        change = replace(evidence.change, merge_base="e" * 40)
        head = MemoryTree.of({"tests/test_a.py": own})
        return {f.code for f in check(replace(evidence, change=change, head=head))}

    assert seen({A: "passed", B: "passed"}, GREEN) == set()
    assert seen({A: "passed"}, GREEN) == {"CLAIM_INCOMPLETE"}
    assert seen(GREEN, {A: "passed", B: "passed"}) == {"CLAIM_PASSED_NOT_SEEN"}


def test_an_exit_status_is_no_lie_where_only_tests_fail_that_the_author_did_not_have() -> None:
    own = "def test_one(): ...\n\n\nclass TestX:\n    def test_two(self): ...\n"
    merged = own + "\n\ndef test_three(): ...\n"

    def seen(run: dict[str, str], *, moved: bool) -> set[str]:
        claim = build_claim({A: "passed", B: "passed"}, exit_code=0)
        files = {"src/x.py": "a", "tests/test_a.py": merged}
        evidence = build_evidence(files, {**files, "src/x.py": "b"}, claim=claim, runs=[build_run(run)])
        head = MemoryTree.of({"src/x.py": "b", "tests/test_a.py": own})
        change = replace(evidence.change, merge_base="e" * 40) if moved else evidence.change
        return {f.code for f in check(replace(evidence, change=change, head=head)) if f.code != "CLAIM_INCOMPLETE"}

    assert seen({A: "passed", B: "passed", C: "failed"}, moved=True) == set()
    assert "CLAIM_EXIT_CODE" in seen({A: "failed", B: "passed", C: "failed"}, moved=True)
    assert "CLAIM_EXIT_CODE" in seen({A: "passed", B: "passed", C: "failed"}, moved=False)


def test_subtests_that_pytest_counts_in_the_header_are_no_contradiction() -> None:
    report = (
        b'<testsuites><testsuite name="pytest" errors="0" failures="0" skipped="0" tests="7">'
        b'<testcase classname="tests.test_a" name="test_one"/></testsuite></testsuites>'
    )
    assert contradictions(parse_junit(report)) == ()
    assert contradictions(parse_junit(report.replace(b'tests="7"', b'tests="0"')))
    assert contradictions(parse_junit(report.replace(b'failures="0"', b'failures="2"')))


def test_cases_taken_out_of_a_report_show_also_where_the_run_has_no_single_results() -> None:
    claim = parse_claim(
        json.dumps(
            {
                "head_sha": HEAD,
                "commands": [{"cmd": "python -m pytest -q", "exit_code": 0}],
                "junit_xml": '<testsuite tests="2"><testcase classname="tests.test_a" name="test_one"/></testsuite>',
            }
        ).encode()
    )
    opaque = build_run({})
    assert "CLAIM_REPORT_CONTRADICTS_ITSELF" in {f.code for f in check(build_evidence(claim=claim, runs=[opaque]))}
    assert "CLAIM_REPORT_CONTRADICTS_ITSELF" not in {
        f.code for f in check(build_evidence(claim=claim, runs=[build_run({A: "passed"})]))
    }
