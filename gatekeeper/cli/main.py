"""Entry point: one Typer application, one module a command group, errors turned into exit statuses in one place."""

from __future__ import annotations

import importlib
import os
import sys

# Typer would import rich for its help pages, which costs more than everything else together; plain help is readable.
os.environ.setdefault("TYPER_USE_RICH", "0")

import typer

from gatekeeper import __version__
from gatekeeper.cli import completion
from gatekeeper.cli.connection import Ca, Config, Place, Server, TokenFile
from gatekeeper.errors import CouldNotCheck, GatekeeperError

EXIT_REFUSED, EXIT_USAGE, EXIT_COULD_NOT_CHECK = 1, 2, 3


def _version(wanted: bool) -> None:
    if wanted:
        print(f"gatekeeper {__version__}")
        raise typer.Exit


COMMANDS = {
    "check": "check", "verify": "verify", "review": "review", "hook": "hook", "key": "key", "init": "init",
    "submit": "submit", "cancel": "submit", "watch": "watch", "list": "listing", "show": "listing",
    "ticket": "ticket", "change": "change", "attestation": "attestation", "repo": "repo", "usage": "usage",
    "events": "usage", "serve": "serve", "token": "token", "audit": "audit", "doctor": "doctor",
    "completion": "completion",
}  # fmt: skip
"""Module of each command, in the order in which help lists them."""


def build(only: str | None = None) -> typer.Typer:
    """The application with all commands registered, or with those of the module of `only` alone.

    Heavy imports wait inside the commands; a command that is named first need not pay for the others' modules either.
    """
    app = typer.Typer(
        name="gatekeeper",
        help="A verification gate for changes written by coding agents (not OPA Gatekeeper).\n\n"
        "Exit status: 0 accepted or proven, 1 rejected or refused, 2 usage, 3 undecided, 4 a person must decide.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def options(
        ctx: typer.Context,
        version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
        config: str = typer.Option("", "--config", help="The gate's settings file (docs/configuration.md)."),
        server: Server = None,
        token_file: TokenFile = None,
        ca: Ca = None,
        client_config: Config = None,
    ) -> None:
        """Options of the program itself; those of the server can stand behind the command as well."""
        ctx.obj = Place(server, token_file, ca, client_config)
        del version  # its callback has done its work
        if config:
            os.environ["GATEKEEPER_CONFIG"] = config

    for module in dict.fromkeys(COMMANDS.values()) if only is None else (COMMANDS[only],):
        importlib.import_module(f"gatekeeper.cli.{module}").register(app)
    return app


def main() -> int:
    """Run the command line; returns the exit status. A typed error is told in words, a crash never passes."""
    try:
        if level := os.environ.get("GATEKEEPER_LOG"):
            from gatekeeper.observability import set_up_logging

            set_up_logging(level)
        first = sys.argv[1] if len(sys.argv) > 1 and not completion.asked() else None
        if completion.asked():
            completion.set_up()
        code = build(first if first in COMMANDS else None)(standalone_mode=False)
    except GatekeeperError as error:
        print(f"gatekeeper: {error.message} [{error.code}]\n  {error.next_action}", file=sys.stderr)
        return EXIT_COULD_NOT_CHECK if isinstance(error, CouldNotCheck) else EXIT_USAGE
    except typer.Exit as done:
        return done.exit_code
    except (KeyboardInterrupt, typer.Abort):
        print("gatekeeper: interrupted; nothing was decided.", file=sys.stderr)
        return EXIT_COULD_NOT_CHECK
    except Exception as error:
        return _told(error)
    return code if isinstance(code, int) else 0


def _told(error: Exception) -> int:
    """Words and status for what is not one of our own errors: usage problems of the parser, or a crash."""
    show = getattr(error, "show", None)
    if callable(show) and hasattr(error, "exit_code"):
        show(file=sys.stderr)
        return int(error.exit_code)
    if os.environ.get("GATEKEEPER_LOG"):
        import logging

        logging.getLogger("gatekeeper.cli").error("internal fault", exc_info=error)
    if os.environ.get("GATEKEEPER_DEBUG"):
        raise error
    from gatekeeper.observability import redacted

    words = redacted(f"{type(error).__name__}: {error}")
    print(
        f"gatekeeper: internal fault, nothing was decided: {words} [GATE_CRASHED]\n"
        "  Run again with GATEKEEPER_DEBUG=1 for the details, and report them to the gate's operator.",
        file=sys.stderr,
    )
    return EXIT_COULD_NOT_CHECK
