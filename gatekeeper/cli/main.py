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
    "check": ("check", "Judge one change here, without a server."),
    "verify": ("verify", "Prove offline that a commit has a signed verdict."),
    "claim": ("claim", "Run the tests as the author, and write claim.json."),
    "review": ("review", "Look at a change and decide: approve, or ask for changes."),
    "hook": ("hook", "Make a git server demand the signed verdict."),
    "key": ("key", "Keys and trust files."),
    "init": ("init", "Starter files for a repository; caches of a machine."),
    "submit": ("submit", "Submit one head of a change to the server."),
    "watch": ("watch", "Watch verifications until all are final."),
    "list": ("listing", "List changes or verifications, newest first."),
    "show": ("listing", "Show a verdict: reasons, runs, what to do next."),
    "cancel": ("submit", "Cancel a verification that is not final."),
    "ticket": ("ticket", "Plans: create, show, list, approve, reject, amend."),
    "change": ("change", "Pieces of work: show, list, abandon, question."),
    "attestation": ("attestation", "Signed statements: get, list, fetch for a hook."),
    "repo": ("repo", "Repositories of the gate: register, show, list."),
    "usage": ("usage", "Report what models consumed."),
    "events": ("usage", "Print the record of state changes."),
    "serve": ("serve", "Run the gate as a service."),
    "token": ("token", "Credentials of the service, on its own machine."),
    "audit": ("audit", "The record of every decision, on its own machine."),
    "flakes": ("flakes", "Tests known to be flaky: list, own, forget; on this machine."),
    "doctor": ("doctor", "Say what is configured, reachable and missing."),
    "completion": ("completion", "Print the completion script of a shell."),
}
"""By command: its module, and the line in `gatekeeper --help`, in the order there."""


def build(only: str | None = None) -> typer.Typer:
    """The application with all commands, with those of the module of the command `only`, or for `only` = "" with their names alone.

    Heavy imports wait inside the commands; whoever names a command first, or asks for the list, need not pay for the rest.
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

    if only is not None and only not in COMMANDS:
        for name, (_, words) in COMMANDS.items():
            app.command(name, help=words)(lambda: None)
        return app
    modules = [module for name, (module, _) in COMMANDS.items() if only in (None, name)]
    for module in dict.fromkeys(modules):
        importlib.import_module(f"gatekeeper.cli.{module}").register(app)
    return app


def _needed() -> str | None:
    """What `build` must register for this command line."""
    if completion.asked():
        completion.set_up()
        return None
    words = sys.argv[1:]
    if words in ([], ["--help"], ["-h"], ["--version"]):
        return ""
    return words[0] if words[0] in COMMANDS else None


def main() -> int:
    """Run the command line; returns the exit status. A typed error is told in words, a crash never passes."""
    try:
        if level := os.environ.get("GATEKEEPER_LOG"):
            from gatekeeper.observability import set_up_logging

            set_up_logging(level)
        code = build(_needed())(standalone_mode=False)
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
