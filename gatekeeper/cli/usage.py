"""`gatekeeper usage` and `gatekeeper events`: what models consumed, and the record of state changes."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from gatekeeper.cli.connection import Session, command, line, moment, number
from gatekeeper.cli.listing import Limit
from gatekeeper.errors import UsageError

if TYPE_CHECKING:
    from gatekeeper.client import Event


class Basis(StrEnum):
    """How the numbers are known."""

    MEASURED = "measured"
    ESTIMATED = "estimated"
    UNKNOWN = "unknown"


class Source(StrEnum):
    """Who counted."""

    AGENT = "agent"
    PROXY = "proxy"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="What models consumed for a change.", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name="usage")

    @group.callback()
    def only_a_group() -> None:
        """What models consumed for a change."""

    @command(group)
    def report(
        session: Session,
        change: Annotated[str, typer.Argument(help="The change, owner/repository#key.")],
        model: Annotated[str, typer.Option(help="Name of the model.")],
        input_tokens: Annotated[int | None, typer.Option(min=0, help="Tokens in.")] = None,
        output_tokens: Annotated[int | None, typer.Option(min=0, help="Tokens out.")] = None,
        cost: Annotated[float | None, typer.Option(min=0, max=1e9, help="Money, in units of the currency.")] = None,
        currency: Annotated[str, typer.Option(help="ISO 4217 code.")] = "USD",
        basis: Annotated[Basis, typer.Option(help="How the numbers are known.")] = Basis.UNKNOWN,
        source: Annotated[Source, typer.Option(help="Who counted.")] = Source.AGENT,
        verification: Annotated[str, typer.Option(help="The verification whose attempt it was for.")] = "",
    ) -> int:
        """Report what a model consumed for a change."""
        from gatekeeper.client import ModelUsage

        micros = None if cost is None else round(cost * 1_000_000)
        entry = ModelUsage(
            model=model, input_tokens=input_tokens, output_tokens=output_tokens, cost_micros=micros, currency=currency,
            basis=ModelUsage.Basis.ValueType(number(basis.value, ModelUsage.Basis, "BASIS_", "basis")),
            source=ModelUsage.Source.ValueType(number(source.value, ModelUsage.Source, "SOURCE_", "source")),
        )  # fmt: skip
        made = session.client.report_usage(change, [entry], verification=verification)
        session.show(made, lambda: f"reported {line(made.id, 64)}")
        return 0

    @command(app)
    def events(
        session: Session,
        repo: Annotated[str, typer.Option("--repo", "-R", help="owner/repository; by default all.")] = "",
        after: Annotated[int, typer.Option(min=0, help="Only events with a greater sequence number.")] = 0,
        kind: Annotated[list[str] | None, typer.Option("--type", help="Only these types; may be repeated.")] = None,
        since: Annotated[
            str, typer.Option(help="Only at or after this time (ISO 8601, UTC where it names no zone).")
        ] = "",
        until: Annotated[str, typer.Option(help="Only before this time.")] = "",
        limit: Limit = 100,
    ) -> int:
        """Print the record of state changes in order (role operator)."""
        from gatekeeper.client.records import ALL_REPOSITORIES

        rows = session.client.list_events(
            repo or ALL_REPOSITORIES, after_sequence=after, types=kind or [], start=_time("--since", since), end=_time("--until", until),
            page_size=min(limit, 1000),
        )  # fmt: skip
        header = ("SEQUENCE", "TIME", "TYPE", "SUBJECT", "ACTOR")
        session.show_rows(list(islice(rows, limit)), header, _row)
        return 0


def _time(option: str, text: str) -> datetime | None:
    if not text:
        return None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            "USAGE",
            f"{option} is {text[:80]!r}, which is no time.",
            next_action=f"Write it as ISO 8601, for instance {option} 2026-01-31T12:00:00Z.",
        ) from None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _row(made: Event) -> tuple[str, ...]:
    return (str(made.sequence), moment(made.time), made.type, made.subject, made.actor.subject or "-")
