"""What a watch makes of the server's snapshots, apart from how they come: order, identity, the end. Pure."""

from __future__ import annotations

from gatekeeper.api.v1.verification_pb2 import Verification
from gatekeeper.client.failure import malformed
from gatekeeper.client.words import is_final


class Watched:
    """Snapshots of one verification over all streams of a watch."""

    def __init__(self, name: str, after_revision: int = 0) -> None:
        self.name = name
        self.after = after_revision
        self.final = False

    def takes(self, snapshot: Verification) -> bool:
        """True where the snapshot is news. Raises `ApiError` for one of another verification."""
        if snapshot.name != self.name:
            raise malformed("The server sent a snapshot of another verification than the one watched.")
        self.final = is_final(snapshot)
        if snapshot.revision <= self.after and not self.final:
            return False  # stale or repeated: a snapshot is whole, nothing is lost
        self.after = max(self.after, snapshot.revision)
        return True
