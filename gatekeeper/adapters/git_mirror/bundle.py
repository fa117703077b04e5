"""Reading a git bundle before git does: its header, and the weight of every object in its pack.

A bundle is sent by whoever is judged. Names in it are never followed; only objects are taken. Git unpacks what a pack
claims, so the claims are added up first: a small file can hold a delta that makes gigabytes.
"""

from __future__ import annotations

import os
import re
import stat
import zlib
from typing import BinaryIO

from gatekeeper.errors import CouldNotCheck, InputError
from gatekeeper.records import dataclass

MAX_BUNDLE = 256 * 1024 * 1024
MAX_OBJECTS = 500_000
MAX_OBJECT = 128 * 1024 * 1024
"""Bytes of one unpacked object; as much as one exported file may have."""
MAX_UNPACKED = 2 * 1024**3
"""Bytes of all objects unpacked, deltas counted by what they make; as much as one exported tree may have."""
MAX_LINE = 4096
MAX_LINES = 20_000
MAX_PREREQUISITES = 1000

_OID = re.compile(rb"[0-9a-f]{40}")
_STEP = 1 << 20
_DELTAS = {6, 7}
_KINDS = {1, 2, 3, 4} | _DELTAS


@dataclass(frozen=True, slots=True)
class Header:
    """What stands before the pack. The names that tips have are left out: nothing may follow them."""

    prerequisites: tuple[str, ...]
    tips: tuple[str, ...]
    pack: int
    """Offset of the pack in the file, bytes."""


def opened(path: str) -> BinaryIO:
    """The file, if it is a regular one of allowed size. Raises `CouldNotCheck` (GIT_FAILED) and `InputError` (BUNDLE_TOO_LARGE)."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        file = os.fdopen(handle, "rb")
        info = os.fstat(handle)
    except (OSError, ValueError) as error:
        raise CouldNotCheck("GIT_FAILED", f"The submitted bundle cannot be opened: {error}.") from error
    if not stat.S_ISREG(info.st_mode):
        file.close()
        raise CouldNotCheck("GIT_FAILED", "The submitted bundle is not a regular file.")
    if info.st_size > MAX_BUNDLE:
        file.close()
        raise InputError("BUNDLE_TOO_LARGE", f"The bundle has {info.st_size} bytes; at most {MAX_BUNDLE} are read.")
    return file


def header(file: BinaryIO) -> Header:
    """Read the header from the start of `file`. Raises `InputError` (BUNDLE_MALFORMED, BUNDLE_TOO_LARGE)."""
    magic = file.readline(MAX_LINE)
    if magic not in (b"# v2 git bundle\n", b"# v3 git bundle\n"):
        raise malformed("it does not begin like a git bundle of version 2 or 3")
    needed: list[str] = []
    tips: list[str] = []
    for _ in range(MAX_LINES):
        line = file.readline(MAX_LINE)
        if line == b"\n":
            if not tips:
                raise malformed("it names no commit")
            return Header(tuple(dict.fromkeys(needed)), tuple(dict.fromkeys(tips)), file.tell())
        if not line.endswith(b"\n"):
            raise malformed("its header is cut short or has an endless line")
        if line.startswith(b"@"):
            # A filter leaves objects out on purpose, and what a later version may mean is unknown.
            if magic != b"# v3 git bundle\n" or needed or tips or line != b"@object-format=sha1\n":
                raise malformed(f"it demands {line[:60].decode('ascii', 'replace').strip()!r}, which is not supported")
        elif line.startswith(b"-"):
            if tips or not _OID.fullmatch(line[1:41]) or line[41:42] not in (b" ", b"\n"):
                raise malformed("a prerequisite in its header is no object id")
            needed.append(line[1:41].decode("ascii"))
            if len(needed) > MAX_PREREQUISITES:
                raise InputError("BUNDLE_TOO_LARGE", f"The bundle builds on more than {MAX_PREREQUISITES} commits.")
        elif _OID.fullmatch(line[:40]) and line[40:41] == b" ":
            tips.append(line[:40].decode("ascii"))
        else:
            raise malformed("a line of its header is neither a prerequisite nor a tip")
    raise InputError("BUNDLE_TOO_LARGE", f"The bundle's header has more than {MAX_LINES} lines.")


def weigh(file: BinaryIO, at: int) -> int:
    """The bytes that the pack at offset `at` unpacks to, every object inflated once and no delta resolved.

    Raises `InputError`: BUNDLE_MALFORMED for a pack that is cut short, goes on after its end or lies about a size,
    BUNDLE_TOO_LARGE over a cap. Whether content and checksums are right is git's to say afterwards.
    """
    file.seek(at)
    pack = _Pack(file)
    if pack.take(4) != b"PACK" or int.from_bytes(pack.take(4), "big") not in (2, 3):
        raise malformed("there is no pack in it")
    count = int.from_bytes(pack.take(4), "big")
    if count > MAX_OBJECTS:
        raise InputError("BUNDLE_TOO_LARGE", f"The bundle claims {count} objects; at most {MAX_OBJECTS} are taken.")
    total = 0
    for _ in range(count):
        total += pack.entry()
        if total > MAX_UNPACKED:
            raise InputError("BUNDLE_TOO_LARGE", f"The bundle's objects unpack to more than {MAX_UNPACKED} bytes.")
    pack.take(20)
    if pack.more():
        raise malformed("something follows its pack")
    return total


def malformed(why: str) -> InputError:
    """The error for a bundle that is none."""
    return InputError("BUNDLE_MALFORMED", f"The submitted bundle is refused: {why}.")


class _Pack:
    """Reads a pack from front to end with a small buffer."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._chunk = memoryview(b"")
        self._at = 0

    def more(self) -> bool:
        """True where at least one byte is left."""
        if self._at == len(self._chunk):
            self._chunk, self._at = memoryview(self._file.read(1 << 16)), 0
        return len(self._chunk) > 0

    def some(self, most: int) -> memoryview:
        """The next bytes, at least one and at most `most`, all of one chunk."""
        if not self.more():
            raise malformed("its pack is cut short")
        got = self._chunk[self._at : self._at + most]
        self._at += len(got)
        return got

    def take(self, count: int) -> bytes:
        """Exactly `count` bytes."""
        got = b""
        while len(got) < count:
            got += self.some(count - len(got))
        return got

    def entry(self) -> int:
        """One object: bytes it unpacks to."""
        byte = self.take(1)[0]
        kind, size, shift = (byte >> 4) & 7, byte & 15, 4
        while byte & 0x80:
            byte = self.take(1)[0]
            size |= (byte & 0x7F) << shift
            shift += 7
            if shift > 60:
                raise malformed("an object claims a size that no number holds")
        if kind not in _KINDS:
            raise malformed(f"an object is of the unknown kind {kind}")
        _refuse_large(size)
        if kind == 6:
            for _ in range(10):
                if not self.take(1)[0] & 0x80:
                    break
            else:
                raise malformed("a delta's base lies nowhere")
        elif kind == 7:
            self.take(20)
        first = self._inflate(size)
        if kind not in _DELTAS:
            return size
        _, at = _number(first, 0)
        made, _ = _number(first, at)
        _refuse_large(made)
        return size + made

    def _inflate(self, size: int) -> bytes:
        """Inflate one stream that must hold `size` bytes; returns the first 32 of them."""
        stream = zlib.decompressobj()
        made, first, step = 0, b"", 512
        try:
            while not stream.eof:
                part = stream.decompress(stream.unconsumed_tail or self.some(step), _STEP)
                first += part[: 32 - len(first)]
                made += len(part)
                step = 1 << 14
                if made > size:
                    raise malformed("an object is larger than it claims")
        except zlib.error as error:
            raise malformed(f"an object cannot be unpacked ({error})") from error
        if made != size:
            raise malformed("an object is smaller than it claims")
        self._at -= len(stream.unused_data)  # it is the end of what was taken last, which lies in one chunk
        return first


def _refuse_large(size: int) -> None:
    if size > MAX_OBJECT:
        raise InputError(
            "BUNDLE_TOO_LARGE", f"An object of the bundle claims {size} bytes; at most {MAX_OBJECT} are taken."
        )


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A size as deltas write it: (value, offset after it)."""
    value, shift = 0, 0
    while True:
        if at >= len(data) or shift > 60:
            raise malformed("a delta does not say what it makes")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at
