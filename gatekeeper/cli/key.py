"""`gatekeeper key`: make keys, show fingerprints, write a starter trust file."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gatekeeper.errors import UsageError


class Purpose(StrEnum):
    """What a key is for."""

    GATE = "gate"
    REVIEWER = "reviewer"


def name_file(key: Path) -> Path:
    """Where the reviewer's address stands, beside the key."""
    return key.with_name(key.name + ".name")


def reviewer_name(key: Path) -> str:
    """The address that goes with a reviewer's key. Raises `UsageError`."""
    try:
        name = name_file(key).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        name = ""
    if not name:
        raise UsageError("KEY_UNUSABLE", f"{str(name_file(key))!r} is missing: it holds the reviewer's address.")
    return name


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Keys and trust files.", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name="key")

    @group.command()
    def new(
        out: Annotated[Path, typer.Option(help="Where the private key goes; must not exist.")],
        purpose: Annotated[Purpose, typer.Option(help="gate or reviewer.")] = Purpose.REVIEWER,
        name: Annotated[str | None, typer.Option(help="The reviewer's address, as in commits.")] = None,
    ) -> int:
        """Make a key file (ECDSA P-256, mode 0600)."""
        from gatekeeper.wiring import new_key, public_pem, reviewer_signer

        if purpose is Purpose.REVIEWER and not (name and name.strip() and name.isprintable()):
            raise UsageError("USAGE", "A reviewer's key needs --name with the reviewer's address.")
        try:
            new_key(out)
        except FileExistsError:
            raise UsageError("USAGE", f"{str(out)!r} exists; a key is never overwritten.") from None
        if name and purpose is Purpose.REVIEWER:
            name_file(out).write_text(name.strip() + "\n", encoding="utf-8")
        print(f"# {reviewer_signer(out).public.fingerprint}\n{public_pem(out)}", end="")
        return 0

    @group.command()
    def show(
        key: Annotated[Path | None, typer.Option(help="A key file; by default this machine's gate.")] = None,
    ) -> int:
        """Print fingerprint, verifier id and public key."""
        from gatekeeper.config import paths
        from gatekeeper.wiring import local_signer, public_pem, reviewer_signer

        signer = reviewer_signer(key) if key else local_signer(paths())
        print(signer.public.fingerprint)
        print(signer.verifier_id)
        print(public_pem(key or paths().keys / "local.pem"), end="")
        return 0

    @group.command()
    def trust(
        repo: Annotated[str, typer.Option(help="The repository that verdicts are for.")],
        allow_mode: Annotated[
            list[str] | None, typer.Option(help="Modes that this machine's key may sign; by default enforced alone.")
        ] = None,
        reviewer: Annotated[
            list[Path] | None, typer.Option(help="A reviewer's key file, whose approvals shall count.")
        ] = None,
        ref: Annotated[list[str] | None, typer.Option(help="Protected refs; by default refs/heads/main.")] = None,
    ) -> int:
        """Print a starter trust file for this machine's gate and its policy bundle."""
        print(starter(repo, allow_mode or ["enforced"], reviewer or [], ref or ["refs/heads/main"]), end="")
        return 0


def starter(repo: str, modes: list[str], reviewers: list[Path], refs: list[str]) -> str:
    """The text of a trust file that accepts this machine's key."""
    from gatekeeper import wiring
    from gatekeeper.config import paths
    from gatekeeper.formats.trust import parse_trust

    where = paths()
    signer = wiring.local_signer(where)
    verifier = signer.verifier_id  # makes the key at first use
    repositories = [repo]
    if os.path.exists(repo):
        repositories = sorted({os.path.abspath(repo), os.path.realpath(repo)})
    engine = wiring.policy_engine()
    try:
        policy = engine.bundle()
    finally:
        engine.close()

    def text(value: object) -> str:
        return json.dumps(value, ensure_ascii=True)

    lines = [
        "# What this enforcer trusts. Keep it outside everything that is pushed.",
        f"repositories = {text(repositories)}",
        f"protected = {text(refs)}",
        "waivers = []",
        "",
        "[[signer]]",
        f"verifier_id = {text(verifier)}",
        f"modes = {text(modes)}",
        f"public_key = {text(wiring.public_pem(where.keys / 'local.pem'))}",
        "",
        "[[policy]]",
        f"name = {text(policy.name)}",
        f"digests = {text([policy.digest])}",
    ]
    for key in reviewers:
        lines += [
            "",
            "[[reviewer]]",
            f"principal = {text(reviewer_name(key))}",
            f"public_key = {text(wiring.public_pem(key))}",
        ]
    result = "\n".join(lines) + "\n"
    parse_trust(result.encode())
    return result
