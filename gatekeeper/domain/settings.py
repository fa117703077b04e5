"""Repository settings, read from `.gatekeeper.toml` on the protected branch only."""

from __future__ import annotations

from collections.abc import Mapping

from gatekeeper.domain.ticket import Suite
from gatekeeper.records import dataclass, field


@dataclass(frozen=True, slots=True)
class EnvironmentSettings:
    """How the environment of the tests is made."""

    kind: str = "auto"
    """auto (from the locks found), host, or none."""
    locks: tuple[str, ...] = ()
    """Requirement or lock files in order; empty: found by name (requirements-dev.txt, requirements.txt, ...)."""
    python: str | None = None
    git_metadata: bool = False


@dataclass(frozen=True)
class Settings:
    """Parsed settings; the defaults stand for a repository without a settings file."""

    present: bool = False
    environment: EnvironmentSettings = field(default_factory=EnvironmentSettings)
    suites: tuple[Suite, ...] = ()
    instruments: tuple[str, ...] = ()
    """Globs of further files that are instruments."""
    shared: tuple[str, ...] = ()
    """[scope] shared: globs any ticket may touch (a changelog)."""
    generated: tuple[str, ...] = ()
    vendored: tuple[str, ...] = ()
    tiers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """low, medium, high: globs that raise the tier (low never lowers what the policy raised)."""
    digest: str = ""
    """sha256 of the file's bytes; empty where there is none."""
