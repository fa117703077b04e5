"""A verification of the server for a tired reader: what was decided, why, what to do; details after that."""

from __future__ import annotations

from shlex import quote

from gatekeeper.api.v1.change_pb2 import Change
from gatekeeper.api.v1.finding_pb2 import Finding as FindingMessage
from gatekeeper.api.v1.run_pb2 import Run
from gatekeeper.api.v1.verdict_pb2 import Mode, Tier
from gatekeeper.api.v1.verification_pb2 import Verification
from gatekeeper.cli.connection import block, line, moment, word
from gatekeeper.cli.listing import short
from gatekeeper.cli.report_text import COLOR, HEADLINE, finding_lines, place, wrapped
from gatekeeper.client import change_state_of, state_of, verdict_of
from gatekeeper.domain.finding import Finding, Seen
from gatekeeper.domain.lifecycle import ChangeState, VerificationState
from gatekeeper.domain.verdict import EXIT_STATUS, Blame, Effect, Verdict
from gatekeeper.formats.repair_brief import ticket_alone

_EFFECT = {1: Effect.BLOCKS, 2: Effect.ASKS, 3: Effect.ADVISES}
_BLAME = {1: Blame.CHANGE, 2: Blame.ENVIRONMENT, 3: Blame.GATE}
MAX_FINDINGS = 1000


def outdated(made: Verification) -> bool:
    """True for an acceptance, or a question to people, that counts no more; what follows from it is in its change."""
    return not made.current and verdict_of(made) in (Verdict.ACCEPTED, Verdict.NEEDS_HUMAN)


def exit_status(made: Verification, change: Change | None = None) -> int:
    """As of `check`; 3 for everything that has no verdict, or one that counts no more.

    `change` is asked for where the verdict is `outdated`: 1 where a reviewer answered it with a request for changes.
    """
    verdict = verdict_of(made)
    if outdated(made):
        return 1 if _sent_back(made, change) else 3
    return 3 if verdict is None else EXIT_STATUS[verdict]


def _sent_back(made: Verification, change: Change | None) -> bool:
    """True where the change failed with this very verdict: a person's words, for the verdict itself is none of that."""
    return (
        change is not None
        and change.latest_verification == made.name
        and change_state_of(change) is ChangeState.VERIFICATION_FAILED
    )


def report(
    made: Verification,
    change: Change | None = None,
    *,
    color: bool = False,
    logs: bool = False,
    brief: bool = True,
    following: bool = True,
) -> str:
    """The whole report as text. Nothing of it reaches a terminal raw.

    `change` tells what became of a verdict that counts no more. Without `brief` the repair brief, which tells the
    findings again, is left to `show`; without `following` nothing is said of what comes next.
    """
    lines = [headline(made, color=color), ""]
    found = [_finding(f) for f in made.findings[:MAX_FINDINGS]]
    why = {f.code: block(f.why) for f in made.findings[:MAX_FINDINGS]}
    for number, one in enumerate((f for f in found if f.effect is not Effect.ADVISES), 1):
        lines += [*finding_lines(one, f"{number}.", why=why.get(one.code, "")), ""]
    advice = [f for f in found if f.effect is Effect.ADVISES]
    if advice:
        lines.append("Notes (these do not block):")
        for one in advice:
            lines += finding_lines(one, "-", brief=True)
        lines.append("")
    if made.findings_omitted:
        lines += [f"({made.findings_omitted} findings more were left out by the server)", ""]
    if made.repair_brief and (brief or outdated(made)):
        lines += ["For the agent:", *(f"   {row}" for row in block(made.repair_brief).splitlines()), ""]
    lines += _facts(made)
    if logs:
        for run in made.runs:
            lines += ["", f"--- log of {line(run.suite)} on {_role(run)}", block(run.log)]
    if following:
        words, command = _next(made, change, brief=brief)
        lines += ["", *wrapped(f"next     {words}", "         ")]
        # Never wrapped: it is there to be copied.
        lines += [f"         {command}"] if command else []
    return "\n".join(lines)


def headline(made: Verification, *, color: bool = False) -> str:
    """One line: the verdict or the state, and of what."""
    verdict, state = verdict_of(made), state_of(made)
    if verdict is not None:
        paint, end = (COLOR[verdict], "\x1b[0m") if color and not outdated(made) else ("", "")
        first = f"{paint}{HEADLINE[verdict]}{end}"
        if not made.current:
            first += " (no longer current)"
    else:
        first = f"{state.value if state else 'UNKNOWN STATE'} (no verdict)"
    head, base = (c[:12] if c.isascii() and c.isalnum() else "" for c in (made.head_commit, made.base_commit))
    return f"{first}  {line(short(made.name))}, head {head or '?'}{f' onto {base}' if base else ''}"


def _finding(message: FindingMessage) -> Finding:
    return Finding(
        code=line(message.code, 64),
        category=line(message.category, 64),
        effect=_EFFECT.get(message.effect, Effect.BLOCKS),
        blame=_BLAME.get(message.blame, Blame.NONE),
        message=message.message,
        next_action=block(message.next_action),
        path=message.path if message.HasField("path") else None,
        line=message.line if message.HasField("line") else None,
        evidence=message.evidence,
        primary=message.primary,
        seen=tuple(
            Seen(word(s.role, Run.Role, "ROLE_"), line(s.suite, 100), line(s.what, 200)) for s in message.seen[:50]
        ),
    )


def _facts(made: Verification) -> list[str]:
    lines = [f"run      {_run(run)}" for run in made.runs]
    if made.environment:
        lines += wrapped(f"with     {line(made.environment, 400)}", "         ")
    missing = sorted({line(m, 64) for r in made.runs for m in r.engine.missing})
    if missing:
        lines.append(f"sandbox  weaker than it should be there: no {', no '.join(missing)}")
    if made.HasField("policy"):
        why = "; ".join(line(r.message) for r in made.policy.tier_reasons) or "nothing raises it"
        lines += wrapped(f"policy   tier {word(made.policy.tier, Tier, 'TIER_')} ({why})", "         ")
        lines.append(
            f"         bundle {line(made.policy.bundle)} {line(made.policy.revision)}, sha256 {line(made.policy.digest[:16])}"
        )
    lines += [f"needs    {need.count} x {line(need.role)}: {line(need.cause)}" for need in made.needs]
    if made.waived:
        lines.append(f"waived   {', '.join(line(w, 64) for w in made.waived)}")
    lines.append(f"mode     {word(made.mode, Mode, 'MODE_')}, attempt {made.attempt}, retry {made.retry}")
    lines.append(f"signed   {line(made.attestation) or 'nothing'}")
    if made.HasField("end_time"):
        took = made.end_time.seconds - made.create_time.seconds
        lines.append(f"time     {moment(made.end_time)}, {took} s after it was submitted")
    lines.append(f"name     {line(made.name, 400)}")
    return lines


def _role(run: Run) -> str:
    return place(word(run.role, Run.Role, "ROLE_"))


def _run(run: Run) -> str:
    counts = ", ".join(f"{n} {line(w, 32)}" for w, n in sorted(run.counts.items())) or "no single results"
    end = (
        f"exit {run.exit}"
        if run.HasField("exit")
        else word(run.termination, Run.Termination, "TERMINATION_").replace("_", " ")
    )
    seconds = run.wall_time.seconds + run.wall_time.nanos / 1e9
    return f"{line(run.suite)} on {_role(run)}: {end}, {counts} ({seconds:.1f} s, {line(run.guarantee, 32) or 'no guarantee'})"


def _next(made: Verification, change: Change | None, *, brief: bool) -> tuple[str, str]:
    """Words, and the command that goes with them; empty where there is none."""
    verdict, state, name = verdict_of(made), state_of(made), quote(line(made.name, 400))
    if outdated(made):
        return _after(made, change)
    if verdict is Verdict.ACCEPTED:
        repository = quote(line("/".join(made.name.split("/")[1:4:2])))
        fetch = f"gatekeeper attestation fetch -R {repository} --commit {quote(line(made.head_commit, 64))} --git PATH"
        return "It may land. Where a hook demands the signed verdict:", fetch
    if verdict is Verdict.REJECTED and not made.findings_omitted and ticket_alone(_finding(f) for f in made.findings):
        words = "The ticket is at fault, not the change. Whoever keeps it amends it; then submit the same head again:"
        return words, f"gatekeeper ticket amend {quote(short(line(made.ticket, 400)))} FILE" if made.ticket else ""
    if verdict is Verdict.REJECTED:
        words = "Mend what the reasons name, commit, and submit the new head with the same change key."
        return (words, "") if brief else (f"{words} The brief for the agent:", f"gatekeeper show {name}")
    if verdict is Verdict.NEEDS_HUMAN:
        return "A reviewer decides:", f"gatekeeper review {name}"
    if verdict is Verdict.UNDECIDED:
        words = "It blocks until it can be checked: do what the reasons name and submit again. A reviewer can let the gate try again:"
        return words, f"gatekeeper review {name} --retry"
    if state is VerificationState.SUPERSEDED:
        return "A newer head took its place:", f"gatekeeper show {quote(line(made.superseded_by, 400))}"
    if state is VerificationState.CANCELLED:
        return "Somebody cancelled it; submit again for a verdict.", ""
    return "Wait for it:", f"gatekeeper watch {name}"


def _after(made: Verification, change: Change | None) -> tuple[str, str]:
    """What follows on a verdict that counts no more."""
    if _sent_back(made, change):
        return "Answer the reviewer's words, commit, and submit the new head with the same change key.", ""
    if change is not None and change.latest_verification not in ("", made.name):
        newer = quote(line(change.latest_verification, 400))
        return "This verdict is no longer current; a newer one took its place:", f"gatekeeper show {newer}"
    of = quote(short(line(made.name, 400)))
    return (
        "This verdict is no longer current and nothing may land on it. Where its change stands:",
        f"gatekeeper change show {of}",
    )
