"""Records as messages: every state and kind has its word, hostile texts are harmless, an answer fits its cap."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.api import convert
from gatekeeper.api.report_messages import MAX_ANSWER, MAX_FINDINGS, add_report, cut_to_size
from gatekeeper.api.v1 import run_pb2, verdict_pb2, verification_pb2
from gatekeeper.domain.lifecycle import ChangeState, TicketState, VerificationState
from gatekeeper.domain.principal import Principal
from gatekeeper.domain.records import ChangeRecord, Question, TicketRecord, VerificationRecord
from gatekeeper.domain.testrun import RunRole, Termination
from gatekeeper.domain.verdict import Blame, Effect, Mode, Verdict

ANN = Principal("gatekeeper", "ann\x1b[31m", "human")
NAME = "owners/o/repositories/r/changes/c"


def verification(**more: Any) -> VerificationRecord:
    base = {
        "name": f"{NAME}/verifications/v", "change": NAME, "state": VerificationState.QUEUED, "purpose": "PRE_MERGE",
        "mode": Mode.ENFORCED, "ticket": "t", "ticket_digest": "d", "target_ref": "refs/heads/main", "head": "a" * 40,
        "submitter": ANN, "attempt": 1, "create_time": 5.5,
    }  # fmt: skip
    return VerificationRecord(**{**base, **more})


def finding(number: int, effect: str, size: int = 10) -> dict[str, Any]:
    return {
        "fingerprint": f"{number:064x}", "category": "secret", "code": "SECRET", "effect": effect, "primary": number == 0,
        "blame": "none", "message": "m" * size, "path": None, "line": None, "evidence": "", "next_action": "n",
    }  # fmt: skip


def run(log: str = "x", **more: Any) -> dict[str, Any]:
    base = {
        "id": "r", "role": "merged", "suite": "s", "command": "pytest", "tree": "t", "exit": 1, "termination": "exited",
        "counts": {"passed": 3}, "engine": {"name": "b", "version": "1", "isolation": ["seccomp"], "missing": []},
        "guarantee": "recorded", "wall_s": 1.25, "cpu_s": None, "log": log,
    }  # fmt: skip
    return {**base, **more}


@pytest.mark.parametrize("state", list(VerificationState))
@pytest.mark.parametrize("verdict", [None, *Verdict])
def test_states_and_verdicts_have_their_words(state, verdict):
    got = convert.verification(verification(state=state, verdict=verdict), 0.0)
    assert verification_pb2.Verification.State.Name(got.state) == f"STATE_{state.name}"
    expected = f"VERDICT_{verdict.name}" if verdict else "VERDICT_UNSPECIFIED"
    assert verdict_pb2.Verdict.Name(got.verdict) == expected


@pytest.mark.parametrize("state", list(ChangeState))
def test_states_of_changes_have_their_words(state):
    question = Question("q", "requirement_conflict", "a\x00b\u202e", ANN, 1.0)
    record = ChangeRecord(NAME, "t", "r", state, ANN, 1.0, 1.0, 1.0, questions=(question,), tier="high")
    got = convert.change(record)
    assert got.DESCRIPTOR.enum_types_by_name["State"].values_by_number[got.state].name == f"STATE_{state.name}"
    assert got.open_questions[0].text == "a\\x00b\\u202e"
    assert got.tier == verdict_pb2.TIER_HIGH
    assert got.submitter.subject == "ann\\x1b[31m"


@pytest.mark.parametrize("state", list(TicketState))
def test_states_of_tickets_have_their_words(state):
    document = b'{"id":"T","title":"x\\u202ey","allowed":["**"],"forbidden":[],"risk":"low"}'
    got = convert.ticket(TicketRecord("n", 1, document, "d", state, ANN, 1.0, 2.0))
    assert got.DESCRIPTOR.enum_types_by_name["State"].values_by_number[got.state].name == f"STATE_{state.name}"
    assert got.title == "x\\u202ey"
    assert convert.ticket(TicketRecord("n", 1, document, "d", state, ANN, 1.0, 2.0), document=False).document == b""


@pytest.mark.parametrize("role", list(RunRole))
@pytest.mark.parametrize("termination", list(Termination))
def test_runs_have_their_words(role, termination):
    message = verification_pb2.Verification()
    add_report(message, {"runs": [run(role=role.value, termination=termination.value)]})
    got = message.runs[0]
    assert run_pb2.Run.Role.Name(got.role) == f"ROLE_{role.name}"
    assert run_pb2.Run.Termination.Name(got.termination) == f"TERMINATION_{termination.name}"
    assert got.HasField("exit") == (termination is Termination.EXITED)
    assert not got.HasField("cpu_time")
    assert (got.wall_time.seconds, got.wall_time.nanos) == (1, 250_000_000)


@pytest.mark.parametrize("effect", list(Effect))
@pytest.mark.parametrize("blame", list(Blame))
def test_findings_have_their_words(effect, blame):
    message = verification_pb2.Verification()
    add_report(message, {"findings": [{**finding(0, effect.value), "blame": blame.value}]})
    assert verdict_pb2.Effect.Name(message.findings[0].effect) == f"EFFECT_{effect.name}"
    assert verdict_pb2.Blame.Name(message.findings[0].blame) == f"BLAME_{blame.name}"
    assert not message.findings[0].HasField("path")


def test_words_that_the_api_lacks_are_unspecified():
    message = verification_pb2.Verification()
    add_report(message, {"findings": [finding(0, "explodes")], "runs": [run(role="new", termination="vanished")]})
    assert message.findings[0].effect == verdict_pb2.EFFECT_UNSPECIFIED
    assert message.runs[0].termination == run_pb2.Run.TERMINATION_UNSPECIFIED
    assert not message.runs[0].HasField("exit")


def test_a_verdict_that_expired_is_not_current():
    record = verification(state=VerificationState.DECIDED, verdict=Verdict.ACCEPTED, current=True, expire_time=10.0)
    assert convert.verification(record, 9.9).current
    assert not convert.verification(record, 10.0).current


def test_logs_are_cut_first_then_advice_and_reasons_stay():
    rows = [*(finding(i, "blocks", 500) for i in range(300)), *(finding(i + 300, "advises", 3900) for i in range(700))]
    report = {"findings": rows, "runs": [run("l" * 20_000) for _ in range(300)]}
    message = convert.verification(verification(report=report, state=VerificationState.DECIDED), 0.0)
    assert message.ByteSize() <= MAX_ANSWER
    assert sum(f.effect == verdict_pb2.EFFECT_BLOCKS for f in message.findings) == 300
    assert all(len(r.log) < 20_000 for r in message.runs)
    assert len(message.findings) + message.findings_omitted == 1000


def test_even_reasons_alone_are_cut_to_the_cap_and_counted():
    report = {"findings": [finding(i, "blocks", 4000) for i in range(1200)]}
    message = verification_pb2.Verification()
    add_report(message, report)
    assert len(message.findings) == MAX_FINDINGS
    cut_to_size(message, 1_000_000)
    assert message.ByteSize() <= 1_000_000
    assert message.findings[0].primary
    assert len(message.findings) + message.findings_omitted == 1200


@given(st.text(), st.one_of(st.none(), st.integers(-(2**40), 2**40)))
def test_any_text_in_a_report_becomes_a_message(text: str, line: int | None):
    row = {**finding(0, "blocks"), "message": text, "path": text, "line": line, "evidence": text}
    message = verification_pb2.Verification()
    add_report(message, {"findings": [row], "runs": [run(text, command=text)], "waived": [text]})
    shown = message.findings[0].message
    assert all(c in "\t\n" or c.isprintable() or c.isspace() for c in shown)
    assert verification_pb2.Verification.FromString(message.SerializeToString()) == message
