"""`gatekeeper init`: starter files for a repository, and `--machine`: caches and a sandbox trial for this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gatekeeper.errors import UsageError

SETTINGS = """\
# Gatekeeper's settings for this repository. Only the file on the protected branch counts.
[[suite]]
name = "tests"
kind = "test"
runner = "{runner}"

[scope]
# Files that any ticket may touch.
shared = ["CHANGELOG.md"]
"""

TICKET = """\
{
  "schema": "gatekeeper.ticket/1",
  "id": "T-1",
  "title": "One line that says what shall be different",
  "goal": "What is wrong now, and how to see that it is right.",
  "allowed": ["src/**", "tests/**"],
  "forbidden": [".github/**"],
  "suites": ["tests"],
  "risk": "low",
  "permits": []
}
"""

CLAIM = """\
{
  "schema": "gatekeeper.claim/1",
  "head_sha": "the full id of the commit to judge",
  "commands": [{"cmd": "COMMAND", "exit_code": 0}],
  "junit_xml": "the whole text of report.xml",
  "summary": "What was changed and why.",
  "risks": "What could go wrong.",
  "rollback": "How to take it back."
}
"""


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def init(
        directory: Annotated[Path, typer.Argument(help="Root of the repository's work tree.")] = Path(),
        machine: Annotated[
            bool, typer.Option("--machine", help="Prepare this machine instead: caches, and a trial of the sandbox.")
        ] = False,
    ) -> int:
        """Write a starter .gatekeeper.toml, ticket.json and claim.json; existing files are left alone."""
        return _machine() if machine else _repository(directory)


def _repository(directory: Path) -> int:
    if not directory.is_dir():
        raise UsageError(
            "USAGE", f"{str(directory)!r} is not a directory.", next_action="Give the root of a work tree."
        )
    if not (directory / ".git").exists():
        raise UsageError(
            "REPOSITORY_UNREADABLE",
            f"{str(directory)!r} is not the root of a git work tree.",
            next_action="Give the directory that holds .git, or run `git init` there first.",
        )
    runner, command = _runner(directory)
    settings, claim = SETTINGS.replace("{runner}", runner), CLAIM.replace("COMMAND", command)
    for name, content in ((".gatekeeper.toml", settings), ("ticket.json", TICKET), ("claim.json", claim)):
        path = directory / name
        try:
            with path.open("x", encoding="utf-8") as handle:
                handle.write(content)
        except FileExistsError:
            print(f"kept     {path}")
            continue
        except OSError as error:
            raise UsageError(
                "USAGE",
                f"{str(path)!r} cannot be written: {error.strerror}.",
                next_action="Name a work tree that you may write to, for instance: gatekeeper init .",
            ) from error
        print(f"written  {path}")
    print(
        "Commit .gatekeeper.toml on the protected branch. Ticket and claim are no part of the repository: keep them out of\n"
        "commits. When the work is committed, its author runs the tests and writes the claim anew:\n"
        f"  gatekeeper claim --summary 'What was done' -- {_bare(command)}\n"
        "Then: gatekeeper check --repo . --head <sha> --ticket ticket.json --claim claim.json"
    )
    return 0


def _runner(directory: Path) -> tuple[str, str]:
    """(runner, command of the claim) by what lies in the root: a first guess, which the operator sees and may change."""
    if (directory / "go.mod").is_file():
        return "go", "go test -json ./... > report.json"
    package = directory / "package.json"
    if package.is_file() and not any((directory / n).exists() for n in ("pyproject.toml", "setup.py", "setup.cfg")):
        try:
            text = package.read_text(encoding="utf-8", errors="replace")[:1_000_000]
        except OSError:
            text = ""
        runner = next((r for r in ("vitest", "jest") if f'"{r}"' in text), "node")
        return runner, {"node": "node --test", "jest": "npx jest", "vitest": "npx vitest run"}[runner]
    return "pytest", "python -m pytest -q --junitxml=report.xml"


def _bare(command: str) -> str:
    """The command as words of `gatekeeper claim`: one argument where a shell is needed, pytest without its report."""
    import shlex

    command = command.removesuffix(" --junitxml=report.xml")
    return shlex.quote(command) if ">" in command else command


def _machine() -> int:
    from gatekeeper.config import paths
    from gatekeeper.wiring import machine

    where = paths()
    for words, action in machine.machine_preparations(where):
        print(f"setup: {words}", file=sys.stderr)
        action()
    return 0
