"""What is uploaded: bytes, a file or JSON values, hashed once and cut into chunks without holding a large file in memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from gatekeeper.api.v1.artifact_pb2 import Artifact
from gatekeeper.api.v1.artifacts_pb2 import ArtifactHeader, UploadArtifactRequest
from gatekeeper.errors import UsageError
from gatekeeper.records import dataclass

MAX_INLINE = 1024 * 1024
"""Bytes of a claim that goes inside the request; a larger one is uploaded."""
CHUNK = 1024 * 1024
CAPS = {Artifact.KIND_CLAIM: 8 * 1024 * 1024, Artifact.KIND_GIT_BUNDLE: 256 * 1024 * 1024}
"""The API's own caps, known here so that nobody sends 300 MiB to be refused."""
_WORD = {Artifact.KIND_CLAIM: "claim", Artifact.KIND_GIT_BUNDLE: "git bundle"}

Source = bytes | Path | Mapping[str, Any]
"""Bytes as they are, the content of a file, or JSON values."""


@dataclass(frozen=True, slots=True)
class Content:
    """One thing to upload, its digest known."""

    source: bytes | Path
    kind: Artifact.Kind.ValueType
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """Resource name of the artifact."""
        return f"artifacts/{self.sha256}"

    def read(self) -> bytes:
        """All of it; only for what is small enough to be sent inline."""
        return self.source if isinstance(self.source, bytes) else self.source.read_bytes()

    def messages(self) -> Iterator[UploadArtifactRequest]:
        """Header, then chunks in order. A file that changed meanwhile is refused by the server: its digest differs."""
        yield UploadArtifactRequest(header=ArtifactHeader(sha256=self.sha256, size_bytes=self.size, kind=self.kind))
        with _opened(self.source) as handle:
            while chunk := handle.read(CHUNK):
                yield UploadArtifactRequest(chunk=chunk)


@contextmanager
def _opened(source: bytes | Path) -> Iterator[IO[bytes]]:
    with BytesIO(source) if isinstance(source, bytes) else source.open("rb") as handle:
        yield handle


def content(source: Source | str, kind: Artifact.Kind.ValueType) -> Content:
    """Digest and size of `source`. Raises `UsageError` for what cannot be read, is empty or is above the API's cap."""
    data: bytes | Path
    if isinstance(source, Mapping):
        data = json.dumps(source, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    elif isinstance(source, str):
        data = Path(source)
    else:
        data = source
    digest, size, cap, word = hashlib.sha256(), 0, CAPS[kind], _WORD[kind]
    try:
        with _opened(data) as handle:
            while chunk := handle.read(CHUNK):
                size += len(chunk)
                if size > cap:
                    raise UsageError(
                        "INPUT_TOO_LARGE", f"The {word} is larger than {cap} bytes; the gate takes no more."
                    )
                digest.update(chunk)
    except OSError as error:
        raise UsageError("USAGE", f"The {word} {str(data)[:300]!r} cannot be read: {error.strerror}.") from error
    if size == 0:
        raise UsageError("INPUT_MALFORMED", f"The {word} is empty.")
    return Content(data, kind, size, digest.hexdigest())
