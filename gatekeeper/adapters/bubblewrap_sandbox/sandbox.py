"""`BubblewrapSandbox`: one run from request to `SuiteRun`."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from gatekeeper.adapters.bubblewrap_sandbox import cgroups, command, files, outcome, process, runtime, self_check
from gatekeeper.adapters.bubblewrap_sandbox.faults import not_started
from gatekeeper.adapters.bubblewrap_sandbox.listener import Listener
from gatekeeper.adapters.bubblewrap_sandbox.machine import Machine, look
from gatekeeper.adapters.bubblewrap_sandbox.runners import structured
from gatekeeper.adapters.bubblewrap_sandbox.stopping import RunsUnderWay, stopped
from gatekeeper.adapters.bubblewrap_sandbox.tree_watch import THEN_LOOK, TreeWatch
from gatekeeper.config import SANDBOX_ID, Paths
from gatekeeper.domain.ports import Limits, RunRequest
from gatekeeper.domain.testrun import Engine, SuiteRun
from gatekeeper.errors import CouldNotCheck

_MIB = 1024 * 1024
_OPEN_FILES = 4096


class BubblewrapSandbox:
    """Runs suites in bubblewrap. Implements `domain.ports.Sandbox`; safe to call from several threads."""

    def __init__(
        self,
        paths: Paths,
        *,
        at: str = command.TREE,
        program: Path | None = None,
        niceness: int = 0,
        started: Callable[[], object] | None = None,
    ) -> None:
        """`at` is where the tree appears inside; `program` takes the place of the bubblewrap that would be found.

        `niceness` is added to the runs' own, so that a server answers while they fill the cores. `started` is called,
        from the thread of the run, each time a suite's program has been let go; it must not raise or take long.
        """
        self._niceness = niceness
        self._started = started
        self._paths = paths
        self._at = at
        self._program = program
        self._lock = threading.Lock()
        self._found: Machine | None = None
        self._under_way = RunsUnderWay()

    def engine(self) -> Engine:
        """What this machine can give. Raises `CouldNotCheck` (SANDBOX_UNAVAILABLE)."""
        return self._machine().engine

    def prepare(self) -> None:
        """Look at the machine and take what a first run would wait for. Never needed. Raises as `engine` does."""
        hierarchy = self._machine().hierarchy
        if hierarchy is not None:
            cgroups.hurry(hierarchy)

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
                termination, exit_code = outcome.termination(request, seen, group)
                cpu = group.cpu_s if group is not None else None
                outputs, reports, faults = outcome.received(request, sockets.files())
                sessions = outcome.checked(sockets.sessions(), request, exit_code)
        except OSError as error:
            raise CouldNotCheck("SANDBOX_FAILED", f"The sandbox could not be set up: {error}.") from error
        log = outcome.harmless(seen.tail)
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
            guarantee=outcome.guarantee(request, bool(sessions), bool(reports)),
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
            started=self._started if request.tree_oid else None,
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
                found = look(self._paths, self._program)
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


def _watched(request: RunRequest) -> bool:
    """Whole suites on a tree: what they write into it matters. A proof of the sandbox has no tree."""
    return bool(request.tree_oid) and not request.program and not request.only


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


def _memory_file(name: str, content: bytes, stack: contextlib.ExitStack) -> int:
    fd = os.memfd_create(name)
    stack.callback(os.close, fd)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
