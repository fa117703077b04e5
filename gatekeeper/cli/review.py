"""`gatekeeper review`: a person looks at a diff and signs an answer with a key of their own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gatekeeper.cli.check import read_input
from gatekeeper.errors import GatekeeperError, InputError, UsageError

if TYPE_CHECKING:
    from gatekeeper.domain.change import Change
    from gatekeeper.domain.ticket import Ticket


def _found(given: Path | None, change: Change, plan: Ticket, ticket: Path, repo: str, now: float) -> str:
    """What the gate found, in words. Raises `UsageError` for a given report that cannot be read or is of another change."""
    from gatekeeper import wiring
    from gatekeeper.cli.review_text import findings, no_report
    from gatekeeper.config import paths
    from gatekeeper.formats.stored_report import MAX_REPORT, parse_report

    if given is None:
        stored = wiring.report_store(paths()).newest(change.head, change.target_ref, plan.digest)
        if stored is None:
            return no_report(change, str(ticket), repo)
        return findings(stored, change, now=now, given=False)
    try:
        report = parse_report(read_input(given, "report", MAX_REPORT))
    except InputError as error:
        raise UsageError(error.code, error.message) from error
    for word, theirs, ours in (
        ("head", report.head, change.head),
        ("ticket digest", report.ticket_digest, plan.digest),
        ("target", report.target_ref or change.target_ref, change.target_ref),
    ):
        if theirs != ours:
            raise UsageError("REPORT_OTHER_CHANGE", f"The report's {word} is {str(theirs)[:80]!r}, expected {ours}.")
    return findings(report, change, now=now, given=True)


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def review(
        repo: Annotated[str, typer.Option(help="The git repository: a path, bare or not.")],
        head: Annotated[str, typer.Option(help="The commit to look at.")],
        ticket: Annotated[Path, typer.Option(help="The ticket (JSON).")],
        key: Annotated[Path, typer.Option(help="Your own key, from `gatekeeper key new`.")],
        target: Annotated[str, typer.Option(help="The branch it should land on.")] = "main",
        approve: Annotated[bool, typer.Option("--approve", help="Approve without asking.")] = False,
        request_changes: Annotated[bool, typer.Option("--request-changes", help="Ask for changes.")] = False,
        reason: Annotated[str, typer.Option(help="A word to the author; it is signed too.")] = "",
        report: Annotated[
            Path | None,
            typer.Option(help="What `check --format json` printed, to look at here; by default the newest stored one."),
        ] = None,
        days: Annotated[float, typer.Option(min=0.01, max=365, help="How long the answer holds.")] = 7.0,
        out: Annotated[
            Path | None, typer.Option(help="Write the answer here; by default it goes to the repository's notes.")
        ] = None,
    ) -> int:
        """Show what a change does and sign an approval, or a request for changes, of exactly this diff."""
        from gatekeeper import wiring
        from gatekeeper.cli.key import reviewer_name
        from gatekeeper.cli.review_text import summary
        from gatekeeper.config import paths
        from gatekeeper.domain.statement import approval_statement, people_of
        from gatekeeper.formats.ticket import parse_ticket

        if approve and request_changes:
            raise UsageError("USAGE", "--approve and --request-changes exclude each other.")
        reviewer = reviewer_name(key)
        plan = parse_ticket(read_input(ticket, "ticket"))
        source = os.path.abspath(repo) if os.path.exists(repo) else repo
        git = wiring.git_repositories(paths())
        change = git.describe(git.fetch(source, target, head))
        now = wiring.SystemClock().now()
        print(summary(change, plan), file=sys.stderr)
        print(f"\n{_found(report, change, plan, ticket, repo, now)}\n", file=sys.stderr)
        if reviewer.strip().casefold() in people_of(change):
            raise UsageError("APPROVAL_SELF", f"{reviewer} took part in this change and cannot review it.")
        if not (approve or request_changes):
            if not sys.stdin.isatty():
                raise UsageError("USAGE", "There is no terminal to ask on; say --approve or --request-changes.")
            answer = typer.prompt("approve this diff? [approve/changes/quit]", default="quit", err=True)
            approve, request_changes = answer == "approve", answer == "changes"
            if not (approve or request_changes):
                print("nothing was signed", file=sys.stderr)
                return 2
        now = wiring.SystemClock().now()  # once more: a person took time to read
        signed = wiring.reviewer_signer(key).sign(
            approval_statement(
                reviewer=reviewer,
                decision="approve" if approve else "request_changes",
                repository=change.repository,
                target_ref=change.target_ref,
                ticket_digest=plan.digest,
                diff_digest=change.diff_digest(),
                head=change.head,
                issued_at=now,
                expires_at=now + days * 86400,
                reason=reason,
            )
        )
        if out is None:
            print(wiring.attestation_store().put(source, change.head, [signed.bundle]))
            return 0
        try:
            out.write_text(signed.bundle + "\n", encoding="utf-8")
        except OSError as error:
            raise GatekeeperError("STORE_FAILED", f"{str(out)!r} cannot be written: {error.strerror}.") from error
        print(out)
        return 0
