"""What every command needs of this machine: clock, ids, the operator's settings, caches made ahead."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

from gatekeeper.config import Paths
from gatekeeper.domain.gate_settings import (
    GateSettings,
)
from gatekeeper.errors import ConfigurationError
from gatekeeper.wiring import engines


class SystemClock:
    """The machine's clocks. Implements `domain.ports.Clock`."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.monotonic()


def new_id() -> str:
    """A fresh id: 128 random bits in hex."""
    return os.urandom(16).hex()


def machine_preparations(where: Paths) -> Iterator[tuple[str, Callable[[], object]]]:
    """What makes the first check on this machine as fast as the second: (words for the user, action)."""
    yield "making the secret scanner's rule cache", lambda: warm_secret_rules(where)
    yield "making the environment of the gate's own pytest", lambda: host_environment(where)


def host_environment(where: Paths) -> object:
    """The environment behind `--environment host`."""
    from gatekeeper.domain.settings import EnvironmentSettings
    from gatekeeper.domain.tree import MemoryTree

    return engines.environment_builder(where).prepare(MemoryTree.of({}), EnvironmentSettings(), "host")


def gate_settings(where: Paths) -> GateSettings:
    """The operator's settings of this gate; the defaults where there is no file.

    Raises `ConfigurationError` (GATE_SETTINGS_MALFORMED), also for a file that others can write.
    """
    from gatekeeper.config import gate_settings_file
    from gatekeeper.formats.gate_settings import MAX_SETTINGS, parse_gate_settings

    path = gate_settings_file(where)
    if path is None:
        return GateSettings()
    try:
        with path.open("rb") as file:
            facts = os.fstat(file.fileno())
            data = file.read(MAX_SETTINGS + 1)
    except OSError as error:
        raise ConfigurationError(
            "GATE_SETTINGS_MALFORMED", f"The gate's settings {str(path)!r} cannot be read: {error.strerror}."
        ) from error
    if facts.st_mode & 0o022 or facts.st_uid not in (0, os.geteuid()):
        raise ConfigurationError(
            "GATE_SETTINGS_MALFORMED",
            f"The gate's settings {str(path)!r} can be written by others; make them yours, mode 0644 or 0600.",
        )
    return parse_gate_settings(data)


def secret_rules_are_warm(where: Paths) -> bool:
    """True where `warm_secret_rules` has nothing to do."""
    from gatekeeper.adapters.kingfisher_scanner import rule_worker

    return rule_worker.prepared(where.cache)


def warm_secret_rules(where: Paths) -> None:
    """Compile the secret rules into the cache, whole and in parts (some ten seconds, once a version)."""
    from gatekeeper.adapters.kingfisher_scanner import rule_worker
    from gatekeeper.errors import CouldNotCheck
    from gatekeeper.worker_process import WorkerError

    try:
        rule_worker.prepare(where.cache)
    except (OSError, WorkerError) as error:
        raise CouldNotCheck("SECRET_SCAN_FAILED", f"The secret rules cannot be compiled: {error}") from error
    scanner = engines.secret_scanner(where)
    try:
        scanner.load()
    finally:
        scanner.close()
