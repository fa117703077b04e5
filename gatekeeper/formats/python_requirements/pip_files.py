"""Requirement and constraint files of pip."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gatekeeper.formats.python_requirements.manifest import MAX_TEXT, Dependency, Manifest, requirement, url_name

_HASH = re.compile(r"--hash[= ]\s*([A-Za-z0-9]+:[A-Za-z0-9+/=_-]+)")
_INDEX = re.compile(
    r"^(--extra-index-url|--index-url|-i|--find-links|-f|--trusted-host|--pre|--no-index|--prefer-binary)(?:[= ]|$)"
)


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
                found.append(Dependency(url_name(target), source=target[:300], line=number))
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
