"""The enforcer's trust file (TOML), parsed strictly: an unknown key is an error, since a misspelt limit limits nothing."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gatekeeper.domain.trust import Identity, PublicKey, Trust, TrustedPolicy, TrustedReviewer, TrustedSigner
from gatekeeper.errors import ConfigurationError
from gatekeeper.formats.signatures import parse_public_key

MAX_TRUST = 256 * 1024
MODES = ("enforced", "shadow", "local")
TOP = {"repositories", "protected", "waivers", "max_age_s", "clock_skew_s", "signer", "policy", "reviewer"}
SHA256 = re.compile(r"[0-9a-f]{64}")
REVISION = re.compile(r"v?[0-9]{1,18}(\.[0-9]{1,18})*", re.ASCII)
T = TypeVar("T")


def _bad(message: str) -> ConfigurationError:
    return ConfigurationError("TRUST_MALFORMED", f"The trust file cannot be used: {message}.")


def parse_trust(data: bytes) -> Trust:
    """Parse. Raises `ConfigurationError` (TRUST_MALFORMED) that names the place."""
    if len(data) > MAX_TRUST:
        raise _bad(f"it is larger than {MAX_TRUST} bytes")
    try:
        table = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise _bad(f"it is not TOML ({error})") from None
    _known(table, TOP, "the top level")
    trust = Trust(
        repositories=_texts(table, "repositories", None),
        signers=_rows(table, "signer", _signer),
        policies=_rows(table, "policy", _policy),
        reviewers=_rows(table, "reviewer", _reviewer),
        waivers=_texts(table, "waivers", ()),
        max_age_s=_seconds(table, "max_age_s", 7 * 86400.0),
        clock_skew_s=_seconds(table, "clock_skew_s", 60.0),
        protected=_texts(table, "protected", ("refs/heads/main",)),
    )
    for word, rows in (
        ("repositories", trust.repositories),
        ("[[signer]]", trust.signers),
        ("[[policy]]", trust.policies),
    ):
        if not rows:
            raise _bad(f"{word} is missing or empty, so nothing could be proven")
    if not trust.protected or any(not r.startswith("refs/") for r in trust.protected):
        raise _bad("protected must list full ref names such as refs/heads/main")
    if {s.key.der for s in trust.signers if isinstance(s.key, PublicKey)} & {r.key.der for r in trust.reviewers}:
        raise _bad("a reviewer has the key of a gate; a gate must not approve what it judges")
    return trust


def _known(row: Mapping[str, Any], names: set[str], place: str) -> None:
    for name in row:
        if name not in names:
            raise _bad(f"unknown key {name[:60]!r} in {place}")


def _rows(table: Mapping[str, Any], name: str, make: Callable[[Mapping[str, Any]], T]) -> tuple[T, ...]:
    rows = table.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(r, dict) for r in rows):
        raise _bad(f"{name} must be written as [[{name}]]")
    return tuple(make(r) for r in rows)


def _texts(row: Mapping[str, Any], name: str, default: tuple[str, ...] | None) -> tuple[str, ...]:
    value = row.get(name, default)
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) and v for v in value):
        raise _bad(f"{name} must be a list of texts")
    return tuple(value)


def _text(row: Mapping[str, Any], name: str, place: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise _bad(f"{name} of {place} must be a text")
    return value


def _seconds(row: Mapping[str, Any], name: str, default: float) -> float:
    value = row.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 10 * 366 * 86400:
        raise _bad(f"{name} must be a number of seconds, at most ten years")
    return float(value)


def _signer(row: Mapping[str, Any]) -> TrustedSigner:
    _known(row, {"public_key", "issuer", "subject", "trusted_root", "verifier_id", "modes"}, "[[signer]]")
    modes = _texts(row, "modes", ("enforced",))
    if not modes or any(m not in MODES for m in modes):
        raise _bad(f"modes of [[signer]] must be among {', '.join(MODES)}")
    if "shadow" in modes:
        raise _bad("mode shadow never lets anything land")
    return TrustedSigner(_signing_party(row), _text(row, "verifier_id", "[[signer]]"), modes)


def _signing_party(row: Mapping[str, Any]) -> PublicKey | Identity:
    keyless = {"issuer", "subject", "trusted_root"} & set(row)
    if not keyless:
        return parse_public_key(_text(row, "public_key", "[[signer]]"))
    if "public_key" in row:
        raise _bad("[[signer]] has a public_key or issuer, subject and trusted_root, not both")
    issuer, subject, root = (_text(row, name, "[[signer]]") for name in ("issuer", "subject", "trusted_root"))
    if not root.startswith("/"):
        raise _bad("trusted_root of [[signer]] must be an absolute path")
    return Identity(issuer, subject, root)


def _policy(row: Mapping[str, Any]) -> TrustedPolicy:
    _known(row, {"name", "digests", "minimum_revision"}, "[[policy]]")
    digests = _texts(row, "digests", ())
    if any(not SHA256.fullmatch(d) for d in digests):
        raise _bad("digests of [[policy]] must be sha256 in lowercase hex")
    minimum = row.get("minimum_revision")
    if minimum is not None and (not isinstance(minimum, str) or not REVISION.fullmatch(minimum)):
        raise _bad("minimum_revision of [[policy]] must be numbers with dots, such as 1.4")
    if not digests and minimum is None:
        raise _bad("[[policy]] needs digests or minimum_revision")
    return TrustedPolicy(_text(row, "name", "[[policy]]"), digests, minimum)


def _reviewer(row: Mapping[str, Any]) -> TrustedReviewer:
    _known(row, {"principal", "public_key"}, "[[reviewer]]")
    key = parse_public_key(_text(row, "public_key", "[[reviewer]]"))
    return TrustedReviewer(_text(row, "principal", "[[reviewer]]").strip(), key)
