"""The life of one verification, written once (DESIGN section 1): it runs on any `Durable`, in memory or in the service.

    intake -> fetch -> checkout -> plan -> re-run beside scans -> controls -> decide -> attest

Every step may fail; the pipeline always ends with one `Outcome`. What was wrong with the change is a rejection, what
could not be checked is undecided unless a control shows that the change is to blame; nothing is ever accepted because
something is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from gatekeeper.domain.decision import Outcome
from gatekeeper.domain.finding import Finding, finding, from_error, ordered, verdict_of_all
from gatekeeper.domain.ports import Durable
from gatekeeper.domain.statement import people_of
from gatekeeper.domain.submission import Submission
from gatekeeper.domain.testrun import SuiteRun
from gatekeeper.domain.ticket import Ticket
from gatekeeper.domain.verdict import Mode, Verdict, worst
from gatekeeper.errors import GatekeeperError, UsageError
from gatekeeper.workflow.gathered import Gathered
from gatekeeper.workflow.steps import checkout, intake, narrow, plan, rerun, scan
from gatekeeper.workflow.tools import Tools

if TYPE_CHECKING:
    from gatekeeper.domain.followup import Flaky, Measured, Witnessed
    from gatekeeper.workflow.steps import attest, decide


def step_table(tools: Tools) -> dict[str, Callable[..., Any]]:
    """The steps by name, bound to their tools, for a `Durable` to run."""
    steps: dict[str, Callable[..., Any]] = {
        "intake": intake.run,
        "plan": plan.run,
        "environment": rerun.environment,
        "rerun": rerun.one,
        "secrets": scan.secrets,
        "code": scan.code,
        "again": _again,
        "witness": _witness,
        "witness_again": _witness_again,
        "measure": _measure,
        "decide": _decide,
        "attest": _attest_step,
    }
    return checkout.steps(tools.git) | {name: partial(function, tools) for name, function in steps.items()}


def load_late_steps() -> None:
    """Import what only the steps after the runs need: half of all modules. Call it while tests run, or not at all."""
    from gatekeeper.workflow.steps import again, attest, decide, measure  # noqa: F401

    decide.prepare()


def _again(*args: Any) -> Flaky | None:
    from gatekeeper.workflow.steps import again

    return again.run(*args)


def _witness(*args: Any) -> Witnessed | None:
    from gatekeeper.workflow.steps import witness

    return witness.run(*args)


def _witness_again(*args: Any) -> Witnessed | None:
    from gatekeeper.workflow.steps import witness

    return witness.recheck(*args)


def _measure(*args: Any) -> Measured | None:
    from gatekeeper.workflow.steps import measure

    return measure.run(*args)


def _decide(*args: Any) -> decide.Decided:
    from gatekeeper.workflow.steps import decide

    return decide.run(*args)


def _attest_step(*args: Any) -> attest.Attested | None:
    from gatekeeper.workflow.steps import attest

    return attest.run(*args)


@dataclass
class _Progress:
    """What is known so far, so that an outcome can be given wherever the pipeline ends."""

    submission: Submission
    mode: Mode
    ticket: Ticket | None = None
    base: str | None = None
    head: str | None = None
    merge_tree: str | None = None
    troubles: list[Finding] = field(default_factory=list)

    def outcome(self, extra: Sequence[Finding] = ()) -> Outcome:
        """An early end. It can never be an acceptance: with no reason at all it is undecided."""
        found = ordered([*self.troubles, *extra])
        verdict = verdict_of_all(found)
        if verdict is Verdict.ACCEPTED:
            found = ordered([*found, finding("GATE_CRASHED", "The verification ended early without saying why.")])
            verdict = Verdict.UNDECIDED
        return Outcome(
            verdict=verdict,
            mode=self.mode,
            findings=found,
            run_id=self.submission.run_id,
            base=self.base,
            head=self.head,
            merge_tree=self.merge_tree,
            ticket=self.ticket,
        )


def verify(durable: Durable, submission: Submission, *, mode: Mode, started: float) -> Outcome:
    """Verify one submission. Raises `UsageError` alone (the caller asked for the impossible); all else is an outcome."""
    progress = _Progress(submission, mode)
    try:
        return _verify(durable, progress, started)
    except UsageError:
        raise
    except GatekeeperError as error:
        return progress.outcome([from_error(error)])
    except Exception as error:
        return progress.outcome([crash(error)])


def crash(error: BaseException) -> Finding:
    """The finding for a fault of the gate itself."""
    return finding("GATE_CRASHED", f"{type(error).__name__}: {error}")


def _verify(durable: Durable, progress: _Progress, started: float) -> Outcome:
    submission = progress.submission
    durable.note("INTAKE")
    sent: intake.Intake = durable.step("intake", submission)
    progress.ticket = sent.ticket
    durable.note("CHECKOUT")
    # What people say of it does not matter to the fetch, and may still be on its way when that begins.
    fetched: checkout.Fetched = durable.step("fetch", replace(submission, approvals=()))
    progress.base, progress.head = fetched.mirror.base, fetched.mirror.head
    found: checkout.Checkout = durable.step("checkout", fetched)
    progress.merge_tree = found.change.merge_tree
    durable.note("PLAN")
    planned: plan.Planned = durable.step("plan", sent, found)
    durable.note("RUNNING", {"tier": planned.plan.tier.value, "runs": len(planned.runs)})

    gathered = _gather(durable, progress, submission, found, planned)
    durable.note("DECIDE")
    decided: decide.Decided = durable.step(
        "decide", submission, sent, found, planned, gathered, tuple(progress.troubles)
    )
    outcome = Outcome(
        verdict=decided.verdict,
        mode=progress.mode,
        findings=decided.findings,
        run_id=submission.run_id,
        base=found.change.base,
        head=found.change.head,
        merge_tree=found.change.merge_tree,
        ticket=sent.ticket,
        runs=(*gathered.runs, *gathered.further_runs),
        needs=decided.needs,
        waived=tuple(sorted({*decided.waived, *(decided.decision.waived if decided.decision else ())})),
        plan=planned.plan,
        decision=decided.decision,
        diff_digest=found.change.diff_digest(),
        people=tuple(people_of(found.change)),
        environment=gathered.environment,
        repository=found.change.repository,
        target_ref=found.change.target_ref,
        measured=gathered.measured,
    )
    durable.note("ATTEST", {"verdict": outcome.verdict.value})
    return _attest(durable, outcome, found, decided, submission, started)


def _gather(
    durable: Durable,
    progress: _Progress,
    submission: Submission,
    found: checkout.Checkout,
    planned: plan.Planned,
) -> Gathered:
    """Runs beside scans, then the controls and further runs that the first made necessary. A fault is a trouble, the
    rest goes on.
    """
    where, secrets, code = None, None, None
    followed: dict[str, Any] = {}
    runs: list[SuiteRun] = []

    def taken(result: Any) -> Any:
        if isinstance(result, GatekeeperError):
            progress.troubles.append(from_error(result))
            return None
        if isinstance(result, BaseException):
            progress.troubles.append(crash(result))
            return None
        return result

    try:
        where = durable.step("environment", submission, found, planned)
    except GatekeeperError as error:
        progress.troubles.append(from_error(error))
    calls: list[tuple[str, tuple[Any, ...]]] = []
    if where is not None:
        calls += [("rerun", (found, run, where, submission.run_id)) for run in planned.runs]
        calls.append(("witness", (found, planned, where, submission.run_id)))
    calls[1:1] = [("code", (found,)), ("secrets", (found,))]
    for (name, _), result in zip(calls, durable.parallel(calls), strict=True):
        value = taken(result)
        if name == "secrets":
            secrets = value
        elif name == "code":
            code = value
        elif name == "witness":
            followed[name] = value
        elif value is not None:
            runs.append(value)
    if where is not None:
        for round_ in rerun.ROUNDS:
            needed = rerun.shared(round_(planned, found, runs), runs)
            if needed.runs:
                durable.note("CONTROL", {"runs": len(needed.runs)})
            repeated = [("rerun", (found, run, where, submission.run_id)) for run in needed.runs]
            runs += needed.results(map(taken, durable.parallel(repeated) if repeated else ()))
        runs = list(narrow.settled(runs))
        after = (found, planned, tuple(runs), where, submission.run_id)
        further: list[tuple[str, tuple[Any, ...]]] = [("again", after), ("measure", after)]
        further.append(("witness_again", (*after, followed.get("witness"))))
        for (name, _), result in zip(further, durable.parallel(further), strict=True):
            if (value := taken(result)) is not None:
                followed[name.removesuffix("_again")] = value
    words = where.description if where is not None else ""
    return Gathered(
        tuple(runs), secrets, code, followed.get("witness"), followed.get("measure"), followed.get("again"), words
    )


def _attest(
    durable: Durable,
    outcome: Outcome,
    found: checkout.Checkout,
    decided: decide.Decided,
    submission: Submission,
    started: float,
) -> Outcome:
    """Sign. A verdict that cannot be signed or stored is worth nothing to an enforcer: an acceptance becomes undecided."""
    try:
        signed: attest.Attested | None = durable.step("attest", outcome, found, decided.approvals, submission, started)
    except GatekeeperError as error:
        trouble = from_error(error)
    except Exception as error:
        trouble = crash(error)
    else:
        return replace(outcome, attestation=signed.attestation) if signed else outcome
    return replace(
        outcome,
        verdict=worst([outcome.verdict, Verdict.UNDECIDED]),
        findings=ordered([*outcome.findings, trouble]),
        needs=(),
    )
