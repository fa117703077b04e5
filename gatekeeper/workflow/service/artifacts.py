"""Artifacts: content that clients upload, named by its digest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gatekeeper.domain.principal import Caller, Role
from gatekeeper.domain.records import ArtifactRecord
from gatekeeper.errors import RequestRefused
from gatekeeper.workflow.service.service import Service, note

MAX_SIZE = {"CLAIM": 8 * 1024 * 1024, "GIT_BUNDLE": 256 * 1024 * 1024}
"""Bytes by kind."""
CHUNK = 1024 * 1024
"""Bytes of one piece, both ways."""


def upload(
    service: Service, caller: Caller, sha256: str, size: int, kind: str, chunks: Iterable[bytes]
) -> ArtifactRecord:
    """Store content whose size and digest are those announced.

    The whole content has to be sent even where it is here already: knowing a digest proves nothing. Raises `InputError`
    (ARTIFACT_SIZE, ARTIFACT_DIGEST), `CouldNotCheck` (STORAGE_FULL), and whatever `chunks` raises.
    """
    name = f"artifacts/{sha256}"
    service.blobs.write(sha256, chunks, size)
    now = service.clock.now()
    record = ArtifactRecord(name, kind, size, caller.principal.id, now, now + service.limits.artifact_life_s)
    with service.records.transaction() as tx:
        known = tx.artifact(name) is not None
        tx.add_artifact(record)
        if not known:
            note(tx, service, "artifact.stored", name, caller.principal, {"kind": kind, "size": size})
        return tx.artifact(name) or record


def open_artifact(service: Service, caller: Caller, name: str) -> tuple[ArtifactRecord, Iterator[bytes]]:
    """The artifact and its content in pieces. Raises `RequestRefused` (ARTIFACT_UNKNOWN), for agents also where somebody
    else uploaded it.
    """
    with service.records.reading() as tx:
        record = tx.artifact(name)
        uploaders = tx.artifact_uploaders(name) if record is not None else frozenset()
    privileged = {Role.OPERATOR} | ({Role.REVIEWER} if caller.principal.kind == "human" else set())
    visible = caller.principal.id in uploaders or bool(caller.roles & privileged)
    sha256 = name.removeprefix("artifacts/")
    if record is None or not visible or service.blobs.path(sha256) is None:
        raise RequestRefused("ARTIFACT_UNKNOWN", f"There is no artifact {name}.", name=name)
    return record, service.blobs.chunks(sha256, CHUNK)
