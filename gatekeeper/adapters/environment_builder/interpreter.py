"""An interpreter that the sandbox user can reach: as it stands, or a slim copy mounted at the original's place."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

from gatekeeper.adapters.environment_builder.store import built
from gatekeeper.records import dataclass

_LEFT_OUT = {
    "site-packages",
    "test",
    "tests",
    "idlelib",
    "turtledemo",
    "lib2to3",
    "ensurepip",
    "share",
    "include",
    "pip",
}


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A base interpreter (no virtual environment)."""

    executable: Path
    """Its path on the host, and inside the sandbox."""
    prefix: Path
    version: str
    """major.minor.micro"""

    @property
    def minor(self) -> str:
        """major.minor, as in lib/python3.11."""
        return ".".join(self.version.split(".")[:2])


def own() -> Interpreter:
    """The interpreter behind the gate's own environment."""
    base = Path(getattr(sys, "_base_executable", None) or sys.executable)
    return Interpreter(Path(os.path.realpath(base)), Path(sys.base_prefix), ".".join(map(str, sys.version_info[:3])))


def of_environment(directory: Path) -> Interpreter | None:
    """The base interpreter of an existing environment, asked from itself; None where it cannot be started."""
    ask = "import sys, os; print(os.path.realpath(sys._base_executable)); print(sys.base_prefix); print('.'.join(map(str, sys.version_info[:3])))"
    try:
        done = subprocess.run(
            [str(directory / "bin" / "python"), "-I", "-S", "-c", ask],
            capture_output=True, text=True, timeout=30, check=True, env={"PATH": os.defpath},
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    lines = done.stdout.splitlines()
    return Interpreter(Path(lines[0]), Path(lines[1]), lines[2]) if len(lines) == 3 else None


def reachable(path: Path) -> bool:
    """True where any user may pass through every folder down to `path` and read it."""
    path = Path(os.path.realpath(path))
    try:
        for folder in [*reversed(path.parents), path]:
            mode = folder.stat().st_mode
            need = stat.S_IXOTH if folder.is_dir() else stat.S_IROTH
            if not mode & need:
                return False
    except OSError:
        return False
    return True


def mounts(interpreter: Interpreter, runtime: Path) -> tuple[tuple[str, str], ...]:
    """What must be mounted so that the interpreter works inside: nothing for one under /usr, which is always there."""
    prefix = Path(os.path.realpath(interpreter.prefix))
    if prefix == Path("/usr") or Path("/usr") in prefix.parents:
        return ()
    if os.geteuid() != 0 or reachable(interpreter.executable):
        return ((str(prefix), str(interpreter.prefix)),)
    return ((str(slim_copy(interpreter, runtime)), str(interpreter.prefix)),)


def slim_copy(interpreter: Interpreter, runtime: Path) -> Path:
    """A copy of the interpreter's prefix without packages, tests and headers, made once a version and place."""
    info = interpreter.executable.stat()
    mark = f"{interpreter.executable}\0{interpreter.version}\0{info.st_size}\0{info.st_mtime_ns}\0{sorted(_LEFT_OUT)}"
    digest = hashlib.sha256(mark.encode()).hexdigest()[:24]

    def ignore(_: str, names: list[str]) -> set[str]:
        return {n for n in names if n in _LEFT_OUT or n.startswith("config-") or n.endswith(".a")}

    def make(place: Path) -> None:
        # copy2 keeps the modification times that the compiled files are checked against.
        shutil.copytree(interpreter.prefix, place, symlinks=True, ignore=ignore, dirs_exist_ok=True)

    return built(runtime, f"python-{interpreter.version}-{digest}", make)
