"""go.mod and go.sum: modules, where `replace` takes them from, and the sums they must have."""

from __future__ import annotations

import re

from gatekeeper.errors import InputError
from gatekeeper.formats.go_mod import is_directory, parse_go_mod
from gatekeeper.formats.python_requirements.manifest import MAX_TEXT, Dependency, Manifest

_SUM = re.compile(r"(\S{1,400}) (v\S{1,200}?)(/go\.mod)? (h1:[A-Za-z0-9+/]{43}=)")


def go_mod(text: str) -> Manifest | None:
    """Requirements (those that only others need are `indirect`), tools, and replacements with their source."""
    try:
        read = parse_go_mod(text.encode("utf-8", "replace"))
    except InputError:
        return None
    indirect = set(re.findall(r"^\s*(?:require\s+)?(\S+)\s+v\S+\s*//\s*indirect\b", text, re.MULTILINE))
    found = [
        Dependency(name, version, section="indirect" if name in indirect else "require")
        for name, version in read.requires
    ]
    for name, target, version in read.replaced:
        # Another version of the same module is a pin; anything else is other code under its name.
        source = "" if target == name else target
        found.append(
            Dependency(
                name if is_directory(target) or not source else target, version, source=source, section="replace"
            )
        )
    return Manifest(tuple(found), own_name=read.module)


def go_sum(text: str) -> Manifest:
    """Sums by module and version; a line says nothing about whether a module is part of a build."""
    found, faults = [], []
    for number, line in enumerate(text[:MAX_TEXT].splitlines(), 1):
        row = _SUM.fullmatch(line.strip())
        if row:
            found.append(
                Dependency(row[1], f"{row[2]}{row[3] or ''}", frozenset([row[4]]), line=number, section="sums")
            )
        elif line.strip():
            faults.append((line[:200], number))
    return Manifest(tuple(found), faults=tuple(faults))
