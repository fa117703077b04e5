"""The rules in parts, of which only those are loaded whose words a text holds: the same hits, a fraction of the loading.

Loading all rules takes half a second of one core even from their cache, of which a short check waits for a good part.
`make` writes the parts once for a machine, from the engine's own rules; `opened` finds them again. Where they are not
there, or were made for another version, all rules are loaded as one part.
"""

from __future__ import annotations

import binascii
import contextlib
import hashlib
import json
import os
import re
import shutil
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RULES = Path(__file__).with_name("rules.yml")
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
MUCH = 1_000_000
"""Characters in which words were looked for, from where on all rules together are cheaper."""
ENCODED = re.compile(rb"[A-Za-z0-9+/_-]{24,}")
"""What the engine might take for base64 and read through decoded."""

Rule = dict[str, Any]
"""A rule as the engine describes it (`Rules.detail`)."""
Needs = list[list[list[str]]]
"""For each rule its clauses, for each clause its words."""


@dataclass
class Part:
    """Some rules: where they are written, their ids, and for each what a text must hold (`patterns.required`); none: always."""

    file: Path
    ids: frozenset[str]
    needs: Needs
    scanner: Any = field(default=None, repr=False)

    def needed(self, folded: str) -> bool:
        """True where a rule might match in this case-folded text."""
        return not self.needs or any(_may_match(clauses, folded) for clauses in self.needs)


class Catalogue:
    """The parts of all rules; each is loaded at the first text that needs it and then kept.

    Looking for words has its price too: after `MUCH` text all rules are loaded at once, which then costs less.
    """

    def __init__(
        self, parts: list[Part], compiled: Path, cache_status: str, ids: frozenset[str], cache: Path | None = None
    ) -> None:
        """`compiled` is the engine's cache; a part with a scanner is loaded already. `ids` are those of all rules, and
        `cache` is where all of them are found together (None: they are).
        """
        self._parts, self._compiled, self._cache = parts, compiled, cache
        self._looked = 0
        self._last: tuple[bytes, list[Part]] = (b"", [part for part in parts if not part.needs])
        self.cache_status = cache_status
        self.ids = ids

    def scanners(self, text: str, data: bytes) -> Iterator[Any]:
        """A scanner for each part that may see anything in `data`, whose text is `text`.

        Raises what the engine raises.
        """
        if data != self._last[0]:  # each text is looked through more than once
            self._last = data, self._needed(text, data)
        for part in self._last[1]:
            yield part.scanner

    def _needed(self, text: str, data: bytes) -> list[Part]:
        """The parts that may see anything, loaded. Where one is damaged, all rules together take their place."""
        if self._cache is None:
            return self._parts
        # With zero bytes it may be text in two or four bytes a character, which the engine reads and this does not.
        folded = _searchable(text, data) if b"\0" not in data else None
        self._looked += len(text)
        if self._looked <= MUCH:
            parts = [part for part in self._parts if folded is None or part.needed(folded)]
            try:
                for part in parts:
                    part.scanner = part.scanner or _scanner(part, self._compiled)
            except (OSError, ValueError, RuntimeError):
                pass
            else:
                return parts
        self._parts, self._cache = whole(self._cache)._parts, None
        return self._parts


def whole(cache: Path) -> Catalogue:
    """All rules as one part. Raises what the engine raises."""
    from kingfisher_sdk import Rules, Scanner

    rules = Rules([RULES], cache_dir=cache)
    ids = frozenset(row["id"] for row in rules.metadata())
    # Without a policy no comment in the text can switch a finding off.
    return Catalogue([Part(RULES, ids, [], Scanner(rules, base64=True))], cache, rules.cache_status, ids)


def opened(cache: Path) -> Catalogue | None:
    """The catalogue that `make` wrote for these rules and this engine, its first part loaded; None where there is none,
    or one that is not as it was written.
    """
    folder = cache / _name()
    parts = _written(folder)
    if parts is None:
        return None
    compiled = folder / "compiled"
    try:
        for part in parts:
            if not part.needs:
                part.scanner = _scanner(part, compiled)
    except (OSError, ValueError, RuntimeError):
        return None
    return Catalogue(parts, compiled, "loaded", frozenset().union(*(part.ids for part in parts)), cache)


def made(cache: Path) -> bool:
    """True where `make` has written the parts for these rules and this engine."""
    return _written(cache / _name()) is not None


def make(cache: Path) -> None:
    """Write the parts for `opened`, unless they are there. Takes some ten seconds. Raises `OSError` and what the engine raises."""
    from kingfisher_sdk import Rules

    folder = cache / _name()
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
            _scanner(part, draft / "compiled")
            rows.append({"file": part.file.name, "sha256": _sha256(text), "ids": sorted(part.ids), "needs": part.needs})
        index = json.dumps(rows).encode()
        _write(draft / "index.json", _sha256(index).encode() + b"\n" + index)
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


def _written(folder: Path) -> list[Part] | None:
    """The parts as `make` wrote them, none loaded; None where a byte of them is another or others could have written it."""
    try:
        if not _ours(folder) or not _ours(folder / "index.json"):
            return None
        mark, _, index = (folder / "index.json").read_bytes().partition(b"\n")
        if mark.decode("ascii") != _sha256(index):
            return None
        rows = json.loads(index)
        if any(_sha256((folder / row["file"]).read_bytes()) != row["sha256"] for row in rows):
            return None
        return [Part(folder / row["file"], frozenset(row["ids"]), row["needs"]) for row in rows]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(file: Path, data: bytes) -> None:
    """Write it so that it is whole on the disk before its folder gets its name."""
    with file.open("wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _name() -> str:
    """Names the engine, the rules and the code that parts them: another of any of them is another folder."""
    from kingfisher_sdk import _native

    mark = hashlib.sha256(f"{_native.__version__} {Path(_native.__file__).stat().st_size}".encode())
    for file in (RULES, Path(__file__), Path(__file__).with_name("patterns.py")):
        mark.update(file.read_bytes())
    return f"parts-{mark.hexdigest()[:24]}"


def _ours(path: Path) -> bool:
    """True where nobody but this user could have written it: the engine asks the same of its cache."""
    status = path.lstat()
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022 and not path.is_symlink()


def _scanner(part: Part, compiled: Path) -> Any:
    from kingfisher_sdk import Rules, Scanner

    rules = Rules([part.file], builtins=False, cache_dir=compiled)
    ids = {row["id"] for row in rules.metadata()}
    if ids != part.ids:
        # The engine drops what it will not load in silence.
        lost = sorted(part.ids - ids)[:5]
        raise ValueError(f"secret rules were not loaded from {part.file.name}: {', '.join(lost) or 'others were'}")
    return Scanner(rules, base64=True)


def _searchable(text: str, data: bytes) -> str:
    """The case-folded text, and what lies in it as base64 behind it."""
    found = [text]
    layers = [data]
    for _ in range(2):
        inner = [raw for layer in layers for run in ENCODED.findall(layer) if (raw := _decoded(run))]
        found += [raw.decode("ascii", "replace") for raw in inner]
        layers = inner
    return "\n".join(found).casefold()


def _decoded(run: bytes) -> bytes:
    usable = run.translate(bytes.maketrans(b"-_", b"+/"))
    if len(usable) % 4 == 1:  # the last character is not of it
        usable = usable[:-1]
    usable += b"=" * (-len(usable) % 4)
    try:
        return binascii.a2b_base64(usable)
    except binascii.Error:
        return b""


def _definition(detail: Mapping[str, Any]) -> dict[str, Any]:
    """A rule as its file has it. Nothing that could reach the network is kept, nor what the engine derives."""
    left_out = {"detection_regex", "validation", "revocation"}
    return {key: value for key, value in detail.items() if key not in left_out and value is not None}


def _sources() -> list[str]:
    """Ordinary source text, to see which rules' words are common: the top level of the standard library."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    return [file.read_text(encoding="utf-8", errors="replace").casefold() for file in files]


def _may_match(clauses: Iterable[Iterable[str]], folded: str) -> bool:
    return all(any(word in folded for word in clause) for clause in clauses)


def _parted(details: list[Rule], sources: list[str]) -> Iterator[tuple[list[Rule], Needs]]:
    """(rules, what each needs) of each part; the first has no needs. Rules that depend on each other stay together."""
    from gatekeeper.adapters.kingfisher_scanner.patterns import required, size

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
    return sum(_may_match(clauses, source) for source in sources) / len(sources) if clauses and sources else 1.0


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
