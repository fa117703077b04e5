"""The one way git is run on hostile objects: empty environment, no user or system configuration, nothing executable."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, BinaryIO

from gatekeeper.errors import CouldNotCheck, InputError
from gatekeeper.records import dataclass

TIMEOUT_S = 120.0
MAX_OUTPUT = 256 * 1024 * 1024
"""Bytes read from one git command; a listing of 200,000 files has about 20 MB."""
MAX_ERRORS = 16 * 1024 * 1024

ATTRIBUTES = "* -filter -export-ignore -export-subst -ident -text -working-tree-encoding -eol !merge !diff\n"
"""For info/attributes of a mirror, which outranks every .gitattributes of a tree."""

_OPTIONS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "protocol.allow": "never",
    "protocol.file.allow": "always",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "transfer.fsckObjects": "true",
    "merge.renames": "true",
    "advice.graftFileDeprecated": "false",
    # Old but harmless faults of real histories; what an attack needs (dot-git names, NUL, bad modes) stays an error.
    **{
        f"fetch.fsck.{name}": "ignore"
        for name in (
            "badDate", "badDateOverflow", "badEmail", "badName", "badTimezone", "missingEmail", "missingNameBeforeEmail",
            "missingSpaceBeforeDate", "missingSpaceBeforeEmail", "zeroPaddedDate", "zeroPaddedFilemode", "missingTaggerEntry",
            "gitmodulesParse", "gitmodulesUrl", "gitmodulesName", "gitmodulesPath", "gitmodulesUpdate", "gitmodulesMissing",
            "gitmodulesBlob", "gitmodulesLarge", "gitmodulesSymlink", "gitattributesSymlink", "gitattributesLarge",
            "gitattributesLineLength", "gitattributesBlob", "gitattributesMissing",
        )
    },
}  # fmt: skip


def environment() -> dict[str, str]:
    """The whole environment of a git process."""
    return {
        "PATH": os.defpath if shutil.which("git", path=os.defpath) else os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "GIT_SSH_COMMAND": "/bin/false",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_PROTOCOL_FROM_USER": "0",
        # Outranks every protocol.<name>.allow that a repository's own configuration sets.
        "GIT_ALLOW_PROTOCOL": "file",
        "GIT_AUTHOR_NAME": "gatekeeper",
        "GIT_AUTHOR_EMAIL": "gatekeeper@localhost",
        "GIT_COMMITTER_NAME": "gatekeeper",
        "GIT_COMMITTER_EMAIL": "gatekeeper@localhost",
    }


def command(git_dir: Path | None, *args: str) -> list[str]:
    """The argument vector of a hardened git command."""
    options = [x for k, v in _OPTIONS.items() for x in ("-c", f"{k}={v}")]
    where = [f"--git-dir={git_dir}"] if git_dir is not None else []
    return ["git", "--no-pager", "--literal-pathspecs", *options, *where, *args]


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits on git and every process it starts, in bytes: address space (None: none), and any one file that is written."""

    memory: int | None
    file: int

    def wrap(self, argv: Sequence[str]) -> list[str]:
        """The command line that sets them first; one that cannot be set ends it there.

        The signal of a file's limit is ignored, so that git says which limit it met. Where the gate itself is killed, so is
        git, and what it started finds its pipes closed.
        """
        blocks, kib = str(self.file // 512), "unlimited" if self.memory is None else str(self.memory // 1024)
        script = 'trap "" XFSZ && ulimit -c 0 && ulimit -f "$1" && ulimit -v "$2" && shift 2 && exec "$@"'
        return ["/bin/sh", "-c", script, "sh", blocks, kib, *_dies_with_the_gate(), *argv]


@cache
def _dies_with_the_gate() -> tuple[str, ...]:
    setpriv = shutil.which("setpriv", path=os.defpath)
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()


class TimedOut(CouldNotCheck):
    """Git did not end in time."""


def run(
    git_dir: Path | None,
    args: Sequence[str],
    *,
    stdin: bytes = b"",
    source: BinaryIO | None = None,
    ok: Sequence[int] | None = (0,),
    extra: Mapping[str, str] | None = None,
    timeout_s: float = TIMEOUT_S,
    caps: Caps | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run git to its end; it reads `stdin`, or the open file `source` from where it stands.

    Raises `CouldNotCheck` (GIT_FAILED) for another status than `ok` (None: any will do) or a time-out, and `InputError`
    (TREE_HOSTILE) where the output passes MAX_OUTPUT: git is stopped then, since a few small trees can list billions of
    files.
    """
    argv = command(git_dir, *args)
    try:
        process = subprocess.Popen(
            argv if caps is None else caps.wrap(argv),
            stdin=subprocess.PIPE if source is None else source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment(), **(extra or {})},
            cwd="/",
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise CouldNotCheck("GIT_FAILED", f"git cannot be started: {error}.") from error
    name = next((a for a in args if a.replace("-", "").isalpha() and a[0] != "-"), "git")
    out, err = _Capped(process, process.stdout, MAX_OUTPUT), _Capped(process, process.stderr, MAX_ERRORS)
    late = threading.Timer(timeout_s, out.stop)
    late.start()
    try:
        with process:
            try:
                if process.stdin is not None:
                    process.stdin.write(stdin)
                    process.stdin.close()
            except BrokenPipeError:
                pass  # git ended early; its status says why
            for reading in (out, err):
                reading.thread.join()
            process.wait()
    finally:
        expired = late.finished.is_set()
        late.cancel()
    if out.overflow or err.overflow:
        raise InputError("TREE_HOSTILE", f"git {name} wrote more than {MAX_OUTPUT} bytes about these objects.")
    if expired:
        raise TimedOut("GIT_FAILED", f"git {name} did not end within {timeout_s:g} s.")
    if ok is not None and process.returncode not in ok:
        raise CouldNotCheck("GIT_FAILED", f"git {name} failed ({process.returncode}): {complaint(err.content())}")
    return subprocess.CompletedProcess(process.args, process.returncode, out.content(), err.content())


class _Capped:
    """Reads one pipe in a thread, and stops the whole process group where it passes `limit` bytes."""

    def __init__(self, process: subprocess.Popen[bytes], pipe: IO[bytes] | None, limit: int) -> None:
        self._process, self._pipe, self._limit = process, pipe, limit
        self._parts: list[bytes] = []
        self.overflow = False
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        left = self._limit
        while self._pipe is not None and (part := self._pipe.read(1 << 16)):
            left -= len(part)
            if left < 0:
                self.overflow = True
                self.stop()
                return
            self._parts.append(part)

    def stop(self) -> None:
        """Kill git and what it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def content(self) -> bytes:
        """All that was read."""
        return b"".join(self._parts)


def complaint(stderr: bytes) -> str:
    """The useful end of git's words, printable."""
    lines = stderr.decode("utf-8", "replace").split("\n")
    kept = "\n".join(line for line in lines if not line.startswith("hint:"))
    text = "".join(c if c.isprintable() or c == "\n" else "?" for c in kept)
    return " ".join(text.split())[-500:] or "no message"
