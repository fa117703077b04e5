"""`gatekeeper attestation`: signed statements of the server, and bringing them to where a hook finds them."""

from __future__ import annotations

import os
import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gatekeeper.cli.connection import Session, block, command, line, moment, word, write
from gatekeeper.cli.listing import Limit
from gatekeeper.errors import CouldNotCheck, UsageError

if TYPE_CHECKING:
    from gatekeeper.client import Attestation

Repo = Annotated[str, typer.Option("--repo", "-R", help="The registered repository, owner/repository.")]
Commit = Annotated[str, typer.Option(help="The commit that was judged, all its digits.")]
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
MAX_FETCHED = 1000
"""Statements of one commit; a verdict with its results has about five."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Signed statements on the server.", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name="attestation")

    @command(group)
    def get(
        session: Session,
        attestation: Annotated[str, typer.Argument(help="Its whole name, or its digest beside --repo.")],
        repo: Repo = "",
        out: Annotated[Path | None, typer.Option(help="Write the bundle here instead of printing it.")] = None,
    ) -> int:
        """Print one signed statement: a Sigstore bundle, to be verified before anything in it is believed."""
        from gatekeeper.client.names import attestation_name

        made = session.client.get_attestation(attestation_name(attestation, repo))
        if out is not None:
            try:
                out.write_bytes(made.bundle)
            except OSError as error:
                raise UsageError("STORE_FAILED", f"{str(out)!r} cannot be written: {error.strerror}.") from error
            session.show(made, lambda: str(out))
        else:
            session.show(made, lambda: block(made.bundle.decode("utf-8", "replace"), 1_300_000))
        return 0

    @command(group, "list")
    def list_(
        session: Session,
        repo: Repo,
        commit: Commit = "",
        target: Annotated[str, typer.Option(help="Only statements that bind this branch.")] = "",
        current: Annotated[bool, typer.Option("--current", help="Only those that nothing replaced.")] = False,
        limit: Limit = 50,
    ) -> int:
        """List signed statements, newest first."""
        rows = session.client.list_attestations(
            repo, subject_commit=commit, target_ref=target, current_only=current, page_size=min(limit, 100)
        )
        header = ("ATTESTATION", "KIND", "VERDICT", "MODE", "CURRENT", "COMMIT", "SIGNED")
        session.show_rows(list(islice(rows, limit)), header, _row)
        return 0

    @command(group)
    def fetch(
        session: Session,
        repo: Repo,
        commit: Commit,
        git: Annotated[Path, typer.Option(help="The local repository whose notes get the statements.")] = Path(),
        target: Annotated[
            str, typer.Option(help="Only statements that bind this branch, and those that bind none.")
        ] = "",
    ) -> int:
        """Store a commit's signed statements in refs/notes/attestations, where `verify` and the hook find them.

        Nothing is verified here: whoever enforces verifies what it finds against its own trust file.
        """
        from gatekeeper.client.names import ref_name
        from gatekeeper.wiring import engines

        if not _COMMIT.fullmatch(commit):
            raise UsageError(
                "USAGE",
                f"--commit is {commit[:80]!r}, which is no full commit: all its digits, in small letters.",
                next_action='Let git say it, for instance --commit "$(git rev-parse HEAD)".',
            )
        client = session.client
        rows = islice(client.list_attestations(repo, subject_commit=commit), MAX_FETCHED)
        wanted = [r for r in rows if not target or r.target_ref in ("", ref_name(target))]
        bundles = [_one_line(client.get_attestation(r.name).bundle) for r in reversed(wanted)]
        if not bundles:
            raise CouldNotCheck("ATTESTATION_UNKNOWN", f"The server has no statement about {commit}.")
        where = engines.attestation_store().put(os.path.abspath(git), commit, bundles)
        if session.as_json:
            from gatekeeper.formats.report_json import dumps

            write(dumps({"stored": len(bundles), "ref": where, "commit": commit}))
        else:
            write(f"{len(bundles)} statements about {commit} are in {where}")
        return 0


def _one_line(bundle: bytes) -> str:
    """The bundle as one line of JSON, as notes hold it. Raises `ApiError` for what is no JSON object."""
    import json

    from gatekeeper.client.failure import malformed
    from gatekeeper.errors import InputError
    from gatekeeper.formats.strict_json import loads

    try:
        value = loads(bundle, what="bundle", code="INPUT_MALFORMED", max_bytes=2 * 1024 * 1024)
    except InputError as error:
        raise malformed(f"A bundle of the server cannot be read: {error.message}") from error
    if not isinstance(value, dict):
        raise malformed("A bundle of the server is no JSON object.")
    text = bundle.decode("utf-8").strip()
    # What is one line already stays byte for byte as it was signed and stored.
    return text if len(text.splitlines()) == 1 else json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _row(made: Attestation) -> tuple[str, ...]:
    from gatekeeper.api.v1.verdict_pb2 import Mode, Verdict

    return (
        line(made.name.rpartition("/")[2], 64), word(made.kind, made.Kind, "KIND_"),
        word(made.verdict, Verdict, "VERDICT_"), word(made.mode, Mode, "MODE_"), "yes" if made.current else "no",
        made.subject_commit[:12] or "-", moment(made.create_time),
    )  # fmt: skip
