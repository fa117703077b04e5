"""`gatekeeper verify`: prove offline that a commit may land. Opens no socket."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer

from gatekeeper.cli.check import Format, read_input
from gatekeeper.errors import VerificationRefused

MAX_BUNDLE_FILE = 16 * 1024 * 1024


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def verify(
        repo: Annotated[Path, typer.Option(help="The git repository: a path, bare or not.")],
        commit: Annotated[str, typer.Option(help="The commit that would be, or is, the tip of the branch.")],
        ref: Annotated[str, typer.Option(help="The branch, as a full ref: refs/heads/main.")],
        trust: Annotated[Path, typer.Option(help="The enforcer's trust file.")],
        old: Annotated[
            str | None, typer.Option(help="Tip of the branch before; by default the ref's, or the first parent.")
        ] = None,
        bundle: Annotated[
            Path | None, typer.Option(help="Read the statements from this file, one a line, and not from the notes.")
        ] = None,
        output: Annotated[Format, typer.Option("--format", help="text for people, json for programs.")] = Format.TEXT,
    ) -> int:
        """Prove that a commit has a signed verdict that this trust file accepts.

        Exit status: 0 proven, 1 refused, 2 usage, 3 could not be checked.
        """
        from gatekeeper.cli.enforcement import prove_move
        from gatekeeper.domain.binding import NOTES_REF
        from gatekeeper.errors import UsageError
        from gatekeeper.formats.trust import parse_trust
        from gatekeeper.wiring import engines, machine

        if not ref.startswith("refs/"):
            raise UsageError(
                "USAGE",
                f"--ref is {ref[:200]!r}, which is not a full ref.",
                next_action=f"Write it whole, for instance --ref refs/heads/{ref[:200]}.",
            )
        trusted = parse_trust(read_input(trust, "trust file"))
        given = None
        if bundle is not None:
            given = [x for x in read_input(bundle, "bundle", MAX_BUNDLE_FILE).split(b"\n") if x.strip()]
        repository = engines.enforcer_repository(repo)
        new = repository.commit(commit)
        try:
            base = repository.commit(old) if old else repository.old_tip(new, ref)
            done = prove_move(
                repository,
                trusted,
                ref=ref,
                old=base,
                new=new,
                notes=repository.ref(NOTES_REF),
                now=machine.SystemClock().now(),
                bundles=given,
            )
        except VerificationRefused as error:
            if output is Format.JSON:
                answer = {
                    "proven": False,
                    "code": error.code,
                    "message": error.message,
                    "next_action": error.next_action,
                }
                print(json.dumps(answer))
            else:
                print(f"refused: {error.message} [{error.code}]\n  {error.next_action}")
            return 1
        if output is Format.JSON:
            print(json.dumps({"proven": True, "commit": new, "ref": ref, **dataclasses.asdict(done)}))
        else:
            print(
                f"proven: {new} may be the tip of {ref}\n"
                f"  verdict {done.payload_sha256} by {done.verifier_id}, mode {done.mode}, until {done.expires_at}\n"
                f"  approvals verified: {', '.join(done.approvals) or 'none'}\n"
                f"  guarantee: {_guarantee(done.keyid)}"
            )
        return 0


def _guarantee(signer: str) -> str:
    if signer.startswith("SHA256:"):
        return "the signer's key; no transparency log, no timestamp authority"
    return f"a certificate for {signer}, in the transparency log of the pinned root"
