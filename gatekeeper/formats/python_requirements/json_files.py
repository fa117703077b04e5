"""package.json of npm, and lock files in JSON (npm, Pipenv)."""

from __future__ import annotations

import json
import re
from typing import Any

from gatekeeper.formats.python_requirements.manifest import (
    MAX_TEXT,
    OUTSIDE,
    Dependency,
    Manifest,
    as_dict,
    as_list,
    canonical,
)


def package_json(text: str) -> Manifest | None:
    """package.json: dependencies of all kinds, and scripts that npm runs on install (in `build`)."""
    table = _json(text)
    if table is None:
        return None
    found = []
    for section in (
        "dependencies",
        "devDependencies",
        "optionalDependencies",
        "peerDependencies",
        "overrides",
        "resolutions",
    ):
        for name, value in as_dict(table.get(section)).items():
            spec = value if isinstance(value, str) else ""
            exact = spec if re.fullmatch(r"\d[\w.+-]*", spec) else ""
            outside = spec if OUTSIDE.match(spec) or re.fullmatch(r"[\w.-]+/[\w.-]+(#.*)?", spec) else ""
            found.append(Dependency(name, exact, source=outside, section=section))
    hooks = ("preinstall", "install", "postinstall", "prepare", "prepack", "prepublish", "preprepare", "postprepare")
    scripts = {k: v for k, v in as_dict(table.get("scripts")).items() if k in hooks}
    return Manifest(tuple(found), build={"scripts": scripts}, own_name=str(table.get("name") or ""))


def package_lock(text: str) -> Manifest | None:
    """package-lock.json and Pipfile.lock."""
    table = _json(text)
    if table is None:
        return None
    found = []
    for path, row in as_dict(table.get("packages")).items():
        if path and isinstance(row, dict):
            origin = str(row.get("resolved") or "")
            outside = (
                origin if origin and not re.match(r"https://registry\.(?:npmjs\.org|yarnpkg\.com)/", origin) else ""
            )
            found.append(
                Dependency(
                    path.rsplit("node_modules/", 1)[-1],
                    str(row.get("version") or ""),
                    frozenset(str(row["integrity"]).split()) if "integrity" in row else frozenset(),
                    outside,
                    section="lock",
                )
            )
    for section in ("default", "develop"):
        for name, row in as_dict(table.get(section)).items():
            one = as_dict(row)
            outside = next((str(one[k]) for k in ("git", "file", "path") if k in one), "")
            found.append(
                Dependency(
                    canonical(name),
                    str(one.get("version") or "").lstrip("="),
                    frozenset(map(str, as_list(one.get("hashes")))),
                    outside,
                    section="lock",
                )
            )
    return Manifest(tuple(found))


def _json(text: str) -> dict[str, Any] | None:
    try:
        table = json.loads(text[:MAX_TEXT])
    except (ValueError, RecursionError):
        return None
    return table if isinstance(table, dict) else None
