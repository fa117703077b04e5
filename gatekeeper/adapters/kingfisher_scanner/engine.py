"""The native engine with its rules, as the worker process runs it: bytes in, redacted hits out.

The engine's `Validator` and `Revoker` (the only parts that open sockets) are never imported.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from gatekeeper.adapters.kingfisher_scanner import catalogue
from gatekeeper.adapters.kingfisher_scanner.placeholders import GENERIC, is_placeholder
from gatekeeper.adapters.kingfisher_scanner.views import View, views

OWN = frozenset(
    f"gatekeeper.{name}"
    for name in (
        "private-key", "assigned", "settings-line", "connection-string", "netrc", "jwt", "bearer",
        "model-provider-key", "code-host-token", "service-token", "aws-key-id",
    )
)  # fmt: skip
"""Ids that must be loaded: the engine drops a rule of low confidence in silence."""
TIMEOUT_S = 10.0
"""Wall limit of one reading of one target."""
MAX_HITS = 1000
"""Secrets of one target. With more it counts as not scanned: whatever was left out might be the one that is new."""

Row = dict[str, Any]
"""One hit: the fields of `domain.evidence.ScanHit` that the engine knows, plus `in_name`."""
Taken = tuple[Row, str]
"""A hit and its secret, which does not leave this process."""


class SecretEngine:
    """Each rule loaded once, when a text first needs it; one thread uses it."""

    def __init__(self, cache: Path, pepper: bytes) -> None:
        """Load the rules, from `cache` where it fits. Raises `ValueError` and whatever the engine raises."""
        from kingfisher_sdk import ScanInput

        self._rules = catalogue.opened(cache) or catalogue.whole(cache)
        self.cache_status = self._rules.cache_status
        missing = OWN - self._rules.ids
        if missing:
            raise ValueError(f"own secret rules were not loaded: {', '.join(sorted(missing))}")
        self._pepper = pepper
        self._input = ScanInput

    def scan(self, path: str | None, data: bytes) -> list[Row]:
        """Hits in `data` and in the name `path`. Raises what the engine raises (TimeoutError, RuntimeError, ValueError)."""
        return list(self._scan(path, data))

    def _scan(self, path: str | None, data: bytes) -> Iterator[Row]:
        taken: dict[str, Taken] = {}
        text = data.decode("utf-8", "replace")
        self._take(taken, self._found(View(text), data), View(text))
        if path is not None:
            # Some rules need the name of the file, and the path-blind call has no allow-list of names: both are merged.
            self._take(taken, self._found(View(text), data, path), View(text))
        for view in views(data):
            self._take(taken, self._found(view), view)
        if path is not None:
            named: dict[str, Taken] = {}
            self._take(named, self._found(View(path)), View(path))
            for hit in _merged(named.values()):
                yield hit | {"in_name": True}
        yield from _merged(taken.values())

    def redact(self, text: str) -> str:
        """The text with every secret that a rule sees in it made useless. Raises what the engine raises."""
        secrets: set[str] = set()
        for view in (View(text), *views(text.encode("utf-8", "replace"))):
            secrets |= {secret for _, secret, _ in _real(self._found(view), view)}
        # The longest first: one may hold another.
        for secret in sorted(secrets, key=len, reverse=True):
            digits = secret.encode("utf-8", "replace").hex()
            for written in (secret, digits, digits.upper()):
                text = text.replace(written, _redacted(secret))
        return text

    def _found(self, view: View, data: bytes | None = None, path: str | None = None) -> list[Any]:
        """What the rules see in the text, whose bytes are `data`; as the content of a file where there is a `path`."""
        data = view.text.encode("utf-8", "replace") if data is None else data
        found: list[Any] = []
        for scanner in self._rules.scanners(view.text, data):
            if path is None:
                found += scanner.scan(data, timeout=TIMEOUT_S)
            else:
                found += scanner.scan_input(self._input(path=path, data=data), timeout=TIMEOUT_S)
        return found

    def _take(self, taken: dict[str, Taken], found: Sequence[Any], view: View) -> None:
        for match, secret, line in _real(found, view):
            if len(taken) > MAX_HITS:
                raise ValueError(f"more than {MAX_HITS} secrets in one file")
            digest = self._digest(secret)
            where = match.location
            hit: Row = {
                "rule": match.rule_id,
                "line": line,
                "end_line": line + max(0, where["end_line"] - where["line"]),
                "message": match.rule_name,
                "excerpt": _redacted(secret),
                "digest": digest,
                "confidence": "medium" if match.rule_id in GENERIC else match.confidence,
                "in_name": False,
            }
            kept = taken.get(digest)
            if kept is None or _weight(hit) > _weight(kept[0]):
                taken[digest] = hit, secret.strip()

    def _digest(self, secret: str) -> str:
        # Over the secret alone: another rule that sees the same secret must not make it look new.
        mark = hmac.new(self._pepper, b"secret\x00" + secret.strip().encode("utf-8", "surrogateescape"), hashlib.sha256)
        return mark.hexdigest()


def _real(found: Sequence[Any], view: View) -> Iterator[tuple[Any, str, int]]:
    """(match, secret, original line) of what is no placeholder."""
    lines: list[str] | None = None
    for match in found:
        if not match.visible or (view.joined and match.rule_id in GENERIC):
            continue
        where = match.location
        lines = view.text.split("\n") if lines is None else lines
        first = lines[where["line"] - 1] if 0 < where["line"] <= len(lines) else ""
        secret = str(match.secret)
        at = first.find(secret[:200].split("\n", maxsplit=1)[0])
        if not is_placeholder(match.rule_id, secret, first[: max(at, 0)]):
            yield (
                match,
                secret,
                view.line(where["line"], sum(len(x) + 1 for x in lines[: where["line"] - 1]) + max(at, 0)),
            )


def _weight(hit: Row) -> tuple[bool, bool, str]:
    """Of two rules that see the same the heavier one is told; which was loaded first must make no difference."""
    return hit["confidence"] == "high", hit["rule"] not in GENERIC, hit["rule"]


def _redacted(secret: str) -> str:
    """Enough to find it again, not enough to use it: at most a quarter of a short secret is shown."""
    if "PRIVATE KEY" in secret:
        return f"[private key, {len(secret)} characters]"
    return f"{secret[: min(4, len(secret) // 4)]}[... {len(secret)} characters]"


def _merged(hits: Iterable[Taken]) -> Iterator[Row]:
    """One hit for all that lies within one secret of a line: rules that see parts of it are one fault.

    It has the digest of the longest, so that no part of what was there before looks new, and two secrets beside each
    other stay two: one of them may have been there before.
    """
    kept: dict[int, list[Taken]] = {}
    for hit, secret in sorted(hits, key=lambda taken: (-len(taken[1]), taken[0]["rule"])):
        rows = kept.setdefault(hit["line"], [])
        around = next((n for n, (_, longer) in enumerate(rows) if secret in longer), None)
        if around is None:
            rows.append((hit, secret))
        elif _weight(hit) > _weight(rows[around][0]):
            rows[around] = hit | {"digest": rows[around][0]["digest"]}, rows[around][1]
    for rows in kept.values():
        yield from (hit for hit, _ in rows)
