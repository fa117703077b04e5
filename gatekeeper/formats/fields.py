"""Typed reading of fields of a parsed JSON or TOML object, with messages that name the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatekeeper.errors import InputError


class Fields:
    """One object under inspection. Every method raises `InputError` with the code given here."""

    def __init__(self, value: Any, *, what: str, code: str) -> None:
        if not isinstance(value, Mapping):
            raise InputError(code, f"The {what} must be an object, not {_kind(value)}.")
        self.table: Mapping[str, Any] = value
        self.what = what
        self.code = code

    def refuse(self, name: str, expected: str, value: Any = None) -> InputError:
        """The error for one field."""
        got = "" if value is None else f", not {_kind(value)}"
        return InputError(self.code, f"The {self.what}'s field {name!r} must be {expected}{got}.")

    def only(self, *names: str) -> None:
        """Refuse fields with other names."""
        for name in self.table:
            if name not in names:
                raise InputError(
                    self.code,
                    f"The {self.what} has the unknown field {str(name)[:80]!r}; known are {', '.join(names)}.",
                )

    def text(self, name: str, *, limit: int, required: bool = False) -> str:
        """A string, empty where it is missing and not required."""
        value = self.table.get(name)
        if value is None and not required:
            return ""
        if not isinstance(value, str) or len(value) > limit or (required and not value.strip()):
            raise self.refuse(
                name,
                f"a text of 1 to {limit} characters" if required else f"a text of at most {limit} characters",
                value,
            )
        return value

    def texts(self, name: str, *, limit: int = 1000, length: int = 4096) -> tuple[str, ...]:
        """A list of strings, empty where it is missing."""
        value = self.table.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or len(value) > limit:
            raise self.refuse(name, f"a list of at most {limit} texts", value)
        for item in value:
            if not isinstance(item, str) or len(item) > length:
                raise self.refuse(name, f"a list of texts of at most {length} characters", item)
        return tuple(value)

    def integer(self, name: str, *, low: int = 0, high: int = 2**53) -> int | None:
        """A whole number in a range, None where it is missing."""
        value = self.table.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.refuse(name, f"a whole number from {low} to {high}", value)
        return value

    def number(self, name: str, *, low: float = 0.0, high: float = 1e12) -> float | None:
        """A number in a range, None where it is missing."""
        value = self.table.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise self.refuse(name, f"a number from {low:g} to {high:g}", value)
        return float(value)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A boolean."""
        value = self.table.get(name, default)
        if not isinstance(value, bool):
            raise self.refuse(name, "true or false", value)
        return value

    def objects(self, name: str, *, limit: int = 200) -> list[Fields]:
        """A list of objects."""
        value = self.table.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or len(value) > limit:
            raise self.refuse(name, f"a list of at most {limit} objects", value)
        return [Fields(v, what=f"{self.what}'s {name}[{i}]", code=self.code) for i, v in enumerate(value)]

    def object(self, name: str) -> Fields:
        """An object, empty where it is missing."""
        value = self.table.get(name)
        return Fields({} if value is None else value, what=f"{self.what}'s {name}", code=self.code)


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "a text", bool: "a boolean", type(None): "null"}.get(
        type(value), "a number" if isinstance(value, int | float) else type(value).__name__
    )
