"""`.gatekeeper.toml` of the protected branch to `Settings`. Strict: an unknown key is an error that names it."""

from __future__ import annotations

import hashlib
import posixpath
import tomllib

from gatekeeper.domain.globs import problem
from gatekeeper.domain.settings import EnvironmentSettings, Settings
from gatekeeper.domain.ticket import RUNNERS, Suite, SuiteKind
from gatekeeper.errors import InputError
from gatekeeper.formats.fields import Fields

CODE = "SETTINGS_MALFORMED"
MAX_BYTES = 256 * 1024
WHAT = ".gatekeeper.toml"


def parse_settings(data: bytes) -> Settings:
    """Parse the settings. Raises `InputError` (SETTINGS_MALFORMED)."""
    if len(data) > MAX_BYTES:
        raise InputError(CODE, f"{WHAT} has {len(data)} bytes; at most {MAX_BYTES} are read.")
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(CODE, f"{WHAT} is not TOML: {error}.") from None
    root = Fields(document, what=WHAT, code=CODE)
    root.only("schema", "environment", "suite", "instruments", "scope", "generated", "vendored", "tiers")
    environment = root.object("environment")
    environment.only("kind", "locks", "python", "git_metadata")
    kind = environment.text("kind", limit=20) or "auto"
    if kind not in ("auto", "host", "none"):
        raise environment.refuse("kind", "auto, host or none")
    suites = tuple(_suite(f) for f in root.objects("suite", limit=50))
    names = [s.name for s in suites]
    if len(set(names)) != len(names):
        raise InputError(CODE, f"{WHAT} has two suites of one name.")
    scope, tiers = root.object("scope"), root.object("tiers")
    scope.only("shared")
    tiers.only("low", "medium", "high")
    return Settings(
        present=True,
        environment=EnvironmentSettings(
            kind=kind,
            locks=tuple(_path(environment, "locks", p) for p in environment.texts("locks")),
            python=environment.text("python", limit=40) or None,
            git_metadata=environment.flag("git_metadata"),
        ),
        suites=suites,
        instruments=_section(root, "instruments"),
        shared=_globs(scope, "shared"),
        generated=_section(root, "generated"),
        vendored=_section(root, "vendored"),
        tiers={name: _globs(tiers, name) for name in ("low", "medium", "high") if name in tiers.table},
        digest=hashlib.sha256(data).hexdigest(),
    )


def _section(root: Fields, name: str) -> tuple[str, ...]:
    section = root.object(name)
    section.only("paths")
    return _globs(section, "paths")


def _globs(fields: Fields, name: str) -> tuple[str, ...]:
    globs = fields.texts(name)
    for glob in globs:
        why = problem(glob)
        if why:
            raise InputError(CODE, f"{fields.what}: {name} holds the glob {glob[:80]!r}: {why}.")
    return globs


def _path(fields: Fields, name: str, path: str) -> str:
    if path != posixpath.normpath(path) or path.startswith(("/", "..")) or "\x00" in path or "\\" in path:
        raise InputError(CODE, f"{fields.what}: {name} must be a plain path inside the repository, not {path[:80]!r}.")
    return path


def _suite(fields: Fields) -> Suite:
    fields.only("name", "kind", "runner", "command", "workdir", "inputs", "reports", "timeout")
    name = fields.text("name", limit=60, required=True)
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise fields.refuse("name", "letters, digits, - and _")
    try:
        kind = SuiteKind(fields.table.get("kind", "test"))
    except ValueError:
        raise fields.refuse("kind", f"one of {', '.join(SuiteKind)}") from None
    runner = fields.text("runner", limit=40) or "command"
    if runner not in RUNNERS:
        raise fields.refuse("runner", f"one of {', '.join(RUNNERS)}")
    value = fields.table.get("command", "")
    command = (
        "\n".join(fields.texts("command", limit=50)) if isinstance(value, list) else fields.text("command", limit=8192)
    )
    if runner == "command" and not command.strip():
        raise fields.refuse("command", "the shell line to run")
    if "\x00" in command:
        raise fields.refuse("command", "a text without NUL")
    return Suite(
        name=name,
        kind=kind,
        runner=runner,
        command=command,
        workdir=_path(fields, "workdir", fields.text("workdir", limit=400) or "."),
        inputs=_globs(fields, "inputs"),
        reports=_globs(fields, "reports"),
        timeout_s=fields.number("timeout", low=1, high=86_400),
        source="settings",
    )
