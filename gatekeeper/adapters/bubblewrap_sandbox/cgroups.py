"""Control groups, version 1 and 2: a memory and a process limit for one run, and a sure way to end all of it.

A group is made for one run under a name that holds this process's identity and random bits: a name used twice would join
a group that is being taken down. Not being able to make or join one that this machine can give is `CouldNotCheck`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self

from gatekeeper.errors import CouldNotCheck
from gatekeeper.records import dataclass

_PREFIX = "gatekeeper-"
_NEEDED = ("memory", "pids")


@dataclass(frozen=True)
class Hierarchy:
    """Where groups can be made: directory by controller (version 1), or one directory for all (version 2)."""

    version: int
    parents: Mapping[str, Path]

    @property
    def places(self) -> tuple[Path, ...]:
        """All parent directories, each once."""
        return tuple(dict.fromkeys(self.parents.values()))


def find(root: Path = Path("/")) -> Hierarchy | None:
    """The hierarchy this process may use for both limits, or None. `root` is the file system to read (tests)."""
    own = _own_groups(root)
    one: dict[str, Path] = {}
    two: Path | None = None
    for point, kind, options in _mounts(root):
        if kind == "cgroup":
            for name in ("memory", "pids", "cpuacct"):
                if name in options:
                    one[name] = _inside(root, point, own.get(name, "/"))
        elif kind == "cgroup2":
            two = _inside(root, point, own.get("", "/"))
            if (found := _delegated(two, root / point.lstrip("/"))) is not None:
                return Hierarchy(2, {"memory": found, "pids": found, "cpuacct": found})
    if all(name in one and os.access(one[name], os.W_OK) for name in _NEEDED):
        return Hierarchy(1, {n: p for n, p in one.items() if os.access(p, os.W_OK)})
    return None


def _mounts(root: Path) -> Iterator[tuple[str, str, list[str]]]:
    """(mount point, file system type, super options) of this mount namespace."""
    try:
        text = (root / "proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        fields, tail = left.split(), right.split()
        if len(fields) > 4 and len(tail) > 2:
            yield fields[4], tail[0], tail[2].split(",")


def _own_groups(root: Path) -> dict[str, str]:
    """Path of this process's group by controller; the empty name is version 2."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, names, path = line.split(":", 2)
            for name in names.split(","):
                found[name] = path
    return found


def _inside(root: Path, point: str, path: str) -> Path:
    """The group's directory; in a container the path may be that of the host and lie outside the mount."""
    top = root / point.lstrip("/")
    candidate = top / path.lstrip("/")
    return candidate if candidate.is_dir() else top


def _delegated(start: Path, top: Path) -> Path | None:
    """From the own group upwards: the first directory that is ours and hands both controllers to its children."""
    place = start
    while os.access(place, os.W_OK) and os.access(place / "cgroup.procs", os.W_OK):
        if _hands_down(place):
            return place
        if place == top or top not in place.parents:
            return None
        place = place.parent
    return None


def _hands_down(place: Path) -> bool:
    try:
        control = place / "cgroup.subtree_control"
        if set(_NEEDED) <= set(control.read_text(encoding="ascii").split()):
            return True
        if set(_NEEDED) <= set((place / "cgroup.controllers").read_text(encoding="ascii").split()):
            # Refused (EBUSY) where the directory holds processes itself, unless it is the machine's root group.
            control.write_text("+memory +pids", encoding="ascii")
            return True
    except OSError:
        pass
    return False


class Group:
    """The control group of one run. Use as a context manager: leaving it kills what is inside and removes it."""

    def __init__(self, hierarchy: Hierarchy, *, memory_bytes: int, processes: int) -> None:
        self._version = hierarchy.version
        name = f"{_PREFIX}{os.getpid()}-{_since(os.getpid())}.{_namespace()}-{os.urandom(8).hex()}"
        self._at = {controller: parent / name for controller, parent in hierarchy.parents.items()}
        try:
            for place in dict.fromkeys(self._at.values()):
                place.mkdir()
            self._limit(memory_bytes, processes)
        except OSError as error:
            self._remove()
            raise CouldNotCheck(
                "SANDBOX_FAILED", f"No control group with limits can be made: {error.strerror} ({error.filename})."
            ) from error

    def _limit(self, memory_bytes: int, processes: int) -> None:
        memory = self._at["memory"]
        if self._version == 2:
            _write(memory / "memory.max", memory_bytes)
            _write_where_present(memory / "memory.swap.max", 0)
            _write_where_present(memory / "memory.oom.group", 1)
        else:
            _write(memory / "memory.limit_in_bytes", memory_bytes)
            _write_where_present(memory / "memory.memsw.limit_in_bytes", memory_bytes)
        _write(self._at["pids"] / "pids.max", processes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.kill()
        self._remove()

    def join(self, pid: int) -> None:
        """Put a process in. Raises `CouldNotCheck` (SANDBOX_FAILED): without the group there is no limit."""
        try:
            for place in dict.fromkeys(self._at.values()):
                _write(place / "cgroup.procs", pid)
        except OSError as error:
            raise CouldNotCheck(
                "SANDBOX_FAILED", f"The run cannot join its control group: {error.strerror} ({error.filename})."
            ) from error

    def kill(self) -> None:
        """Kill every process in the group and wait until none is left (at most two seconds)."""
        deadline = time.monotonic() + 2.0
        while pids := self._pids():
            killed_at_once = False
            if self._version == 2:
                with contextlib.suppress(OSError):
                    _write(self._at["pids"] / "cgroup.kill", 1)
                    killed_at_once = True
            if not killed_at_once:
                for pid in pids:
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
            if time.monotonic() > deadline:
                return
            time.sleep(0.0005)

    def _pids(self) -> list[int]:
        try:
            return [int(x) for x in (self._at["pids"] / "cgroup.procs").read_text(encoding="ascii").split()]
        except (OSError, ValueError):
            return []

    @property
    def out_of_memory(self) -> bool:
        """True where the kernel killed a process of the group for memory."""
        name = "memory.events" if self._version == 2 else "memory.oom_control"
        return _counter(self._at["memory"] / name, "oom_kill") > 0

    @property
    def out_of_processes(self) -> bool:
        """True where a fork was refused for the process limit."""
        return _counter(self._at["pids"] / "pids.events", "max") > 0

    @property
    def cpu_s(self) -> float | None:
        """Processor seconds of the whole group so far; None where the kernel does not say."""
        place = self._at.get("cpuacct")
        if place is None:
            return None
        if self._version == 2:
            micro = _counter(place / "cpu.stat", "usage_usec")
            return micro / 1e6 if micro else None
        try:
            return int((place / "cpuacct.usage").read_text(encoding="ascii")) / 1e9
        except (OSError, ValueError):
            return None

    def _remove(self) -> None:
        for place in dict.fromkeys(self._at.values()):
            _removed(place, tries=100)


def hurry(hierarchy: Hierarchy) -> None:
    """Move some process into a group and out of the world.

    For the first move the kernel waits until every processor has passed by once, up to a tenth of a second on a busy
    machine; those that follow soon need not wait. Who calls this while others work takes that wait off the run.
    """
    with Group(hierarchy, memory_bytes=1 << 26, processes=8) as group:
        command = ["/bin/sh", "-c", "read -r end"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, env={}, cwd="/", start_new_session=True) as process:
            group.join(process.pid)


def sweep(hierarchy: Hierarchy) -> None:
    """Remove groups that a gate which no longer lives left behind, and end what is still in them.

    Only a name that says which process of which namespace made it, and when that began, is proof enough to kill.
    Other groups are removed where they are empty; the kernel refuses the rest.
    """
    here = _namespace()
    for place in hierarchy.places:
        with contextlib.suppress(OSError):
            for entry in os.scandir(place):
                name = entry.name.removeprefix(_PREFIX)
                owner = owner_of(name)
                if not entry.name.startswith(_PREFIX) or owner is None:
                    continue
                since, _, namespace = name.split("-")[1].partition(".")
                known = bool(namespace) and namespace == here
                if alive(owner) and not (known and since != _since(owner)):
                    continue
                if known:
                    _kill_all(Path(entry.path))
                _removed(Path(entry.path), tries=50 if known else 1)


def _kill_all(place: Path) -> None:
    """Kill every process of the group once."""
    with contextlib.suppress(OSError, ValueError):
        for pid in (place / "cgroup.procs").read_text(encoding="ascii").split():
            with contextlib.suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)


def _removed(place: Path, tries: int) -> None:
    for _ in range(tries):
        try:
            place.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            # A killed process leaves the group a moment after its death.
            time.sleep(0.002)
        else:
            return


def _namespace() -> str:
    """Names the process namespace in which ids of this process count."""
    try:
        return str(os.stat("/proc/self/ns/pid").st_ino)
    except OSError:
        return ""


def _since(pid: int) -> str:
    """When a process began, in clock ticks since boot; empty where there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def owner_of(name: str) -> int | None:
    """The process id in a name `<pid>-<random>`."""
    pid, dash, _ = name.partition("-")
    return int(pid) if dash and pid.isascii() and pid.isdigit() else None


def alive(pid: int) -> bool:
    """True where a process of that id exists."""
    return os.path.isdir(f"/proc/{pid}")


def _write(path: Path, value: int) -> None:
    path.write_text(f"{value}\n", encoding="ascii")


def _write_where_present(path: Path, value: int) -> None:
    if path.exists():
        _write(path, value)


def _counter(path: Path, key: str) -> int:
    try:
        for line in path.read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
    except (OSError, ValueError):
        pass
    return 0
