"""The results: lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any


class Out:
    """The results: kept here, and written when no tested code runs any more."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.lines = []  # type: list[bytes]

    def send(self, kind: str, **fields: Any) -> None:
        """One line."""
        self.lines.append(json.dumps({"k": kind, **fields}, ensure_ascii=True).encode("ascii") + b"\n")

    def write(self) -> None:
        """Put them where they are collected, in place of whatever was put there before."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        data = b"".join(self.lines)
        while data:
            data = data[os.write(fd, data) :]
        os.close(fd)
