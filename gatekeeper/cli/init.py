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
runner = "pytest"

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
  "commands": [{"cmd": "python -m pytest -q --junitxml=report.xml", "exit_code": 0}],
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
    for name, content in ((".gatekeeper.toml", SETTINGS), ("ticket.json", TICKET), ("claim.json", CLAIM)):
        path = directory / name
        try:
            with path.open("x", encoding="utf-8") as handle:
                handle.write(content)
        except FileExistsError:
            print(f"kept     {path}")
            continue
        except OSError as error:
            raise UsageError("USAGE", f"{str(path)!r} cannot be written: {error.strerror}.") from error
        print(f"written  {path}")
    print(
        "Commit .gatekeeper.toml on the protected branch. Ticket and claim are no part of the repository: keep them out of\n"
        "commits. Then: gatekeeper check --repo . --head <sha> --ticket ticket.json --claim claim.json"
    )
    return 0


def _machine() -> int:
    from gatekeeper.config import paths
    from gatekeeper.wiring import machine

    where = paths()
    for words, action in machine.machine_preparations(where):
        print(f"setup: {words}", file=sys.stderr)
        action()
    return 0
