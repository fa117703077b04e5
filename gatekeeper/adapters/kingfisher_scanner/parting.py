"""Writing the rules in parts, once for a machine and a version: which rules share a part, and what each of them needs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gatekeeper.adapters.kingfisher_scanner.catalogue import (
    RULES,
    Needs,
    Part,
    Rule,
    folder_name,
    made,
    may_match,
    opened,
    scanner_of,
    sha256,
)
from gatekeeper.adapters.kingfisher_scanner.patterns import required, size

PARTS = 12
"""Parts beside the first. Each costs some 20 ms once it is needed, and a millisecond for each of its rules."""
COMMON = 0.1
"""A rule that may match in more than this share of ordinary source files is loaded always, in the first part."""
RARE = 0.01
"""One that may match in less is among rules of its like; those between share a part, so that few parts are needed."""
KEPT = 3
"""Catalogues of other versions that stay on disk."""
LARGE = 500
"""Size (`patterns.size`) of a rule that takes as long to load as some hundred others, and has a part to itself."""


def make(cache: Path) -> None:
    """Write the parts for `catalogue.opened`, unless they are there. Takes some ten seconds. Raises `OSError` and what the engine raises."""
    from kingfisher_sdk import Rules

    folder = cache / folder_name()
    if opened(cache) is not None:
        return
    rules = Rules([RULES], cache_dir=cache)
    details = [rules.detail(row["id"]) for row in rules.metadata()]
    draft = Path(tempfile.mkdtemp(prefix="making-", dir=cache))
    try:
        (draft / "compiled").mkdir(mode=0o700)
        rows = []
        for number, (chosen, needs) in enumerate(_parted(details, _sources())):
            part = Part(draft / f"part-{number}.yml", frozenset(row["id"] for row in chosen), needs)
            text = json.dumps({"rules": [_definition(row) for row in chosen]}).encode()
            _write(part.file, text)
            scanner_of(part, draft / "compiled")
            rows.append({"file": part.file.name, "sha256": sha256(text), "ids": sorted(part.ids), "needs": part.needs})
        index = json.dumps(rows).encode()
        _write(draft / "index.json", sha256(index).encode() + b"\n" + index)
        # What is there is damaged, or somebody else was faster, with the same bytes.
        if not made(cache):
            shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(FileExistsError):
            draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    others = sorted(
        (p for p in cache.glob("parts-*") if p != folder), key=lambda place: place.stat().st_mtime, reverse=True
    )
    for place in others[KEPT:]:
        shutil.rmtree(place, ignore_errors=True)


def _write(file: Path, data: bytes) -> None:
    """Write it so that it is whole on the disk before its folder gets its name."""
    with file.open("wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())


def _definition(detail: Mapping[str, Any]) -> dict[str, Any]:
    """A rule as its file has it. Nothing that could reach the network is kept, nor what the engine derives."""
    left_out = {"detection_regex", "validation", "revocation"}
    return {key: value for key, value in detail.items() if key not in left_out and value is not None}


def _sources() -> list[str]:
    """Ordinary source text, to see which rules' words are common: the top level of the standard library."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    return [file.read_text(encoding="utf-8", errors="replace").casefold() for file in files]


def _parted(details: list[Rule], sources: list[str]) -> Iterator[tuple[list[Rule], Needs]]:
    """(rules, what each needs) of each part; the first has no needs. Rules that depend on each other stay together."""
    needs = {row["id"]: [sorted(clause) for clause in required(row["detection_regex"])] for row in details}
    first: list[Rule] = []
    between: list[Rule] = []
    large: list[list[Rule]] = []
    rare: list[list[Rule]] = []
    for group in _together(details):
        share = max(_share(needs[row["id"]], sources) for row in group)
        if share < 1 and max(size(row["detection_regex"]) for row in group) > LARGE:
            large.append(group)
        elif share > COMMON:
            first += group
        elif share > RARE:
            between += group
        else:
            rare.append(group)
    yield first, []
    most = -(-sum(map(len, rare)) // PARTS) if rare else 1
    parts: list[list[Rule]] = [between, []]
    for group in rare:
        if parts[-1] and len(parts[-1]) + len(group) > most:
            parts.append([])
        parts[-1] += group
    for part in large + parts:
        if part:
            yield part, [needs[row["id"]] for row in part]


def _share(clauses: list[list[str]], sources: list[str]) -> float:
    """The share of ordinary source files in which a rule may match; 1 where nothing is known of it."""
    return sum(may_match(clauses, source) for source in sources) / len(sources) if clauses and sources else 1.0


def _together(details: list[Rule]) -> list[list[Rule]]:
    """Rules in groups of those that name each other, in the order of their ids."""
    group = {row["id"]: [row] for row in details}
    for row in details:
        for other in _named(row["depends_on_rule"], group):
            one, two = group[row["id"]], group[other]
            if one is not two:
                one += two
                group |= {member["id"]: one for member in two}
    unique = {id(members): sorted(members, key=lambda row: str(row["id"])) for members in group.values()}
    return sorted(unique.values(), key=lambda members: str(members[0]["id"]))


def _named(value: Any, ids: Iterable[str]) -> Iterator[str]:
    """Ids of rules anywhere inside a value."""
    if isinstance(value, str):
        if value in ids:
            yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _named(inner, ids)
    elif isinstance(value, list):
        for inner in value:
            yield from _named(inner, ids)
