"""What the base's own files say about the environment: which locks, which requirements, what the project is called.

Everything here comes from the protected branch; it is parsed all the same as if it did not.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from gatekeeper.adapters.environment_builder import lock_lines
from gatekeeper.domain.settings import EnvironmentSettings
from gatekeeper.domain.tree import Tree, text
from gatekeeper.errors import CouldNotCheck
from gatekeeper.records import dataclass

DEVELOPMENT = (
    "requirements-dev.txt", "requirements-test.txt", "requirements-tests.txt", "dev-requirements.txt",
    "test-requirements.txt", "requirements_dev.txt", "requirements_test.txt", "requirements/dev.txt",
    "requirements/test.txt", "requirements/tests.txt",
)  # fmt: skip
RUNTIME = ("requirements.txt", "requirements/base.txt")
MAX_FILE = 4 * 1024 * 1024
DECLARED = "declared.txt"
"""Name of the file for the installer that holds what pyproject.toml declares."""


@dataclass(frozen=True)
class Requirements:
    """Files for `uv pip install -r`, already cleaned."""

    files: dict[str, str]
    """All requirement and constraint files by path, so that `-r` and `-c` between them work."""
    roots: tuple[str, ...]
    hashed: bool
    locked: bool
    """False where the requirements are ranges from pyproject.toml."""
    description: str
    """For people: what was used."""


def requirements(base: Tree, settings: EnvironmentSettings) -> Requirements:
    """What to install. Raises `CouldNotCheck` (ENVIRONMENT_FAILED, blame environment) for a named lock that is missing."""
    if settings.locks:
        roots: tuple[str, ...] = settings.locks
    else:
        development = next((n for n in DEVELOPMENT if n in base.entries), None)
        runtime = next((n for n in RUNTIME if n in base.entries), None)
        roots = tuple(n for n in (development, runtime) if n)
        if development and runtime:
            both = _with_includes(base, (development,))
            if runtime in both or _hashed(both[development]) != _hashed(text(base, runtime) or ""):
                roots = (development,)
    if roots:
        files = _with_includes(base, roots)
        filled = [c for c in files.values() if content_lines(c)]
        return Requirements(
            files, roots, bool(filled) and all(_hashed(c) for c in filled), True,
            f"from {', '.join(roots)} of the target branch",
        )  # fmt: skip
    lines = declared(base)
    words = (
        "from the requirements in pyproject.toml of the target branch, not locked" if lines
        else "the gate's own Python and pytest: the target branch has no lock and declares no requirements"
    )  # fmt: skip
    content = lock_lines.clean("requirements of pyproject", "\n".join(lines))
    return Requirements({DECLARED: content}, (DECLARED,), hashed=False, locked=not lines, description=words)


def _with_includes(base: Tree, roots: tuple[str, ...]) -> dict[str, str]:
    """The files of `roots` and all they include, cleaned, by path.

    Raises `CouldNotCheck` (ENVIRONMENT_FAILED) for one that is missing, too large, or lies outside the repository: the
    installer reads files with the gate's rights.
    """
    files: dict[str, str] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in files:
            continue
        entry = base.entries.get(name)
        content = text(base, name)
        if entry is None or content is None:
            raise CouldNotCheck("ENVIRONMENT_FAILED", f"The lock {name!r} is no file of the target branch.")
        if (entry.size or 0) > MAX_FILE:
            raise CouldNotCheck("ENVIRONMENT_FAILED", f"The lock {name!r} is larger than {MAX_FILE} bytes.")
        for line in lock_lines.logical(content):
            target = lock_lines.included(line)
            if target is None:
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            if "://" in target or path.startswith(("/", "..")):
                raise CouldNotCheck(
                    "ENVIRONMENT_FAILED",
                    f"The lock {name!r} includes {lock_lines.redacted(target)[:200]!r}, which is not in the repository.",
                )
            waiting.append(path)
        files[name] = lock_lines.clean(name, content)
    return files


def content_lines(content: str) -> list[str]:
    """Lines that name something to install."""
    return [x for x in content.splitlines() if x.strip() and not x.lstrip().startswith(("#", "-"))]


def _hashed(content: str) -> bool:
    return "--hash=" in content


def pyproject(base: Tree) -> dict[str, Any]:
    """pyproject.toml as a table, empty where there is none or it is broken."""
    content = text(base, "pyproject.toml")
    if content is None or len(content) > MAX_FILE:
        return {}
    try:
        return tomllib.loads(content)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def declared(base: Tree) -> list[str]:
    """Requirement lines that pyproject.toml declares: dependencies and test extras or groups."""
    document = pyproject(base)
    project = document.get("project", {})
    if not isinstance(project, dict):
        return []
    rows = _array(project.get("dependencies"))
    for table in (project.get("optional-dependencies", {}), document.get("dependency-groups", {})):
        if isinstance(table, dict):
            for name in ("test", "tests", "testing", "dev"):
                rows += _array(table.get(name))
    good = []
    for row in rows:
        try:
            requirement = Requirement(row) if isinstance(row, str) else None
        except InvalidRequirement:
            continue
        if requirement is not None and requirement.url is None and requirement.name != project.get("name"):
            good.append(str(requirement))
    return sorted(set(good))


def _array(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def stand_in(base: Tree, tree_path: str) -> dict[str, bytes]:
    """Files for site-packages that make the project importable and known by name, as an editable install would.

    The path entry points into the tree under test, and stands last on sys.path: it completes, it shadows nothing.
    """
    has_src = any(p.startswith("src/") for p in base.entries)
    files = {
        "gatekeeper_tree.pth": f"{tree_path}/src\n{tree_path}\n".encode() if has_src else f"{tree_path}\n".encode()
    }
    project = pyproject(base).get("project", {})
    name = project.get("name") if isinstance(project, dict) else None
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?", name):
        return files
    version = project.get("version")
    if not isinstance(version, str):
        found = re.search(r"^Version: ([0-9A-Za-z.+!-]{1,40})$", text(base, "PKG-INFO") or "", re.MULTILINE)
        version = found.group(1) if found else "0"
    if not re.fullmatch(r"[0-9A-Za-z.+!-]{1,40}", version):
        version = "0"
    folder = f"{re.sub(r'[-_.]+', '_', name)}-{version}.dist-info"
    files[f"{folder}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    files[f"{folder}/INSTALLER"] = b"gatekeeper\n"
    rows: dict[str, dict[str, str]] = {}
    points = project.get("entry-points", {})
    for group, table in {
        "console_scripts": project.get("scripts", {}),
        **(points if isinstance(points, dict) else {}),
    }.items():
        if isinstance(table, dict):
            rows[str(group)] = {str(k): str(v) for k, v in table.items()}
    lines = [f"[{g}]\n" + "".join(f"{k} = {v}\n" for k, v in t.items()) for g, t in rows.items() if t]
    content = "\n".join(lines)
    if content and all(c.isprintable() or c == "\n" for c in content):
        files[f"{folder}/entry_points.txt"] = content.encode()
    return files
