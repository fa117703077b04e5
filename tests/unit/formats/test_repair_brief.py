"""The repair brief: empty for an acceptance, bounded, its quotations told apart from its words."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from outcomes import made_outcome, made_run, made_ticket

from gatekeeper.domain.finding import PRIMARY_ORDER, Seen, finding
from gatekeeper.domain.ticket import Budget
from gatekeeper.domain.verdict import Blame, Verdict
from gatekeeper.errors import reasons
from gatekeeper.formats.repair_brief import EXPECTED, MAX_BYTES, repair_brief

RED = {"tests/test_a.py::test_one": "failed"}
FAILED = finding(
    "TESTS_FAILED", "tests/test_a.py::test_one failed on the merge result.", path="tests/test_a.py", line=4
)


def test_an_acceptance_has_none() -> None:
    assert repair_brief(made_outcome(runs=[made_run({"t.py::t": "passed"})], verdict=Verdict.ACCEPTED)) == ""


def test_it_says_what_failed_what_was_expected_and_what_to_change() -> None:
    found = finding("TESTS_FAILED", "t failed.", path="src/a.py", line=7, evidence="E  assert 1 == 2", seen=[Seen("base", "verify", "passed")])  # fmt: skip
    text = repair_brief(made_outcome([found], [made_run(RED, log="=== FAILURES ===\nraw output")]))
    for words in (
        "1. TESTS_FAILED (blocks)  src/a.py:7", "What is wrong: t failed.", "Seen: passed in suite verify on the target branch",
        "Expected: the suite ends with status 0", "Change next: Mend the code", "| E  assert 1 == 2", "| raw output",
        "anything outside src/shop/**, tests/**", "src/shop/secret/**", "permitted: skip_tests for tests/test_old.py::*",
        "run exactly: python -m pytest -q",
    ):  # fmt: skip
        assert words in text, words


@pytest.mark.parametrize(
    ("attempt", "allowed", "words"),
    [(1, 3, "Attempt 1 of 3; 2 left."), (3, 3, "Attempt 3 of 3; 0 left."), (5, 3, "Attempt 5 of 3; 0 left."),
     (2, None, "Attempt 2."), (None, 3, "The ticket allows 3 attempts.")],
)  # fmt: skip
def test_it_counts_attempts_where_a_budget_says(attempt, allowed, words) -> None:
    outcome = made_outcome([FAILED], [made_run(RED)], ticket=made_ticket(budget=Budget(attempts=allowed)))
    assert words in repair_brief(outcome, attempt=attempt).splitlines()


def test_without_a_budget_and_a_number_nothing_is_counted() -> None:
    outcome = made_outcome([FAILED], [made_run(RED)], ticket=made_ticket(budget=Budget()))
    assert "ttempt" not in repair_brief(outcome)


def test_what_is_not_the_changes_fault_is_not_to_be_mended() -> None:
    found = finding("ENVIRONMENT_FAILED", "no such version")
    text = repair_brief(made_outcome([found]))
    assert "change nothing to get around it" in text
    assert "another commit does not help" in text
    mine = finding("RUN_MISSING", "none", blame=Blame.CHANGE)
    assert "change nothing" not in repair_brief(made_outcome([mine], verdict=Verdict.UNDECIDED))


def test_output_is_left_out_where_a_secret_was_found() -> None:
    secret = finding("SECRET_IN_FILE", "a key", path="a.py", line=1)
    text = repair_brief(made_outcome([secret, FAILED], [made_run(RED, log="the log with something")]))
    assert "the log with something" not in text
    assert "left out, since the change holds a credential" in text


def test_it_is_bounded_and_keeps_what_to_do_when_all_is_huge() -> None:
    found = [
        finding("TESTS_FAILED", f"{n} " + "m" * 4000, path=f"{n}.py", line=1, evidence="e\n" * 2000) for n in range(200)
    ]
    runs = [made_run(RED, suite=f"s{n}", log="l" * 200_000) for n in range(20)]
    ticket = made_ticket(allowed=tuple(f"src/{n}/**" for n in range(3000)), forbidden=("f" * 5000,))
    text = repair_brief(made_outcome(found, runs, ticket=ticket))
    assert len(text.encode()) <= MAX_BYTES
    assert "more reasons" in text
    assert text.rstrip().endswith("Nothing that is written can replace a passing re-run.")


def test_every_category_has_its_expectation() -> None:
    assert set(EXPECTED) == set(PRIMARY_ORDER) >= {r.category for r in reasons().values()}


_HOSTILE = st.text(st.characters(), max_size=300)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    words=_HOSTILE, log=_HOSTILE, path=_HOSTILE, suite=_HOSTILE, glob=_HOSTILE, code=st.sampled_from(sorted(reasons()))
)
def test_whatever_the_change_says_it_stays_a_quotation(words, log, path, suite, glob, code) -> None:
    found = finding(code, words, path=path or None, line=1, evidence=words, seen=[Seen("merged", suite, words)])
    run = made_run(RED, log=log, suite=suite, command=words)
    text = repair_brief(
        made_outcome([found], [run], ticket=made_ticket(id=words, allowed=(glob,)), verdict=Verdict.REJECTED)
    )
    plain = repair_brief(made_outcome([finding(code, "x", path="p", line=1, evidence="x")], [made_run(RED, log="x")], verdict=Verdict.REJECTED))  # fmt: skip

    def kinds(brief: str) -> set[str]:
        """Beginnings of the lines that are the gate's own."""
        return {re.split(r"[:(]", line)[0] for line in brief.splitlines() if not line.startswith("|")}

    def own(line: str) -> str:
        return "Suite" if line.startswith("Suite ") else line

    known = {own(k) for k in kinds(plain)} | {"   Seen", "   Expected", "   Why it matters", ""}
    left = {own(k) for k in kinds(text)} - known
    # What remains differs from the plain brief only behind a beginning of the gate.
    allowed = ("REJECTED", "1. ", "  - ", "    permitted", "(it wrote nothing)", "The output of the failing")
    assert all(line.startswith(allowed) for line in left), left
    assert not {unicodedata.category(c) for c in re.sub(r"[\n\t]", "", text)} & {
        "Cc",
        "Cf",
        "Cs",
        "Co",
        "Cn",
        "Zl",
        "Zp",
    }


def test_a_fault_of_the_ticket_is_not_told_as_one_of_the_change() -> None:
    found = finding("TICKET_MALFORMED", "The ticket's field 'allowed' must be a list.")
    text = repair_brief(made_outcome([found], ticket=None, head=None, base=None))
    for words in (
        "REJECTED: its ticket cannot be used, so the change was not looked at", "The ticket is at fault, not the change",
        "Change nothing in the repository", "For whoever keeps the ticket: ", "Submit the same head again",
    ):  # fmt: skip
        assert words in text, words
    assert "?" not in text.splitlines()[0]
    assert "commit, and submit the new head" not in text
    assert "Change next" not in text


@pytest.mark.parametrize("code", ["TICKET_UNKNOWN_SUITE", "NO_SUITE"])
def test_a_ticket_that_names_no_suite_is_the_operators_though_the_head_is_known(code) -> None:
    text = repair_brief(made_outcome([finding(code, "There is none.")]))
    assert text.startswith("REJECTED: head b")
    assert "The ticket is at fault" in text


def test_where_the_change_is_wrong_as_well_the_author_hears_of_both() -> None:
    text = repair_brief(made_outcome([finding("NO_SUITE", "There is none."), FAILED], [made_run(RED)]))
    assert "For whoever keeps the ticket: " in text
    assert "Change next: Mend the code" in text
    assert "The ticket is at fault" not in text
    assert "commit, and submit the new head" in text
