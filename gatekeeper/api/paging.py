"""Page sizes and page tokens. A token is where the next page begins, bound to the query; it opens nothing by itself."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from google.protobuf.message import Message

from gatekeeper.domain.paging import is_key
from gatekeeper.domain.records import Page
from gatekeeper.errors import InputError
from gatekeeper.formats.resource_names import malformed

MAX_TOKEN = 1024
DEFAULT_SIZE, MAX_SIZE = 50, 100
DEFAULT_ROWS, MAX_ROWS = 100, 1000
"""Of events and audit entries."""


def page_of(kind: type[Any], request: Message, *, default: int = DEFAULT_SIZE, cap: int = MAX_SIZE) -> Page:
    """The page of rows of `kind` that a list request asks for. Raises `InputError` (INPUT_MALFORMED, PAGE_TOKEN_INVALID)."""
    fields: Any = request
    if fields.page_size < 0:
        raise malformed("page_size", "0 or more")
    size = min(fields.page_size or default, cap)
    return Page(size, _after(kind, fields.page_token, query(request)) if fields.page_token else None)


def token_of(after: tuple[Any, ...] | None, request: Message) -> str:
    """`next_page_token`: empty where nothing follows."""
    if after is None:
        return ""
    text = json.dumps([query(request), *after], separators=(",", ":"), allow_nan=False)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def query(request: Message) -> str:
    """What a token is bound to: all of the request but the page."""
    rest = type(request)()
    rest.CopyFrom(request)
    rest.ClearField("page_size")
    rest.ClearField("page_token")
    name = request.DESCRIPTOR.full_name.encode()
    return hashlib.sha256(name + b"\x00" + rest.SerializeToString(deterministic=True)).hexdigest()[:32]


def _after(kind: type[Any], token: str, expected: str) -> tuple[Any, ...]:
    def refuse(why: str) -> InputError:
        return InputError("PAGE_TOKEN_INVALID", f"The page token {why}.", field="page_token")

    if len(token) > MAX_TOKEN or not token.isascii():
        raise refuse("is none that this gate gave out")
    try:
        text = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_object)
    except (binascii.Error, ValueError, RecursionError):
        raise refuse("is none that this gate gave out") from None
    if not isinstance(value, list) or not value or not isinstance(value[0], str):
        raise refuse("is none that this gate gave out")
    if value[0] != expected:
        raise refuse("belongs to a list that was asked for with other fields")
    key = tuple(value[1:])
    if not is_key(kind, key):
        raise refuse("is none that this gate gave out")
    return key


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _no_object(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    raise ValueError(str(len(pairs)))
