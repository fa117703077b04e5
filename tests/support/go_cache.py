"""The compiled standard library of Go, kept between runs of the tests: it takes a minute to make."""

from __future__ import annotations

from pathlib import Path

from suite_cases import kept, link_tree, needed

from gatekeeper.adapters.environment_builder.store import built
from gatekeeper.adapters.go_toolchain import GoToolchain
from gatekeeper.config import Paths
from gatekeeper.domain.ports import TestEnvironment
from gatekeeper.domain.settings import EnvironmentSettings
from gatekeeper.domain.ticket import Suite
from gatekeeper.domain.tree import MemoryTree

EMPTY = TestEnvironment(
    mounts=(), python="/usr/bin/python3", path=(), digest="d", description="none", has_recorder=False
)


def go_ready(paths: Paths) -> None:
    """Make or take the standard library for a gate with these paths."""
    needed("go")
    store = kept("go")
    if store.is_dir():
        for place in store.iterdir():
            if place.name.startswith("go-standard-") and not (paths.environments / place.name).exists():
                link_tree(place, paths.environments / place.name)
    base = MemoryTree.of({"go.mod": "module example.com/m\n\ngo 1.21\n"})
    GoToolchain(paths, built).extend(EMPTY, base, EnvironmentSettings(), (Suite("go", runner="go"),))
    for place in paths.environments.iterdir():
        if place.name.startswith("go-standard-") and not (store / place.name).exists():
            link_tree(Path(place), store / place.name)
