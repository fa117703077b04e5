"""The report of a verification (what `gatekeeper check` prints, as stored) as messages, cut to what one answer may hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf.duration_pb2 import Duration

from gatekeeper.api.v1 import finding_pb2, policy_use_pb2, run_pb2, verdict_pb2, verification_pb2
from gatekeeper.formats.text_safety import harmless

MAX_FINDINGS = 1000
MAX_ANSWER = 4 * 1024 * 1024 - 4096
"""Bytes of a verification: the transport's cap less what is around it."""
LOG_STEPS = (20_000, 4_000, 1_000, 200, 0)
"""Characters kept of each log, tried in this order until the answer fits."""
_TIERS = {"low": verdict_pb2.TIER_LOW, "medium": verdict_pb2.TIER_MEDIUM, "high": verdict_pb2.TIER_HIGH}


def add_report(message: verification_pb2.Verification, report: Mapping[str, Any]) -> None:
    """Fill findings, runs, needs, waived, timings and policy."""
    rows = list(_rows(report.get("findings")))
    # Sorted by weight already: reasons lead, so what is left out only advises unless there are a thousand reasons.
    message.findings.extend(_finding(r) for r in rows[:MAX_FINDINGS])
    omitted = report.get("findings_omitted")
    message.findings_omitted = max(0, len(rows) - MAX_FINDINGS) + (omitted if isinstance(omitted, int) else 0)
    message.runs.extend(_run(r) for r in _rows(report.get("runs")))
    message.needs.extend(needs_of(_rows(report.get("needs"))))
    message.waived.extend(_text(w) for w in report.get("waived") or ())
    for step, value in (report.get("timings_ms") or {}).items():
        message.timings_ms[_text(step)] = float(value)
    message.environment = _text(report.get("environment"))
    measured = report.get("measurement")
    if isinstance(measured, Mapping):
        message.measurement.update(measured)
    policy = report.get("policy")
    if isinstance(policy, Mapping):
        message.policy.CopyFrom(_policy(policy))


def cut_to_size(message: verification_pb2.Verification, limit: int = MAX_ANSWER) -> None:
    """Shorten logs first, then leave out the measurement and findings that only advise, last first."""
    for kept in LOG_STEPS:
        if message.ByteSize() <= limit:
            return
        for run in message.runs:
            run.log = run.log[len(run.log) - kept :] if kept and len(run.log) > kept else run.log if kept else ""
    if message.ByteSize() > limit:
        message.ClearField("measurement")
    while message.findings and message.ByteSize() > limit:
        advice = [i for i, f in enumerate(message.findings) if f.effect == verdict_pb2.EFFECT_ADVISES]
        # A tenth at a time: the size is counted anew every time.
        gone = advice[-max(1, len(advice) // 10) :] if advice else [len(message.findings) - 1]
        for index in reversed(gone):
            del message.findings[index]
        message.findings_omitted += len(gone)


def needs_of(rows: Iterable[Mapping[str, Any]]) -> list[finding_pb2.Need]:
    """Calls for people."""
    return [
        finding_pb2.Need(cause=_text(r.get("cause")), role=_text(r.get("role")), count=int(r.get("count") or 1))
        for r in rows
    ]


def _finding(row: Mapping[str, Any]) -> finding_pb2.Finding:
    message = finding_pb2.Finding(
        fingerprint=_text(row.get("fingerprint")),
        category=_text(row.get("category")),
        code=_text(row.get("code")),
        effect=_enum(verdict_pb2.Effect, "EFFECT_", row.get("effect")),
        primary=bool(row.get("primary")),
        blame=_enum(verdict_pb2.Blame, "BLAME_", row.get("blame")),
        message=_text(row.get("message")),
        evidence=_text(row.get("evidence")),
        next_action=_text(row.get("next_action")),
        why=_text(row.get("why")),
        seen=[
            finding_pb2.Seen(
                role=_enum(run_pb2.Run.Role, "ROLE_", r.get("role")),
                suite=_text(r.get("suite")),
                what=_text(r.get("what")),
            )
            for r in _rows(row.get("seen"))
        ],
    )
    path, line = row.get("path"), row.get("line")
    if path is not None:
        message.path = _text(path)
    if isinstance(line, int):
        message.line = min(max(line, 0), 2**31 - 1)
    return message


def _run(row: Mapping[str, Any]) -> run_pb2.Run:
    engine: Mapping[str, Any] = row.get("engine") or {}
    message = run_pb2.Run(
        id=_text(row.get("id")),
        role=_enum(run_pb2.Run.Role, "ROLE_", row.get("role")),
        suite=_text(row.get("suite")),
        command=_text(row.get("command")),
        tree=_text(row.get("tree")),
        termination=_enum(run_pb2.Run.Termination, "TERMINATION_", row.get("termination")),
        counts={_text(k): min(int(v), 2**31 - 1) for k, v in (row.get("counts") or {}).items()},
        engine=run_pb2.Engine(
            name=_text(engine.get("name")),
            version=_text(engine.get("version")),
            isolation=[_text(w) for w in engine.get("isolation") or ()],
            missing=[_text(w) for w in engine.get("missing") or ()],
        ),
        guarantee=_text(row.get("guarantee")),
        wall_time=_duration(row.get("wall_s")),
        cpu_time=_duration(row.get("cpu_s")),
        log=_text(row.get("log"))[-LOG_STEPS[0] :],
        partial=row.get("partial") is True,
        taken=min(int(row.get("taken") or 0), 2**31 - 1),
    )
    if isinstance(row.get("exit"), int) and message.termination == run_pb2.Run.TERMINATION_EXITED:
        message.exit = row["exit"]
    return message


def _policy(row: Mapping[str, Any]) -> policy_use_pb2.PolicyUse:
    return policy_use_pb2.PolicyUse(
        bundle=_text(row.get("bundle")),
        revision=_text(row.get("revision")),
        digest=_text(row.get("digest")),
        tier=_TIERS.get(str(row.get("tier")), verdict_pb2.TIER_UNSPECIFIED),
        tier_reasons=[
            policy_use_pb2.TierReason(
                tier=_TIERS.get(str(r.get("tier")), verdict_pb2.TIER_UNSPECIFIED),
                rule=_text(r.get("rule")),
                message=_text(r.get("message")),
                paths=[_text(p) for p in r.get("paths") or ()],
            )
            for r in _rows(row.get("tier_reasons"))
        ],
    )


def _rows(value: Any) -> Iterable[Mapping[str, Any]]:
    return [r for r in value or () if isinstance(r, Mapping)]


def _text(value: Any) -> str:
    return "" if value is None else harmless(str(value))


def _duration(seconds: Any) -> Duration | None:
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        return None
    return Duration(seconds=int(seconds), nanos=int((seconds - int(seconds)) * 1e9))


def _enum(kind: Any, prefix: str, value: Any) -> Any:
    """The enum value of a word of the report; unspecified, which is never a pass, for words that the API lacks."""
    name = f"{prefix}{str(value).upper()}"
    return kind.Value(name) if name in kind.keys() else 0  # noqa: SIM118  # no mapping, an enum wrapper
