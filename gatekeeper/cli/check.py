"""`gatekeeper check`: one submission judged in this process, no server, mode local."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gatekeeper.config import MAX_INPUT_BYTES
from gatekeeper.errors import GatekeeperError, UsageError
from gatekeeper.records import dataclass

if TYPE_CHECKING:
    from gatekeeper.cli.progress import Listener
    from gatekeeper.domain.decision import Outcome
    from gatekeeper.domain.submission import Submission


class Format(StrEnum):
    """Output for people or for programs."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


_EXAMPLES = {
    "ticket": "ticket.json",
    "claim": "--claim claim.json",
    "approval": "--approval answer.json",
    "trust file": "--trust trust.toml",
    "report": "report.json",
    "bundle": "--bundle statements.jsonl",
    "statement": "--statement approval.json",
    "certificate": "--tls-certificate server.crt --tls-key server.key",
    "key": "--tls-certificate server.crt --tls-key server.key",
    "client CA": "--client-ca clients.pem",
}


def read_input(path: Path, what: str, limit: int = MAX_INPUT_BYTES) -> bytes:
    """A file that the caller names, size-capped. Raises `UsageError` for one that cannot be read."""
    try:
        with path.open("rb") as handle:
            data = handle.read(limit + 1)
    except OSError as error:
        raise UsageError(
            "USAGE",
            f"The {what} {str(path)!r} cannot be read: {error.strerror}.",
            next_action=f"Name a file that is there and that you may read, for instance {_EXAMPLES.get(what, 'FILE')}.",
        ) from error
    if len(data) > limit:
        raise UsageError("INPUT_TOO_LARGE", f"The {what} {str(path)!r} is larger than {limit} bytes.")
    return data


def _require_environment(environment: str) -> None:
    """Raises `UsageError` for what is neither a word nor a directory: a slip of the pen, not a broken environment."""
    if environment not in ("auto", "host") and not os.path.isdir(environment):
        raise UsageError(
            "USAGE",
            f"--environment is {environment!r}, which is neither auto nor host nor a directory.",
            next_action="Give --environment auto, --environment host, or the path of a virtual environment that is there.",
        )


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def check(
        repo: Annotated[str, typer.Option(help="The git repository: a path, bare or not.")],
        head: Annotated[str, typer.Option(help="The commit to judge.")],
        ticket: Annotated[Path, typer.Option(help="The ticket (JSON): scope, what to run, permits.")],
        target: Annotated[str, typer.Option(help="The branch it should land on.")] = "main",
        claim: Annotated[Path | None, typer.Option(help="What the agent says it ran and saw (JSON).")] = None,
        environment: Annotated[
            str, typer.Option(help="auto (from the base's locks), host (the gate's own Python and pytest), or a path.")
        ] = "auto",
        output: Annotated[
            Format, typer.Option("--format", help="text for people, json for programs, sarif for code scanning.")
        ] = Format.TEXT,
        approval: Annotated[
            list[Path] | None, typer.Option(help="A signed approval from `gatekeeper review`; may be repeated.")
        ] = None,
        submitter: Annotated[
            str | None, typer.Option(help="Address of whoever sent this change; that person cannot approve it.")
        ] = None,
        trust: Annotated[
            Path | None,
            typer.Option(help="The operator's trust file; it names the reviewers that approvals count from."),
        ] = None,
        attestation: Annotated[
            Path | None, typer.Option(help="Write the signed statements to this file, one bundle a line.")
        ] = None,
        publish: Annotated[
            bool,
            typer.Option("--publish", help="Store the signed statements in the repository's refs/notes/attestations."),
        ] = False,
        brief: Annotated[
            Path | None,
            typer.Option(help="Write what an agent needs to mend the change to this file; empty where it is accepted."),
        ] = None,
        timeout: Annotated[float, typer.Option(min=1, help="Seconds that one run of a suite may take.")] = 600.0,
        measure: Annotated[
            float | None,
            typer.Option(
                min=0, help="Seconds to measure what the tests can tell of the changed lines; default: by tier."
            ),
        ] = None,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")] = False,
    ) -> int:
        """Judge one change: merge it, run the tests again in a sandbox, compare, scan, decide, sign.

        Exit status: 0 accepted, 1 rejected, 2 usage, 3 undecided (could not be checked), 4 a person must decide.
        """
        from gatekeeper.cli.progress import progress
        from gatekeeper.domain.submission import Submission

        started, begun = time.time(), time.perf_counter()
        try:
            _require_environment(environment)
            submission = Submission(
                repository=os.path.abspath(repo) if os.path.exists(repo) else repo,
                target_ref=target,
                head=head,
                ticket=read_input(ticket, "ticket"),
                claim=read_input(claim, "claim") if claim else None,
                environment=environment,
                approvals=tuple(read_input(p, "approval") for p in approval or ()),
                submitter=submitter,
            )
            trust_bytes = read_input(trust, "trust file") if trust else None
            with progress(enabled=not quiet) as listener:
                asked = _Asked(output, attestation, brief, publish, timeout, measure)
                return _check(submission, trust_bytes, asked, listener, started, begun)
        except UsageError as error:
            return _usage(error, output)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the caller wants of a check beside its verdict."""

    output: Format
    attestation: Path | None
    brief: Path | None
    publish: bool
    timeout_s: float
    measure_s: float | None


def _check(
    submission: Submission,
    trust: bytes | None,
    asked: _Asked,
    listener: Listener,
    started: float,
    begun: float,
) -> int:
    from gatekeeper.domain.verdict import EXIT_STATUS
    from gatekeeper.wiring import one_shot

    if os.environ.get("GATEKEEPER_LOG"):
        listener = _logged(listener)
    outcome = one_shot.check(
        submission,
        trust=trust,
        publish=asked.publish,
        timeout_s=asked.timeout_s,
        listener=listener,
        started=started,
        begun=begun,
        measure_s=asked.measure_s,
    )
    if asked.attestation is not None:
        outcome = one_shot.write_attestation(outcome, asked.attestation)
    if asked.brief is not None:
        outcome = one_shot.write_brief(outcome, asked.brief)
    if os.environ.get("GATEKEEPER_LOG"):
        _log_outcome(outcome)
    if trouble := one_shot.keep_report(outcome, submission.target_ref):
        print(f"gatekeeper check: {trouble}", file=sys.stderr)
    listener("DONE", {})
    sys.stdout.write(_shown(outcome, submission, asked.output) + "\n")
    # A full disk or a closed pipe must not leave a status that says accepted over half a report.
    sys.stdout.flush()
    return EXIT_STATUS[outcome.verdict]


def _shown(outcome: Outcome, submission: Submission, output: Format) -> str:
    if output is Format.JSON:
        from gatekeeper.formats.report_json import document, dumps

        return dumps(document(outcome))
    if output is Format.SARIF:
        from gatekeeper import __version__
        from gatekeeper.formats import sarif
        from gatekeeper.formats.report_json import dumps

        docs = os.environ.get("GATEKEEPER_DOCS_URL", "")
        return dumps(sarif.document(outcome, version=__version__, docs=docs, repository=submission.repository))
    from gatekeeper.cli.report_text import report

    if not sys.stdout.isatty():
        return report(outcome)
    from shutil import get_terminal_size

    width = min(max(get_terminal_size().columns, 60), 120)
    return report(outcome, color="NO_COLOR" not in os.environ, width=width)


def _logged(listener: Listener) -> Listener:
    """The same listener; what it hears goes to the log as well. Imported late: a quiet check needs no logging."""
    import logging

    log = logging.getLogger("gatekeeper.check")

    def told(stage: str, details: Mapping[str, Any]) -> None:
        log.info("%s %s", stage.lower(), dict(details))
        listener(stage, details)

    return told


def _log_outcome(outcome: Outcome) -> None:
    import logging

    log = logging.getLogger("gatekeeper.check")
    log.info("run %s: %s", outcome.run_id, outcome.verdict.value)
    for found in outcome.findings:
        log.debug("%s %s at %s: %s", found.effect.value, found.code, found.path, found.message)
    for step, took in outcome.timings_ms.items():
        log.debug("%s took %.1f ms", step, took)
    for run in outcome.runs:
        log.debug("suite %s on %s: %s, status %s", run.suite, run.role.value, run.termination.value, run.exit_code)


def _usage(error: GatekeeperError, output: Format) -> int:
    if output is Format.SARIF:
        from gatekeeper import __version__
        from gatekeeper.formats import sarif
        from gatekeeper.formats.report_json import dumps

        sys.stdout.write(dumps(sarif.usage_error(error, version=__version__)) + "\n")
    elif output is Format.JSON:
        from gatekeeper.formats.report_json import SCHEMA, dumps

        row = {"code": error.code, "message": error.message, "next_action": error.next_action}
        sys.stdout.write(dumps({"schema": SCHEMA, "error": row}) + "\n")
    else:
        print(f"gatekeeper check: {error.message} [{error.code}]\n  {error.next_action}", file=sys.stderr)
    return 2
