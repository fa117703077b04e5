"""`gatekeeper hook`: a git server refuses pushes to protected branches without a valid verdict."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gatekeeper.cli.check import read_input
from gatekeeper.errors import CouldNotCheck, GatekeeperError, UsageError, VerificationRefused

if TYPE_CHECKING:
    from gatekeeper.domain.binding import Repository
    from gatekeeper.domain.trust import Trust

MARK = "# gatekeeper pre-receive hook"
MAX_LINES = 10_000


def script(repository: Path, trust: Path, refs: list[str]) -> str:
    """The hook: this interpreter, isolated from the environment's Python settings."""
    words = [sys.executable, "-I", "-m", "gatekeeper", "hook", "pre-receive"]
    words += ["--repo", str(repository), "--trust", str(trust)]
    words += [w for r in refs for w in ("--ref", r)]
    return f"#!/bin/sh\n{MARK}: made by `gatekeeper hook install`. It trusts {shlex.quote(str(trust))} alone.\nexec {shlex.join(words)}\n"


def install_hook(git_dir: Path, text: str, *, force: bool) -> Path:
    """Write the hook. Raises `UsageError` where another one stands; `force` replaces only one of our own."""
    path = git_dir / "hooks" / "pre-receive"
    try:
        if path.is_symlink() or path.exists():
            own = not path.is_symlink() and MARK in path.read_text(encoding="utf-8", errors="replace")
            if not own:
                raise UsageError(
                    "USAGE",
                    f"{str(path)!r} is another program's hook; it is left alone.",
                    next_action="Move it away, or call `gatekeeper hook pre-receive` from it with the push on standard input.",
                )
            if not force and path.read_text(encoding="utf-8") != text:
                raise UsageError(
                    "USAGE", f"{str(path)!r} is there with other settings.", next_action="Replace it with --force."
                )
        path.parent.mkdir(exist_ok=True)
        draft = path.with_name("pre-receive.gatekeeper-new")
        draft.write_text(text, encoding="utf-8")
        draft.chmod(0o755)
        draft.replace(path)
    except OSError as error:
        raise UsageError(
            "USAGE",
            f"The hook {str(path)!r} cannot be written: {error.strerror}.",
            next_action="Run it as the user to whom the repository named with --repo belongs.",
        ) from error
    return path


def judge(repository: Repository, trust: Trust, refs: tuple[str, ...], lines: list[str], now: float) -> list[str]:
    """What to tell about each protected ref of a push. Raises `VerificationRefused` for the first that is refused."""
    from gatekeeper.cli.enforcement import prove_move
    from gatekeeper.domain.binding import NOTES_REF, OID, is_null
    from gatekeeper.domain.globs import matches

    moves = []
    for line in lines:
        parts = line.rstrip("\n").split(" ", 2)
        if len(parts) != 3 or not all(OID.fullmatch(p) for p in parts[:2]):
            raise UsageError(
                "USAGE",
                "Standard input holds a line that is no ref update.",
                next_action="Let git call the hook; by hand the line is: OLD NEW refs/heads/main",
            )
        moves.append((parts[0], parts[1], parts[2]))
    notes = repository.ref(NOTES_REF)
    for _, new, name in moves:
        if name == NOTES_REF:
            notes = None if is_null(new) else new
    told = []
    for old, new, name in moves:
        if not any(name == r or matches(r, name) for r in refs):
            continue
        if is_null(new):
            raise VerificationRefused("PUSH_DELETES", f"{name} is protected and cannot be deleted.")
        if is_null(old):
            raise VerificationRefused("PUSH_CREATES", f"{name} is protected and cannot be created by a push.")
        if not repository.is_ancestor(old, new):
            raise VerificationRefused("PUSH_REWRITES", f"{name} is protected and only moves forward.")
        done = prove_move(repository, trust, ref=name, old=old, new=new, notes=notes, now=now)
        told.append(f"{name}: verdict {done.payload_sha256[:16]} by {done.verifier_id} accepted")
    return told


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        help="Make a git server demand the signed verdict.", no_args_is_help=True, rich_markup_mode=None
    )
    app.add_typer(group, name="hook")

    @group.command()
    def install(
        repo: Annotated[Path, typer.Option(help="The repository that receives the pushes.")],
        trust: Annotated[Path, typer.Option(help="The trust file; it stays where it is, outside what is pushed.")],
        ref: Annotated[
            list[str] | None, typer.Option(help="Protected ref or glob; by default the trust file's.")
        ] = None,
        force: Annotated[bool, typer.Option("--force", help="Replace a hook of gatekeeper's own.")] = False,
    ) -> int:
        """Write the pre-receive hook."""
        from gatekeeper.formats.trust import parse_trust
        from gatekeeper.wiring import engines

        parse_trust(read_input(trust, "trust file"))
        try:
            git_dir = engines.enforcer_repository(repo).git_dir
        except CouldNotCheck as error:
            raise UsageError(
                "REPOSITORY_UNREADABLE", f"There is no git repository at {str(repo)!r}: {error.message}"
            ) from error
        path = install_hook(git_dir, script(git_dir, trust.resolve(), ref or []), force=force)
        print(f"{path} written; pushes to protected refs now need a verdict that {trust} accepts.")
        return 0

    @group.command("pre-receive")
    def pre_receive(
        repo: Annotated[Path, typer.Option(help="The repository that receives the push.")],
        trust: Annotated[Path, typer.Option(help="The trust file.")],
        ref: Annotated[list[str] | None, typer.Option(help="Protected ref or glob.")] = None,
    ) -> int:
        """Judge one push: git calls this, with the updates on standard input."""
        from gatekeeper.formats.trust import parse_trust
        from gatekeeper.wiring import engines, machine

        try:
            trusted = parse_trust(read_input(trust, "trust file"))
            lines = sys.stdin.readlines(MAX_LINES * 400)
            if sys.stdin.read(1):
                raise UsageError("INPUT_TOO_LARGE", f"A push updates more than {MAX_LINES} refs; push fewer at once.")
            refs = tuple(ref) if ref else trusted.protected
            for words in judge(engines.enforcer_repository(repo), trusted, refs, lines, machine.SystemClock().now()):
                print(f"gatekeeper: {words}", file=sys.stderr)
        except GatekeeperError as error:
            print(f"gatekeeper refused: {error.message} [{error.code}]\n  {error.next_action}", file=sys.stderr)
            return 1
        return 0
