"""Toolchains and caches that the operator put on this machine, shown to every sandbox: Java, Rust, Maven's repository.

Folders are named in the gate's own settings, never by a repository. Toolchains are read-only at their own place. A cache
is copied once for each content, so that what a run writes into it is the run's own and goes with it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from gatekeeper.config import SANDBOX_ID, Paths
from gatekeeper.domain.gate_settings import ToolSettings
from gatekeeper.domain.ports import TestEnvironment
from gatekeeper.domain.settings import EnvironmentSettings
from gatekeeper.domain.ticket import Suite
from gatekeeper.domain.tree import Tree
from gatekeeper.errors import CouldNotCheck

COPY_S = 900.0
Built = Callable[[Path, str, Callable[[Path], None]], Path]
Inventory = Callable[[Path], str]


class PreparedToolchains:
    """Implements `domain.ports.ToolchainBuilder`.

    `built` makes a directory once, whole or not at all; `inventory` is a digest of what lies below a directory.
    """

    def __init__(self, paths: Paths, settings: ToolSettings, built: Built, inventory: Inventory) -> None:
        self._paths = paths
        self._settings = settings
        self._built = built
        self._inventory = inventory

    def extend(
        self, environment: TestEnvironment, base: Tree, settings: EnvironmentSettings, suites: Sequence[Suite]
    ) -> TestEnvironment:
        """See `ToolchainBuilder.extend`: the same for every suite. Raises `CouldNotCheck` (ENVIRONMENT_MISSING)."""
        del base, settings, suites
        if self._settings == ToolSettings():
            return environment
        mounts, layers, path, marks = [], [], [], [environment.digest]
        for place in self._settings.toolchains:
            self._usable(place)
            mounts.append((os.path.realpath(place), str(place)))
            marks += [str(place), self._inventory(place)]
            if (place / "bin").is_dir():
                path.append(f"{place}/bin")
        for place in self._settings.caches:
            self._usable(place)
            mark = self._inventory(place)
            name = "cache-" + hashlib.sha256(f"{place}\0{mark}".encode("utf-8", "surrogateescape")).hexdigest()[:24]
            layers.append((str(self._built(self._paths.environments, name, _copier(place))), str(place)))
            marks += [str(place), mark]
        variables = dict(self._settings.variables)
        marks += [f"{k}={v}" for k, v in sorted(variables.items())]
        return replace(
            environment,
            mounts=(*environment.mounts, *mounts),
            layers=(*environment.layers, *layers),
            path=(*environment.path, *path),
            env={**environment.env, **variables},
            digest=hashlib.sha256("\0\0".join(marks).encode("utf-8", "surrogateescape")).hexdigest()[:32],
            description=f"{environment.description}; the operator's toolchains",
        )

    def _usable(self, place: Path) -> None:
        if not place.is_dir():
            raise CouldNotCheck(
                "ENVIRONMENT_MISSING",
                f"The gate's settings name {str(place)!r} in [environment], which is no directory.",
                next_action="Mend [environment] in the gate's settings.",
            )
        real = Path(os.path.realpath(place))
        closed = next((p for p in (*reversed(real.parents), real) if not p.stat().st_mode & stat.S_IXOTH), None)
        if os.geteuid() == 0 and closed is not None:
            raise CouldNotCheck(
                "ENVIRONMENT_MISSING",
                f"The sandbox user cannot pass through {str(closed)!r} to {str(place)!r}, which [environment] names.",
                next_action="Put the toolchain where every user can read it, for example below /opt.",
            )


def _copier(source: Path) -> Callable[[Path], None]:
    def make(place: Path) -> None:
        try:
            subprocess.run(
                ["cp", "-a", "--reflink=auto", "--", f"{source}/.", str(place)],
                check=True, capture_output=True, timeout=COPY_S,
            )  # fmt: skip
        except subprocess.SubprocessError as error:
            raise CouldNotCheck("ENVIRONMENT_FAILED", f"{str(source)!r} cannot be copied: {error}.") from error
        if os.geteuid() == 0:
            # A run may replace what is there in the layer above; the files themselves it never reaches.
            for folder, folders, files in os.walk(place):
                for name in (".", *folders, *files):
                    os.chown(os.path.join(folder, name), SANDBOX_ID, SANDBOX_ID, follow_symlinks=False)

    return make
