"""Factories of the engines: policy, git, environments, scanners, sandbox."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gatekeeper.config import Paths, paths
from gatekeeper.domain.gate_settings import (
    PolicyKind,
    PolicySettings,
    SourceSettings,
)
from gatekeeper.errors import UsageError
from gatekeeper.records import dataclass
from gatekeeper.wiring import machine

if TYPE_CHECKING:
    from gatekeeper.adapters.bubblewrap_sandbox import BubblewrapSandbox
    from gatekeeper.adapters.environment_builder import UvEnvironmentBuilder
    from gatekeeper.adapters.file_flakes import FileFlakes
    from gatekeeper.adapters.file_kept_runs import FileKeptRuns
    from gatekeeper.adapters.git_mirror import GitMirror, GitNotesStore
    from gatekeeper.adapters.git_mirror.enforcer import EnforcerRepository
    from gatekeeper.adapters.git_mirror.sources import Remotes
    from gatekeeper.adapters.kingfisher_scanner.scanner import KingfisherScanner
    from gatekeeper.adapters.opa_policy import OpaPolicy
    from gatekeeper.adapters.rego_policy.engine import RegoPolicy
    from gatekeeper.adapters.semgrep_scanner import SemgrepScanner
    from gatekeeper.domain.ports import TestEnvironment, ToolchainBuilder
    from gatekeeper.domain.settings import EnvironmentSettings
    from gatekeeper.domain.ticket import Suite
    from gatekeeper.domain.tree import Tree
    from gatekeeper.worker_process import Worker


def policy_engine(
    directory: Path | None = None, settings: PolicySettings | None = None, begun: Worker | None = None
) -> RegoPolicy | OpaPolicy:
    """The policy as the settings choose it, over a worker that was begun for it where it takes one. Call `warm()` early
    and `close()` at the end.
    """
    from gatekeeper.config import libexec, policy_bundle

    settings = settings or machine.gate_settings(paths()).policy
    directory = directory or settings.bundle or policy_bundle()
    if settings.engine is PolicyKind.EMBEDDED:
        from gatekeeper.adapters.rego_policy.engine import RegoPolicy

        return RegoPolicy(directory, begun=begun)
    if begun is not None:
        begun.kill()
    from gatekeeper.adapters.opa_policy import NamedServer, OpaPolicy, find_opa
    from gatekeeper.adapters.rego_policy.loader import load_bundle

    server: NamedServer | Path | None = (
        NamedServer(settings.url, settings.token_file, settings.ca_file) if settings.url else find_opa(libexec())
    )
    return OpaPolicy(lambda: load_bundle(directory), server)


def opa_program() -> Path | None:
    """The OPA program that would be started."""
    from gatekeeper.adapters.opa_policy import find_opa
    from gatekeeper.config import libexec

    return find_opa(libexec())


def remotes(settings: SourceSettings) -> Remotes:
    """How registered repositories on other machines are reached."""
    from gatekeeper.adapters.git_mirror.sources import Remotes

    return Remotes(
        credential_helper=settings.credential_helper,
        certificates=settings.certificates,
        proxy=settings.proxy,
        ssh_key=settings.ssh_key,
        ssh_known_hosts=settings.ssh_known_hosts,
        max_bytes=settings.max_mib * 1024**2,
        fetch_s=settings.fetch_s,
    )


def git_repositories(where: Paths, remotes: Remotes | None = None) -> GitMirror:
    """Mirrors of repositories on this machine and, with the operator's `remotes`, of those that https and ssh reach."""
    from gatekeeper.adapters.git_mirror import GitMirror

    return GitMirror(where, remotes)


def require_source(source: str, remotes: Remotes | None) -> None:
    """Raises `UsageError` (REPOSITORY_UNREADABLE) for a source that this gate can never fetch from, or a directory that is
    no repository. Whether an address answers shows when a change is fetched.
    """
    from gatekeeper.adapters.git_mirror.sources import find

    place = find(source, remotes).directory
    if place is not None and not any(os.path.exists(os.path.join(place, *p)) for p in (("HEAD",), (".git",))):
        raise UsageError("REPOSITORY_UNREADABLE", f"{place[:200]!r} is no git repository.")


def enforcer_repository(repository: Path) -> EnforcerRepository:
    """Hardened reads for `verify` and the hook."""
    from gatekeeper.adapters.git_mirror.enforcer import EnforcerRepository

    return EnforcerRepository(repository)


def attestation_store() -> GitNotesStore:
    """Statements in the notes of the repository itself."""
    from gatekeeper.adapters.git_mirror import GitNotesStore

    return GitNotesStore()


def environment_builder(where: Paths) -> UvEnvironmentBuilder:
    """Environments of the tests, with the recorder of the sandbox in them."""
    from gatekeeper.adapters.bubblewrap_sandbox import TREE, recorder_distribution
    from gatekeeper.adapters.environment_builder import UvEnvironmentBuilder

    return UvEnvironmentBuilder(where, recorder_distribution(), TREE)


def toolchains(where: Paths) -> tuple[ToolchainBuilder, ...]:
    """Languages other than Python, for the environment of the tests, then what the operator adds."""
    from gatekeeper.adapters.bubblewrap_sandbox import TREE
    from gatekeeper.adapters.environment_builder.store import built, inventory
    from gatekeeper.adapters.prepared_toolchains import PreparedToolchains

    def node() -> ToolchainBuilder:
        from gatekeeper.adapters.node_toolchain import NodeToolchain

        return NodeToolchain(where, TREE, built)

    def go() -> ToolchainBuilder:
        from gatekeeper.adapters.go_toolchain import GoToolchain

        return GoToolchain(where, built)

    prepared = PreparedToolchains(where, machine.gate_settings(where).environment, built, inventory)
    return (
        _LateToolchain(("node", "jest", "vitest"), "package.json", node),
        _LateToolchain(("go",), "go.mod", go),
        prepared,
    )


@dataclass(frozen=True)
class _LateToolchain:
    """A toolchain that is imported where a suite names its runner or the base holds a project of its language."""

    runners: tuple[str, ...]
    marker: str
    make: Callable[[], ToolchainBuilder]

    def extend(
        self, environment: TestEnvironment, base: Tree, settings: EnvironmentSettings, suites: Sequence[Suite]
    ) -> TestEnvironment:
        """See `domain.ports.ToolchainBuilder.extend`."""
        named = any(s.runner in self.runners for s in suites)
        if not named and not any(p.rsplit("/", 1)[-1] == self.marker for p in base.entries):
            return environment
        return self.make().extend(environment, base, settings, suites)


def secret_scanner(where: Paths, begun: Worker | None = None) -> KingfisherScanner:
    """The secret scanner, over a worker that was begun for the same place. Call `start()` early: its rules load beside
    other work.
    """
    from gatekeeper.adapters.kingfisher_scanner.scanner import KingfisherScanner

    return KingfisherScanner(where.cache, where.state, begun=begun)


def code_scanner() -> SemgrepScanner:
    """The code scanner."""
    from gatekeeper.adapters.semgrep_scanner import SemgrepScanner
    from gatekeeper.config import libexec

    return SemgrepScanner(libexec())


def sandbox(where: Paths, *, niceness: int = 0, started: Callable[[], object] | None = None) -> BubblewrapSandbox:
    """The sandbox of this machine; `started` is called each time a program has been let go."""
    from gatekeeper.adapters.bubblewrap_sandbox import BubblewrapSandbox

    return BubblewrapSandbox(where, niceness=niceness, started=started)


def flake_register(where: Paths) -> FileFlakes:
    """Tests known to be flaky, of `check` on this machine."""
    from gatekeeper.adapters.file_flakes import FileFlakes

    return FileFlakes(where.flakes)


def kept_base_runs(where: Paths, box: BubblewrapSandbox) -> FileKeptRuns:
    """Runs of targets' own code, from one `check` to the next."""
    from gatekeeper.adapters.file_kept_runs import FileKeptRuns

    return FileKeptRuns(where.kept_runs, machine.SystemClock(), box.engine)
