"""Where things are on this machine, and the operator's limits. Reads the environment once, on request."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gatekeeper.records import dataclass

SANDBOX_ID = 61_199
"""Numeric user and group of tested code. No account is needed; the number lies in systemd's dynamic range."""

MAX_INPUT_BYTES = 4 * 1024 * 1024
"""Cap on a ticket or claim file."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Directories of the gate. `state` is traversable by the sandbox user, its `keys` is not."""

    state: Path
    config: Path
    service_at: Path | None = None
    """Where the operator put the service's database; None: in `state`."""

    @property
    def service(self) -> Path:
        """Database, workflows and artifacts of the service, 0700."""
        return self.service_at or self.state / "service"

    @property
    def mirrors(self) -> Path:
        """Bare mirrors, one a repository."""
        return self.state / "mirrors"

    @property
    def trees(self) -> Path:
        """Pristine exported trees, cached by tree id."""
        return self.state / "trees"

    @property
    def environments(self) -> Path:
        """Test environments, cached by digest."""
        return self.state / "environments"

    @property
    def runtime(self) -> Path:
        """Copies of tools that the sandbox user must reach (bubblewrap, interpreters)."""
        return self.state / "runtime"

    @property
    def cache(self) -> Path:
        """Scanner rule caches."""
        return self.state / "cache"

    @property
    def runs(self) -> Path:
        """Directories of single runs: sockets and logs; swept at start."""
        return self.state / "runs"

    @property
    def reports(self) -> Path:
        """What `check` found, for reviewers; 0700."""
        return self.state / "reports"

    @property
    def kept_runs(self) -> Path:
        """Runs of targets' own code that later checks reuse; no sandbox sees it."""
        return self.state / "kept-runs"

    @property
    def flakes(self) -> Path:
        """The register of flaky tests of `check`."""
        return self.state / "flakes" / "register.jsonl"

    @property
    def keys(self) -> Path:
        """Signing keys, 0700."""
        return self.config / "keys"


def paths() -> Paths:
    """Paths from GATEKEEPER_STATE_DIR, GATEKEEPER_CONFIG_DIR and GATEKEEPER_SERVICE_DIR, else by custom: /var/lib and /etc for root, XDG for others.

    The state directory of root lies outside any home, because a sandbox user cannot pass through a private home.
    """
    service = os.environ.get("GATEKEEPER_SERVICE_DIR")
    root = os.geteuid() == 0
    home = Path(os.path.expanduser("~"))
    state_default = (
        Path("/var/lib/gatekeeper")
        if root
        else Path(os.environ.get("XDG_STATE_HOME") or home / ".local/state") / "gatekeeper"
    )
    config_default = (
        Path("/etc/gatekeeper") if root else Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "gatekeeper"
    )
    return Paths(
        state=Path(os.environ.get("GATEKEEPER_STATE_DIR") or state_default).absolute(),
        config=Path(os.environ.get("GATEKEEPER_CONFIG_DIR") or config_default).absolute(),
        service_at=Path(service).absolute() if service else None,
    )


def libexec() -> Path:
    """Directory of tools kept apart from the gate's own packages (semgrep): `<venv>/libexec`."""
    return Path(os.environ.get("GATEKEEPER_LIBEXEC_DIR") or Path(sys.prefix) / "libexec").absolute()


def gate_settings_file(where: Paths) -> Path | None:
    """The operator's settings of this gate: GATEKEEPER_CONFIG, else gatekeeper.toml in the state directory if it is there."""
    if named := os.environ.get("GATEKEEPER_CONFIG"):
        return Path(named).absolute()
    usual = where.state / "gatekeeper.toml"
    return usual if os.path.lexists(usual) else None


def policy_bundle() -> Path:
    """The policy bundle: GATEKEEPER_POLICY_DIR, else the one of the package.

    `_policies` is a folder in a wheel and a link to policies/ in a checkout; where links are not checked out, it is a file.
    """
    override = os.environ.get("GATEKEEPER_POLICY_DIR")
    if override:
        return Path(override).absolute()
    here = Path(__file__).resolve().parent
    for candidate in (here / "_policies", here.parent / "policies"):
        if candidate.is_dir():
            return candidate.resolve()  # the loader passes through no link
    return here.parent / "policies"
