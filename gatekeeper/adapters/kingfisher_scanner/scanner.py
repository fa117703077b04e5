"""The scanner: rules loaded once, every target read in several ways, every hit redacted before it leaves.

The engine's `Validator` and `Revoker` (the only parts that open sockets) are never imported.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import threading
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from gatekeeper.adapters.kingfisher_scanner.pepper import load_pepper
from gatekeeper.adapters.kingfisher_scanner.placeholders import GENERIC, is_placeholder
from gatekeeper.adapters.kingfisher_scanner.views import View, views
from gatekeeper.domain.evidence import ScanHit, ScanReport
from gatekeeper.domain.ports import ScanTarget
from gatekeeper.errors import CouldNotCheck

RULES = Path(__file__).with_name("rules.yml")
OWN = frozenset(
    f"gatekeeper.{name}"
    for name in (
        "private-key", "assigned", "settings-line", "connection-string", "jwt", "bearer",
        "model-provider-key", "code-host-token", "service-token", "aws-key-id",
    )
)  # fmt: skip
"""Ids that must be loaded: the engine drops a rule of low confidence in silence."""
TIMEOUT_S = 10.0
MAX_HITS = 200
"""Hits kept of one target; a person needs no more of one file, and a flood must not fill the memory."""


class KingfisherScanner:
    """Implements `domain.ports.Scanner` for secrets."""

    def __init__(self, cache: Path, state: Path, pepper: bytes | None = None) -> None:
        self._cache, self._state = cache, state
        self._pepper = pepper
        self._engine: Any = None
        self._input: Any = None
        self._fault: CouldNotCheck | None = None
        self._lock = threading.Lock()
        self.cache_status = "unknown"
        """loaded, stored or bypassed once the rules are there: bypassed costs seconds at every start."""

    def start(self) -> None:
        """Begin loading the rules in the background (0.3 s from the cache); `scan` waits for it."""
        threading.Thread(target=self._start, name="secret-rules", daemon=True).start()

    def _start(self) -> None:
        try:
            self.load()
        except CouldNotCheck:
            return  # kept; the first scan raises it

    def load(self) -> None:
        """Load the rules now. Raises `CouldNotCheck` (SECRET_SCAN_FAILED, blame gate)."""
        with self._lock:
            if self._fault is not None:
                raise self._fault
            if self._engine is None:
                try:
                    self._engine = self._make()
                except CouldNotCheck as fault:
                    self._fault = fault
                    raise
                except Exception as error:
                    self._fault = CouldNotCheck("SECRET_SCAN_FAILED", f"The secret rules cannot be loaded: {error}")
                    raise self._fault from error

    def _make(self) -> Any:
        if self._pepper is None:
            self._pepper = load_pepper(self._state)
        from kingfisher_sdk import Rules, ScanInput
        from kingfisher_sdk import Scanner as Engine

        self._cache.mkdir(parents=True, exist_ok=True)
        cache = self._cache / f"secret-rules-{os.geteuid()}"
        cache.mkdir(mode=0o700, exist_ok=True)
        rules = Rules([RULES], cache_dir=cache)
        self.cache_status = rules.cache_status
        missing = OWN - {row["id"] for row in rules.metadata()}
        if missing:
            raise CouldNotCheck(
                "SECRET_SCAN_FAILED", f"Own secret rules were not loaded: {', '.join(sorted(missing))}."
            )
        self._input = ScanInput
        # Without a policy no comment in the text can switch a finding off.
        return Engine(rules, base64=True)

    def scan(self, targets: Sequence[ScanTarget]) -> ScanReport:
        """See the port. A target whose scan fails or runs out of time is missing from `scanned`."""
        self.load()
        hits: list[ScanHit] = []
        scanned: list[str] = []
        errors: list[str] = []
        done: dict[tuple[str, str | None], list[ScanHit]] = {}
        for target in targets:
            key = (hashlib.sha256(target.data).hexdigest(), target.path)
            try:
                if key not in done:
                    done[key] = list(self._one(target))
            except Exception as error:  # the engine raises TimeoutError, RuntimeError, ValueError
                errors.append(f"{target.name}: {type(error).__name__}")
                continue
            hits += [_of(hit, target) for hit in done[key]]
            scanned.append(target.name)
        return ScanReport(
            "kingfisher",
            metadata.version("kingfisher-secret-scanner"),
            tuple(t.name for t in targets),
            tuple(scanned),
            tuple(hits),
            tuple(errors),
        )

    def _one(self, target: ScanTarget) -> Iterator[ScanHit]:
        taken: dict[str, ScanHit] = {}
        text = target.data.decode("utf-8", "replace")
        self._take(taken, self._engine.scan(target.data, timeout=TIMEOUT_S), View(text))
        if target.path is not None:
            # Some rules need the name of the file, and the path-blind call has no allow-list of names: both are merged.
            name = target.path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            source = self._input(path=name, data=target.data)
            self._take(taken, self._engine.scan_input(source, timeout=TIMEOUT_S), View(text))
        for view in views(target.data):
            self._take(taken, self._engine.scan(view.text.encode("utf-8", "replace"), timeout=TIMEOUT_S), view)
        if target.path is not None:
            named: dict[str, ScanHit] = {}
            self._take(
                named, self._engine.scan(target.path.encode("utf-8", "replace"), timeout=TIMEOUT_S), View(target.path)
            )
            for hit in named.values():
                yield _replace(hit, metadata={"where": "name"})
        yield from _merged(taken.values())

    def _take(self, taken: dict[str, ScanHit], found: Sequence[Any], view: View) -> None:
        lines: list[str] | None = None
        for match in found:
            if not match.visible or len(taken) >= MAX_HITS or (view.joined and match.rule_id in GENERIC):
                continue
            where = match.location
            lines = view.text.split("\n") if lines is None else lines
            first = lines[where["line"] - 1] if 0 < where["line"] <= len(lines) else ""
            secret = str(match.secret)
            at = first.find(secret[:200].split("\n", maxsplit=1)[0])
            if is_placeholder(match.rule_id, secret, first[: max(at, 0)]):
                continue
            digest = self._digest(secret)
            line = view.line(where["line"], sum(len(x) + 1 for x in lines[: where["line"] - 1]) + max(at, 0))
            hit = ScanHit(
                rule=match.rule_id,
                path=None,
                line=line,
                end_line=line + max(0, where["end_line"] - where["line"]),
                message=match.rule_name,
                excerpt=_redacted(secret),
                digest=digest,
                confidence="medium" if match.rule_id in GENERIC else match.confidence,
            )
            kept = taken.get(digest)
            if kept is None or _weight(hit) > _weight(kept):
                taken[digest] = hit

    def _digest(self, secret: str) -> str:
        # Over the secret alone: another rule that sees the same secret must not make it look new.
        mark = hmac.new(
            self._pepper or b"", b"secret\x00" + secret.strip().encode("utf-8", "surrogateescape"), hashlib.sha256
        )
        return mark.hexdigest()


def _weight(hit: ScanHit) -> tuple[bool, bool]:
    return hit.confidence == "high", hit.rule not in GENERIC


def _redacted(secret: str) -> str:
    """Enough to find it again, not enough to use it: at most a quarter of a short secret is shown."""
    shown = "" if "PRIVATE KEY" in secret else secret[: min(4, len(secret) // 4)]
    kind = "private key" if "PRIVATE KEY" in secret else "characters"
    return f"{shown}[... {len(secret)} {kind}]" if kind == "characters" else f"[{kind}, {len(secret)} characters]"


def _merged(hits: Sequence[ScanHit] | Any) -> Iterator[ScanHit]:
    """One hit a line: two rules that see parts of one credential are one fault."""
    best: dict[int, ScanHit] = {}
    for hit in hits:
        kept = best.get(hit.line)
        if kept is None or _weight(hit) > _weight(kept):
            best[hit.line] = hit
    yield from best.values()


def _replace(hit: ScanHit, **changed: Any) -> ScanHit:
    from dataclasses import replace

    return replace(hit, **changed)


def _of(hit: ScanHit, target: ScanTarget) -> ScanHit:
    # A secret in a file's name must not travel as a path either.
    path = None if hit.metadata.get("where") == "name" else target.path
    return _replace(hit, path=path, commit=target.commit)
