"""`gatekeeper completion`: the script that makes a shell complete commands and options."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Annotated

import typer

VARIABLES = {"gatekeeper": "_GATEKEEPER_COMPLETE", "gk": "_GK_COMPLETE"}
"""By program: how its script tells the program that a shell is asking."""


class Shell(StrEnum):
    """Shells that typer knows to complete for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def completion(
        shell: Annotated[Shell, typer.Argument(help="bash, zsh or fish.")],
    ) -> int:
        """Print a shell's completion script: eval "$(gatekeeper completion bash)"."""
        from typer._completion_shared import get_completion_script

        for program, variable in VARIABLES.items():
            print(get_completion_script(prog_name=program, complete_var=variable, shell=shell.value))
        return 0


def asked() -> bool:
    """True where a shell asks for completions, not a person for a command."""
    return any(v in os.environ for v in VARIABLES.values())


def set_up() -> None:
    """Let typer answer in the ways of the three shells."""
    from typer._completion_classes import completion_init

    completion_init()
