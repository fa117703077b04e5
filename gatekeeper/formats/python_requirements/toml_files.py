"""pyproject.toml of all common tools, and lock files in TOML."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from gatekeeper.formats.python_requirements.manifest import (
    MAX_TEXT,
    Dependency,
    Manifest,
    as_dict,
    as_list,
    canonical,
    requirement,
)


def pyproject(text: str) -> Manifest | None:
    """PEP 621, dependency groups, build requirements, Poetry, uv and PDM; None for broken TOML."""
    try:
        table = tomllib.loads(text[:MAX_TEXT])
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    found: list[Dependency] = []
    faults: list[tuple[str, int]] = []
    lines = text.splitlines()

    def line_of(spec: str) -> int:
        return next((i for i, text_line in enumerate(lines, 1) if spec in text_line), 1)

    def take(specs: Any, section: str) -> None:
        for spec in specs if isinstance(specs, list) else ():
            if isinstance(spec, str):
                one = requirement(spec, line_of(spec), section=section)
                if one is None:
                    faults.append((spec[:200], line_of(spec)))
                else:
                    found.append(one)

    project, tool = as_dict(table.get("project")), as_dict(table.get("tool"))
    take(project.get("dependencies"), "project.dependencies")
    for groups, section in (
        (project.get("optional-dependencies"), "project.optional-dependencies"),
        (table.get("dependency-groups"), "dependency-groups"),
        (as_dict(tool.get("pdm")).get("dev-dependencies"), "tool.pdm.dev-dependencies"),
    ):
        for name, specs in as_dict(groups).items():
            take(specs, f"{section}.{name}")
    uv = as_dict(tool.get("uv"))
    take(uv.get("dev-dependencies"), "tool.uv.dev-dependencies")
    take(uv.get("override-dependencies"), "tool.uv.override-dependencies")
    take(uv.get("build-constraint-dependencies"), "build.uv")
    for name, specs in as_dict(uv.get("extra-build-dependencies")).items():
        take(specs, f"build.uv.{name}")
    for name, settings in as_dict(as_dict(tool.get("hatch")).get("envs")).items():
        for key in ("dependencies", "extra-dependencies"):
            take([s for s in as_list(as_dict(settings).get(key)) if "{" not in str(s)], f"dev hatch env {name}")
    poetry = as_dict(tool.get("poetry"))
    tables = [
        (poetry.get("dependencies"), "tool.poetry.dependencies"),
        (poetry.get("dev-dependencies"), "tool.poetry.dev"),
    ]
    tables += [
        (as_dict(g).get("dependencies"), f"tool.poetry.group.{n}") for n, g in as_dict(poetry.get("group")).items()
    ]
    for specs, section in tables:
        for name, value in as_dict(specs).items():
            if name.lower() != "python":
                found.append(
                    Dependency(
                        canonical(name),
                        _exact(value),
                        source=_source(value),
                        line=line_of(name),
                        section=section,
                    )
                )
    for name, value in as_dict(uv.get("sources")).items():
        if _source(value):
            found.append(
                Dependency(canonical(name), source=_source(value), line=line_of(name), section="tool.uv.sources")
            )
    options = [
        (f"index {json.dumps(i, default=str)[:250]}", line_of("index"))
        for i in as_list(uv.get("index"))
        + as_list(poetry.get("source"))
        + as_list(as_dict(tool.get("pdm")).get("source"))
    ]
    options += [
        (f"{key} {uv[key]}", line_of(key))
        for key in ("index-url", "extra-index-url", "find-links", "allow-insecure-host")
        if key in uv
    ]
    system = as_dict(table.get("build-system"))
    take(system.get("requires"), "build-system.requires")
    build: dict[str, Any] = {k: system[k] for k in ("build-backend", "backend-path") if k in system}
    hatch = as_dict(as_dict(tool.get("hatch")).get("build"))
    build["hooks"] = sorted([*as_dict(hatch.get("hooks")), *as_dict(as_dict(tool.get("setuptools")).get("cmdclass"))])
    if isinstance(poetry.get("build"), str | dict):
        build["hooks"].append(f"poetry build {poetry['build']}")
    return Manifest(
        tuple(found),
        tuple(options),
        False,
        tuple(faults),
        build,
        canonical(str(project.get("name") or poetry.get("name") or "")),
    )


def lock_toml(text: str) -> Manifest | None:
    """uv.lock, poetry.lock, pdm.lock, pylock.toml: `[[package]]` tables."""
    try:
        table = tomllib.loads(text[:MAX_TEXT])
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    found = []
    for row in as_list(table.get("package")) + as_list(table.get("packages")):
        if not isinstance(row, dict) or not isinstance(row.get("name"), str):
            continue
        files = (
            as_list(row.get("files"))
            + as_list(row.get("wheels"))
            + ([row["sdist"]] if isinstance(row.get("sdist"), dict) else [])
        )
        hashes = frozenset(str(f["hash"]) for f in files if isinstance(f, dict) and "hash" in f)
        origin = as_dict(row.get("source"))
        source = next((str(origin[k]) for k in ("git", "url", "path", "directory") if k in origin), "")
        if origin.get("type") in ("legacy", "registry") or "registry" in origin:
            source = ""
        if not source:
            source = next((other for f in files if (other := _other_file(row["name"], f))), "")
        found.append(Dependency(canonical(row["name"]), str(row.get("version") or ""), hashes, source, section="lock"))
    return Manifest(tuple(found))


def _other_file(name: str, row: Any) -> str:
    """The file of an entry where it belongs to a package of another name."""
    table = as_dict(row)
    file = str(
        table.get("file") or table.get("name") or str(table.get("url") or "").partition("#")[0].rsplit("/", 1)[-1]
    )
    stem = re.match(r"[A-Za-z0-9][\w.-]*?(?=-[0-9v])", file)
    return (
        file[:300]
        if stem is not None
        and canonical(stem[0]) != canonical(name)
        and not canonical(file).startswith(canonical(name))
        else ""
    )


def _exact(value: Any) -> str:
    spec = value.get("version", "") if isinstance(value, dict) else value
    found = re.fullmatch(r"={0,3}\s*(\d[\w.+!-]*)", spec.strip()) if isinstance(spec, str) else None
    return found.group(1) if found else ""


def _source(value: Any) -> str:
    rows = value if isinstance(value, list) else [value]
    for row in rows:
        if isinstance(row, dict):
            for key in ("git", "url", "path", "file"):
                if key in row:
                    return f"{key}: {row[key]}"[:300]
    return ""
