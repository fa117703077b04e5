"""`gatekeeper check`: its tools, and the whole of it in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gatekeeper import __version__
from gatekeeper.config import Paths, paths
from gatekeeper.domain.decision import Outcome
from gatekeeper.domain.finding import Finding, finding, from_error, ordered
from gatekeeper.domain.ports import Limits
from gatekeeper.domain.submission import Submission
from gatekeeper.domain.verdict import Mode, Verdict, worst
from gatekeeper.errors import GatekeeperError, InputError, UsageError
from gatekeeper.wiring import early, engines, machine, signers

if TYPE_CHECKING:
    from gatekeeper.adapters.file_reports import FileReports
    from gatekeeper.adapters.git_mirror import GitMirror
    from gatekeeper.workflow.tools import Tools


@contextmanager
def check_tools(
    where: Paths,
    *,
    trust: bytes | None,
    publish: bool,
    timeout_s: float,
    measure_s: float | None = None,
    workers: list[Callable[[], object]] | None = None,
    preparations: list[Callable[[], object]] | None = None,
    git: GitMirror | None = None,
    run_began: Callable[[], object] | None = None,
) -> Iterator[Tools]:
    """Tools of `gatekeeper check`: mode local, local key, everything in this process.

    `measure_s` takes the place of every tier's seconds for mutants. `workers` is given what ends each worker process, for
    a caller that is done with them before the end, `preparations` what may be done beside the first steps. `run_began` is called whenever a suite's program has been let go.

    What takes long to load (secret rules, policy worker) starts loading at once, beside the git work.
    """
    from gatekeeper.domain.effort import measuring
    from gatekeeper.workflow.tools import Tools

    effort = machine.gate_settings(where).effort
    with ExitStack() as stack:
        policy = engines.policy_engine(begun=early.policy_taken())
        stack.callback(policy.close)
        policy.warm()
        secrets = engines.secret_scanner(where, early.taken(where))
        stack.callback(secrets.close)
        secrets.start()
        if workers is not None:
            workers += [policy.close, secrets.close]
        box = engines.sandbox(where, started=run_began)
        if preparations is not None:
            preparations.append(box.prepare)
        yield Tools(
            git=git or engines.git_repositories(where),
            environments=engines.environment_builder(where),
            toolchains=engines.toolchains(where),
            sandbox=box,
            secrets=secrets,
            code=engines.code_scanner(),
            policy=policy,
            signer=signers.check_signer(where),
            store=engines.attestation_store(),
            clock=machine.SystemClock(),
            new_id=machine.new_id,
            approvals=signers.approval_verifier(trust),
            mode=Mode.LOCAL,
            limits=Limits(wall_s=timeout_s),
            gate_version=__version__,
            kept=engines.kept_base_runs(where, box),
            flakes=engines.flake_register(where),
            publish=publish,
            effort=effort if measure_s is None else measuring(effort, measure_s),
        )


def check(
    submission: Submission,
    *,
    trust: bytes | None,
    publish: bool,
    timeout_s: float,
    listener: Callable[[str, Mapping[str, Any]], None],
    started: float,
    begun: float,
    measure_s: float | None = None,
) -> Outcome:
    """Judge one submission in this process.

    `started` is the time of day when the request came, `begun` the same moment on `time.perf_counter`. Raises
    `UsageError` alone: whatever else goes wrong, setting up included, is an undecided outcome.
    """
    from gatekeeper.adapters.memory_durable import MemoryDurable
    from gatekeeper.workflow.steps import checkout

    def listen(state: str, detail: Mapping[str, Any]) -> None:
        if state == "ATTEST":  # ending takes a moment
            beside(*workers)
        listener(state, detail)

    def run_began() -> None:
        from gatekeeper.workflow.pipeline import load_late_steps

        # The tests' own run is waited for: what comes after it is imported meanwhile, and not a moment earlier, since
        # whatever is imported holds up what the start of a run needs.
        if not later:
            later.append(True)
            beside(load_late_steps, signers.load_signing_code)

    submission = replace(submission, run_id=machine.new_id())
    timings: dict[str, float] = {}
    later: list[bool] = []
    workers: list[Callable[[], object]] = []
    preparations: list[Callable[[], object]] = []
    try:
        where = paths()
        git = engines.git_repositories(where)
        durable = MemoryDurable(checkout.steps(git), listen)
        timings = durable.timings_ms
        if _readable(submission):  # nobody should wait for a fetch to hear that the ticket is broken
            # Beside everything else that is still to be imported and read.
            durable.ahead(("fetch", "checkout"), replace(submission, approvals=()))
        from gatekeeper.workflow.pipeline import step_table, verify

        with check_tools(
            where,
            trust=trust,
            publish=publish,
            timeout_s=timeout_s,
            measure_s=measure_s,
            workers=workers,
            preparations=preparations,
            git=git,
            run_began=run_began,
        ) as tools:
            submission = replace(submission, approvals=(*submission.approvals, *_stored_approvals(tools, submission)))
            durable.extend(step_table(tools))
            beside(*preparations)
            timings["start"] = round((time.perf_counter() - begun) * 1000, 1)
            outcome = verify(durable, submission, mode=Mode.LOCAL, started=started)
    except UsageError:
        raise
    except GatekeeperError as error:
        outcome = _undecided(submission, from_error(error))
    except Exception as error:
        from gatekeeper.workflow.pipeline import crash

        outcome = _undecided(submission, crash(error))
    return replace(outcome, timings_ms={**timings, "total": round((time.perf_counter() - begun) * 1000, 1)})


def _readable(submission: Submission) -> bool:
    from gatekeeper.formats.ticket import parse_ticket

    try:
        parse_ticket(submission.ticket)
    except InputError:
        return False
    return True


def beside(*work: Callable[[], object]) -> None:
    """Do this in a thread that nobody waits for. What fails in it fails again where it is needed, and is told there."""

    def run() -> None:
        for one in work:
            with suppress(Exception):
                one()

    threading.Thread(target=run, name="beside", daemon=True).start()


def _undecided(submission: Submission, reason: Finding) -> Outcome:
    found = [reason]
    if reason.category != "could_not_check":
        found.append(finding("GATE_CRASHED", "The gate could not be set up."))
    return Outcome(
        verdict=Verdict.UNDECIDED,
        mode=Mode.LOCAL,
        findings=ordered(found),
        run_id=submission.run_id,
        head=submission.head,
    )


def _stored_approvals(tools: Tools, submission: Submission) -> tuple[bytes, ...]:
    """Whatever is stored for the head commit in the repository; only what verifies counts."""
    try:
        return tuple(b.encode() for b in tools.store.get(submission.repository, submission.head))
    except GatekeeperError:
        return ()


def write_attestation(outcome: Outcome, path: Path) -> Outcome:
    """Write the signed statements, one bundle a line. A verdict that cannot be handed over is undecided."""
    if not outcome.attestation:
        return outcome
    try:
        path.write_text("".join(b + "\n" for b in outcome.attestation["bundles"]), encoding="utf-8")
    except OSError as error:
        trouble = finding("STORE_FAILED", f"The statements cannot be written to {str(path)!r}: {error.strerror}.")
        return replace(
            outcome,
            verdict=worst([outcome.verdict, Verdict.UNDECIDED]),
            findings=ordered([*outcome.findings, trouble]),
            attestation=None,
        )
    return replace(outcome, attestation={**outcome.attestation, "file": str(path)})


def write_brief(outcome: Outcome, path: Path) -> Outcome:
    """Write the repair brief. One that cannot be handed over is a fault of its own: an older one may lie there."""
    from gatekeeper.formats.repair_brief import repair_brief

    try:
        path.write_text(repair_brief(outcome), encoding="utf-8")
    except OSError as error:
        trouble = finding("STORE_FAILED", f"The brief cannot be written to {str(path)!r}: {error.strerror}.")
        return replace(
            outcome,
            verdict=worst([outcome.verdict, Verdict.UNDECIDED]),
            findings=ordered([*outcome.findings, trouble]),
        )
    return outcome


def report_store(where: Paths) -> FileReports:
    """Reports of `check` on this machine."""
    from gatekeeper.adapters.file_reports import FileReports

    return FileReports(where.reports)


def keep_report(outcome: Outcome, target_ref: str) -> str | None:
    """Keep the report for reviewers. Never raises, and never changes the verdict; returns words where it failed."""
    from gatekeeper.formats.report_json import document, dumps
    from gatekeeper.formats.stored_report import STORED

    if outcome.head is None or outcome.ticket is None:
        return None
    full = target_ref if target_ref.startswith("refs/heads/") else f"refs/heads/{target_ref}"
    try:
        row = {"schema": STORED, "target_ref": full, "written_at": time.time(), "report": document(outcome)}
        report_store(paths()).put(outcome.head, outcome.run_id, dumps(row))
    except Exception as error:
        return f"the report could not be kept for reviewers ({type(error).__name__}: {error})"
    return None
