"""`GoToolchain`: adds Go, the modules of the base's go.sum and the compiled standard library to the environment."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from gatekeeper.adapters.go_toolchain.modules import download, module_folder, wanted
from gatekeeper.adapters.go_toolchain.program import Go, find_go
from gatekeeper.adapters.go_toolchain.standard import compile_standard
from gatekeeper.config import Paths
from gatekeeper.domain.ports import TestEnvironment
from gatekeeper.domain.settings import EnvironmentSettings
from gatekeeper.domain.ticket import Suite
from gatekeeper.domain.tree import Tree
from gatekeeper.errors import CouldNotCheck

_PRIVATE = "/tmp/go"  # noqa: S108 - a private tmpfs inside
INSIDE = "/run/go"
"""Folder inside the sandbox with the modules and the build cache."""
_MENTIONED = re.compile(r"(?<![\w./-])(?:go|gofmt|make|gotestsum|golangci-lint)(?![\w-])")
_RACE = re.compile(r"(?<!\S)--?race(?!\S)")

Built = Callable[[Path, str, Callable[[Path], None]], Path]


class GoToolchain:
    """Implements `domain.ports.ToolchainBuilder`. `built` makes a directory once, whole or not at all."""

    def __init__(self, paths: Paths, built: Built) -> None:
        self._paths = paths
        self._built = built

    def extend(
        self, environment: TestEnvironment, base: Tree, settings: EnvironmentSettings, suites: Sequence[Suite]
    ) -> TestEnvironment:
        """See `ToolchainBuilder.extend`. A command that only mentions Go gets it where the base has a module there."""
        del settings
        own = [s for s in suites if s.runner == "go"]
        mentioning = [s for s in suites if s.runner == "command" and _MENTIONED.search(s.command)]
        folders = {s.name: module_folder(base, s.workdir) for s in (*own, *mentioning)}
        using = [s for s in (*own, *mentioning) if s.runner == "go" or folders[s.name] is not None]
        if not using:
            return environment
        for suite in own:
            if folders[suite.name] is None:
                raise CouldNotCheck(
                    "ENVIRONMENT_FAILED",
                    f"The suite {suite.name!r} runs go test in {suite.workdir!r}, where the target branch has no go.mod.",
                    next_action="Set workdir of the suite to the folder of its module.",
                )
        try:
            go = find_go()
        except CouldNotCheck:
            if own:
                raise
            return environment
        asked = wanted(base, sorted({f for s in using if (f := folders[s.name]) is not None}))
        race = any(_RACE.search(s.command) for s in using)
        made = self._with_go(environment, go, race=race)
        return self._with_modules(made, go, asked.folders, lambda place: download(go, asked, place), asked.files)

    def _with_go(self, environment: TestEnvironment, go: Go, *, race: bool) -> TestEnvironment:
        mounts = environment.mounts
        if not go.everywhere:
            source = go.root.resolve()
            if not go.reachable:
                # Another user cannot pass through a private home.
                source = self._built(self._paths.runtime, f"go-{_digest(str(source), go.version)}", _copier(source))
            mounts = (*mounts, (str(source), str(go.root)))
        compiled = self._built(
            self._paths.environments,
            f"go-standard-{_digest(str(go.root), go.version, str(race))}",
            lambda place: compile_standard(go, place, race=race),
        )
        return replace(
            environment,
            mounts=mounts,
            layers=(*environment.layers, (str(compiled / "cache"), f"{INSIDE}/cache")),
            path=(*environment.path, f"{go.root}/bin"),
            programs={**environment.programs, "go": f"{go.root}/bin/go"},
            env={
                **environment.env,
                "GOCACHE": f"{INSIDE}/cache", "GOMODCACHE": f"{INSIDE}/modules", "GOPATH": _PRIVATE, "GOPROXY": "off",
                "GOSUMDB": "off", "GOVCS": "*:off", "GOTOOLCHAIN": "local", "GOENV": "off", "GOFLAGS": "",
                "GOTELEMETRY": "off",
            },
            digest=_digest(environment.digest, str(go.root), go.version),
            description=f"{environment.description}; Go {go.version.split()[0].removeprefix('go')}",
        )  # fmt: skip

    def _with_modules(
        self,
        environment: TestEnvironment,
        go: Go,
        folders: tuple[str, ...],
        make: Callable[[Path], None],
        files: dict[str, bytes],
    ) -> TestEnvironment:
        if not folders:
            return environment
        content = [f"{n}\0{hashlib.sha256(d).hexdigest()}" for n, d in sorted(files.items())]
        digest = _digest(go.version, *folders, "", *content)
        where = self._built(self._paths.environments, f"go-modules-{digest}", make)
        return replace(
            environment,
            mounts=(*environment.mounts, (str(where / "modules"), f"{INSIDE}/modules")),
            digest=_digest(environment.digest, digest),
            description=f"{environment.description}, modules of go.sum",
        )


def _copier(source: Path) -> Callable[[Path], None]:
    def make(place: Path) -> None:
        shutil.copytree(source, place, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("test"))

    return make


def _digest(*parts: str) -> str:
    mark = hashlib.sha256()
    for part in parts:
        mark.update(part.encode("utf-8", "surrogateescape") + b"\0\0")
    return mark.hexdigest()[:32]
