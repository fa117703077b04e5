"""Fields of requests, checked: every function takes hostile values and answers a domain value or raises `InputError`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, TypeVar
from urllib.parse import urlsplit

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from gatekeeper.errors import InputError
from gatekeeper.formats.resource_names import Kind, malformed, request_id, resource_name
from gatekeeper.workflow.service.idempotency import Request

E = TypeVar("E", bound=StrEnum)
MAX_SUBJECT = 256
MAX_COMMENT = 4096
MAX_URI = 2048
_LATEST = 253_402_300_799
"""The last second of the year 9999, where protobuf's timestamps end."""


def request_of(name: str, message: Message) -> Request:
    """What the call is recognised by when it comes again: `name` is `Service.Method`."""
    fields: Any = message
    identity = request_id(fields.request_id)
    rest = type(message)()
    rest.CopyFrom(message)
    rest.ClearField("request_id")
    digest = hashlib.sha256(rest.SerializeToString(deterministic=True)).hexdigest()
    return Request(name, identity, digest)


def text(value: str, field: str, limit: int, *, required: bool = False, lines: bool = False) -> str:
    """A text of at most `limit` bytes without control characters (`lines`: but for tabs and line ends)."""
    if len(value.encode("utf-8")) > limit:
        raise InputError(
            "INPUT_TOO_LARGE", f"The field {field} may have {limit} bytes at most.", field=field, limit=limit
        )
    if required and not value.strip():
        raise malformed(field, "set")
    kept = "\t\n\r" if lines else ""
    if any((ord(c) < 0x20 or ord(c) == 0x7F) and c not in kept for c in value):
        raise malformed(field, "a text without control characters")
    return value


def data(value: bytes, field: str, limit: int, *, required: bool = False) -> bytes:
    """Bytes of at most `limit`."""
    if len(value) > limit:
        raise InputError(
            "INPUT_TOO_LARGE", f"The field {field} may have {limit} bytes at most.", field=field, limit=limit
        )
    if required and not value:
        raise malformed(field, "set")
    return value


def optional_name(kind: Kind, value: str, field: str) -> str:
    """A resource name, or nothing."""
    return resource_name(kind, value, field) if value else ""


def word(kind: Any, value: int, field: str, *, prefix: str, required: bool = True) -> str:
    """The name of a value of the generated enum `kind` without its prefix; "" for the unspecified one where that is allowed."""
    if value not in kind.values() or (required and not value):
        known = ", ".join(n for n, v in kind.items() if v)
        raise malformed(field, f"one of {known}")
    return str(kind.Name(value)).removeprefix(prefix) if value else ""


def words(kind: Any, values: Iterable[int], field: str, *, prefix: str) -> tuple[str, ...]:
    """Names of enum values, each once, none of them unspecified."""
    return tuple(dict.fromkeys(word(kind, v, field, prefix=prefix) for v in values))


def moment(message: Message, field: str) -> float | None:
    """Seconds since the epoch of a timestamp field, None where it is unset."""
    if not message.HasField(field):
        return None
    value: Timestamp = getattr(message, field)
    if not 0 <= value.seconds <= _LATEST or not 0 <= value.nanos < 1_000_000_000:
        raise malformed(field, "a time between the years 1970 and 9999")
    return value.seconds + value.nanos / 1e9


def source_uri(value: str, field: str) -> str:
    """Where git fetches from: https, ssh or file, without credentials."""
    text(value, field, MAX_URI, required=True)
    expected = "an https, ssh or file URI without credentials, query or fragment"
    try:
        parts = urlsplit(value)
        port_fits = parts.port is None or parts.port > 0
    except ValueError:
        raise malformed(field, expected) from None
    places = {"https": bool(parts.hostname), "ssh": bool(parts.hostname), "file": parts.netloc == ""}
    good = (
        places.get(parts.scheme, False)
        and port_fits
        and parts.path.startswith("/")
        and value.isascii()
        and " " not in value
        and "\\" not in value
        and not parts.query
        and not parts.fragment
        and parts.password is None
        and (parts.username is None or parts.scheme == "ssh")
        # A host or user that begins with a dash is an option to ssh.
        and not (parts.hostname or "").startswith("-")
        and not (parts.username or "").startswith("-")
    )
    if not good:
        raise malformed(field, expected)
    return value
