"""`BubblewrapSandbox`: one run from request to `SuiteRun`."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import resource
import shutil
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from gatekeeper.adapters.bubblewrap_sandbox import cgroups, command, files, process, runtime, seccomp, self_check
from gatekeeper.adapters.bubblewrap_sandbox.faults import not_started
from gatekeeper.adapters.bubblewrap_sandbox.listener import Listener
from gatekeeper.adapters.bubblewrap_sandbox.runners import structured
from gatekeeper.adapters.bubblewrap_sandbox.stopping import RunsUnderWay, stopped
from gatekeeper.adapters.bubblewrap_sandbox.tree_watch import THEN_LOOK, TreeWatch
from gatekeeper.config import SANDBOX_ID, Paths
from gatekeeper.domain.ports import Limits, RunRequest
from gatekeeper.domain.testrun import Engine, Session, SuiteReport, SuiteRun, Termination
from gatekeeper.errors import CouldNotCheck, InputError
from gatekeeper.formats.junit_xml import parse_junit
from gatekeeper.records import dataclass, replace

_MIB = 1024 * 1024
_OPEN_FILES = 4096


@dataclass(frozen=True)
class Machine:
    """What this machine can give; found once a process."""

    bubblewrap: runtime.Bubblewrap
    etc: Path
    setpriv: str | None
    """Program that drops root; None where the gate is not root."""
    hierarchy: cgroups.Hierarchy | None
    filter: bytes | None

    @property
    def engine(self) -> Engine:
        """Guarantees had and missing."""
        state = {
            "network_none": True,
            "overlay": True,
            "environment_cleared": True,
            "user_namespaces_off": True,
            "dedicated_user": self.setpriv is not None,
            "seccomp": self.filter is not None,
            "memory_limit": self.hierarchy is not None,
            # A limit for the user as a whole is shared by all runs, so it is not one of this run.
            "process_limit": self.hierarchy is not None,
            "disk_limit": self.hierarchy is not None,
        }
        return Engine(
            name="bubblewrap",
            version=self.bubblewrap.version,
            isolation=tuple(word for word, had in state.items() if had),
            missing=tuple(word for word, had in state.items() if not had),
        )


class BubblewrapSandbox:
    """Runs suites in bubblewrap. Implements `domain.ports.Sandbox`; safe to call from several threads."""

    def __init__(self, paths: Paths, *, at: str = command.TREE, program: Path | None = None, niceness: int = 0) -> None:
        """`at` is where the tree appears inside; `program` takes the place of the bubblewrap that would be found.

        `niceness` is added to the runs' own, so that a server answers while they fill the cores.
        """
        self._niceness = niceness
        self._paths = paths
        self._at = at
        self._program = program
        self._lock = threading.Lock()
        self._found: Machine | None = None
        self._under_way = RunsUnderWay()

    def engine(self) -> Engine:
        """What this machine can give. Raises `CouldNotCheck` (SANDBOX_UNAVAILABLE)."""
        return self._machine().engine

    def run(self, request: RunRequest) -> SuiteRun:
        """See `domain.ports.Sandbox.run`."""
        return self._run_on(self._machine(), request)

    def stop(self, prefix: str) -> None:
        """See `domain.ports.Sandbox.stop`."""
        self._under_way.stop(prefix)

    def _run_on(self, machine: Machine, request: RunRequest) -> SuiteRun:
        inner = command.inner_command(request)
        working = command.working_directory(request.suite, request.tree, self._at)
        command.check_places(request, self._at)
        started = time.monotonic()
        try:
            with contextlib.ExitStack() as stack:
                stop = stack.enter_context(self._under_way.entered(request.id))
                _hold(request.tree, stack)
                directory = self._run_directory(stack)
                sockets = Listener(directory, self._at, command.wanted(request, self._at))
                stack.callback(sockets.close)
                watch = TreeWatch(directory, request.tree, self._at) if _watched(request) else None
                if watch is not None:
                    stack.callback(watch.close)
                group = None
                if machine.hierarchy is not None:
                    group = stack.enter_context(
                        cgroups.Group(
                            machine.hierarchy,
                            memory_bytes=request.limits.memory_mib * _MIB,
                            processes=request.limits.processes,
                        )
                    )
                seen = self._start(request, machine, inner, working, sockets, directory, group, stack, stop, watch)
                if seen.stopped:
                    raise stopped(request.id)
                termination, exit_code = _termination(request, seen, group)
                cpu = group.cpu_s if group is not None else None
                outputs, reports, faults = _received(request, sockets.files())
                sessions = _checked(sockets.sessions(), request, exit_code)
        except OSError as error:
            raise CouldNotCheck("SANDBOX_FAILED", f"The sandbox could not be set up: {error}.") from error
        log = _harmless(seen.tail)
        if seen.crowded:
            log += f"\n[the gate ended the run: it had made more than {request.limits.files} files]\n"
        if not seen.started:
            raise not_started(log, machine.bubblewrap.path, self._paths.state)
        return SuiteRun(
            id=request.id,
            role=request.role,
            suite=request.suite.name,
            command=request.suite.command,
            tree=request.tree_oid,
            exit_code=exit_code,
            termination=termination,
            sessions=tuple(sessions),
            reports=reports,
            engine=machine.engine,
            log=log,
            wall_s=time.monotonic() - started,
            cpu_s=cpu,
            guarantee=_guarantee(request, bool(sessions), bool(reports)),
            report_faults=faults,
            outputs=outputs,
            rewritten=watch.rewritten if watch is not None else None,
            expects_records=request.environment.has_recorder and request.suite.runner == "pytest",
        )

    def _start(
        self,
        request: RunRequest,
        machine: Machine,
        inner: list[str],
        working: str,
        listener: Listener,
        directory: Path,
        group: cgroups.Group | None,
        stack: contextlib.ExitStack,
        stop: int,
        watch: TreeWatch | None,
    ) -> process.Seen:
        sockets = {command.RECORDER_SOCKET: listener.records, command.REPORTS_SOCKET: listener.reports}
        if watch is not None:
            sockets.update(watch.pipes)
            inner = ["/bin/sh", "-c", THEN_LOOK, "sh", *inner]
        if not request.environment.has_recorder:
            del sockets[command.RECORDER_SOCKET]
        if not command.handed_over(request):
            del sockets[command.REPORTS_SOCKET]
        runner = structured(request.suite.runner)
        own = {**(runner.files() if runner is not None else {}), **request.files}
        options = command.bubblewrap_arguments(
            request,
            etc=machine.etc,
            sockets=sockets,
            working=working,
            at=self._at,
            gate_files=_written(directory / "gate", own, None) if own else None,
            over=_written(directory / "over", request.over, SANDBOX_ID if machine.setpriv else None)
            if request.over
            else None,
        )
        arguments = _memory_file("arguments", command.joined(options), stack)
        fds = [arguments]
        status = os.pipe()
        argv = [str(machine.bubblewrap.path), "--args", str(arguments), "--json-status-fd", str(status[1])]
        if machine.filter is not None:
            fds.append(_memory_file("filter", machine.filter, stack))
            argv += ["--seccomp", str(fds[-1])]
        argv += ["--", *inner]
        if machine.setpriv is not None:
            user = str(SANDBOX_ID)
            drop = ["--reuid", user, "--regid", user, "--clear-groups", "--inh-caps=-all", "--no-new-privs"]
            argv = [machine.setpriv, *drop, "--pdeathsig", "KILL", "--", *_orphans_end(argv)]
        return process.run(
            argv,
            pass_fds=[*fds, status[1]],
            status=status,
            wall_s=request.limits.wall_s,
            output_bytes=request.limits.output_mib * _MIB,
            limits=_process_limits(request.limits, grouped=group is not None),
            join=group.join if group is not None else lambda _pid: None,
            kill_all=group.kill if group is not None else lambda: None,
            listener=listener,
            niceness=self._niceness,
            stop=stop,
            watch=watch,
            crowded=lambda first: files.made(first, (self._at, *files.SCRATCH)) > request.limits.files,
        )

    def _run_directory(self, stack: contextlib.ExitStack) -> Path:
        runtime.shared_directory(self._paths.runs)
        directory = self._paths.runs / f"{os.getpid()}-{os.urandom(8).hex()}"
        directory.mkdir(mode=0o711)
        directory.chmod(0o711)
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        return directory

    def _machine(self) -> Machine:
        with self._lock:
            if self._found is None:
                found = self._look()
                self._prove(found)
                self._found = found
            return self._found

    def _prove(self, machine: Machine) -> None:
        asked = self_check.request(machine.etc, self._paths.runtime / "gate-only")
        options = command.bubblewrap_arguments(asked, etc=machine.etc, sockets={}, working=self._at, at=self._at)
        self_check.prove(
            lambda request: self._run_on(machine, request),
            program=machine.bubblewrap.path,
            options=[*options, repr(machine.setpriv), repr(machine.filter)],
            tree=machine.etc,
            marks=self._paths.runtime,
            dedicated_user=machine.setpriv is not None,
            filtered=machine.filter is not None,
        )

    def _look(self) -> Machine:
        root = os.geteuid() == 0
        runtime.shared_directory(self._paths.runtime)
        if root and (closed := runtime.unreachable(self._paths.runtime / "x")) is not None:
            raise CouldNotCheck(
                "SANDBOX_UNAVAILABLE",
                f"The sandbox user cannot pass through {closed}, above the gate's state directory.",
                next_action="Set GATEKEEPER_STATE_DIR to a directory that every user can pass through.",
            )
        setpriv = shutil.which("setpriv") if root else None
        if root and setpriv is None:
            raise CouldNotCheck(
                "SANDBOX_UNAVAILABLE",
                "setpriv is missing, and bubblewrap is never started as root.",
                next_action="Install util-linux, or run the gate as an ordinary user.",
            )
        hierarchy = cgroups.find()
        if hierarchy is not None:
            cgroups.sweep(hierarchy)
        _sweep_runs(self._paths.runs)
        return Machine(
            bubblewrap=runtime.bubblewrap(self._paths, copy=root, program=self._program),
            etc=runtime.etc(self._paths),
            setpriv=setpriv,
            hierarchy=hierarchy,
            filter=seccomp.host_filter(),
        )


def _watched(request: RunRequest) -> bool:
    """Whole suites on a tree: what they write into it matters. A proof of the sandbox has no tree."""
    return bool(request.tree_oid) and not request.program and not request.only


def _guarantee(request: RunRequest, recorded: bool, reported: bool) -> str:
    if recorded:
        return "recorded"
    if reported:
        return "structured" if structured(request.suite.runner) is not None else "reported"
    return "exit_status"


def _hold(tree: Path, stack: contextlib.ExitStack) -> None:
    """Keep a shared lock on the tree while it is used: what sweeps old trees takes an exclusive one, and then renames it."""
    handle = os.open(tree, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    stack.callback(os.close, handle)
    fcntl.flock(handle, fcntl.LOCK_SH)
    if not os.path.samestat(os.fstat(handle), os.stat(tree)):
        raise CouldNotCheck("SANDBOX_FAILED", "The tree was removed before the run began.")


def _orphans_end(argv: list[str]) -> list[str]:
    """Start `argv` only as a child of this process.

    The shell asks for its parent after setpriv asked for the signal at the parent's death: a gate that died before is
    seen here, one that dies later is heard of.
    """
    return ["/bin/sh", "-c", f'[ "$PPID" = {os.getpid()} ] && exec "$@"', "sh", *argv]


def _process_limits(limits: Limits, *, grouped: bool) -> list[tuple[int, int]]:
    """Limits of each single process; without a control group they also stand in for the group's."""
    found = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.file_size_mib * _MIB),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
    ]
    if not grouped:
        found.append((resource.RLIMIT_AS, limits.memory_mib * _MIB))
        user = SANDBOX_ID if os.geteuid() == 0 else os.geteuid()
        # The kernel counts this for the user as a whole, so what runs already is added.
        found.append((resource.RLIMIT_NPROC, limits.processes + _tasks_of(user)))
    return found


def _tasks_of(user: int) -> int:
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if entry.stat().st_uid == user:
                    count += len(os.listdir(f"/proc/{entry.name}/task"))
    return count


def _termination(
    request: RunRequest, seen: process.Seen, group: cgroups.Group | None
) -> tuple[Termination, int | None]:
    code = seen.returncode
    if seen.flooded:
        return Termination.OUTPUT_FLOOD, None
    if seen.timed_out:
        return Termination.TIMED_OUT, None
    if seen.crowded:
        return Termination.OUT_OF_MEMORY, None  # files inside are memory, however empty they are
    if code != 0 and group is not None:
        if group.out_of_memory:
            return Termination.OUT_OF_MEMORY, None
        if group.out_of_processes:
            return Termination.TOO_MANY_PROCESSES, None
    # bubblewrap says 128+n for a signal; pytest itself never ends with such a status.
    if code < 0 or (code > 128 and request.suite.runner == "pytest"):
        return Termination.SIGNALLED, None
    return Termination.EXITED, code


def _checked(sessions: list[Session], request: RunRequest, exit_code: int | None) -> list[Session]:
    """For a structured run the recorded status must be that of the process; an opaque command may have many."""
    if request.suite.runner != "pytest" or exit_code is None:
        return sessions
    return [
        replace(s, complete=False, problems=(*s.problems, f"recorded status {s.exit_code}, process {exit_code}"))
        if s.exit_code != exit_code
        else s
        for s in sessions
    ]


def _written(place: Path, files: Mapping[str, bytes], owner: int | None) -> Path:
    """A directory with these files for the sandbox to show. Raises `CouldNotCheck` for a name that would leave it."""
    place.mkdir()
    place.chmod(0o755)
    folders = {place}
    for name, content in files.items():
        parts = name.split("/")
        if any(p in ("", ".", "..") for p in parts):
            raise CouldNotCheck("SANDBOX_FAILED", f"The file {name!r} cannot be laid over the tree.")
        target = place
        for part in parts[:-1]:
            target /= part
            if target not in folders:
                target.mkdir(exist_ok=True)
                target.chmod(0o755)
                folders.add(target)
        target /= parts[-1]
        target.write_bytes(content)
        target.chmod(0o644)
        folders.add(target)
    if owner is not None:
        for path in folders:
            os.chown(path, owner, owner)
    return place


def _received(
    request: RunRequest, files: list[bytes]
) -> tuple[tuple[bytes, ...], tuple[SuiteReport, ...], tuple[tuple[str, str], ...]]:
    """(files of the gate's own program, reports, faults of reports)."""
    if request.program:
        return tuple(files), (), ()
    runner = structured(request.suite.runner)
    if runner is None:
        return (), *_parsed(files)
    if len(files) != 1:
        return (), (), (("REPORT_MISSING", f"The runner {request.suite.runner} left no events."),)
    if len(files[0]) > command.MAX_REPORT_BYTES:
        return (), (), (("INPUT_TOO_LARGE", f"The events have more than {command.MAX_REPORT_BYTES} bytes."),)
    try:
        return (), runner.reports(files[0], request), ()
    except InputError as error:
        return (), (), ((error.code, error.message),)


def _parsed(files: list[bytes]) -> tuple[tuple[SuiteReport, ...], tuple[tuple[str, str], ...]]:
    reports, faults = [], []
    if len(files) > command.MAX_REPORTS:
        faults.append(("INPUT_TOO_LARGE", f"There are more than {command.MAX_REPORTS} reports."))
        files = files[: command.MAX_REPORTS]
    for data in files:
        if len(data) > command.MAX_REPORT_BYTES:
            faults.append(("INPUT_TOO_LARGE", f"A report has more than {command.MAX_REPORT_BYTES} bytes."))
            continue
        try:
            reports.append(parse_junit(data))
        except InputError as error:
            faults.append((error.code, error.message))
    return tuple(reports), tuple(faults)


def _memory_file(name: str, content: bytes, stack: contextlib.ExitStack) -> int:
    fd = os.memfd_create(name)
    stack.callback(os.close, fd)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _sweep_runs(runs: Path) -> None:
    with contextlib.suppress(OSError):
        for entry in os.scandir(runs):
            owner = cgroups.owner_of(entry.name)
            if owner is not None and not cgroups.alive(owner):
                shutil.rmtree(entry.path, ignore_errors=True)


@functools.cache
def _controls() -> dict[int, str]:
    return {c: "\N{REPLACEMENT CHARACTER}" for c in (*range(32), *range(127, 160)) if chr(c) not in "\n\t"}


def _harmless(tail: bytes) -> str:
    """Output as text: control characters, and so every terminal sequence, made visible and powerless."""
    return tail.decode("utf-8", "replace").replace("\r\n", "\n").translate(_controls())
