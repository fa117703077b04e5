"""The gate's end of the recorder's connection: hostile packets to `Session`. No I/O here."""

from __future__ import annotations

import json
import math
import posixpath
from collections import Counter
from typing import Any

from gatekeeper.domain.testrun import CaseResult, Outcome, Session

MAX_PACKET = 256 * 1024
"""Bytes of one record; the recorder sends far less."""

MAX_BYTES = 64 * 1024 * 1024
"""Bytes of all records of one connection; stops a flood of records."""

MAX_IDS = 200_000
MAX_LINES = 20_000
MAX_ID = 16 * 1024
MAX_TEXT = 8 * 1024


class Malformed(ValueError):
    """A record is not what the recorder sends."""


class Connection:
    """One pytest process. Feed it packets in order, then ask for its `session`."""

    def __init__(self, nonce: str, root: str, *, second: bool = False) -> None:
        """`root` is the tree's path inside the sandbox; `second`: this process had another connection before."""
        self.nonce = nonce
        self.worker = False
        self.ended = False
        self._root = posixpath.normpath(root)
        self._rootdir = self._root
        self._problems: list[str] = ["a second connection of the same process"] if second else []
        self._expected = 0
        self._bytes = 0
        self._seen: set[str] = set()
        self._argv: tuple[str, ...] = ()
        self._config_files: tuple[str, ...] = ()
        self._cases: list[CaseResult] = []
        self._collectors = 0
        self._collected: list[str] = []
        self._listed: list[str] = []
        self._reached: list[tuple[str, tuple[int, ...]]] = []
        self._deselected = 0
        self._exit_code: int | None = None
        self.closed = False

    @property
    def started(self) -> bool:
        """True once pytest got as far as its settings: a process that only imports the module is no session."""
        return "config" in self._seen or bool(self._problems) or bool(self._cases)

    def feed(self, packet: bytes) -> None:
        """Take one packet. Never raises; a fault is a problem of the session and ends the reading."""
        if self.closed:
            return
        self._bytes += len(packet)
        if len(packet) > MAX_PACKET or self._bytes > MAX_BYTES:
            self.refuse("too many bytes of records")
            return
        try:
            self._take(_object(packet))
        except Malformed as error:
            self.refuse(str(error))

    def refuse(self, why: str) -> None:
        """Note a problem and read no further."""
        self._problems.append(why)
        self.closed = True

    def session(self) -> Session:
        """What was recorded. `complete` only where every record agrees with every other."""
        problems = list(dict.fromkeys(self._problems))
        problems += [f"no {kind} record" for kind in ("start", "config", "end") if kind not in self._seen]
        tests = Counter(c.id for c in self._cases)
        missing = Counter(self._collected) - tests
        if missing:
            problems.append(f"{sum(missing.values())} collected tests have no result")
        surplus = len(self._cases) - self._collectors - len(self._collected)
        if not missing and surplus > 0:
            problems.append(f"{surplus} results of tests that were not collected")
        return Session(
            cases=tuple(self._cases),
            collected=len(self._collected),
            exit_code=self._exit_code,
            complete=not problems,
            problems=tuple(problems),
            argv=self._argv,
            config_files=self._config_files,
            collected_ids=tuple(self._collected),
            deselected=self._deselected,
            listed_ids=tuple(self._listed),
            reached=tuple(self._reached),
        )

    def _take(self, record: dict[str, Any]) -> None:
        if self.ended:
            raise Malformed("records after the end of the session")
        if _integer(record.get("n"), 0) != self._expected:
            raise Malformed("records are missing or repeated")
        self._expected += 1
        kind = record.get("k")
        if (self._expected == 1) != (kind == "start"):
            raise Malformed("the first record, and no other, must be the start")
        match kind:
            case "start":
                self._check_nonce(record)
                self._argv = tuple(_strings(record.get("argv"), 200))
            case "worker":
                self.worker = True
            case "config":
                self._once("config")
                self._rootdir = posixpath.normpath(_text(record.get("rootdir"), MAX_TEXT) or self._root)
                inifile = record.get("inifile")
                self._config_files = () if inifile is None else (self._relative(_text(inifile, MAX_TEXT)),)
            case "collected":
                ids = [self._id(i) for i in _strings(record.get("ids"), MAX_IDS)]
                if len(self._collected) + len(ids) > MAX_IDS:
                    raise Malformed("too many tests")
                self._collected += ids
            case "listed":
                # Names as the gate has them, and not relative to pytest's own root.
                ids = _strings(record.get("ids"), MAX_IDS)
                if len(self._listed) + len(ids) > MAX_IDS:
                    raise Malformed("too many tests")
                self._listed += ids
            case "reached":
                lines = record.get("lines")
                if not isinstance(lines, list) or len(lines) > MAX_LINES or len(self._reached) >= MAX_IDS:
                    raise Malformed("a record with a bad list")
                numbers = tuple(_integer(n, 0) for n in lines)
                self._reached.append((self._id(_text(record.get("id"), MAX_ID)), numbers))
            case "deselected":
                self._once("deselected")
                self._deselected = _integer(record.get("count"), 0)
            case "case":
                self._case(record)
            case "end":
                self._check_nonce(record)
                if _integer(record.get("count"), 0) != self._expected - 1:
                    raise Malformed("the end record counts other records than came")
                status = record.get("exit")
                self._exit_code = None if status is None else _integer(status, -255)
                self.ended = True
            case _:
                raise Malformed("a record of unknown kind")
        if isinstance(kind, str):
            self._seen.add(kind)

    def _once(self, kind: str) -> None:
        if kind in self._seen:
            raise Malformed(f"a second {kind} record")

    def _check_nonce(self, record: dict[str, Any]) -> None:
        if record.get("nonce") != self.nonce:
            raise Malformed("a record does not carry this connection's nonce")

    def _case(self, record: dict[str, Any]) -> None:
        if len(self._cases) >= MAX_IDS:
            raise Malformed("too many results")
        try:
            outcome = Outcome(_text(record.get("outcome"), 20))
        except ValueError:
            raise Malformed("a result of unknown outcome") from None
        if record.get("collector") is True:
            if outcome not in (Outcome.ERRORED, Outcome.SKIPPED):
                raise Malformed("a collector cannot pass as a test")
            self._collectors += 1
        file, line, duration = record.get("file"), record.get("line"), record.get("duration")
        seconds = None
        if isinstance(duration, int | float) and not isinstance(duration, bool):
            seconds = float(duration) if abs(duration) < 1e9 and math.isfinite(duration) else None
        self._cases.append(
            CaseResult(
                id=self._id(_text(record.get("id"), MAX_ID)),
                outcome=outcome,
                detail=_text(record.get("detail", ""), MAX_TEXT),
                duration_s=seconds,
                file=None if file is None else self._relative(posixpath.join(self._rootdir, _text(file, MAX_TEXT))),
                line=None if line is None else _integer(line, -1) + 1,
            )
        )

    def _id(self, nodeid: str) -> str:
        """The test's id with its path relative to the root of the tree."""
        path, colons, rest = nodeid.partition("::")
        return self._relative(posixpath.join(self._rootdir, path)) + colons + rest

    def _relative(self, path: str) -> str:
        return posixpath.relpath(posixpath.normpath(posixpath.join(self._root, path)), self._root)


def _object(packet: bytes) -> dict[str, Any]:
    try:
        record = json.loads(packet.decode("ascii"))
    except (ValueError, RecursionError):
        raise Malformed("a record that is not JSON") from None
    if not isinstance(record, dict):
        raise Malformed("a record that is not an object")
    return record


def _integer(value: Any, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 2**31:
        raise Malformed("a record with a bad number")
    return value


def _text(value: Any, limit: int) -> str:
    if not isinstance(value, str) or len(value) > limit:
        raise Malformed("a record with a bad or overlong text")
    if "\0" in value:
        raise Malformed("a record with a NUL")
    # File names that are not UTF-8 come as surrogates; written out, so that every text can be encoded.
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def _strings(value: Any, limit: int) -> list[str]:
    if not isinstance(value, list) or len(value) > limit:
        raise Malformed("a record with a bad list")
    return [_text(item, MAX_ID) for item in value]
