"""`gatekeeper change`: one piece of work on the server."""

from __future__ import annotations

from typing import Annotated

import typer

from gatekeeper.cli.connection import Session, command, line
from gatekeeper.cli.listing import Limit, change_text, list_changes, short

Name = Annotated[str, typer.Argument(help="The change: owner/repository#key, or its key beside --repo.")]
Repo = Annotated[str, typer.Option("--repo", "-R", help="The registered repository, owner/repository.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Pieces of work on the server.", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name="change")

    @command(group)
    def show(session: Session, change: Name, repo: Repo = "") -> int:
        """Show where a change stands."""
        made = session.client.get_change(_whole(change, repo))
        session.show(made, lambda: change_text(made))
        return 0

    @command(group, "list")
    def list_(
        session: Session,
        repo: Repo = "",
        state: Annotated[list[str] | None, typer.Option(help="Only these states; may be repeated.")] = None,
        limit: Limit = 50,
    ) -> int:
        """List changes, newest first."""
        return list_changes(session, repo, state or [], "", "", limit)

    @command(group)
    def abandon(
        session: Session,
        change: Name,
        repo: Repo = "",
        comment: Annotated[str, typer.Option(help="Why.")] = "",
        etag: Annotated[str, typer.Option(help="Refuse if it is no longer the change that you saw.")] = "",
    ) -> int:
        """Give a change up; its running verification is cancelled."""
        made = session.client.abandon_change(_whole(change, repo), comment=comment, etag=etag)
        session.show(made, lambda: f"abandoned {line(short(made.name))}")
        return 0

    @command(group)
    def question(
        session: Session,
        change: Name,
        text: Annotated[str, typer.Argument(help="What a person should decide.")],
        repo: Repo = "",
        ticket: Annotated[str, typer.Option(help="The ticket, where the change is not known yet.")] = "",
    ) -> int:
        """Call a person: the ticket contradicts itself or the repository."""
        made, asked = session.client.raise_question(_whole(change, repo), text, ticket=ticket)
        session.show(made, lambda: f"asked {line(asked.id, 64)} on {line(short(made.name))}; a reviewer answers")
        return 0


def _whole(change: str, repo: str) -> str:
    from gatekeeper.client.names import change_name

    return change_name(change, repo)
