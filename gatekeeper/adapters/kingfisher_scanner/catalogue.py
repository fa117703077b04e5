"""The rules in parts, of which only those are loaded whose words a text holds: the same hits, a fraction of the loading.

Loading all rules takes half a second of one core even from their cache, of which a short check waits for a good part.
`parting.make` writes the parts once for a machine, from the engine's own rules; `opened` finds them again. Where they are
not there, or were made for another version, all rules are loaded as one part.
"""

from __future__ import annotations

import binascii
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RULES = Path(__file__).with_name("rules.yml")
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
        return not self.needs or any(may_match(clauses, folded) for clauses in self.needs)


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
                    part.scanner = part.scanner or scanner_of(part, self._compiled)
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
    """The catalogue that `parting.make` wrote for these rules and this engine, its first part loaded; None where there is none,
    or one that is not as it was written.
    """
    folder = cache / folder_name()
    parts = _written(folder)
    if parts is None:
        return None
    compiled = folder / "compiled"
    try:
        for part in parts:
            if not part.needs:
                part.scanner = scanner_of(part, compiled)
    except (OSError, ValueError, RuntimeError):
        return None
    return Catalogue(parts, compiled, "loaded", frozenset().union(*(part.ids for part in parts)), cache)


def made(cache: Path) -> bool:
    """True where `parting.make` has written the parts for these rules and this engine."""
    return _written(cache / folder_name()) is not None


def _written(folder: Path) -> list[Part] | None:
    """The parts as `parting.make` wrote them, none loaded; None where a byte of them is another or others could have written it."""
    try:
        if not _ours(folder) or not _ours(folder / "index.json"):
            return None
        mark, _, index = (folder / "index.json").read_bytes().partition(b"\n")
        if mark.decode("ascii") != sha256(index):
            return None
        rows = json.loads(index)
        if any(sha256((folder / row["file"]).read_bytes()) != row["sha256"] for row in rows):
            return None
        return [Part(folder / row["file"], frozenset(row["ids"]), row["needs"]) for row in rows]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def sha256(data: bytes) -> str:
    """In hex."""
    return hashlib.sha256(data).hexdigest()


def folder_name() -> str:
    """Names the engine, the rules and the code that parts them: another of any of them is another folder."""
    from kingfisher_sdk import _native

    mark = hashlib.sha256(f"{_native.__version__} {Path(_native.__file__).stat().st_size}".encode())
    for file in (RULES, *(Path(__file__).with_name(f"{name}.py") for name in ("catalogue", "parting", "patterns"))):
        mark.update(file.read_bytes())
    return f"parts-{mark.hexdigest()[:24]}"


def _ours(path: Path) -> bool:
    """True where nobody but this user could have written it: the engine asks the same of its cache."""
    status = path.lstat()
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022 and not path.is_symlink()


def scanner_of(part: Part, compiled: Path) -> Any:
    """Load a part. Raises what the engine raises, and `ValueError` where the rules are not those that are written there."""
    from kingfisher_sdk import Rules, Scanner

    rules = Rules([part.file], builtins=False, cache_dir=compiled)
    ids = {row["id"] for row in rules.metadata()}
    if ids != part.ids:
        # The engine drops what it will not load in silence.
        lost = sorted(part.ids - ids)[:5]
        raise ValueError(f"secret rules were not loaded from {part.file.name}: {', '.join(lost) or 'others were'}")
    return Scanner(rules, base64=True)


def may_match(clauses: Iterable[Iterable[str]], folded: str) -> bool:
    """True where a case-folded text holds a word of each clause."""
    return all(any(word in folded for word in clause) for clause in clauses)


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
