"""What one client may use of the gate, and the counters that hold it to that."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from gatekeeper.errors import RequestRefused
from gatekeeper.records import dataclass

MAX_PRINCIPALS = 10_000


@dataclass(frozen=True, slots=True)
class ApiLimits:
    """Caps of the API; those of single requests are in `permissions.RULES`."""

    calls_per_s: float = 100.0
    """Calls of one principal, in the long run."""
    burst: int = 300
    """Calls of one principal at once."""
    calls: int = 200
    """Calls of one principal that are open at once, streams included."""
    refusals_per_s: float = 1.0
    """Refusals by role of one principal that the audit log takes, in the long run."""
    refusals_burst: int = 100
    watches: int = 100
    """Streams of WatchVerification of one principal."""
    uploads: int = 4
    """Uploads of one principal."""
    all_uploads: int = 16
    """Uploads of everybody: each keeps a thread."""
    health_watches: int = 32
    """Streams of the health service, which nobody needs a credential for."""
    all_calls: int = 512
    """Calls of everybody that are open at once, streams included."""
    chunk_wait_s: float = 30.0
    """Longest pause between two messages of a request."""
    credential_cache_s: float = 1.0
    """How late a revocation can come."""
    read_threads: int = 6
    write_threads: int = 3
    waiting: int = 256
    """Calls that wait for a thread."""
    poll_s: float = 0.1
    """How often the store is asked for news."""


class RateLimiter:
    """One token bucket a principal."""

    def __init__(self, per_s: float, burst: int) -> None:
        self._per_s, self._burst = per_s, burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, principal: str) -> None:
        """Count one call. Raises `RequestRefused` (RATE_LIMITED)."""
        now = time.monotonic()
        left, since = self._buckets.pop(principal, (float(self._burst), now))
        left = min(float(self._burst), left + (now - since) * self._per_s)
        self._buckets[principal] = (max(0.0, left - 1.0), now)
        while len(self._buckets) > MAX_PRINCIPALS:
            self._buckets.popitem(last=False)
        if left < 1.0:
            raise RequestRefused(
                "RATE_LIMITED",
                f"At most {self._per_s:g} calls a second are answered.",
                retry_after_s=f"{(1.0 - left) / self._per_s:.2f}",
            )


class Slots:
    """How many of something each principal has open."""

    def __init__(self, code: str, what: str, each: int, together: int | None = None) -> None:
        self._code, self._what, self._each, self._together = code, what, each, together
        self._open: Counter[str] = Counter()

    @contextmanager
    def taken(self, principal: str) -> Iterator[None]:
        """One more for as long as the block runs. Raises `RequestRefused` with the code given."""
        if self._open[principal] >= self._each:
            raise RequestRefused(self._code, f"You have {self._each} {self._what} open.", limit=self._each)
        if self._together is not None and self._open.total() >= self._together:
            raise RequestRefused(self._code, f"The gate has {self._together} {self._what} open.", limit=self._together)
        self._open[principal] += 1
        try:
            yield
        finally:
            self._open[principal] -= 1
            if not self._open[principal]:
                del self._open[principal]
