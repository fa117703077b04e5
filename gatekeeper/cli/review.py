"""`gatekeeper review`: a person looks at a diff and signs an answer with a key of their own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gatekeeper.cli.check import Format, read_input
from gatekeeper.cli.connection import Ca, Config, Output, Place, Server, Session, TokenFile, carried_out
from gatekeeper.errors import GatekeeperError, InputError, UsageError

if TYPE_CHECKING:
    from gatekeeper.domain.change import Change
    from gatekeeper.domain.ticket import Ticket


def _found(given: Path | None, change: Change, plan: Ticket, ticket: Path, repo: str, now: float) -> str:
    """What the gate found, in words. Raises `UsageError` for a given report that cannot be read or is of another change."""
    from gatekeeper.cli.review_text import findings, no_report
    from gatekeeper.config import paths
    from gatekeeper.formats.stored_report import MAX_REPORT, parse_report
    from gatekeeper.wiring import one_shot

    if given is None:
        stored = one_shot.report_store(paths()).newest(change.head, change.target_ref, plan.digest)
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
        ctx: typer.Context,
        change: Annotated[
            str | None,
            typer.Argument(help="A change (owner/repository#key) or verification on the server; without it, offline."),
        ] = None,
        repo: Annotated[str | None, typer.Option(help="The git repository: a path, bare or not.")] = None,
        head: Annotated[str | None, typer.Option(help="Offline: the commit to look at.")] = None,
        ticket: Annotated[Path | None, typer.Option(help="Offline: the ticket (JSON).")] = None,
        key: Annotated[Path | None, typer.Option(help="Your own key, from `gatekeeper key new`.")] = None,
        target: Annotated[str, typer.Option(help="The branch it should land on.")] = "main",
        approve: Annotated[bool, typer.Option("--approve", help="Approve without asking.")] = False,
        request_changes: Annotated[bool, typer.Option("--request-changes", help="Ask for changes.")] = False,
        retry: Annotated[
            bool, typer.Option("--retry", help="Server: let the gate check again what it could not.")
        ] = False,
        decline: Annotated[bool, typer.Option("--decline", help="Server: give the change up for good.")] = False,
        waive: Annotated[
            list[str] | None,
            typer.Option(help="Server: accept this finding (code or fingerprint) for --days; may be repeated."),
        ] = None,
        amend: Annotated[
            Path | None, typer.Option(help="Server: replace the ticket's document by this and approve it.")
        ] = None,
        reason: Annotated[str, typer.Option(help="A word to the author; it is signed too.")] = "",
        report: Annotated[
            Path | None,
            typer.Option(help="What `check --format json` printed, to look at here; by default the newest stored one."),
        ] = None,
        days: Annotated[float, typer.Option(min=0.01, max=365, help="How long the answer holds.")] = 7.0,
        out: Annotated[
            Path | None, typer.Option(help="Write the answer here; by default it goes to the repository's notes.")
        ] = None,
        server: Server = None,
        token_file: TokenFile = None,
        ca: Ca = None,
        client_config: Config = None,
        output: Output = Format.TEXT,
    ) -> int:
        """Look at a change and decide on exactly this diff.

        With CHANGE the decision goes to the server. Without, an approval or a request for changes is signed offline
        with --repo, --head, --ticket and --key.
        """
        if change is not None:
            from gatekeeper.cli.decision import Decision, decide

            if head or ticket or report or out or target != "main":
                raise UsageError(
                    "USAGE",
                    "--head, --ticket, --target, --report and --out are for reviews without a server.",
                    next_action="Leave them out beside a CHANGE, for instance: gatekeeper review acme/shop#42",
                )
            place = Place(server, token_file, ca, client_config)
            before = ctx.find_root().obj
            session = Session(place.over(before) if isinstance(before, Place) else place, output is Format.JSON)
            decision = Decision(
                approve, request_changes, retry, decline, tuple(waive or ()), amend, reason, days, key, repo or ""
            )
            name = change
            return carried_out(session, lambda: decide(session, name, decision))
        if retry or decline or waive or amend:
            raise UsageError(
                "USAGE",
                "--retry, --decline, --waive and --amend need a CHANGE on the server.",
                next_action="Name it, for instance: gatekeeper review acme/shop#42 --retry",
            )
        if repo is None or head is None or ticket is None or key is None:
            given = {"--repo": repo, "--head": head, "--ticket": ticket, "--key": key}
            missing = ", ".join(name for name, value in given.items() if value is None)
            raise UsageError(
                "USAGE",
                f"There is neither a CHANGE of the server nor all that a review without one needs: {missing} missing.",
                next_action="Name a CHANGE, for instance acme/shop#42, or write: gatekeeper review --repo . --head HEAD"
                " --ticket ticket.json --key ada.pem",
            )
        from gatekeeper.cli.key import reviewer_name
        from gatekeeper.cli.review_text import summary
        from gatekeeper.config import paths
        from gatekeeper.domain.statement import approval_statement, people_of
        from gatekeeper.formats.ticket import parse_ticket
        from gatekeeper.wiring import engines, machine, signers

        if approve and request_changes:
            raise UsageError(
                "USAGE",
                "--approve and --request-changes exclude each other.",
                next_action="Give one of them, or none to be asked on a terminal.",
            )
        reviewer = reviewer_name(key)
        plan = parse_ticket(read_input(ticket, "ticket"))
        source = os.path.abspath(repo) if os.path.exists(repo) else repo
        git = engines.git_repositories(paths())
        looked_at = git.describe(git.fetch(source, target, head))
        now = machine.SystemClock().now()
        print(summary(looked_at, plan), file=sys.stderr)
        print(f"\n{_found(report, looked_at, plan, ticket, repo, now)}\n", file=sys.stderr)
        if reviewer.strip().casefold() in people_of(looked_at):
            raise UsageError("APPROVAL_SELF", f"{reviewer} took part in this change and cannot review it.")
        if not (approve or request_changes):
            if not sys.stdin.isatty():
                raise UsageError(
                    "USAGE",
                    "There is no terminal to ask on.",
                    next_action="Say --approve, or --request-changes with a --reason.",
                )
            answer = typer.prompt("approve this diff? [approve/changes/quit]", default="quit", err=True)
            approve, request_changes = answer == "approve", answer == "changes"
            if not (approve or request_changes):
                print("nothing was signed", file=sys.stderr)
                return 2
        now = machine.SystemClock().now()  # once more: a person took time to read
        signed = signers.reviewer_signer(key).sign(
            approval_statement(
                reviewer=reviewer,
                decision="approve" if approve else "request_changes",
                repository=looked_at.repository,
                target_ref=looked_at.target_ref,
                ticket_digest=plan.digest,
                diff_digest=looked_at.diff_digest(),
                head=looked_at.head,
                issued_at=now,
                expires_at=now + days * 86400,
                reason=reason,
            )
        )
        if out is None:
            where = engines.attestation_store().put(source, looked_at.head, [signed.bundle])
            print(where)
            print(
                f"signed; stored with {looked_at.head[:12]}. It counts where the reviewer's key is in the trust file:\n"
                "  gatekeeper check ... --trust <trust file>",
                file=sys.stderr,
            )
            return 0
        try:
            out.write_text(signed.bundle + "\n", encoding="utf-8")
        except OSError as error:
            raise GatekeeperError("STORE_FAILED", f"{str(out)!r} cannot be written: {error.strerror}.") from error
        print(out)
        return 0
