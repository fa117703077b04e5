"""Lists of what gets installed, of every kind that the gate reads, as one table chosen by the name of the file."""

from __future__ import annotations

import re
from importlib import import_module

from gatekeeper.formats.python_requirements import Manifest
from gatekeeper.formats.python_requirements import is_manifest as _is_python
from gatekeeper.formats.python_requirements import read as _read_python

_NAMED = {
    "setup.cfg": "ini_files.setup_cfg",
    "tox.ini": "ini_files.tox_ini",
    "setup.py": "setup_script.setup_script",
    "noxfile.py": "setup_script.nox_file",
    "pipfile": "environments.pipfile",
    ".pre-commit-config.yaml": "environments.hooks",
    "yarn.lock": "javascript_locks.yarn_lock",
    "pnpm-lock.yaml": "javascript_locks.pnpm_lock",
    "go.mod": "go_files.go_mod",
    "go.sum": "go_files.go_sum",
    "cargo.toml": "cargo_files.cargo_toml",
    "cargo.lock": "cargo_files.cargo_lock",
    "pom.xml": "jvm_files.pom",
    "build.gradle": "jvm_files.gradle",
    "build.gradle.kts": "jvm_files.gradle",
    "settings.gradle": "jvm_files.gradle",
    "settings.gradle.kts": "jvm_files.gradle",
    "libs.versions.toml": "jvm_files.gradle_versions",
    "gradle-wrapper.properties": "jvm_files.gradle_wrapper",
}
"""Module and function of each reader: imported where such a file is there."""
_FAMILIES = {"javascript_locks": "npm", "go_files": "go", "cargo_files": "cargo", "jvm_files": "jvm"}
LOOSE = frozenset({
    "pyproject.toml", "package.json", "setup.cfg", "setup.py", "tox.ini", "noxfile.py", "pipfile", "cargo.toml", "pom.xml", "build.gradle",
    "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "libs.versions.toml", "go.mod",
    ".pre-commit-config.yaml",
})  # fmt: skip
"""Names of lists in which a range is as good as an exact version."""
_PYTHON = (".toml", ".json", ".lock", ".txt", ".in")
SCRIPTS = frozenset({"setup.py", "noxfile.py"})
"""Programs: what they install is read as far as it is written out."""


def read(path: str, text: str) -> Manifest | None:
    """The list at `path` by its name; None where the name says nothing or the text is broken."""
    reader = _reader(path)
    if reader is None:
        return _read_python(path, text)
    module, _, function = reader.partition(".")
    made: Manifest | None = getattr(import_module(f"{__name__}.{module}"), function)(text)
    return made


def is_list(path: str) -> bool:
    """True where `read` knows the name."""
    return _reader(path) is not None or (path.lower().endswith(_PYTHON) and _is_python(path))


def family(path: str) -> str:
    """Whose names a list holds: those of python, npm, go, cargo or jvm. A name is known within its family alone."""
    name = path.rsplit("/", 1)[-1].lower()
    if name in ("package.json", "package-lock.json", "npm-shrinkwrap.json"):
        return "npm"
    return _FAMILIES.get((_reader(path) or "").partition(".")[0], "python")


def _reader(path: str) -> str | None:
    name = path.rsplit("/", 1)[-1].lower()
    if name in _NAMED:
        return _NAMED[name]
    if path.lower().endswith((".cargo/config.toml", ".cargo/config")):
        return "cargo_files.cargo_settings"
    if (
        name.endswith((".yml", ".yaml"))
        and not path.startswith(".github/")
        and re.fullmatch(r"(?:.*[-_.])?(?:conda[-_.]?)?env(?:ironment)?(?:[-_.].*)?\.ya?ml", name)
    ):
        return "environments.environment"
    return None
