"""Lists of Conda environments, and the Pipfile."""

from __future__ import annotations

import re
import tomllib

from gatekeeper.formats import workflow_yaml
from gatekeeper.formats.python_requirements import requirements
from gatekeeper.formats.python_requirements.json_files import pipenv_index
from gatekeeper.formats.python_requirements.manifest import (
    MAX_TEXT,
    Dependency,
    Manifest,
    as_dict,
    as_list,
    canonical,
    requirement,
)

_COMMON = frozenset({"defaults", "conda-forge", "nodefaults", "bioconda", "pytorch", "nvidia", "main"})
"""Channels that everybody uses."""


def environment(text: str) -> Manifest | None:
    """environment.yml: packages of Conda and those that pip puts beside them; empty for YAML of another kind."""
    table = as_dict(workflow_yaml.load(text))
    found: list[Dependency] = []
    options: list[tuple[str, int]] = [
        (f"channel {c}"[:300], 1) for c in as_list(table.get("channels")) if isinstance(c, str) and c not in _COMMON
    ]
    faults: list[tuple[str, int]] = []
    for row in as_list(table.get("dependencies")):
        if isinstance(row, dict):
            rows = as_list(row.get("pip"))
            of_pip = requirements("\n".join(r.replace("\n", " ") for r in rows if isinstance(r, str)))
            found += of_pip.dependencies
            options += of_pip.options
            faults += of_pip.faults
        elif isinstance(row, str):
            channel, _, spec = row.rpartition("::")
            name = re.match(r"\s*([A-Za-z0-9_][\w.-]*)", spec)
            if channel and channel.partition("/")[0] not in _COMMON:
                options.append((f"channel {channel}"[:300], 1))
            if name is None:
                faults.append((row[:200], 1))
            else:
                pinned = re.fullmatch(r"\s*[\w.-]+\s*==?\s*([\w.!+-]+)(?:=\S+)?", spec)
                found.append(Dependency(canonical(name[1]), pinned[1] if pinned else "", section="conda"))
    return Manifest(tuple(found), tuple(options), False, tuple(faults))


def pipfile(text: str) -> Manifest | None:
    """Packages of a Pipfile and the indexes it names."""
    try:
        table = tomllib.loads(text[:MAX_TEXT])
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    found = []
    for section, rows in table.items():
        if section in ("source", "requires", "scripts", "pipenv", "pipfile"):
            continue
        for name, value in as_dict(rows).items():
            row = value if isinstance(value, dict) else {"version": value}
            source = next((f"{k}: {row[k]}"[:300] for k in ("git", "hg", "svn", "file", "path", "url") if k in row), "")
            pinned = re.fullmatch(r"={2,3}\s*(\d[\w.+!-]*)", str(row.get("version") or ""))
            found.append(Dependency(canonical(name), pinned[1] if pinned else "", source=source, section=section[:100]))
    options = [(o, 1) for row in as_list(table.get("source")) if (o := pipenv_index(row))]
    return Manifest(tuple(found), tuple(options))


def hooks(text: str) -> Manifest | None:
    """What the hooks of pre-commit install beside themselves (`additional_dependencies`), as far as Python reads it."""
    table = workflow_yaml.load(text)
    found = []
    for repository in as_list(table.get("repos") if isinstance(table, dict) else table):
        for hook in as_list(as_dict(repository).get("hooks")):
            for spec in as_list(as_dict(hook).get("additional_dependencies")):
                plain = isinstance(spec, str) and not re.match(r"\.{0,2}/|\.\[|\.$|file:", spec)
                # Names of npm among them are those that no index of Python could have.
                if (
                    plain
                    and not re.match(r"@|[\w.-]+@\d", spec)
                    and (one := requirement(spec, section="pre-commit hook")) is not None
                ):
                    found.append(one)
    return Manifest(tuple(found))
