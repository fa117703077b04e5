"""The operator's settings file of a gate (TOML), parsed strictly: an unknown key is an error that names the nearest one.

A misspelt key would leave a default in force that the operator believes changed.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from gatekeeper.domain.effort import DEFAULT, Effort
from gatekeeper.domain.gate_settings import (
    GateSettings,
    PolicyKind,
    PolicySettings,
    ServeSettings,
    SigningKind,
    SigningSettings,
    SourceSettings,
    ToolSettings,
)
from gatekeeper.domain.ticket import Risk
from gatekeeper.errors import ConfigurationError

MAX_SETTINGS = 64 * 1024
TABLES = ("policy", "signing", "sources", "server", "effort", "environment")
EFFORT = ("mutation_s", "witness_files", "reruns", "witness_s")
POLICY = ("engine", "bundle", "url", "token_file", "ca_file")
SIGNING = (
    "kind", "key", "verifier_id", "trust_config", "identity", "issuer", "token_file", "token_env", "ambient",
)  # fmt: skip
SOURCES = ("credential_helper", "certificates", "proxy", "ssh_key", "ssh_known_hosts", "max_mib", "fetch_s")
SERVER = (
    "listen", "tls_certificate", "tls_key", "client_ca", "require_client_certificate", "reflection", "environment", "trust",
    "statements_required", "publish", "retries", "workers", "timeout_s", "grace_s", "upkeep_s",
)  # fmt: skip
ENVIRONMENT = ("toolchains", "caches", "variables")
MAX_DIRECTORIES = 32
# The sandbox itself is there, or what it is made of; below /etc, /usr and /run only what lies deeper can be named.
_TAKEN = {"/", "/repo", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/proc", "/dev", "/sys", "/etc", "/run",
          "/tmp", "/var", "/root", "/home"}  # fmt: skip  # noqa: S108 - names that are refused
_OWN_VARIABLES = re.compile(
    r"PATH|HOME|LANG|TZ|SHELL|USER|LD_\w+|PYTHON\w*|PYTEST\w*|VIRTUAL_ENV|GATEKEEPER\w*|GO(?:PROXY|FLAGS|ENV|TOOLCHAIN|SUMDB)|NODE_OPTIONS|BASH_ENV|ENV"
)
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
Kind = TypeVar("Kind", bound=StrEnum)


def _bad(message: str) -> ConfigurationError:
    return ConfigurationError("GATE_SETTINGS_MALFORMED", f"The gate's settings cannot be used: {message}.")


def known(table: Mapping[str, Any], names: Iterable[str], place: str) -> None:
    """Refuse keys with other names. Raises `ConfigurationError` that names the key and the nearest known one."""
    allowed = list(names)
    for name in table:
        if name not in allowed:
            near = difflib.get_close_matches(name, allowed, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(allowed)}"
            raise _bad(f"unknown key {name[:80]!r} in {place}; {hint}")


def parse_gate_settings(data: bytes) -> GateSettings:
    """Parse. Raises `ConfigurationError` (GATE_SETTINGS_MALFORMED) that names the place."""
    if len(data) > MAX_SETTINGS:
        raise _bad(f"the file is larger than {MAX_SETTINGS} bytes")
    try:
        table = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise _bad(f"it is not TOML ({str(error)[:200]})") from None
    known(table, TABLES, "the top level")
    for name, value in table.items():
        if not isinstance(value, dict):
            raise _bad(f"{name} must be a table, written as [{name}]")
    return GateSettings(
        policy=_policy(table.get("policy", {})),
        signing=_signing(table.get("signing", {})),
        sources=_sources(table.get("sources", {})),
        server=_server(table.get("server", {})),
        effort=_effort(table.get("effort", {})),
        environment=_environment(table.get("environment", {})),
    )


def _environment(table: Mapping[str, Any]) -> ToolSettings:
    place = "[environment]"
    known(table, ENVIRONMENT, place)
    toolchains, caches = (_directories(table, n, place) for n in ENVIRONMENT[:2])
    variables = table.get("variables", {})
    if not isinstance(variables, dict):
        raise _bad(f"variables in {place} must be a table, written as [environment.variables]")
    for name in variables:
        if not _NAME.fullmatch(name):
            raise _bad(f"{name[:80]!r} in [environment.variables] is no name of a variable")
        if _OWN_VARIABLES.fullmatch(name):
            raise _bad(f"{name} in [environment.variables] is the gate's own to set")
        if _SECRET.search(name):
            raise _bad(f"{name} in [environment.variables] looks like a secret, and tested code would read it")
    both = [*toolchains, *caches]
    for one in both:
        if any(other != one and one.is_relative_to(other) for other in both) or both.count(one) > 1:
            raise _bad(f"{str(one)!r} in {place} lies in another directory that is named there")
    rows = tuple((n, _text(variables, n, "[environment.variables]") or "") for n in variables)
    return ToolSettings(toolchains, caches, rows)


def _directories(table: Mapping[str, Any], name: str, place: str) -> tuple[Path, ...]:
    """Absolute directories, without those that the sandbox makes itself."""
    value = table.get(name, [])
    if not isinstance(value, list) or len(value) > MAX_DIRECTORIES:
        raise _bad(f"{name} in {place} must be a list of at most {MAX_DIRECTORIES} directories")
    found = []
    for number, one in enumerate(value):
        path = _path({name: one}, name, place)
        if path is None or ".." in path.parts or str(path) in _TAKEN or path.is_relative_to("/repo"):
            raise _bad(f"entry {number + 1} of {name} in {place} is a directory that the sandbox makes itself")
        if any(path.is_relative_to(p) for p in ("/proc", "/dev", "/sys", "/tmp", "/run/gate", "/run/go")):  # noqa: S108
            raise _bad(f"entry {number + 1} of {name} in {place} is a directory that the sandbox makes itself")
        found.append(path)
    return tuple(found)


def _effort(table: Mapping[str, Any]) -> Mapping[Risk, Effort]:
    """`[effort.low]`, `[effort.medium]`, `[effort.high]`; what is not said stays as it is by default."""
    known(table, [r.value for r in Risk], "[effort]")
    found = {}
    for tier, standard in DEFAULT.items():
        row, place = table.get(tier.value, {}), f"[effort.{tier.value}]"
        if not isinstance(row, dict):
            raise _bad(f"{tier.value} in [effort] must be a table, written as {place}")
        known(row, EFFORT, place)
        found[tier] = Effort(
            mutation_s=_number(row, "mutation_s", standard.mutation_s, 0, 86_400, place),
            witness_files=int(_number(row, "witness_files", standard.witness_files, 0, 100_000, place, whole=True)),
            reruns=int(_number(row, "reruns", standard.reruns, 0, 100, place, whole=True)),
            witness_s=_number(row, "witness_s", standard.witness_s, 0, 86_400, place),
        )
    return found


def _sources(table: Mapping[str, Any]) -> SourceSettings:
    place = "[sources]"
    known(table, SOURCES, place)
    settings = SourceSettings(
        credential_helper=_text(table, "credential_helper", place),
        certificates=_path(table, "certificates", place),
        proxy=_text(table, "proxy", place),
        ssh_key=_path(table, "ssh_key", place),
        ssh_known_hosts=_path(table, "ssh_known_hosts", place),
        max_mib=int(_number(table, "max_mib", 4096, 1, 1_048_576, place, whole=True)),
        fetch_s=_number(table, "fetch_s", 600.0, 1, 86_400, place),
    )
    if (settings.ssh_key is None) != (settings.ssh_known_hosts is None):
        raise _bad(
            "ssh_key and ssh_known_hosts in [sources] go together: a host whose key is not known is not spoken to"
        )
    return settings


def _server(table: Mapping[str, Any]) -> ServeSettings:
    place = "[server]"
    known(table, SERVER, place)
    standard = ServeSettings()
    return ServeSettings(
        listen=_text(table, "listen", place) or standard.listen,
        tls_certificate=_path(table, "tls_certificate", place),
        tls_key=_path(table, "tls_key", place),
        client_ca=_path(table, "client_ca", place),
        require_client_certificate=_truth(table, "require_client_certificate", place),
        reflection=_truth(table, "reflection", place),
        environment=_text(table, "environment", place) or standard.environment,
        trust=_path(table, "trust", place),
        statements_required=_truth(table, "statements_required", place),
        publish=_truth(table, "publish", place),
        retries=int(_number(table, "retries", standard.retries, 0, 10, place, whole=True)),
        workers=int(_number(table, "workers", 1, 1, 256, place, whole=True)) if "workers" in table else None,
        timeout_s=_number(table, "timeout_s", standard.timeout_s, 1, 86_400, place),
        grace_s=_number(table, "grace_s", standard.grace_s, 0, 3_600, place),
        upkeep_s=_number(table, "upkeep_s", standard.upkeep_s, 1, 86_400, place),
    )


def _truth(table: Mapping[str, Any], name: str, place: str) -> bool:
    value = table.get(name, False)
    if not isinstance(value, bool):
        raise _bad(f"{name} in {place} must be true or false")
    return value


def _number(
    table: Mapping[str, Any], name: str, default: float, least: float, most: float, place: str, *, whole: bool = False
) -> float:
    value = table.get(name, default)
    kinds = (int,) if whole else (int, float)
    # A bool is an int to Python, and NaN is below nothing.
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
        word = "a whole number" if whole else "a number"
        raise _bad(f"{name} in {place} must be {word} from {least:g} to {most:g}")
    return value


def _policy(table: Mapping[str, Any]) -> PolicySettings:
    known(table, POLICY, "[policy]")
    settings = PolicySettings(
        engine=_kind(table, "engine", PolicyKind, PolicyKind.EMBEDDED, "[policy]"),
        bundle=_path(table, "bundle", "[policy]"),
        url=_text(table, "url", "[policy]"),
        token_file=_path(table, "token_file", "[policy]"),
        ca_file=_path(table, "ca_file", "[policy]"),
    )
    if settings.engine is PolicyKind.EMBEDDED:
        _unused(table, ("url", "token_file", "ca_file"), '[policy] with engine = "embedded"')
    elif settings.url is None:
        _unused(table, ("token_file", "ca_file"), "[policy] without url")
    return settings


def _signing(table: Mapping[str, Any]) -> SigningSettings:
    known(table, SIGNING, "[signing]")
    place = "[signing]"
    ambient = _truth(table, "ambient", "[signing]")
    settings = SigningSettings(
        kind=_kind(table, "kind", SigningKind, SigningKind.KEY, place),
        key=_path(table, "key", place),
        verifier_id=_text(table, "verifier_id", place),
        trust_config=_path(table, "trust_config", place),
        identity=_text(table, "identity", place),
        issuer=_text(table, "issuer", place),
        token_file=_path(table, "token_file", place),
        token_env=_text(table, "token_env", place),
        ambient=ambient,
    )
    if settings.kind is SigningKind.KEY:
        _unused(table, SIGNING[3:], '[signing] with kind = "key"')
        return settings
    _unused(table, ("key",), '[signing] with kind = "keyless"')
    for name in ("trust_config", "identity", "issuer"):
        if getattr(settings, name) is None:
            raise _bad(f'{name} is missing in [signing], which kind = "keyless" needs')
    if (settings.token_file is not None) + (settings.token_env is not None) + settings.ambient != 1:
        raise _bad("[signing] needs exactly one of token_file, token_env and ambient = true")
    if settings.token_env is not None and not _NAME.fullmatch(settings.token_env):
        raise _bad("token_env in [signing] must be the name of an environment variable")
    return settings


def _unused(table: Mapping[str, Any], names: Iterable[str], place: str) -> None:
    for name in names:
        if name in table:
            raise _bad(f"{name} has no meaning in {place}")


def _kind(table: Mapping[str, Any], name: str, kind: type[Kind], default: Kind, place: str) -> Kind:
    value = table.get(name, default.value)
    words = [k.value for k in kind]
    if not isinstance(value, str) or value not in words:
        raise _bad(f"{name} in {place} is {str(value)[:40]!r}, expected one of {', '.join(words)}")
    return kind(value)


def _text(table: Mapping[str, Any], name: str, place: str) -> str | None:
    if name not in table:
        return None
    value = table[name]
    if not isinstance(value, str) or not value.strip() or len(value) > 2000 or not value.isprintable():
        raise _bad(f"{name} in {place} must be a text of one line that is not empty")
    return value


def _path(table: Mapping[str, Any], name: str, place: str) -> Path | None:
    value = _text(table, name, place)
    if value is None:
        return None
    if not PurePosixPath(value).is_absolute():
        raise _bad(f"{name} in {place} must be an absolute path, not {value[:80]!r}")
    return Path(value)
