"""`gatekeeper repo`: the sources that the gate fetches from."""

from __future__ import annotations

from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from gatekeeper.cli.connection import Session, command, line, moment, number, word
from gatekeeper.cli.listing import Limit

if TYPE_CHECKING:
    from gatekeeper.client import Repository

Name = Annotated[str, typer.Argument(help="owner/repository")]


class RepositoryMode(StrEnum):
    """How binding verdicts are."""

    ENFORCED = "enforced"
    SHADOW = "shadow"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Repositories that the gate serves.", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name="repo")

    @command(group, "register")
    def register_(
        session: Session,
        name: Name,
        source: Annotated[
            str, typer.Option(help="Where the gate fetches: an https, ssh or file URI without credentials.")
        ],
        target: Annotated[
            list[str] | None, typer.Option(help="A branch that changes may target; may be repeated.")
        ] = None,
        mode: Annotated[
            RepositoryMode, typer.Option(help="shadow: verdicts are for watching only.")
        ] = RepositoryMode.ENFORCED,
        accept_bundles: Annotated[
            bool, typer.Option("--accept-bundles", help="Submissions may bring git bundles.")
        ] = False,
        uri: Annotated[str, typer.Option(help="Identity in attestations; by default the source.")] = "",
        forge_id: Annotated[str, typer.Option(help="The forge's numeric id.")] = "",
    ) -> int:
        """Register a repository (role operator)."""
        from gatekeeper.api.v1.verdict_pb2 import Mode

        made = session.client.register_repository(
            name, source, target_refs=target or ["main"], accept_bundles=accept_bundles, repository_uri=uri,
            mode=Mode.ValueType(number(mode.value, Mode, "MODE_", "mode")), forge_id=forge_id,
        )  # fmt: skip
        session.show(made, lambda: _text(made))
        return 0

    @command(group)
    def show(session: Session, name: Name) -> int:
        """Show a repository."""
        made = session.client.get_repository(name)
        session.show(made, lambda: _text(made))
        return 0

    @command(group, "list")
    def list_(
        session: Session,
        owner: Annotated[str, typer.Option(help="Only this owner's.")] = "-",
        limit: Limit = 50,
    ) -> int:
        """List the repositories that you can see."""
        rows = list(islice(session.client.list_repositories(owner, page_size=min(limit, 100)), limit))
        session.show_rows(rows, ("REPOSITORY", "MODE", "TARGETS", "SOURCE"), _row)
        return 0


def _row(made: Repository) -> tuple[str, ...]:
    from gatekeeper.api.v1.verdict_pb2 import Mode

    parts = made.name.split("/")
    name = f"{parts[1]}/{parts[3]}" if len(parts) == 4 else made.name
    targets = ",".join(r.removeprefix("refs/heads/") for r in made.target_refs)
    return (name, word(made.mode, Mode, "MODE_"), targets, made.source_uri)


def _text(made: Repository) -> str:
    from gatekeeper.api.v1.verdict_pb2 import Mode

    return "\n".join((
        f"{line(made.name, 300)}  {word(made.mode, Mode, 'MODE_').upper()}",
        f"source   {line(made.source_uri, 2048)}",
        f"identity {line(made.repository_uri, 2048)}",
        f"targets  {', '.join(line(r) for r in made.target_refs)}",
        f"bundles  {'accepted' if made.accept_bundles else 'not accepted'}",
        f"since    {moment(made.create_time)}, by {line(made.registrant.subject) or '-'}",
    ))  # fmt: skip
