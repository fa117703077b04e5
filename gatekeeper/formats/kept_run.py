"""A run of a target's own code as one file, to be reused by content; and the digest that names it.

The file is the gate's own, and is read as strictly as if it were not: a field more, one less or of another type is no
run, and the run is made again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any

from gatekeeper.domain.base_run import BaseRun
from gatekeeper.domain.testrun import Engine, SuiteRun, Termination
from gatekeeper.errors import InputError
from gatekeeper.formats import strict_json

SCHEMA = "gatekeeper.kept_run/1"
MAX_BYTES = strict_json.MAX_BYTES
"""Larger runs are not kept."""
_CODE = "INPUT_MALFORMED"


def key_digest(key: BaseRun, engine: Engine) -> str:
    """Names the run: all that it is the same by, the sandbox included."""
    row = [SCHEMA, _plain(key), _plain(engine)]
    return hashlib.sha256(json.dumps(row, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def encode(digest: str, run: SuiteRun, made_at: float) -> bytes | None:
    """The file; None for a run that is not to be kept: one that was ended, brought files, or is too large."""
    if run.termination is not Termination.EXITED or run.outputs:
        return None
    row = {"schema": SCHEMA, "key": digest, "made_at": made_at, "run": _plain(dataclasses.replace(run, outputs=()))}
    data = json.dumps(row, ensure_ascii=True, allow_nan=False).encode("ascii")
    return data if len(data) <= MAX_BYTES else None


def decode(digest: str, data: bytes) -> tuple[SuiteRun, float]:
    """(run, time at which it was made). Raises `InputError` for anything but what `encode` made for this digest."""
    row = strict_json.loads(data, what="kept run", code=_CODE, max_bytes=MAX_BYTES)
    if not isinstance(row, dict) or set(row) != {"schema", "key", "made_at", "run"}:
        raise _wrong("its fields")
    if row["schema"] != SCHEMA or row["key"] != digest:
        raise _wrong("its key")
    made_at = _built(float, row["made_at"])
    run = _built(SuiteRun, row["run"])
    if run.termination is not Termination.EXITED or run.exit_code is None or run.outputs:
        raise _wrong("its end")
    return run, made_at


def _wrong(what: str) -> InputError:
    return InputError(_CODE, f"The kept run is not usable: {what} is not as it was written.")


def _plain(value: Any) -> Any:
    """JSON values; names with surrogates stay, as escapes."""
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    return value


@cache
def _fields(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _built(kind: Any, value: Any) -> Any:
    """`value` as `kind`, which is a type as the domain's dataclasses have them. Raises `InputError`."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        if value is None and types.NoneType in parts:
            return None
        (only,) = (p for p in parts if p is not types.NoneType)
        return _built(only, value)
    if origin is tuple:
        if not isinstance(value, list):
            raise _wrong("a list")
        if len(parts) == 2 and parts[1] is Ellipsis:
            return tuple(_built(parts[0], v) for v in value)
        if len(value) != len(parts):
            raise _wrong("the length of a list")
        return tuple(_built(p, v) for p, v in zip(parts, value, strict=True))
    if origin is Mapping:
        if not isinstance(value, dict):
            raise _wrong("a table")
        return {_built(parts[0], k): _built(parts[1], v) for k, v in value.items()}
    return _single(kind, value)


def _single(kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(value)
        except ValueError:
            raise _wrong(kind.__name__) from None
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = _fields(kind)
        if not isinstance(value, dict) or set(value) != {f.name for f in dataclasses.fields(kind)}:
            raise _wrong(kind.__name__)
        return kind(**{name: _built(hints[name], value[name]) for name in value})
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if kind in (str, int, bool, bytes) and type(value) is kind:
        return value
    raise _wrong("a value")
