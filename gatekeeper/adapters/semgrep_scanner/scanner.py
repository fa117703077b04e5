"""Runs the engine on copies of the blobs in a private directory and believes only a report that covers all of them.

Started directly (without its Python wrapper), it needs no package and opens no socket. Exit status 0 does not mean
scanned: every target must be listed, and no error reported.
"""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from gatekeeper.adapters.semgrep_scanner.targets import MAX_BYTES, extension, is_text, refusal
from gatekeeper.domain.evidence import ScanHit, ScanReport
from gatekeeper.domain.ports import ScanTarget
from gatekeeper.errors import CouldNotCheck, InputError
from gatekeeper.formats.semgrep_json import SemgrepReport, parse_semgrep

_ROOM = "gatekeeper-scan-"
NICENESS = 10
_LEFT_SECONDS = 3600
"""Far longer than a scan may take."""
RULES = Path(__file__).with_name("rules")
_PARSE_FAULTS = frozenset(
    {"PartialParsing", "Syntax error", "Lexical error", "Other syntax error", "SyntaxError", "ParseError"}
)


class SemgrepScanner:
    """Implements `domain.ports.Scanner` for code."""

    def __init__(
        self, libexec: Path, *, rules: Path = RULES, wall_s: float = 60.0, memory_mib: int = 4096, output_mib: int = 32
    ) -> None:
        self._home = libexec / "semgrep"
        self._rules, self._wall_s = rules, wall_s
        self._memory, self._output = memory_mib << 20, output_mib << 20

    @property
    def binary(self) -> Path:
        """The engine."""
        return self._home / "semgrep" / "bin" / "semgrep-core"

    @property
    def version(self) -> str:
        """From the package's metadata: asking the engine itself can wait for the network."""
        for entry in sorted(self._home.glob("semgrep-*.dist-info")):
            return entry.name.removeprefix("semgrep-").removesuffix(".dist-info")
        return "unknown"

    def scan(self, targets: Sequence[ScanTarget]) -> ScanReport:
        """See the port. Binary data and oversized data files are left out on purpose; unreadable source is a hit."""
        hits = [h for h in map(refusal, targets) if h is not None]
        refused = {h.path for h in hits}
        shown = [t for t in targets if t.path not in refused and is_text(t)]
        names = tuple(t.name for t in shown)
        if not shown:
            return ScanReport("semgrep", self.version, (), (), tuple(hits))
        if not self.binary.is_file():
            raise CouldNotCheck("CODE_SCAN_FAILED", f"The code scanner is not installed at {str(self.binary)!r}.")
        _sweep(Path(tempfile.gettempdir()))
        room = Path(tempfile.mkdtemp(prefix=_ROOM))
        try:
            files = {}
            for number, target in enumerate(shown):
                file = room / "t" / f"{number:05d}.{extension(target)}"
                file.parent.mkdir(mode=0o700, exist_ok=True)
                file.write_bytes(target.data)
                files[str(file)] = target
            report, errors = self._run(room, list(files))
        except OSError as error:
            raise CouldNotCheck("CODE_SCAN_FAILED", f"The code scanner cannot be run: {error.strerror}.") from error
        finally:
            shutil.rmtree(room, ignore_errors=True)
        if report is None:
            return ScanReport("semgrep", self.version, names, (), tuple(hits), tuple(errors))
        faulty: set[str] = set()
        for fault in report.faults:
            about = files.get(fault.path or "")
            if about is None or fault.kind not in _PARSE_FAULTS:
                errors.append(f"{about.name if about is not None else 'engine'}: {fault.kind}")
            elif about.name not in faulty:
                faulty.add(about.name)
                hits.append(
                    ScanHit(
                        "source-not-parsed",
                        about.path,
                        1,
                        1,
                        "The code scanner cannot parse the whole file.",
                        severity="WARNING",
                        metadata={"code": "SOURCE_NOT_PARSED", "effect": "asks"},
                    )
                )
        for match in report.matches:
            source = files.get(match.path)
            if source is None:
                errors.append("engine: a result for a file that was not given")
                continue
            lines = source.data.decode("utf-8", "replace").split("\n")
            excerpt = "\n".join(lines[match.line - 1 : match.end_line])[:400]
            hits.append(
                ScanHit(
                    match.rule,
                    source.path,
                    match.line,
                    match.end_line,
                    match.message,
                    excerpt=excerpt,
                    commit=source.commit,
                    severity=match.severity,
                    metadata=match.metadata,
                )
            )
        scanned = tuple(files[p].name for p in report.scanned if p in files)
        return ScanReport("semgrep", self.version, names, scanned, tuple(hits), tuple(errors))

    def _run(self, room: Path, files: list[str]) -> tuple[SemgrepReport | None, list[str]]:
        """The report, or None and why there is none."""
        out = room / "out"
        # The engine looks at the name it was started under.
        program = room / "osemgrep"
        program.symlink_to(self.binary)
        command = [
            *_dies_with_the_gate(), str(program), "scan", "--experimental", "--metrics=off", "--json", "-q", "-j", "1", "--disable-nosem",
            "--no-git-ignore", "--timeout", "3", "--timeout-threshold", "1", "--max-target-bytes", str(MAX_BYTES + 1),
            "--no-rewrite-rule-ids", "--config", str(self._rules), *files,
        ]  # fmt: skip
        env = {
            "PATH": "/usr/bin:/bin", "HOME": str(room), "TMPDIR": str(room), "LC_ALL": "C.UTF-8",
            "SEMGREP_ENABLE_VERSION_CHECK": "0", "SEMGREP_SEND_METRICS": "off",
        }  # fmt: skip
        with out.open("wb") as sink:
            process = subprocess.Popen(
                command, env=env, cwd=room, stdin=subprocess.DEVNULL, stdout=sink,
                stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            try:
                # The tests' own run, which everybody waits for, comes first.
                with contextlib.suppress(ProcessLookupError):
                    os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
                for what, limit in (
                    (resource.RLIMIT_AS, self._memory),
                    (resource.RLIMIT_FSIZE, self._output),
                    (resource.RLIMIT_CORE, 0),
                ):
                    _limit(process.pid, what, limit)
                if not _ended(process.pid, self._wall_s):
                    return None, [f"engine: out of time after {self._wall_s:g} s"]
                status = process.wait()
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        if status != 0:
            return None, [f"engine: exit status {status}"]
        try:
            return parse_semgrep(out.read_bytes()), []
        except InputError as error:
            return None, [f"engine: {error.message}"]


@functools.cache
def _dies_with_the_gate() -> tuple[str, ...]:
    setpriv = shutil.which("setpriv", path=os.defpath)
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()


def _sweep(folder: Path) -> None:
    """Remove copies of what was scanned that a killed gate left behind: they may hold secrets."""
    limit = time.time() - _LEFT_SECONDS
    for left in folder.glob(f"{_ROOM}*"):
        with contextlib.suppress(OSError):
            info = left.lstat()
            if info.st_mtime < limit and info.st_uid == os.geteuid():
                shutil.rmtree(left, ignore_errors=True)


def _ended(pid: int, seconds: float) -> bool:
    """Wait on the process itself: `Popen.wait` with a limit sleeps in steps of up to 50 ms."""
    handle = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(handle)


def _limit(pid: int, what: int, value: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it ended already; its status tells
        resource.prlimit(pid, what, (value, value))
