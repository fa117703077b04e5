"""The one root error, its few kinds, and the registry of reason codes (`codes.toml`).

Every refusal anywhere carries a stable UPPER_SNAKE code. The registry says for each code its category, its default
effect, who is to blame, what it means and what to do; the docs are made from the same file. Nothing here does I/O
except reading that packaged file once.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gatekeeper.records import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """One entry of `codes.toml`."""

    code: str
    category: str
    effect: str
    """Default effect: blocks, asks or advises."""
    blame: str
    """Default blame: change, environment, gate, or none (a plain finding about the change)."""
    meaning: str
    next_action: str


class _Reasons(Mapping[str, Reason]):
    """The registry, an entry read when it is asked for: a check needs a handful of some three hundred."""

    def __init__(self, text: str) -> None:
        parts = [part.partition("]\n") for part in text.split("\n[")[1:]]
        self._raw = {code: body for code, _, body in parts}
        self._read: dict[str, Reason] = {}

    def __getitem__(self, code: str) -> Reason:
        found = self._read.get(code)
        if found is None:
            row = tomllib.loads(self._raw[code])
            found = Reason(code, row["category"], row["effect"], row["blame"], row["meaning"], row["next_action"])
            self._read[code] = found
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def __contains__(self, code: object) -> bool:
        return code in self._raw


@cache
def reasons() -> Mapping[str, Reason]:
    """All registered reasons by code. An entry that lacks a field raises `KeyError` (a packaging fault)."""
    return _Reasons(Path(__file__).with_name("codes.toml").read_text(encoding="utf-8"))


def reason(code: str) -> Reason:
    """The registered reason; an unknown code is a programming fault and raises `KeyError` with the code."""
    try:
        return reasons()[code]
    except KeyError:
        raise KeyError(f"{code} is not in codes.toml") from None


class GatekeeperError(Exception):
    """Root of all errors the gate raises on purpose.

    `code` is in `codes.toml`; `message` says what was wrong, what was got and what was expected, in one or two
    sentences; `next_action` says what to do and defaults to the registry's; `details` is small JSON-able metadata.
    """

    def __init__(self, code: str, message: str, *, next_action: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.next_action = next_action if next_action is not None else reason(code).next_action
        self.details = details

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"

    def __reduce__(self) -> tuple[Any, ...]:
        # Steps cross process boundaries in the durable engine; keyword-only state does not pickle by default.
        return (_rebuild, (type(self), self.message, dict(self.__dict__)))


def _rebuild(kind: type[GatekeeperError], message: str, state: dict[str, Any]) -> GatekeeperError:
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    error.__dict__.update(state)
    return error


class InputError(GatekeeperError):
    """Hostile or malformed bytes: a ticket, claim, report, settings file, envelope. The author's to mend."""


class UsageError(GatekeeperError):
    """The caller asked for something impossible: exit status 2, nothing was judged."""


class RequestRefused(GatekeeperError):
    """The service did not carry out a request: not allowed, not there, or not now. Nothing was stored."""


class CouldNotCheck(GatekeeperError):
    """Something could not be checked. Never a pass.

    `blame` is "change", "environment" or "gate"; it defaults to the registry's blame for the code.
    """

    def __init__(
        self, code: str, message: str, *, blame: str | None = None, next_action: str | None = None, **details: Any
    ) -> None:
        super().__init__(code, message, next_action=next_action, **details)
        self.blame = blame if blame is not None else reason(code).blame


class NotMergeable(GatekeeperError):
    """Head cannot be merged into the target tip (conflict, unrelated histories, nothing to merge)."""


class VerificationRefused(GatekeeperError):
    """An attestation does not prove what the enforcer demands. The code says which demand failed."""


class ConfigurationError(GatekeeperError):
    """The operator's configuration, policy bundle, key or trust file is unusable. Blame gate."""
