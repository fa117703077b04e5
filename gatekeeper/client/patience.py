"""How long a client waits and how often it asks again. Pure: clock and chance come in."""

from __future__ import annotations

from collections.abc import Callable

from gatekeeper.client.failure import ApiError
from gatekeeper.records import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """Limits of one client, in seconds."""

    timeout_s: float = 10.0
    """One attempt of an ordinary call."""
    upload_s: float = 600.0
    """One attempt of an upload or a download."""
    stream_s: float = 300.0
    """One stream of a watch; after it the client attaches again, so that a dead connection is noticed."""
    retry_s: float = 30.0
    """Attempts of one call are repeated no longer than this after the first failure; a watch gives up after as long without any word."""
    return_s: float = 0.0
    """A watch of a client that heard the server before waits at least this long for its return."""
    first_pause_s: float = 0.1
    most_pause_s: float = 5.0

    def pause(self, attempt: int, chance: float) -> float:
        """Seconds before the attempt after `attempt` (counted from 0): doubling, with a part left to chance (0 to 1)."""
        whole = min(self.most_pause_s, self.first_pause_s * 2.0 ** min(attempt, 20))
        return whole * (0.5 + 0.5 * chance)


@dataclass(slots=True)
class Attempts:
    """Bookkeeping of the attempts of one call, or of a watch between two words of the server."""

    patience: Patience
    clock: Callable[[], float]
    chance: Callable[[], float]
    end: float | None = None
    """Time of `clock` after which nothing is tried, whatever the patience says."""
    count: int = 0
    started: float | None = None
    """Time of the first failure since the server was last heard."""
    met: bool = False
    """True where the server was heard before."""

    def timeout(self, usual: float) -> float:
        """Seconds for the next attempt. Raises `ApiError` (DEADLINE_PASSED) when the time is over."""
        if self.end is None:
            return usual
        now = self.clock()
        if now >= self.end:
            raise ApiError("DEADLINE_PASSED", "The time that the caller gave is over.", status="DEADLINE_EXCEEDED")
        return min(usual, self.end - now)

    def pause(self) -> float | None:
        """Seconds to wait before trying again, or None to give up."""
        now = self.clock()
        if self.started is None:
            self.started = now
        wait = self.patience.pause(self.count, self.chance())
        self.count += 1
        limit = max(self.patience.retry_s, self.patience.return_s) if self.met else self.patience.retry_s
        if now + wait - self.started > limit:
            return None
        if self.end is not None and now + wait >= self.end:
            return None
        return wait

    def heard(self) -> None:
        """The server said something new: patience begins anew."""
        self.count, self.started, self.met = 0, None, True
