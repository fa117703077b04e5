"""`gatekeeper audit`: read and verify the audit log, on the store of this machine."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gatekeeper.cli.token import Format, FormatOption, open_records, operator, timestamp
from gatekeeper.errors import UsageError, VerificationRefused

if TYPE_CHECKING:
    from gatekeeper.domain.records import AuditEntry


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="The record of every decision.", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name="audit")

    @group.command()
    def verify(
        expect: Annotated[
            str | None, typer.Option(help="Digest that an earlier run printed: the log must still hold that entry.")
        ] = None,
        form: FormatOption = Format.TEXT,
    ) -> int:
        """Follow the whole chain and compare its end with the anchor. Exit status 1: it is not intact."""
        if expect is not None and not (len(expect) == 64 and set(expect) <= set("0123456789abcdef")):
            raise UsageError(
                "USAGE",
                "--expect needs 64 lowercase hexadecimal digits.",
                next_action="Give the digest as `audit verify` printed it.",
            )
        with open_records() as records:
            try:
                entries, digest = records.verify_audit(expect)
            except VerificationRefused as error:
                if form is Format.JSON:
                    print(json.dumps({"intact": False, "code": error.code, "message": error.message, **error.details}))
                else:
                    print(f"gatekeeper: {error.message} [{error.code}]\n  {error.next_action}", file=sys.stderr)
                return 1
        if form is Format.JSON:
            print(json.dumps({"intact": True, "entries": entries, "digest": digest}))
        else:
            print(f"intact: {entries} entries, the last is {digest}")
        return 0

    @group.command("list")
    def list_entries(
        after: Annotated[int, typer.Option(min=0, help="Only entries behind this one.")] = 0,
        limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most this many.")] = 100,
        form: FormatOption = Format.TEXT,
    ) -> int:
        """Show entries, oldest first; JSON has one object a line, with all that was hashed."""
        from gatekeeper.domain.records import Page

        with open_records() as records, records.reading() as tx:
            found = tx.audit_entries(Page(limit, (after,)))[:limit]
        for entry in found:
            print(json.dumps(as_json(entry)) if form is Format.JSON else as_text(entry))
        return 0

    @group.command()
    def anchor() -> int:
        """Anchor the log as it is now, after a backup was restored. The log's chain must be intact; this is recorded."""
        from gatekeeper.wiring.machine import SystemClock

        with open_records() as records:
            try:
                entries, digest = records.anchor_again(operator(), SystemClock().now())
            except VerificationRefused as error:
                print(f"gatekeeper: {error.message} [{error.code}]\n  {error.next_action}", file=sys.stderr)
                return 1
        print(f"anchored: {entries} entries, the last is {digest}")
        return 0


def as_json(entry: AuditEntry) -> dict[str, Any]:
    """All fields; `details` stays the text that was hashed."""
    actor = entry.actor
    return {
        "sequence": entry.sequence,
        "time": entry.time,
        "actor": None
        if actor is None
        else {
            "issuer": actor.issuer,
            "subject": actor.subject,
            "kind": actor.kind,
            "on_behalf_of": actor.on_behalf_of,
        },
        "action": entry.action,
        "subject": entry.subject,
        "allowed": entry.allowed,
        "reason": entry.reason,
        "details": entry.details.decode("utf-8", "replace"),
        "previous_digest": entry.previous_digest,
        "digest": entry.digest,
    }


def as_text(entry: AuditEntry) -> str:
    """One line."""
    actor = "the gate" if entry.actor is None else entry.actor.id
    outcome = "" if entry.allowed else f" refused ({entry.reason})"
    line = f"{entry.sequence}  {timestamp(entry.time)}  {actor}  {entry.action}{outcome}  {entry.subject}"
    return "".join(c if c.isprintable() else "\ufffd" for c in line)
