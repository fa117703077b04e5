"""Records to rows and back, by the types of the fields: plain values as they are, everything else as JSON text."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Hashable, Mapping
from dataclasses import asdict, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, cast

R = TypeVar("R")
PLAIN = (str, int, float, bool, bytes)


def to_row(record: Any) -> dict[str, Any]:
    """Column values of a record. Raises `ValueError` and `TypeError` for what JSON cannot hold."""
    return {
        name: write(getattr(record, name)) for name, (write, _) in _converters(cast("Hashable", type(record))).items()
    }


def from_row(kind: type[R], row: Mapping[Any, Any], absent: Mapping[str, Any] | None = None) -> R:
    """A record from a row; `absent` has the values of columns that were not read.

    Raises `ValueError`, `TypeError`, `KeyError` or `AttributeError` for a row that no record was.
    """
    values = dict(absent or {})
    for name, (_, read) in _converters(cast("Hashable", kind)).items():
        if name not in values:
            values[name] = read(row[name])
    return kind(**values)


Converter = tuple[Callable[[Any], Any], Callable[[Any], Any]]


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


@cache
def _converters(kind: Any) -> dict[str, Converter]:
    hints = _hints(kind)
    return {f.name: _converter(hints[f.name]) for f in fields(kind)}


def _converter(hint: Any) -> Converter:
    """(to column, from column) for one type."""
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        (inner,) = (a for a in typing.get_args(hint) if a is not type(None))
        write, read = _converter(inner)
        return (lambda v: None if v is None else write(v)), (lambda v: None if v is None else read(v))
    if hint is float:
        return float, float
    if hint is bool:
        return bool, _read_bool
    if hint is bytes:
        return bytes, bytes
    if hint in PLAIN:
        return hint, _typed(hint)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return (lambda v: hint(v).value), hint
    return (lambda v: dumps(_plain(v))), (lambda v: _shaped(hint, json.loads(v)))


def dumps(value: Any) -> str:
    """Compact JSON in ASCII: the same bytes in every database. Raises `ValueError` for NaN and infinities."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"), sort_keys=False)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {k: _plain(v) for k, v in asdict(value).items()}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    return value


def _shaped(hint: Any, value: Any) -> Any:
    """JSON values in the shape that the type of the field names."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        return tuple(_shaped(arguments[0], v) for v in _typed(list)(value))
    if origin is frozenset:
        return frozenset(_shaped(arguments[0], v) for v in _typed(list)(value))
    if is_dataclass(hint) and isinstance(hint, type):
        names = _hints(hint)
        return hint(**{k: _shaped(names[k], v) for k, v in _typed(dict)(value).items()})
    return value


def _typed(kind: type[Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise TypeError(f"a {kind.__name__} is expected, not a {type(value).__name__}")
        return value

    return read


def _read_bool(value: Any) -> bool:
    if value in (0, 1):
        return bool(value)
    raise TypeError("a truth value is expected")
