"""Where the command line finds its server and its token: option before environment before configuration file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

from gatekeeper.client.channel import MAX_TOKEN, Target, target_of
from gatekeeper.errors import UsageError
from gatekeeper.records import dataclass, field

KEYS = ("server", "token_file", "ca", "certificate", "key")
"""Keys of the configuration file, all text; paths are relative to the file. A token itself does not belong there."""
MAX_FILE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line said; None where it said nothing."""

    server: str | None = None
    token_file: Path | None = None
    ca: Path | None = None
    config: Path | None = None
    """Configuration file to take instead of the usual one; it must exist then."""


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    values: Mapping[str, str] = field(default_factory=dict)

    def text(self, key: str) -> str:
        return self.values.get(key, "")

    def place(self, key: str) -> Path | None:
        text = self.text(key)
        return self.path.parent / Path(text).expanduser() if text else None


def usual_file(environment: Mapping[str, str] = os.environ) -> Path:
    """`$XDG_CONFIG_HOME/gatekeeper/client.toml`, by default below `~/.config`."""
    base = environment.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(base) / "gatekeeper" / "client.toml"


def target_from(options: Options, environment: Mapping[str, str] = os.environ) -> Target:
    """The server to speak to. Raises `UsageError` (SERVER_MISSING, CLIENT_CONFIG, CREDENTIAL_MALFORMED, USAGE)."""
    file = _read(options.config or usual_file(environment), must_exist=options.config is not None)
    address = options.server or environment.get("GATEKEEPER_SERVER") or file.text("server")
    if not address:
        raise UsageError("SERVER_MISSING", "No server is named by option, environment or configuration file.")
    certificate, key = file.place("certificate"), file.place("key")
    if (certificate is None) != (key is None):
        raise UsageError("CLIENT_CONFIG", f"{str(file.path)!r} needs both certificate and key, or none of them.")
    return target_of(
        address,
        token=_token(options, environment, file),
        ca=options.ca or _place(environment, "GATEKEEPER_CA") or file.place("ca"),
        certificate=(certificate, key) if certificate and key else None,
    )


def _token(options: Options, environment: Mapping[str, str], file: _File) -> str:
    if options.token_file is not None:
        return _token_in(options.token_file)
    if token := environment.get("GATEKEEPER_TOKEN"):
        return token.strip()
    place = _place(environment, "GATEKEEPER_TOKEN_FILE") or file.place("token_file")
    return _token_in(place) if place is not None else ""


def _place(environment: Mapping[str, str], name: str) -> Path | None:
    text = environment.get(name)
    return Path(text) if text else None


def _token_in(path: Path) -> str:
    try:
        with path.open("rb") as handle:
            text = handle.read(MAX_TOKEN + 2).decode("ascii", "replace").strip()
    except OSError as error:
        raise UsageError(
            "CREDENTIAL_MALFORMED",
            f"The token file {str(path)!r} cannot be read: {error.strerror}.",
            next_action="Check the path; it comes from --token-file, GATEKEEPER_TOKEN_FILE or the configuration file.",
        ) from error
    if not text:
        raise UsageError(
            "CREDENTIAL_MALFORMED",
            f"The token file {str(path)!r} is empty.",
            next_action="Check the path, or write the token there as `gatekeeper token create` prints it.",
        )
    return text


def _read(path: Path, *, must_exist: bool) -> _File:
    try:
        with path.open("rb") as handle:
            data = handle.read(MAX_FILE + 1)
    except FileNotFoundError:
        if must_exist:
            raise UsageError("CLIENT_CONFIG", f"The configuration file {str(path)!r} does not exist.") from None
        return _File(path)
    except OSError as error:
        raise UsageError(
            "CLIENT_CONFIG", f"The configuration file {str(path)!r} cannot be read: {error.strerror}."
        ) from error
    if len(data) > MAX_FILE:
        raise UsageError("CLIENT_CONFIG", f"The configuration file {str(path)!r} is larger than {MAX_FILE} bytes.")
    try:
        rows = tomllib.loads(data.decode("utf-8"))
    except ValueError as error:
        raise UsageError("CLIENT_CONFIG", f"The configuration file {str(path)!r} is not TOML: {error}.") from error
    for key, value in rows.items():
        if key not in KEYS:
            raise UsageError(
                "CLIENT_CONFIG", f"{str(path)!r} has the unknown key {key[:80]!r}; expected {', '.join(KEYS)}."
            )
        if not isinstance(value, str) or not value:
            raise UsageError("CLIENT_CONFIG", f"{key} in {str(path)!r} must be text in quotes.")
    return _File(path, rows)
