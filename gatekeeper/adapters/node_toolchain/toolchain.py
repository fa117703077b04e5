"""`NodeToolchain`: adds Node.js, and the packages of the base's lock, to the environment of the tests."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from gatekeeper.adapters.node_toolchain.packages import WRITABLE, install
from gatekeeper.adapters.node_toolchain.program import Node, find_node, find_npm
from gatekeeper.config import Paths
from gatekeeper.domain.ports import TestEnvironment
from gatekeeper.domain.settings import EnvironmentSettings
from gatekeeper.domain.ticket import Suite
from gatekeeper.domain.tree import Tree
from gatekeeper.errors import CouldNotCheck, InputError
from gatekeeper.formats.npm_lock import NpmProject, depends, npm_project, workspaces

RUNNERS = ("node", "jest", "vitest")
_LOCKS = ("npm-shrinkwrap.json", "package-lock.json")
_MENTIONED = re.compile(r"(?<![\w./-])(?:node|npm|npx|jest|vitest|tsc|eslint|mocha)(?![\w-])")
_LEGACY_PEERS = re.compile(r"^\s*legacy-peer-deps\s*=\s*true\s*$", re.MULTILINE)

Built = Callable[[Path, str, Callable[[Path], None]], Path]


class NodeToolchain:
    """Implements `domain.ports.ToolchainBuilder`.

    `tree_path` is where the tree is inside the sandbox; `built` makes a directory once, whole or not at all.
    """

    def __init__(self, paths: Paths, tree_path: str, built: Built) -> None:
        self._paths = paths
        self._tree_path = tree_path
        self._built = built

    def extend(
        self, environment: TestEnvironment, base: Tree, settings: EnvironmentSettings, suites: Sequence[Suite]
    ) -> TestEnvironment:
        """See `ToolchainBuilder.extend`. A command that only mentions a tool of Node.js gets what there is."""
        del settings
        own = [s for s in suites if s.runner in RUNNERS]
        mentioning = [s for s in suites if s.runner == "command" and _MENTIONED.search(s.command)]
        if not own and not any(_project_folder(base, s.workdir) is not None for s in mentioning):
            return environment
        try:
            node = find_node()
        except CouldNotCheck:
            if own:
                raise
            return environment
        made = self._with_node(environment, node)
        done: set[str] = set()
        for suite in (*own, *mentioning):
            folder = _project_folder(base, suite.workdir)
            if folder is None or folder in done:
                continue
            project = self._project(base, folder, required=suite.runner in RUNNERS)
            if project is not None:
                done.add(folder)
                made = self._with_packages(made, base, folder, project, node)
        return made

    def _with_node(self, environment: TestEnvironment, node: Node) -> TestEnvironment:
        mounts = environment.mounts
        if not node.everywhere:
            source = node.executable
            if not node.reachable:
                # Another user cannot pass through a private home: the program alone is enough to run what is written in it.
                name = "node-" + hashlib.sha256(f"{source}\0{node.version}".encode()).hexdigest()[:16]
                source = self._built(self._paths.runtime, name, lambda p: _copy(node.executable, p / "node")) / "node"
            mounts = (*mounts, (str(source), str(node.executable)))
        return replace(
            environment,
            mounts=mounts,
            path=(*environment.path, str(node.executable.parent)),
            programs={**environment.programs, "node": str(node.executable)},
            digest=_digest(environment.digest, str(node.executable), node.version),
            description=f"{environment.description}; Node.js {node.version.split()[0]}",
        )

    def _project(self, base: Tree, folder: str, *, required: bool) -> NpmProject | None:
        """The reduced project, None where there is nothing to install. Raises `CouldNotCheck` (ENVIRONMENT_FAILED)."""
        prefix = f"{folder}/" if folder else ""
        if any(p.startswith(f"{prefix}node_modules/") for p in base.entries):
            return None  # the repository brings its packages itself
        try:
            lock = next((data for n in _LOCKS if (data := _read(base, prefix + n)) is not None), None)
            manifest = _read(base, f"{prefix}package.json") or b"{}"
            if lock is None:
                if not required or not depends(manifest):
                    return None
                raise CouldNotCheck(
                    "ENVIRONMENT_FAILED",
                    f"{prefix}package.json names packages, and the target branch has no package-lock.json beside it.",
                    next_action="Commit the package-lock.json that `npm install` writes; other lock files are not read.",
                )
            manifests = {"": manifest}
            for place in workspaces(lock):
                found = _read(base, f"{prefix}{place}/package.json")
                if found is not None:
                    manifests[place] = found
            project = npm_project(manifests, lock)
        except InputError as error:
            raise CouldNotCheck(
                "ENVIRONMENT_FAILED",
                f"The packages of {folder or 'the project'} cannot be installed: {error.message}",
                next_action="The gate installs from a registry alone, by exact version and digest: mend package-lock.json.",
            ) from error
        return project if project.packages else None

    def _with_packages(
        self, environment: TestEnvironment, base: Tree, folder: str, project: NpmProject, node: Node
    ) -> TestEnvironment:
        npm = find_npm(node)
        npmrc = _read(base, posixpath.join(folder, ".npmrc")) or b""
        legacy = _LEGACY_PEERS.search(npmrc.decode("utf-8", "replace")) is not None
        content = json.dumps([project.manifests, project.lock, legacy], sort_keys=True)
        digest = _digest(content, node.version, str(npm))

        def make(place: Path) -> None:
            install(project, place, node=node, npm=npm, cache=self._paths.cache, legacy_peers=legacy)

        where = self._built(self._paths.environments, f"node-{digest}", make)
        root = posixpath.normpath(posixpath.join(self._tree_path, folder))
        mounts = [
            (str(where / place / "node_modules"), posixpath.join(root, place, "node_modules"))
            for place in project.manifests
            if (where / place / "node_modules").is_dir()
        ]
        return replace(
            environment,
            mounts=(*environment.mounts, *mounts),
            scratch=(*environment.scratch, *(f"{root}/node_modules/{name}" for name in WRITABLE)),
            digest=_digest(environment.digest, folder, digest),
            description=f"{environment.description}, {len(project.packages)} packages from {posixpath.join(folder, 'package-lock.json')}",
        )


def _project_folder(base: Tree, workdir: str) -> str | None:
    """The folder whose packages a suite in `workdir` would find: the nearest with a lock, else with a package.json."""
    start = posixpath.normpath(workdir)
    folders = [start] if start != "." else [""]
    while folders[-1]:
        folders.append(posixpath.dirname(folders[-1]))
    for names in (_LOCKS, ("package.json",)):
        for folder in folders:
            if any(posixpath.join(folder, name) in base.entries for name in names):
                return folder
    return None


def _read(base: Tree, path: str) -> bytes | None:
    entry = base.entries.get(path)
    if entry is None or not entry.mode.startswith("100"):
        return None
    return base.read(path)


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    target.chmod(0o755)


def _digest(*parts: str) -> str:
    return hashlib.sha256(b"\0\0".join(p.encode("utf-8", "surrogateescape") for p in parts)).hexdigest()[:32]
