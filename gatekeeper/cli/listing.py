"""`gatekeeper list` and `gatekeeper show`: where changes stand, and a verdict in words."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from gatekeeper.cli.connection import Session, command, line, moment, number, word, write
from gatekeeper.errors import UsageError

if TYPE_CHECKING:
    from gatekeeper.client import Change, Verification

Limit = Annotated[int, typer.Option(min=1, max=100_000, help="At most this many.")]


class What(StrEnum):
    """Rows of `list`."""

    CHANGES = "changes"
    VERIFICATIONS = "verifications"


def register(app: typer.Typer) -> None:
    """Add the commands."""

    @command(app, "list")
    def list_(
        session: Session,
        what: Annotated[
            What, typer.Argument(help="changes, or verifications of a repository or change.")
        ] = What.CHANGES,
        repo: Annotated[str, typer.Option("--repo", "-R", help="owner/repository; by default all you can see.")] = "",
        change: Annotated[
            str, typer.Option(help="Only this change, owner/repository#key or a key beside --repo.")
        ] = "",
        state: Annotated[list[str] | None, typer.Option(help="Only these states; may be repeated.")] = None,
        ticket: Annotated[str, typer.Option(help="Only changes on this ticket.")] = "",
        head: Annotated[str, typer.Option(help="Only this head, the full commit.")] = "",
        current: Annotated[bool, typer.Option("--current", help="Only verdicts that count now.")] = False,
        limit: Limit = 50,
    ) -> int:
        """List changes (or verifications), newest first."""
        from gatekeeper.client.names import change_name, ticket_name

        if what is What.CHANGES:
            if change or current:
                raise UsageError(
                    "USAGE",
                    "--change and --current are for verifications.",
                    next_action="Write for instance: gatekeeper list verifications --change acme/shop#42 --current",
                )
            return list_changes(session, repo, state or [], ticket_name(ticket, repo) if ticket else "", head, limit)
        if ticket:
            raise UsageError(
                "USAGE",
                "--ticket is for changes, not for verifications.",
                next_action="Write for instance: gatekeeper list changes --ticket acme/shop#T-1",
            )
        if not (repo or change):
            raise UsageError(
                "USAGE",
                "Verifications are listed of one repository or of one change, and neither is named.",
                next_action="Add --repo acme/shop, or --change acme/shop#42.",
            )
        return _verifications(session, change_name(change, repo) if change else repo, state or [], head, current, limit)

    @command(app)
    def show(
        session: Session,
        name: Annotated[str, typer.Argument(help="A verification, or a change as owner/repository#key.")],
        logs: Annotated[bool, typer.Option("--logs", help="With the output of the runs.")] = False,
    ) -> int:
        """Show a verdict: the reasons, what was run, what to do next. The status is the verdict's, as of `check`."""
        from gatekeeper.cli.verification_text import exit_status, outdated, report
        from gatekeeper.client.names import change_of, is_verification

        change: Change | None = None
        if is_verification(name):
            made = session.client.get_verification(name)
            if outdated(made):
                change = session.client.get_change(change_of(name))
        else:
            change = session.client.get_change(name)
            if not change.latest_verification:
                session.show(change, lambda: change_text(change))
                return 3
            if not session.as_json:
                write(change_text(change) + "\n")
            made = session.client.get_verification(change.latest_verification)
        color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        session.show(made, lambda: report(made, change, color=color, logs=logs))
        return exit_status(made, change)


def list_changes(session: Session, repo: str, states: list[str], ticket: str, head: str, limit: int) -> int:
    """Print changes; returns the exit status."""
    from gatekeeper.client import Change
    from gatekeeper.client.records import ALL_REPOSITORIES

    wanted = [Change.State.ValueType(number(s, Change.State, "STATE_", "state of a change")) for s in states]
    rows = session.client.list_changes(
        repo or ALL_REPOSITORIES, states=wanted, ticket=ticket, head_commit=head, page_size=min(limit, 100)
    )
    header = ("CHANGE", "STATE", "VERDICT", "TICKET", "HEAD", "ATTEMPTS", "SINCE")
    session.show_rows(list(islice(rows, limit)), header, change_row)
    return 0


def _verifications(session: Session, parent: str, states: list[str], head: str, current: bool, limit: int) -> int:
    from gatekeeper.client import Verification

    state = Verification.State
    wanted = tuple(state.ValueType(number(s, state, "STATE_", "state of a verification")) for s in states)
    rows = session.client.list_verifications(
        parent, states=wanted, head_commit=head, current_only=current, page_size=min(limit, 100)
    )
    header = ("VERIFICATION", "STATE", "VERDICT", "CURRENT", "HEAD", "SUBMITTED")
    session.show_rows(list(islice(rows, limit)), header, _verification_row)
    return 0


def change_row(change: Change) -> tuple[str, ...]:
    """A change as one row."""
    from gatekeeper.client import verdict_of

    verdict = verdict_of(change)
    allowed = f"/{change.attempts_allowed}" if change.attempts_allowed else ""
    return (
        short(change.name), word(change.state, change.State, "STATE_"), verdict.value if verdict else "-",
        change.ticket.rpartition("/")[2] or "-", change.head_commit[:12] or "-", f"{change.attempts_used}{allowed}",
        moment(change.state_time),
    )  # fmt: skip


def _verification_row(made: Verification) -> tuple[str, ...]:
    from gatekeeper.client import state_of, verdict_of

    state, verdict = state_of(made), verdict_of(made)
    return (
        made.name, state.value.lower() if state else "?", verdict.value if verdict else "-",
        "yes" if made.current else "no", made.head_commit[:12], moment(made.create_time),
    )  # fmt: skip


def short(name: str) -> str:
    """`acme/shop#42` for the name of a change."""
    parts = name.split("/")
    return f"{parts[1]}/{parts[3]}#{parts[5]}" if len(parts) >= 6 else name


def change_text(change: Change) -> str:
    """A change in words."""
    reason = f" ({line(change.state_reason, 80)})" if change.state_reason else ""
    rows = [
        f"{line(short(change.name))}  {word(change.state, change.State, 'STATE_').upper()}{reason} since {moment(change.state_time)}",
        f"ticket   {line(change.ticket, 300)}, onto {line(change.target_ref)}",
        f"attempts {change.attempts_used}" + (f" of {change.attempts_allowed}" if change.attempts_allowed else ""),
    ]
    rows += [f"needs    {need.count} x {line(need.role)}: {line(need.cause)}" for need in change.needs]
    rows += question_lines(change)
    if change.landed_commit:
        rows.append(f"landed   {line(change.landed_commit, 64)}")
    return "\n".join(rows)


def question_lines(change: Change) -> list[str]:
    """What the agent asks and nobody answered yet."""
    from gatekeeper.cli.connection import block

    rows: list[str] = []
    for question in change.open_questions:
        rows += [f"question {line(question.id, 64)} ({line(question.cause, 64)}):"]
        rows += [f"         {text}" for text in block(question.text, 4096).splitlines()]
    return rows
