"""Canonical JSON (RFC 8785) and digests over it."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785

from gatekeeper.errors import InputError


def canonical(value: Any) -> bytes:
    """The one byte form of `value`. Raises `InputError` (INPUT_MALFORMED) for what RFC 8785 cannot express."""
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, RecursionError, UnicodeEncodeError) as error:
        raise InputError("INPUT_MALFORMED", f"The value has no canonical JSON form: {error}.") from error


def digest(value: Any) -> str:
    """sha256 of the canonical form, lowercase hex."""
    return hashlib.sha256(canonical(value)).hexdigest()
