"""Requirement files, pyproject.toml, package.json and lock files as one table, chosen by the name of the file."""

from __future__ import annotations

import re

from gatekeeper.formats.python_requirements.json_files import package_json, package_lock
from gatekeeper.formats.python_requirements.manifest import MAX_TEXT, Dependency, Manifest, canonical, requirement
from gatekeeper.formats.python_requirements.pip_files import requirements
from gatekeeper.formats.python_requirements.toml_files import lock_toml, pyproject

__all__ = [
    "MAX_TEXT", "Dependency", "Manifest", "canonical", "is_manifest", "lock_toml", "package_json", "package_lock", "pyproject", "read",
    "requirement", "requirements",
]  # fmt: skip


def read(path: str, text: str) -> Manifest | None:
    """The manifest at `path` by its name; None where the name says nothing or the text is broken."""
    name = path.rsplit("/", 1)[-1].lower()
    if name == "pyproject.toml":
        return pyproject(text)
    if name == "package.json":
        return package_json(text)
    if name in ("package-lock.json", "npm-shrinkwrap.json", "pipfile.lock"):
        return package_lock(text)
    if name in ("uv.lock", "poetry.lock", "pdm.lock") or re.fullmatch(r"pylock(\..+)?\.toml", name):
        return lock_toml(text)
    folder = path.split("/")[-2].lower() if "/" in path else ""
    if re.fullmatch(r"(?:.*[-_.])?(?:requirements?|constraints?)(?:[-_.].*)?\.(?:txt|in|lock)", name) or (
        folder in ("requirements", "constraints", "reqs") and name.endswith((".txt", ".in", ".lock"))
    ):
        return requirements(text)
    return None


def is_manifest(path: str) -> bool:
    """True where `read` knows the name."""
    return read(path, "{}") is not None or read(path, "") is not None
