"""The order of verdicts, and findings to verdicts."""

import pickle

import pytest

from gatekeeper.domain.finding import finding, from_error, ordered, verdict_of, verdict_of_all
from gatekeeper.domain.verdict import Blame, Effect, Verdict, worst
from gatekeeper.errors import CouldNotCheck, InputError, reasons


def test_trivially_false_nothing_is_not_accepted():
    assert worst([]) is Verdict.UNDECIDED


def test_rejected_is_worse_than_undecided_is_worse_than_needs_human():
    assert worst([Verdict.ACCEPTED, Verdict.NEEDS_HUMAN]) is Verdict.NEEDS_HUMAN
    assert worst([Verdict.UNDECIDED, Verdict.NEEDS_HUMAN]) is Verdict.UNDECIDED
    assert worst([Verdict.UNDECIDED, Verdict.REJECTED]) is Verdict.REJECTED


@pytest.mark.parametrize(
    ("blame", "verdict"),
    [(Blame.GATE, Verdict.UNDECIDED), (Blame.ENVIRONMENT, Verdict.UNDECIDED), (Blame.CHANGE, Verdict.REJECTED)],
)
def test_could_not_check_is_undecided_unless_the_change_is_to_blame(blame, verdict):
    assert verdict_of(finding("SANDBOX_FAILED", "x", blame=blame)) is verdict


def test_an_asking_could_not_check_is_never_softer_than_undecided():
    assert verdict_of(finding("SANDBOX_FAILED", "x", effect=Effect.ASKS)) is Verdict.UNDECIDED


def test_advice_alone_accepts_and_one_block_among_advice_rejects():
    advice = finding("TESTS_FAILED", "x", effect=Effect.ADVISES)
    assert verdict_of_all([advice]) is Verdict.ACCEPTED
    assert verdict_of_all([advice, finding("TESTS_FAILED", "y")]) is Verdict.REJECTED


def test_the_primary_reason_is_the_worst_and_there_is_exactly_one():
    rows = ordered(
        [
            finding("REVIEW_REQUIRED", "person"),
            finding("TESTS_FAILED", "red"),
            finding("SANDBOX_FAILED", "gate"),
            finding("SCOPE_FORBIDDEN", "outside", path="a"),
        ]
    )
    assert [r.primary for r in rows] == [True, False, False, False]
    assert [r.code for r in rows] == ["SCOPE_FORBIDDEN", "TESTS_FAILED", "SANDBOX_FAILED", "REVIEW_REQUIRED"]


def test_duplicates_collapse_to_the_harsher_one():
    soft = finding("TESTS_FAILED", "same", effect=Effect.ADVISES)
    hard = finding("TESTS_FAILED", "same")
    assert [f.effect for f in ordered([soft, hard])] == [Effect.BLOCKS]
    assert [f.effect for f in ordered([hard, soft])] == [Effect.BLOCKS]


def test_advice_is_never_primary():
    assert not any(f.primary for f in ordered([finding("TESTS_FAILED", "x", effect=Effect.ADVISES)]))


def test_fingerprints_survive_a_moved_line_and_tell_files_apart():
    assert (
        finding("TESTS_FAILED", "x", path="a", line=1).fingerprint
        == finding("TESTS_FAILED", "x", path="a", line=9).fingerprint
    )
    assert finding("TESTS_FAILED", "x", path="a").fingerprint != finding("TESTS_FAILED", "x", path="b").fingerprint


def test_an_unregistered_code_is_a_fault_of_the_program():
    with pytest.raises(KeyError, match="NO_SUCH_CODE"):
        finding("NO_SUCH_CODE", "x")


def test_every_reason_code_is_complete():
    categories = {
        "test_tampering", "implementation_gaming", "evidence_mismatch", "scope_violation", "secret", "llm_risk",
        "instruction_drift", "supply_chain", "config_weakening", "tests_failed", "checks_failed", "not_mergeable",
        "ticket_invalid", "budget_exceeded", "needs_human", "could_not_check",
    }  # fmt: skip
    for code, entry in reasons().items():
        assert code == code.upper(), code
        assert entry.category in categories, code
        assert entry.effect in {"blocks", "asks", "advises"}, code
        assert entry.blame in {"change", "environment", "gate", "none"}, code
        assert entry.meaning.endswith("."), code
        assert entry.next_action.endswith((".", "?")), code


def test_errors_pickle_whole():
    error = CouldNotCheck("SANDBOX_FAILED", "no", blame="environment", tool="bwrap")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.code, copy.message, copy.blame, copy.details) == (
        "SANDBOX_FAILED",
        "no",
        "environment",
        {"tool": "bwrap"},
    )
    plain = pickle.loads(pickle.dumps(InputError("TICKET_MALFORMED", "bad")))
    assert isinstance(plain, InputError)
    assert plain.next_action


def test_from_error_keeps_the_blame():
    assert from_error(CouldNotCheck("SANDBOX_FAILED", "x", blame="change")).blame is Blame.CHANGE
