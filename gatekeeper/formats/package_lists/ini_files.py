"""setup.cfg and tox.ini: what setuptools installs with a project, and what tox installs beside it."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterable

from gatekeeper.formats.python_requirements.manifest import MAX_TEXT, Dependency, Manifest, canonical, requirement

_LISTS = ("install_requires", "setup_requires", "tests_require")
MAX_ENTRIES = 20_000
"""Requirements of one list; real ones have a few hundred."""
_INDEX = re.compile(r"(?:-i|-f|--index-url|--extra-index-url|--find-links|--trusted-host)(?:[= ]|$)")
_VARIABLE = re.compile(
    r"(PIP_(?:EXTRA_)?INDEX_URL|PIP_FIND_LINKS|PIP_TRUSTED_HOST|UV_(?:DEFAULT_|EXTRA_)?INDEX(?:_URL)?)\s*=\s*(\S+)"
)
_FACTOR = re.compile(r"!?[\w.{},!-]+(?:\s*,\s*!?[\w.{},!-]+)*\s*:(?!//)\s*")


def setup_cfg(text: str) -> Manifest | None:
    """Requirements of `[options]` and of tox where it is configured here; None where the file cannot be read."""
    parser = _parsed(text)
    if parser is None:
        return None
    found: list[Dependency] = []
    faults: list[tuple[str, int]] = []
    options: list[tuple[str, int]] = []
    for key in _LISTS:
        _take(_rows(parser, "options", key), _section(key), found, faults)
    for key in parser.options("options.extras_require") if parser.has_section("options.extras_require") else ():
        _take(_rows(parser, "options.extras_require", key), f"extras_require.{key}", found, faults)
    options += [(f"dependency_links {row}"[:300], 1) for row in _rows(parser, "options", "dependency_links")]
    of_tox = _tox(parser)
    name = parser.get("metadata", "name", fallback="") or ""
    own = canonical(name) if re.fullmatch(r"[\w.-]{1,200}", name) else ""
    return _manifest([*found, *of_tox.dependencies], [*options, *of_tox.options], faults, own)


def tox_ini(text: str) -> Manifest | None:
    """What the environments of tox install; None where the file cannot be read."""
    parser = _parsed(text)
    return _tox(parser) if parser is not None else None


def tox_lines(lines: Iterable[str], section: str) -> Manifest:
    """`deps` of one environment: requirements, with factors before them and options of pip among them."""
    found: list[Dependency] = []
    options: list[tuple[str, int]] = []
    for raw in lines:
        # What stands behind the second colon is installed where the variable is not set.
        row = re.sub(r"\{(?:env:[^:{}]*|posargs):([^{}]*)\}", r"\1", raw.strip())
        factor = _FACTOR.match(row)
        row = row[factor.end() :] if factor and not row.startswith("-") else row
        if _INDEX.match(row):
            options.append((row[:300], 1))
        elif row and not row.startswith(("-", ".", "#")) and "{" not in row:
            one = requirement(re.split(r"\s+--", row, maxsplit=1)[0].strip(), section=section)
            found += [one] if one is not None else []
    return Manifest(tuple(found), tuple(options))


def _tox(parser: configparser.RawConfigParser) -> Manifest:
    found: list[Dependency] = []
    options: list[tuple[str, int]] = []
    for section in parser.sections():
        if not section.startswith(("testenv", "tox")):
            continue
        for key in ("deps", "requires"):
            read = tox_lines(_rows(parser, section, key), f"tox {section} {key}")
            found += read.dependencies
            options += read.options
        for key in ("setenv", "set_env", "indexserver", "install_command"):
            for row in _rows(parser, section, key):
                named = _VARIABLE.search(row)
                if named or (key in ("indexserver", "install_command") and "://" in row):
                    options.append(((f"{named[1]}={named[2]}" if named else f"{key} {row}")[:300], 1))
    return _manifest(found, options, [])


def _manifest(
    found: list[Dependency], options: list[tuple[str, int]], faults: list[tuple[str, int]], own: str = ""
) -> Manifest:
    if len(found) > MAX_ENTRIES:
        return Manifest(faults=((f"more than {MAX_ENTRIES} requirements", 1),))
    return Manifest(tuple(found), tuple(options), False, tuple(faults), own_name=own)


def _parsed(text: str) -> configparser.RawConfigParser | None:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text[:MAX_TEXT])
    except (configparser.Error, AttributeError, TypeError):  # the parser itself stumbles over a value without a key
        return None
    return parser


def _rows(parser: configparser.RawConfigParser, section: str, key: str) -> list[str]:
    rows = (parser.get(section, key, fallback="") or "").splitlines()
    return [row for raw in rows if (row := re.sub(r"(?:^|\s)#.*$", "", raw).strip())]


def _section(key: str) -> str:
    """Named so that nobody takes what builds the package for a tool of development."""
    return f"build.{key}" if key == "setup_requires" else key


def _take(rows: list[str], section: str, found: list[Dependency], faults: list[tuple[str, int]]) -> None:
    if len(rows) == 1 and rows[0].startswith(("file:", "attr:")):
        return
    # A list may stand in one line, with semicolons between what needs no marker.
    for row in (
        rows
        if len(rows) != 1 or re.search(r";\s*[\w'\"(]+\s*(?:[<>=!~]=?|\bin\b|not)", rows[0])
        else rows[0].split(";")
    ):
        if row.strip():
            one = requirement(row.strip(), section=section)
            if one is None:
                faults.append((row[:200], 1))
            else:
                found.append(one)
