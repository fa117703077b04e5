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
        if not path or not isinstance(row, dict):
            continue
        origin = str(row.get("resolved") or "")
        real = registry_name(origin)
        written = path.rsplit("node_modules/", 1)[-1]
        if row.get("link") is True and not OUTSIDE.match(origin):
            continue  # a folder of the project, which has an entry of its own
        if "node_modules/" not in path and not origin:
            continue  # a part of the project
        found.append(
            Dependency(
                # The address decides what is fetched, whatever the entry calls it.
                real or str(row.get("name") or written),
                str(row.get("version") or ""),
                frozenset(str(row["integrity"]).split()) if "integrity" in row else frozenset(),
                "" if real else origin,
                section="lock",
            )
        )
    found += _nested(as_dict(table.get("dependencies")) if "packages" not in table else {})
    sources = [(o, 1) for row in as_list(as_dict(table.get("_meta")).get("sources")) if (o := pipenv_index(row))]
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
    return Manifest(tuple(found), tuple(sources))


def _json(text: str) -> dict[str, Any] | None:
    try:
        table = json.loads(text[:MAX_TEXT])
    except (ValueError, RecursionError):
        return None
    return table if isinstance(table, dict) else None


def registry_name(address: str) -> str:
    """The package that an address of the common registry of npm holds; empty for any other address."""
    found = re.match(
        r"https://registry\.(?:npmjs\.org|yarnpkg\.com)/((?:@[\w.~-]+(?:/|%2[fF]))?[\w.~-]+)/-/[^/?#]+\.tgz(?:[?#]|$)",
        address,
    )
    return re.sub("%2f", "/", found[1], flags=re.IGNORECASE) if found else ""


def pipenv_index(row: object) -> str:
    """An index of Pipenv as an option; empty for the one that everybody uses."""
    table = as_dict(row)
    url = str(table.get("url") or "").rstrip("/")
    unchecked = str(table.get("verify_ssl", True)).lower() == "false"
    common = url == "https://pypi" + ".org/simple" and not unchecked
    return "" if common or not url else f"index {url}{' unchecked' if unchecked else ''}"[:300]


def _nested(table: dict[str, Any]) -> list[Dependency]:
    """`dependencies` of the first lock files of npm, at any depth."""
    found: list[Dependency] = []
    waiting = [table]
    while waiting and len(found) < 100_000:
        for name, value in waiting.pop().items():
            row = as_dict(value)
            origin, version = str(row.get("resolved") or ""), str(row.get("version") or "")
            real = registry_name(origin)
            outside = origin if origin and not real else version if OUTSIDE.match(version) else ""
            hashes = frozenset(str(row["integrity"]).split()) if "integrity" in row else frozenset()
            found.append(Dependency(real or name, version, hashes, outside, section="lock"))
            waiting.append(as_dict(row.get("dependencies")))
    return found
