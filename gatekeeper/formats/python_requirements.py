"""Requirement files, pyproject.toml, package.json and lock files as one table: who is needed, from where, how exactly."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

MAX_TEXT = 8_000_000
"""Characters of one manifest; lock files of large projects have a few million."""
_HASH = re.compile(r"--hash[= ]\s*([A-Za-z0-9]+:[A-Za-z0-9+/=_-]+)")
_URL = re.compile(
    r"^(?:[a-z0-9+.-]+://|git@|git\+|file:|link:|portal:|github:|gitlab:|bitbucket:|\.{1,2}/|/)", re.IGNORECASE
)
_INDEX = re.compile(
    r"^(--extra-index-url|--index-url|-i|--find-links|-f|--trusted-host|--pre|--no-index|--prefer-binary)(?:[= ]|$)"
)


@dataclass(frozen=True, slots=True)
class Dependency:
    """One requirement of one manifest."""

    name: str
    """Canonical (PEP 503) for Python; as written for npm."""
    version: str = ""
    """The exact version where pinned with == (or locked), else empty."""
    hashes: frozenset[str] = frozenset()
    source: str = ""
    """URL, VCS or path it comes from; empty for the index."""
    line: int = 1
    section: str = ""


@dataclass(frozen=True)
class Manifest:
    """A parsed manifest. `faults` are lines that could not be read: never silently dropped."""

    dependencies: tuple[Dependency, ...] = ()
    options: tuple[tuple[str, int], ...] = ()
    """Index and trust options, with their lines."""
    require_hashes: bool = False
    faults: tuple[tuple[str, int], ...] = ()
    build: dict[str, Any] = field(default_factory=dict)
    """build-system of pyproject.toml, and what else runs at build or install time."""
    own_name: str = ""


def requirements(text: str) -> Manifest:
    """A pip requirements or constraints file."""
    found: list[Dependency] = []
    options: list[tuple[str, int]] = []
    faults: list[tuple[str, int]] = []
    hashes_required = False
    for number, line in _logical_lines(text[:MAX_TEXT]):
        if line.startswith("--require-hashes"):
            hashes_required = True
        elif _INDEX.match(line):
            options.append((line[:300], number))
        elif line.startswith(("-r", "-c", "--requirement", "--constraint")):
            continue
        elif line.startswith(("-e", "--editable")):
            target = line.split(None, 1)[-1].split("=", 1)[-1] if " " in line else line.partition("=")[2]
            if target.strip() not in (".", "./") and not re.fullmatch(r"\.\[[\w,.-]*\]", target.strip()):
                found.append(Dependency(_url_name(target), source=target[:300], line=number))
        elif line.startswith("-"):
            continue
        else:
            hashes = frozenset(_HASH.findall(line))
            spec = re.split(r"\s+--", line, maxsplit=1)[0].strip()
            one = requirement(spec, number, hashes=hashes)
            if one is None:
                faults.append((spec[:200], number))
            else:
                found.append(one)
    return Manifest(tuple(found), tuple(options), hashes_required, tuple(faults))


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    held, start = "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        line = re.sub(r"(^|\s)#.*$", "", raw).rstrip()
        start = start or number
        if line.endswith("\\"):
            held += line[:-1] + " "
            continue
        whole = (held + line).strip()
        if whole:
            yield start, whole
        held, start = "", 0
    if held.strip():
        yield start, held.strip()


def requirement(
    spec: str, line: int = 1, *, hashes: frozenset[str] = frozenset(), section: str = ""
) -> Dependency | None:
    """One PEP 508 requirement, or a bare URL or path; None where it is neither."""
    if _URL.match(spec):
        return Dependency(_url_name(spec), hashes=hashes, source=spec[:300], line=line, section=section)
    try:
        parsed = Requirement(spec)
    except InvalidRequirement:
        return None
    pins = [s.version for s in parsed.specifier if s.operator in ("==", "===") and "*" not in s.version]
    return Dependency(
        canonicalize_name(parsed.name),
        pins[0] if len(pins) == 1 else "",
        hashes,
        (parsed.url or "")[:300],
        line,
        section,
    )


def _url_name(url: str) -> str:
    egg = re.search(r"[#&]egg=([\w.-]+)", url)
    if egg:
        return canonicalize_name(egg.group(1))
    tail = url.rstrip("/").rsplit("/", 1)[-1].split("@")[0].removesuffix(".git")
    return canonicalize_name(re.split(r"-\d", tail)[0]) or url[:100]


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

    project, tool = _dict(table.get("project")), _dict(table.get("tool"))
    take(project.get("dependencies"), "project.dependencies")
    for groups, section in (
        (project.get("optional-dependencies"), "project.optional-dependencies"),
        (table.get("dependency-groups"), "dependency-groups"),
        (_dict(tool.get("pdm")).get("dev-dependencies"), "tool.pdm.dev-dependencies"),
    ):
        for name, specs in _dict(groups).items():
            take(specs, f"{section}.{name}")
    uv = _dict(tool.get("uv"))
    take(uv.get("dev-dependencies"), "tool.uv.dev-dependencies")
    poetry = _dict(tool.get("poetry"))
    tables = [
        (poetry.get("dependencies"), "tool.poetry.dependencies"),
        (poetry.get("dev-dependencies"), "tool.poetry.dev"),
    ]
    tables += [(_dict(g).get("dependencies"), f"tool.poetry.group.{n}") for n, g in _dict(poetry.get("group")).items()]
    for specs, section in tables:
        for name, value in _dict(specs).items():
            if name.lower() != "python":
                found.append(
                    Dependency(
                        canonicalize_name(name),
                        _exact(value),
                        source=_source(value),
                        line=line_of(name),
                        section=section,
                    )
                )
    for name, value in _dict(uv.get("sources")).items():
        if _source(value):
            found.append(
                Dependency(
                    canonicalize_name(name), source=_source(value), line=line_of(name), section="tool.uv.sources"
                )
            )
    options = [
        (f"index {json.dumps(i, default=str)[:250]}", line_of("index"))
        for i in _list(uv.get("index")) + _list(poetry.get("source")) + _list(_dict(tool.get("pdm")).get("source"))
    ]
    options += [
        (f"{key} {uv[key]}", line_of(key))
        for key in ("index-url", "extra-index-url", "find-links", "allow-insecure-host")
        if key in uv
    ]
    system = _dict(table.get("build-system"))
    take(system.get("requires"), "build-system.requires")
    build: dict[str, Any] = {k: system[k] for k in ("build-backend", "backend-path") if k in system}
    hatch = _dict(_dict(tool.get("hatch")).get("build"))
    build["hooks"] = sorted([*_dict(hatch.get("hooks")), *_dict(_dict(tool.get("setuptools")).get("cmdclass"))])
    if isinstance(poetry.get("build"), str | dict):
        build["hooks"].append(f"poetry build {poetry['build']}")
    return Manifest(
        tuple(found),
        tuple(options),
        False,
        tuple(faults),
        build,
        canonicalize_name(str(project.get("name") or poetry.get("name") or "")),
    )


def lock_toml(text: str) -> Manifest | None:
    """uv.lock, poetry.lock, pdm.lock, pylock.toml: `[[package]]` tables."""
    try:
        table = tomllib.loads(text[:MAX_TEXT])
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    found = []
    for row in _list(table.get("package")) + _list(table.get("packages")):
        if not isinstance(row, dict) or not isinstance(row.get("name"), str):
            continue
        files = (
            _list(row.get("files"))
            + _list(row.get("wheels"))
            + ([row["sdist"]] if isinstance(row.get("sdist"), dict) else [])
        )
        hashes = frozenset(str(f["hash"]) for f in files if isinstance(f, dict) and "hash" in f)
        origin = _dict(row.get("source"))
        source = next((str(origin[k]) for k in ("git", "url", "path", "directory") if k in origin), "")
        if origin.get("type") in ("legacy", "registry") or "registry" in origin:
            source = ""
        found.append(
            Dependency(canonicalize_name(row["name"]), str(row.get("version") or ""), hashes, source, section="lock")
        )
    return Manifest(tuple(found))


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
        for name, value in _dict(table.get(section)).items():
            spec = value if isinstance(value, str) else ""
            exact = spec if re.fullmatch(r"\d[\w.+-]*", spec) else ""
            outside = spec if _URL.match(spec) or re.fullmatch(r"[\w.-]+/[\w.-]+(#.*)?", spec) else ""
            found.append(Dependency(name, exact, source=outside, section=section))
    hooks = ("preinstall", "install", "postinstall", "prepare", "prepack", "prepublish", "preprepare", "postprepare")
    scripts = {k: v for k, v in _dict(table.get("scripts")).items() if k in hooks}
    return Manifest(tuple(found), build={"scripts": scripts}, own_name=str(table.get("name") or ""))


def package_lock(text: str) -> Manifest | None:
    """package-lock.json and Pipfile.lock."""
    table = _json(text)
    if table is None:
        return None
    found = []
    for path, row in _dict(table.get("packages")).items():
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
        for name, row in _dict(table.get(section)).items():
            one = _dict(row)
            outside = next((str(one[k]) for k in ("git", "file", "path") if k in one), "")
            found.append(
                Dependency(
                    canonicalize_name(name),
                    str(one.get("version") or "").lstrip("="),
                    frozenset(map(str, _list(one.get("hashes")))),
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


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


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
