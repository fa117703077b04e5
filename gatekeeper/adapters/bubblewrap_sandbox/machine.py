"""What this machine can give a sandbox, found once a process."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from gatekeeper.adapters.bubblewrap_sandbox import cgroups, runtime, seccomp
from gatekeeper.config import Paths
from gatekeeper.domain.testrun import Engine
from gatekeeper.errors import CouldNotCheck
from gatekeeper.records import dataclass


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


def look(paths: Paths, program: Path | None) -> Machine:
    """Find it, and remove what dead gates left. `program` takes the place of the bubblewrap that would be found.

    Raises `CouldNotCheck` (SANDBOX_UNAVAILABLE).
    """
    root = os.geteuid() == 0
    runtime.shared_directory(paths.runtime)
    if root and (closed := runtime.unreachable(paths.runtime / "x")) is not None:
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
    _sweep_runs(paths.runs)
    return Machine(
        bubblewrap=runtime.bubblewrap(paths, copy=root, program=program),
        etc=runtime.etc(paths),
        setpriv=setpriv,
        hierarchy=hierarchy,
        filter=seccomp.host_filter(),
    )


def _sweep_runs(runs: Path) -> None:
    with contextlib.suppress(OSError):
        for entry in os.scandir(runs):
            owner = cgroups.owner_of(entry.name)
            if owner is not None and not cgroups.alive(owner):
                shutil.rmtree(entry.path, ignore_errors=True)
