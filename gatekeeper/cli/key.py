"""`gatekeeper key`: make keys, show fingerprints, write a starter trust file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gatekeeper.domain.verdict import Mode
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
        from gatekeeper.wiring.signers import new_key, public_pem, reviewer_signer

        if purpose is Purpose.REVIEWER and not (name and name.strip() and name.isprintable()):
            raise UsageError(
                "USAGE",
                "A reviewer's key needs --name with the reviewer's address.",
                next_action="Give it as commits have it, for instance --name ada@example.org.",
            )
        try:
            new_key(out)
        except FileExistsError:
            raise UsageError(
                "USAGE",
                f"{str(out)!r} exists; a key is never overwritten.",
                next_action="Name a file that is not there with --out, for instance --out ada-2.pem.",
            ) from None
        if name and purpose is Purpose.REVIEWER:
            name_file(out).write_text(name.strip() + "\n", encoding="utf-8")
        print(f"# {reviewer_signer(out).public.fingerprint}\n{public_pem(out)}", end="")
        return 0

    @group.command()
    def show(
        key: Annotated[Path | None, typer.Option(help="A key file; by default this machine's gate.")] = None,
        service: Annotated[
            bool, typer.Option("--service", help="The key of this machine's server instead of `check`'s own.")
        ] = False,
    ) -> int:
        """Print fingerprint, verifier id and public key."""
        from gatekeeper.wiring.signers import public_pem, reviewer_signer

        if key is not None:
            signer, path = reviewer_signer(key), key
        else:
            signer, path = own_signer(service=service)
        verifier = signer.verifier_id  # makes the key at first use
        print(signer.public.fingerprint)
        print(verifier)
        print(public_pem(path), end="")
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
        service: Annotated[
            bool, typer.Option("--service", help="Trust this machine's server instead of `check`'s own key.")
        ] = False,
        desk_reviewer: Annotated[
            list[str] | None,
            typer.Option(help="A reviewer who decides at the server's API; pins the server's desk key for that name."),
        ] = None,
    ) -> int:
        """Print a starter trust file for this machine's gate and its policy bundle."""
        modes, refs = allow_mode or ["enforced"], ref or ["refs/heads/main"]
        for mode in modes:
            if mode not in set(Mode):
                raise UsageError(
                    "USAGE",
                    f"--allow-mode is {mode[:80]!r}; modes are {', '.join(Mode)}.",
                    next_action="Give one of them, for instance --allow-mode local.",
                )
        print(starter(repo, modes, reviewer or [], refs, service=service, desk=desk_reviewer or []), end="")
        return 0


def own_signer(*, service: bool) -> tuple[Any, Path]:
    """Signer of this machine and its key file: of `check`, or of the server. Raises `UsageError` for keyless signing."""
    from gatekeeper.config import paths
    from gatekeeper.wiring import signers

    where = paths()
    if not service:
        return signers.local_signer(where), where.keys / "local.pem"
    signer = signers.gate_signer(where, None)
    path = getattr(signer, "path", None)
    if not isinstance(path, Path):
        raise UsageError(
            "USAGE",
            "The server signs keyless and has no key to pin.",
            next_action="Pin its identity in the trust file by hand, as docs/configuration.md says.",
        )
    return signer, path


def starter(
    repo: str,
    modes: list[str],
    reviewers: list[Path],
    refs: list[str],
    *,
    service: bool = False,
    desk: Sequence[str] = (),
) -> str:
    """The text of a trust file that accepts this machine's key."""
    from gatekeeper.config import paths
    from gatekeeper.formats.trust import parse_trust
    from gatekeeper.wiring import engines, signers

    where = paths()
    signer, key_file = own_signer(service=service)
    verifier = signer.verifier_id  # makes the key at first use
    repositories = [repo]
    if os.path.exists(repo):
        repositories = sorted({os.path.abspath(repo), os.path.realpath(repo)})
    engine = engines.policy_engine()
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
        f"public_key = {text(signers.public_pem(key_file))}",
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
            f"public_key = {text(signers.public_pem(key))}",
        ]
    if desk:
        office = signers.review_desk(where)
        office.public  # noqa: B018  # makes the key at first use
        for name in desk:
            pem = signers.public_pem(where.keys / "desk.pem")
            lines += ["", "[[reviewer]]", f"principal = {text(name)}", f"public_key = {text(pem)}"]
    result = "\n".join(lines) + "\n"
    parse_trust(result.encode())
    return result
