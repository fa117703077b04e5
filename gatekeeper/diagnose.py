"""What `doctor` looks at: each part of the gate is asked through its own factory, quickly, and never made or changed.

Connects to the OPA server that the settings name, and to nothing else.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from gatekeeper.config import SANDBOX_ID, Paths, gate_settings_file, libexec
from gatekeeper.domain.diagnosis import Diagnosis
from gatekeeper.domain.gate_settings import GateSettings, PolicyKind, SigningKind
from gatekeeper.errors import GatekeeperError
from gatekeeper.wiring import engines, machine, signers

LEAST_GIT = (2, 38)
"""First version whose `merge-tree` merges without a work tree."""


def diagnoses(where: Paths) -> Iterator[Diagnosis]:
    """All lines, in the order of a first set-up."""
    settings = GateSettings()
    path = gate_settings_file(where)
    try:
        settings = machine.gate_settings(where)
        told = f"{path}" if path else f"none; the defaults hold ({where.state / 'gatekeeper.toml'} is not there)"
        yield Diagnosis("settings", "ok" if path else "note", told)
    except GatekeeperError as error:
        yield _missing("settings", error)
    yield from _program()
    yield _git()
    yield from _sandbox(where)
    yield from _scanners(where)
    yield from _policy(settings)
    yield _signer(where, settings)
    yield from _server_keys(where, settings)


def _missing(name: str, error: GatekeeperError) -> Diagnosis:
    return Diagnosis(name, "missing", error.message, error.next_action)


def _program() -> Iterator[Diagnosis]:
    version = platform.python_version()
    good = sys.version_info >= (3, 11)
    yield Diagnosis(
        "python",
        "ok" if good else "missing",
        f"{version}, {sys.executable}",
        "" if good else "Use Python 3.11 or newer.",
    )
    if os.geteuid() == 0:
        yield Diagnosis("user", "ok", f"root; tested code runs as user {SANDBOX_ID}")
    else:
        yield Diagnosis(
            "user", "note", f"user {os.geteuid()}; tested code runs as the same user",
            "As root the gate gives tested code a user of its own.",
        )  # fmt: skip


def _git() -> Diagnosis:
    program = shutil.which("git")
    todo = f"Install git {LEAST_GIT[0]}.{LEAST_GIT[1]} or newer."
    if program is None:
        return Diagnosis("git", "missing", "not on the PATH", todo)
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=10, check=True, env={"PATH": os.defpath}
        )
        version = done.stdout.split()[2]
        good = tuple(int(n) for n in version.split(".")[:2]) >= LEAST_GIT
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return Diagnosis("git", "missing", f"{program} does not tell its version", todo)
    return Diagnosis("git", "ok" if good else "missing", f"{version}, {program}", "" if good else todo)


def _sandbox(where: Paths) -> Iterator[Diagnosis]:
    try:
        engine = engines.sandbox(where).engine()
    except GatekeeperError as error:
        yield _missing("sandbox", error)
        return
    yield Diagnosis("sandbox", "ok", f"{engine.name} {engine.version}: {', '.join(engine.isolation)}")
    if engine.missing:
        yield Diagnosis(
            "sandbox limits", "note", f"not given here: {', '.join(engine.missing)}",
            "Delegate a control group (memory, pids) to the gate, or run it as root.",
        )  # fmt: skip
    else:
        yield Diagnosis("sandbox limits", "ok", "memory, processes and disk of a run are limited by a control group")


def _scanners(where: Paths) -> Iterator[Diagnosis]:
    code = engines.code_scanner()
    if code.binary.is_file() and os.access(code.binary, os.X_OK):
        yield Diagnosis("code scanner", "ok", f"semgrep {code.version}, {code.binary}")
    else:
        yield Diagnosis("code scanner", "missing", f"no engine at {code.binary}", "Run `make setup`.")
    cache = where.cache / f"secret-rules-{os.geteuid()}"
    if not cache.is_dir() or not any(cache.iterdir()):
        yield Diagnosis(
            "secret rules", "note", "not cached: the first check takes some seconds longer",
            "Run `gatekeeper init --machine`.",
        )  # fmt: skip
    elif not machine.secret_rules_are_warm(where):
        yield Diagnosis(
            "secret rules", "note", f"cached in {cache}, not in parts: each check loads all of them",
            "Run `gatekeeper init --machine` once for this version.",
        )  # fmt: skip
    else:
        yield Diagnosis("secret rules", "ok", f"cached in {cache}")


def _policy(settings: GateSettings) -> Iterator[Diagnosis]:
    opa = engines.opa_program()
    if settings.policy.engine is PolicyKind.OPA:
        where = settings.policy.url or (f"started from {opa}" if opa else "to be started")
        words = f"opa, {where}"
    else:
        words = "embedded"
    try:
        engine = engines.policy_engine(settings=settings.policy)
        try:
            identity = engine.bundle()
            engine.plan({})  # answers on nothing, or the engine is not usable
        finally:
            engine.close()
        yield Diagnosis(
            "policy", "ok",
            f"bundle {identity.name}, revision {identity.revision}, digest {identity.digest}; engine {words}",
        )  # fmt: skip
    except GatekeeperError as error:
        yield _missing("policy", error)
    needed = settings.policy.engine is PolicyKind.OPA and settings.policy.url is None
    if opa is not None:
        yield Diagnosis("opa program", "ok" if needed else "note", f"{opa}{'' if needed else ' (not used)'}")
    else:
        place = libexec() / "opa" / "opa"
        yield Diagnosis(
            "opa program", "missing" if needed else "note", f"neither {place} nor on the PATH{'' if needed else ' (not needed)'}",
            "Run `make opa`, or name a running server with `url` in [policy]." if needed else "",
        )  # fmt: skip


def _signer(where: Paths, settings: GateSettings) -> Diagnosis:
    signing = settings.signing
    try:
        if signing.kind is SigningKind.KEYLESS:
            return _keyless(settings)
        key = signing.key or where.keys / "local.pem"
        if signing.key is None and not os.path.lexists(key):
            return Diagnosis("signer", "note", f"key file {key} is made at first use; mode local")
        signer = signers.reviewer_signer(key)
        return Diagnosis("signer", "ok", f"key file {key}, {signer.public.fingerprint}")
    except GatekeeperError as error:
        return _missing("signer", error)


def _server_keys(where: Paths, settings: GateSettings) -> Iterator[Diagnosis]:
    """The keys of `gatekeeper serve`: enforcers pin the one that signs verdicts and the one of its review desk."""
    own = settings.signing.kind is not SigningKind.KEYLESS and settings.signing.key is None
    rows = [("signer of the server", "gate.pem")] if own else []
    for name, file in [*rows, ("review desk", "desk.pem")]:
        key = where.keys / file
        if not os.path.lexists(key):
            yield Diagnosis(name, "note", f"key file {key} is made at the first start of `gatekeeper serve`")
            continue
        try:
            yield Diagnosis(name, "ok", f"key file {key}, {signers.reviewer_signer(key).public.fingerprint}")
        except GatekeeperError as error:
            yield _missing(name, error)


def _keyless(settings: GateSettings) -> Diagnosis:
    signing = settings.signing
    signers.keyless_signer(signing)
    lacking = []
    files: list[tuple[str, Path | None]] = [("trust_config", signing.trust_config), ("token_file", signing.token_file)]
    for name, path in files:
        if path is not None and not os.access(path, os.R_OK):
            lacking.append(f"{name} {path} cannot be read")
    if signing.token_env is not None and not os.environ.get(signing.token_env):
        lacking.append(f"the environment has no {signing.token_env}")
    source = "the CI system's token" if signing.ambient else str(signing.token_file or f"${signing.token_env}")
    words = f"keyless as {signing.identity} ({signing.issuer}), token from {source}"
    if lacking:
        return Diagnosis("signer", "missing", f"{words}: {'; '.join(lacking)}", "Mend [signing] in the settings.")
    return Diagnosis("signer", "ok", f"{words}; not tried, because a trial would sign")
