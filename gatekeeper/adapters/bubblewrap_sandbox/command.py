"""The command lines: what runs inside, and how bubblewrap is told to build the inside."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from gatekeeper.adapters.bubblewrap_sandbox.runners import EVENTS, replaced, structured
from gatekeeper.domain.ports import GATE_FILES, RunRequest
from gatekeeper.domain.ticket import RUNNERS, Suite
from gatekeeper.errors import CouldNotCheck

TREE = "/repo"
"""Where the tree is inside: the same for every run, so that no result depends on the gate's disk."""

RECORDER_SOCKET = "/run/recorder.sock"
REPORTS_SOCKET = "/run/reports.sock"
PLUGIN = "gatekeeper_pytest_recorder"

MAX_REPORT_BYTES = 16 * 1024 * 1024
MAX_REPORTS = 64
MAX_WANTED = 32 * 1024
"""Bytes of what the recorder is told to collect: it comes in one packet."""

# Starts pytest with nothing of the tree on sys.path, so that a file named pytest.py cannot take its place; then puts
# the working directory last, where it completes the path as `python -m pytest` would but shadows nothing.
_PYTEST = (
    "import sys; sys.path[:] = [p for p in sys.path if p]; import os, pytest; "
    "sys.path.append(os.getcwd()); sys.argv[0] = 'pytest'; sys.exit(int(pytest.main()))"
)

# Removes reports that were in the tree before the command runs, and afterwards hands over what it wrote. It runs as the
# tested user: what it sends is the command's claim. Regular files alone are read, never through a link.
_WITH_REPORTS = """
import glob, os, signal, socket, stat, subprocess, sys, json
patterns, argv, cap, most, where, root = json.loads(sys.argv[1])
def found():
    seen = []
    for pattern in patterns:
        for name in glob.iglob(pattern, root_dir=root, recursive=True, include_hidden=True):
            if name not in seen:
                seen.append(name)
            if len(seen) >= most:
                return seen
    return seen
for name in found():
    path = os.path.join(root, name)
    if os.path.islink(path) or not os.path.isdir(path):
        os.unlink(path)
code = subprocess.call(argv)
try:
    channel = socket.socket(socket.AF_UNIX)
    channel.connect(where)
    for name in found():
        fd = os.open(os.path.join(root, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                data = file.read(cap + 1)
                channel.sendall(b"%d\\n" % len(data) + data)
    channel.close()
except OSError as error:
    print("reports:", error, file=sys.stderr)
sys.exit(code if code >= 0 else 128 - code)
"""


def inner_command(request: RunRequest) -> list[str]:
    """The argument vector that runs inside the sandbox. Raises `CouldNotCheck` for one that cannot be made."""
    suite = request.suite
    python = request.environment.python
    runner = structured(suite.runner)
    if request.program:
        argv = replaced(request.program, python)
    elif suite.runner == "pytest":
        try:
            extra = shlex.split(suite.command)
        except ValueError as error:
            raise _unusable(suite, f"its arguments cannot be split: {error}") from error
        argv = [python, "-B", "-c", _PYTEST, *extra, *request.arguments, *request.tests]
    elif runner is not None:
        try:
            argv = runner.argv(request)
        except ValueError as error:
            raise _unusable(suite, str(error)) from error
    elif suite.runner == "command":
        if not suite.command.strip():
            raise _unusable(suite, "its command is empty")
        lines = suite.command.strip("\n")
        argv = ["/bin/sh", "-e", "-c", lines] if "\n" in lines else ["/bin/sh", "-c", lines]
    else:
        raise _unusable(suite, f"its runner is {suite.runner!r}, expected one of {', '.join(RUNNERS)}")
    if any("\0" in a for a in argv):
        raise _unusable(suite, "its command holds a NUL")
    if wanted := handed_over(request):
        root = TREE if wanted == list(suite.reports) else "/"
        work = json.dumps([wanted, argv, MAX_REPORT_BYTES, MAX_REPORTS, REPORTS_SOCKET, root])
        argv = [python, "-I", "-S", "-B", "-c", _WITH_REPORTS, work]
    return argv


def wanted(request: RunRequest, at: str = TREE) -> str:
    """What the recorder is told to collect, as JSON in ASCII; empty for everything. Raises `CouldNotCheck`."""
    if not request.only and not request.last:
        return ""
    for path in (*request.only, *request.last):
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or "\0" in path:
            raise CouldNotCheck("SANDBOX_FAILED", f"The test file {path!r} is not inside the tree.")
    text = json.dumps({"only": [f"{at}/{p}" for p in request.only], "last": [f"{at}/{p}" for p in request.last]})
    if len(text) > MAX_WANTED:
        raise CouldNotCheck("SANDBOX_FAILED", f"The test files' names have more than {MAX_WANTED} bytes.")
    return text


def handed_over(request: RunRequest) -> list[str]:
    """What the sandbox gives back after the run: globs below the tree, or plain paths below the root."""
    if request.program:
        return [p.lstrip("/") for p in request.collect]
    if structured(request.suite.runner) is not None:
        return [EVENTS.lstrip("/")]
    return _safe_globs(request.suite)


def _safe_globs(suite: Suite) -> list[str]:
    for pattern in suite.reports:
        if PurePosixPath(pattern).is_absolute() or ".." in PurePosixPath(pattern).parts:
            raise _unusable(suite, f"its report {pattern!r} is not inside the tree")
    return list(suite.reports)


def working_directory(suite: Suite, tree: Path, at: str = TREE) -> str:
    """The suite's directory inside. Raises `CouldNotCheck` where it leaves the tree, is a link or does not exist."""
    place, inside = tree, PurePosixPath(at)
    for part in PurePosixPath(suite.workdir).parts:
        if part in ("..", "/"):
            raise _unusable(suite, f"its workdir {suite.workdir!r} is not inside the tree")
        place, inside = place / part, inside / part
        if place.is_symlink() or not place.is_dir():
            raise _unusable(suite, f"its workdir {suite.workdir!r} is not a directory of the tree")
    return str(inside)


def check_places(request: RunRequest, at: str = TREE) -> None:
    """What the environment puts into the tree must not land elsewhere: nothing on the way there may be a link or a file.

    Raises `CouldNotCheck` (SANDBOX_FAILED, blame change).
    """
    for _, inside in request.environment.mounts:
        if not inside.startswith(f"{at}/"):
            continue
        place = request.tree
        for part in PurePosixPath(inside.removeprefix(f"{at}/")).parts:
            place /= part
            if place.is_symlink() or (place.exists() and not place.is_dir()):
                name = place.relative_to(request.tree)
                raise CouldNotCheck(
                    "SANDBOX_FAILED",
                    f"{str(name)!r} of the tree is in the way of what the environment installs there.",
                    blame="change",
                    next_action="Take it out of the repository: the gate installs it from the target branch's lock.",
                )


def _unusable(suite: Suite, why: str) -> CouldNotCheck:
    return CouldNotCheck(
        "SANDBOX_FAILED",
        f"The suite {suite.name!r} cannot be run: {why}.",
        # Suites of the base's settings are not the author's work; those of the ticket are the client's.
        blame="environment" if suite.source == "settings" else "change",
        next_action="Mend the suite in .gatekeeper.toml." if suite.source == "settings" else "Mend the ticket's suite.",
    )


def environment_variables(request: RunRequest) -> dict[str, str]:
    """Everything the command sees: nothing of the gate's own environment."""
    variables = {
        "HOME": "/tmp",  # noqa: S108 - a private tmpfs inside
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1",
        **request.environment.env,
        "PATH": ":".join([*request.environment.path, "/usr/bin", "/bin"]),
    }
    if (runner := structured(request.suite.runner)) is not None:
        variables.update(runner.variables())
    if request.environment.has_recorder:
        own = variables.get("PYTEST_ADDOPTS", "")
        variables["PYTEST_ADDOPTS"] = f"{own} -p {PLUGIN}".strip()
    return variables


def bubblewrap_arguments(
    request: RunRequest,
    *,
    etc: Path,
    sockets: Mapping[str, Path],
    working: str,
    at: str = TREE,
    gate_files: Path | None = None,
    over: Path | None = None,
) -> list[str]:
    """Options of bubblewrap, default closed. They go through a descriptor: no command line shows them."""
    tmp = str(request.limits.tmp_mib * 1024 * 1024)
    options = [
        *("--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000", "--hostname", "localhost"),
        *("--die-with-parent", "--new-session", "--clearenv"),
    ]
    for name, value in sorted(environment_variables(request).items()):
        options += ["--setenv", name, value]
    options += ["--ro-bind", "/usr", "/usr"]
    for name in ("lib", "lib64", "lib32", "bin", "sbin"):
        place = f"/{name}"
        if os.path.islink(place):
            options += ["--symlink", os.readlink(place).lstrip("/"), place]
        elif os.path.isdir(place):
            options += ["--ro-bind", place, place]
    for name in ("ld.so.cache", "alternatives", "mime.types", "ssl/certs", "ssl/openssl.cnf", "protocols", "services"):
        options += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for name in ("passwd", "group", "hosts", "nsswitch.conf"):
        options += ["--ro-bind", str(etc / name), f"/etc/{name}"]
    options += ["--proc", "/proc", "--dev", "/dev"]
    options += ["--size", tmp, "--tmpfs", "/dev/shm", "--perms", "1777", "--size", tmp, "--tmpfs", "/tmp"]  # noqa: S108
    options += ["--dir", "/run", "--dir", "/var", "--symlink", "../tmp", "/var/tmp"]  # noqa: S108
    within = [m for m in request.environment.mounts if m[1].startswith(f"{at}/")]
    for host, inside in request.environment.mounts:
        if (host, inside) not in within:
            options += ["--ro-bind", host, inside]
    for host, inside in request.environment.layers:
        options += ["--overlay-src", host, "--tmp-overlay", inside]
    for inside, path in sockets.items():
        options += ["--ro-bind", str(path), inside]
    if gate_files is not None:
        options += ["--ro-bind", str(gate_files), GATE_FILES]
    options += ["--overlay-src", str(request.tree)]
    if over is not None:
        options += ["--overlay-src", str(over)]
    options += ["--tmp-overlay", at]
    for host, inside in within:
        options += ["--ro-bind", host, inside]
    for inside in request.environment.scratch:
        options += ["--size", tmp, "--tmpfs", inside]
    options += [
        "--cap-drop",
        "ALL",
        "--disable-userns",
        "--remount-ro",
        "/",
        "--remount-ro",
        "/dev",
        "--chdir",
        working,
    ]
    return options


def joined(arguments: Sequence[str]) -> bytes:
    """NUL-separated, as `--args` reads them."""
    return b"".join(os.fsencode(a) + b"\0" for a in arguments)
