"""News of verifications for all who watch: one task asks the store, however many streams are open.

A watcher has no queue: it is woken and takes the newest snapshot. So a slow client gets fewer snapshots, never stale ones,
and costs no memory.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator

from gatekeeper.api.interceptors import Gate, stopping
from gatekeeper.api.workers import Deadline
from gatekeeper.domain.records import VerificationRecord
from gatekeeper.workflow.service import verifications

FULL_LOOK_S = 0.5
"""Progress is no event: the watched ones are looked at this often even without one."""
_LOG = logging.getLogger("gatekeeper.api")


class News:
    """The newest snapshots, without reports, of what is watched."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._watched: Counter[str] = Counter()
        self._snapshots: dict[str, VerificationRecord] = {}
        self._changed = asyncio.Event()
        self.store_up = False
        """False until the store answered, and again whenever it fails."""

    async def run(self) -> None:
        """Ask the store until cancelled. Faults of the store are logged once each time it goes down."""
        seen, looked = -1, 0.0
        while True:
            try:
                newest = await self._gate.reads.run(Deadline(10.0), self._gate.service.records.latest_event)
                now = time.monotonic()
                if self._watched and (newest != seen or now - looked >= FULL_LOOK_S):
                    await self._look()
                    looked = now
                seen, self.store_up = newest, True
            except Exception as error:
                if self.store_up:
                    _LOG.error("the store cannot be asked for news: %s", type(error).__name__)
                self.store_up = False
            await asyncio.sleep(self._gate.limits.poll_s)

    async def _look(self) -> None:
        found = await self._gate.reads.run(
            Deadline(10.0), verifications.snapshots, self._gate.service, list(self._watched)
        )
        changed = False
        for name, record in found.items():
            known = self._snapshots.get(name)
            if self._watched[name] and (known is None or known.revision < record.revision):
                self._snapshots[name] = record
                changed = True
        if changed:
            self.wake()

    def wake(self) -> None:
        """Let all watchers look: there is news, or the gate stops."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def snapshots(
        self, first: VerificationRecord, after_revision: int
    ) -> AsyncGenerator[VerificationRecord, None]:
        """`first` and then what follows it, each newer than the one before, ending with a final one.

        Raises `RequestRefused` (GATE_STOPPING).
        """
        name, sent, record = first.name, after_revision, first
        self._watched[name] += 1
        try:
            while True:
                if record.state.final or record.revision > sent:
                    sent = record.revision
                    yield record
                    if record.state.final:
                        return
                changed = self._changed
                latest = self._snapshots.get(name)
                if latest is not None and latest.revision > record.revision:
                    record = latest
                    continue
                if self._gate.stopping.is_set():
                    raise stopping()
                await changed.wait()
        finally:
            self._watched[name] -= 1
            if not self._watched[name]:
                del self._watched[name]
                self._snapshots.pop(name, None)
