"""`gatekeeper ticket`: plans on the server, proposed by anybody and approved by people."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gatekeeper.cli.check import read_input
from gatekeeper.cli.connection import Session, block, command, line, moment, number, word
from gatekeeper.cli.listing import Limit, short
from gatekeeper.errors import UsageError

if TYPE_CHECKING:
    from gatekeeper.client import Ticket

Name = Annotated[str, typer.Argument(help="The ticket: owner/repository#id, or its id beside --repo.")]
Repo = Annotated[str, typer.Option("--repo", "-R", help="The registered repository, owner/repository.")]
Digest = Annotated[str, typer.Option(help="Digest of the ticket that you read, as `ticket show` prints it.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Plans on the server.", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name="ticket")

    @command(group)
    def create(
        session: Session,
        file: Annotated[Path, typer.Argument(help="The ticket (JSON), as docs/ticket.md says.")],
        repo: Repo,
    ) -> int:
        """Propose a ticket."""
        made = session.client.create_ticket(repo, read_input(file, "ticket"))
        session.show(made, lambda: ticket_text(made))
        return 0

    @command(group)
    def show(
        session: Session,
        ticket: Name,
        repo: Repo = "",
        digest: Annotated[str, typer.Option(help="An older revision.")] = "",
    ) -> int:
        """Show a ticket with its document and its digest."""
        made = session.client.get_ticket(_whole(ticket, repo), digest=digest)
        session.show(made, lambda: ticket_text(made, document=True))
        return 0

    @command(group, "list")
    def list_(
        session: Session,
        repo: Repo,
        state: Annotated[list[str] | None, typer.Option(help="Only these states; may be repeated.")] = None,
        limit: Limit = 50,
    ) -> int:
        """List the tickets of a repository, newest first."""
        from gatekeeper.client import Ticket

        states = [Ticket.State.ValueType(number(s, Ticket.State, "STATE_", "state of a ticket")) for s in state or []]
        rows = list(islice(session.client.list_tickets(repo, states=states, page_size=min(limit, 100)), limit))
        session.show_rows(rows, ("TICKET", "STATE", "REVISION", "DIGEST", "TITLE"), _row)
        return 0

    @command(group)
    def approve(
        session: Session, ticket: Name, repo: Repo = "", digest: Digest = "",
        comment: Annotated[str, typer.Option(help="A word to the record.")] = "",
        statement: Annotated[Path | None, typer.Option(help="Your signed approval statement, where the policy demands it.")] = None,
    ) -> int:  # fmt: skip
        """Approve exactly the digest that you read. Without --digest the ticket is shown and you are asked."""
        name = _whole(ticket, repo)
        seen = digest or _asked(session, name, "approve")
        bundle = read_input(statement, "statement") if statement else b""
        made = session.client.approve_ticket(name, seen, comment=comment, statement_bundle=bundle)
        session.show(made, lambda: f"approved {line(made.name, 300)} {line(made.digest, 64)}")
        return 0

    @command(group)
    def reject(
        session: Session, ticket: Name,
        comment: Annotated[str, typer.Option(help="Why.")],
        repo: Repo = "", digest: Digest = "",
    ) -> int:  # fmt: skip
        """Say no to exactly the digest that you read."""
        name = _whole(ticket, repo)
        made = session.client.reject_ticket(name, digest or _asked(session, name, "reject"), comment)
        session.show(made, lambda: f"rejected {line(made.name, 300)} {line(made.digest, 64)}")
        return 0

    @command(group)
    def amend(
        session: Session, ticket: Name,
        file: Annotated[Path, typer.Argument(help="The new document (JSON) with the same id.")],
        repo: Repo = "",
        etag: Annotated[str, typer.Option(help="Etag that you saw; by default the present one is replaced.")] = "",
    ) -> int:  # fmt: skip
        """Replace the document: a new revision that must be approved anew."""
        name, document = _whole(ticket, repo), read_input(file, "ticket")
        made = session.client.amend_ticket(name, document, etag or session.client.get_ticket(name).etag)
        session.show(made, lambda: ticket_text(made))
        return 0


def _whole(ticket: str, repo: str) -> str:
    from gatekeeper.client.names import ticket_name

    return ticket_name(ticket, repo)


def _asked(session: Session, name: str, what: str) -> str:
    """The digest of the ticket that was shown and agreed to."""
    if session.as_json or not sys.stdin.isatty():
        raise UsageError(
            "USAGE",
            f"There is no terminal to ask on, and no --digest says which ticket you read and {what}.",
            next_action=f"Read it with `gatekeeper ticket show {short(line(name, 400))}`, then give its digest with --digest.",
        )
    made = session.client.get_ticket(name)
    print(ticket_text(made, document=True), file=sys.stderr)
    if typer.prompt(f"{what} this ticket? [yes/no]", default="no", err=True) != "yes":
        raise UsageError("USAGE", "Nothing was decided.", next_action="Ask again and answer yes, when you are sure.")
    return made.digest


def _row(made: Ticket) -> tuple[str, ...]:
    return (made.name, word(made.state, made.State, "STATE_"), str(made.revision), made.digest[:16], made.title)


def ticket_text(made: Ticket, *, document: bool = False) -> str:
    """A ticket in words."""
    from gatekeeper.api.v1.verdict_pb2 import Tier

    state = word(made.state, made.State, "STATE_")
    rows = [
        f"{line(made.name, 300)}  {state.upper()}, revision {made.revision}",
        f"title    {line(made.title)}",
        f"goal     {line(made.goal, 1000)}",
        f"allowed  {', '.join(line(g) for g in made.allowed) or 'nothing'}",
    ]
    if made.forbidden:
        rows.append(f"not      {', '.join(line(g) for g in made.forbidden)}")
    if made.permit_kinds:
        rows.append(f"permits  {', '.join(line(k, 64) for k in made.permit_kinds)}")
    rows.append(f"risk     {word(made.risk, Tier, 'TIER_')} at least")
    if made.HasField("author"):
        rows.append(f"author   {line(made.author.subject)}")
    if made.HasField("decider"):
        said = f": {line(made.decision_comment, 1000)}" if made.decision_comment else ""
        rows.append(f"decided  by {line(made.decider.subject)}, {moment(made.update_time)}{said}")
    rows.append(f"digest   {line(made.digest, 64)}")
    if document and made.document:
        rows += ["", block(made.document.decode("utf-8", "replace"), 256 * 1024)]
    if state == "proposed":
        rows += [
            "",
            f"next     A reviewer approves it: gatekeeper ticket approve {line(made.name, 300)} --digest {line(made.digest, 64)}",
        ]
    return "\n".join(rows)
