"""What all commands that speak to a server share: options, the connection, output for programs, errors in words."""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gatekeeper.cli.check import Format
from gatekeeper.errors import CouldNotCheck, GatekeeperError
from gatekeeper.records import dataclass, field

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from gatekeeper.client import Client

Server = Annotated[str | None, typer.Option("--server", help="Address of the server, host:port or unix:/path.")]
TokenFile = Annotated[Path | None, typer.Option("--token-file", help="File with the token.")]
Ca = Annotated[Path | None, typer.Option("--ca", help="PEM of the CA of the server's certificate.")]
Config = Annotated[Path | None, typer.Option("--client-config", help="Configuration file (TOML) of the client.")]
Output = Annotated[Format, typer.Option("--format", help="text for people, json for programs.")]

RETRY_S = 5.0
"""Somebody waits at a terminal: less patience than an orchestrator's."""
RETURN_S = 180.0
"""A watch outlives a restart of the server that it heard before."""


@dataclass(frozen=True)
class Place:
    """The options that say which server; None where nothing was said."""

    server: str | None = None
    token_file: Path | None = None
    ca: Path | None = None
    client_config: Path | None = None

    def over(self, other: Place) -> Place:
        """These options, and where they say nothing, those of `other`."""
        return Place(
            self.server or other.server,
            self.token_file or other.token_file,
            self.ca or other.ca,
            self.client_config or other.client_config,
        )


@dataclass
class Session:
    """One command's dealings with the server. The connection opens when it is first asked for."""

    place: Place
    as_json: bool
    _client: Client | None = field(default=None, repr=False)
    _told: bool = False

    @property
    def client(self) -> Client:
        """The client. Raises `UsageError` where no server is named or the settings are unusable."""
        if self._client is None:
            from gatekeeper.client import Client, Patience
            from gatekeeper.client.settings import Options, target_from

            place = self.place
            target = target_from(Options(place.server, place.token_file, place.ca, place.client_config))
            self._client = Client(
                target.address, token=target.token, ca=target.ca, certificate=target.certificate,
                patience=Patience(retry_s=RETRY_S, return_s=RETURN_S), sleep=self._pause,
            )  # fmt: skip
        return self._client

    def _pause(self, seconds: float) -> None:
        """Wait before the next attempt; whoever sits at the terminal is told once why nothing happens."""
        if not self._told and not self.as_json:
            self._told = True
            print("gatekeeper: the server does not answer; trying again", file=sys.stderr)
        time.sleep(seconds)

    def close(self) -> None:
        """End the connection, if there is one."""
        if self._client is not None:
            self._client.close()

    def show(self, message: Message, text: Callable[[], str]) -> None:
        """The message as one JSON object, or `text()` for people."""
        write(json_of(message) if self.as_json else text())

    def show_rows(self, messages: list[Any], header: tuple[str, ...], row: Callable[[Any], tuple[str, ...]]) -> None:
        """Many messages: one JSON object a line, or a table."""
        if self.as_json:
            for message in messages:
                write(json_of(message))
        elif messages:
            write(table([header, *(row(m) for m in messages)]))
        else:
            print("nothing found", file=sys.stderr)


def command(group: typer.Typer, name: str | None = None) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Register a function whose first parameter is a `Session`; it gets the options that all such commands have."""

    def register(function: Callable[..., int]) -> Callable[..., int]:
        own = inspect.signature(function, eval_str=True)

        def run(ctx: typer.Context, **given: Any) -> int:
            place = Place(*(given.pop(k) for k in ("server", "token_file", "ca", "client_config")))
            before = ctx.find_root().obj
            session = Session(
                place.over(before) if isinstance(before, Place) else place, given.pop("output") is Format.JSON
            )
            return carried_out(session, lambda: function(session, **given))

        shared = {
            "server": (Server, None), "token_file": (TokenFile, None), "ca": (Ca, None),
            "client_config": (Config, None), "output": (Output, Format.TEXT),
        }  # fmt: skip
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters = [
            inspect.Parameter("ctx", kind, annotation=typer.Context),
            *(p.replace(kind=kind) for p in list(own.parameters.values())[1:]),
            *(inspect.Parameter(k, kind, annotation=a, default=d) for k, (a, d) in shared.items()),
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        run.__doc__ = function.__doc__
        run.__name__ = function.__name__
        group.command(name or function.__name__)(run)
        return function

    return register


def carried_out(session: Session, action: Callable[[], int]) -> int:
    """The action's exit status, errors told: 2 for a refused request, 3 where the server could not be asked."""
    try:
        status = action()
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output went away; nothing more can be told there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 3
    except GatekeeperError as error:
        return told(error, as_json=session.as_json)
    finally:
        session.close()
    return status


_HERE = {
    "CREDENTIAL_MISSING": "Name the file with your token with --token-file FILE, or set GATEKEEPER_TOKEN (docs/cli.md).",
}
"""What to do at this command line, where the server speaks to callers of any kind."""


def next_action(error: GatekeeperError) -> str:
    """What to do, in the words of the command line where it has some of its own."""
    return _HERE.get(error.code, error.next_action)


def told(error: GatekeeperError, *, as_json: bool) -> int:
    """Say what went wrong; returns the exit status."""
    from gatekeeper.formats.text_safety import harmless

    undecided = bool(getattr(error, "undecided", isinstance(error, CouldNotCheck)))
    if as_json:
        from gatekeeper.formats.report_json import dumps

        row: dict[str, Any] = {"code": error.code, "message": error.message, "next_action": next_action(error)}
        row |= {k: getattr(error, k) for k in ("status", "metadata") if hasattr(error, k)}
        write(dumps({"error": row}))
    else:
        sys.stdout.flush()
        words = harmless(f"gatekeeper: {error.message} [{error.code}]", newlines=False)
        print(f"{words}\n  {harmless(next_action(error), newlines=False)}", file=sys.stderr)
        for key, value in getattr(error, "metadata", {}).items():
            if key != "next_action":  # said already
                print(f"  {line(key, 64)}: {line(value, 400)}", file=sys.stderr)
    return 3 if undecided else 2


def json_of(message: Message) -> str:
    """Protobuf's own JSON mapping on one line, with the names of the .proto files and no field left out; ASCII alone."""
    import json

    from google.protobuf.json_format import Error, MessageToDict

    try:
        row = MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    except (Error, ValueError, OverflowError) as error:  # a time that no calendar has
        from gatekeeper.client.failure import malformed

        raise malformed("The server's answer holds a time or a duration that is none.") from error
    return json.dumps(row, ensure_ascii=True, separators=(",", ":"))


def write(text: str) -> None:
    """One piece of output, with its line end."""
    sys.stdout.write(text + "\n")


def line(text: str, most: int = 200) -> str:
    """Text of the server for one line of a terminal."""
    from gatekeeper.formats.text_safety import harmless

    shown = harmless(text[: most + 1], newlines=False).replace("\n", " ").replace("\t", " ")
    return shown if len(text) <= most else shown[: most - 3] + "..."


def block(text: str, most: int = 64 * 1024) -> str:
    """Text of the server of several lines."""
    from gatekeeper.formats.text_safety import harmless

    return harmless(text[:most]).rstrip("\n")


def table(rows: list[tuple[str, ...]]) -> str:
    """Columns under their headings; the last one is as wide as it is."""
    shown = [tuple(line(cell, 120) for cell in row) for row in rows]
    widths = [max(len(row[i]) for row in shown) for i in range(len(shown[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in shown)


def moment(stamp: Any) -> str:
    """A timestamp of the API as people read it, UTC; a dash where it is unset."""
    if not stamp.seconds:
        return "-"
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(stamp.seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return "?"


def word(number: int, enum: Any, prefix: str) -> str:
    """Name of an enum's value in small letters; a question mark and the number for one this version does not know."""
    try:
        return str(enum.Name(number)).removeprefix(prefix).lower().replace("unspecified", "-")
    except ValueError:
        return f"?{number}"


def number(text: str, enum: Any, prefix: str, what: str) -> int:
    """The enum's value for a word of the command line. Raises `UsageError` that lists the words."""
    from gatekeeper.errors import UsageError

    name = prefix + text.upper().replace("-", "_")
    if name in enum.keys() and not name.endswith("UNSPECIFIED"):  # noqa: SIM118 (an enum wrapper is no mapping)
        return int(enum.Value(name))
    words = ", ".join(n.removeprefix(prefix).lower() for n in enum.keys() if not n.endswith("UNSPECIFIED"))  # noqa: SIM118
    raise UsageError("USAGE", f"{text[:80]!r} is no {what}.", next_action=f"Give one of {words}.")
