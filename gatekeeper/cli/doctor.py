"""`gatekeeper doctor`: what is configured, there, reachable and missing on this machine, and what to do about it.

Connects to nothing but the OPA server that the settings name; makes no key and signs nothing.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated

import typer

from gatekeeper.cli.check import Format

_MARKS = {"ok": "ok     ", "note": "note   ", "missing": "MISSING"}


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def doctor(
        output: Annotated[Format, typer.Option("--format", help="text for people, json for programs.")] = Format.TEXT,
    ) -> int:
        """Say what is configured, reachable and missing, and what to do.

        Exit status: 0 all that is needed is there, 1 something needed is missing.
        """
        from gatekeeper.config import paths
        from gatekeeper.diagnose import diagnoses

        found = list(diagnoses(paths()))
        well = all(d.state != "missing" for d in found)
        if output is Format.JSON:
            rows = [dataclasses.asdict(d) for d in found]
            print(json.dumps({"schema": "gatekeeper.doctor/1", "well": well, "checks": rows}))
        else:
            for d in found:
                print(f"{_MARKS[d.state]} {d.name:<17} {d.message}")
                if d.todo:
                    print(f"{'':<26}-> {d.todo}")
            print("all that is needed is there" if well else "something that is needed is missing")
        return 0 if well else 1
