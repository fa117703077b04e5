"""Data files beside the code that hold what the tests expect."""

from __future__ import annotations

import re

from gatekeeper.checks.implementation_gaming.modules import Modules
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.instruments import InstrumentKind
from gatekeeper.domain.tree import REGULAR, Tree
from gatekeeper.formats import python_code

_DATA = (".json", ".jsonl", ".csv", ".tsv", ".txt", ".yaml", ".yml", ".toml", ".ini", ".dat", ".xml", ".bin", ".pickle", ".pkl")  # fmt: skip
_SHORT = 16
"""Bytes below which equal files say nothing."""
_MAX_BYTES = 1_000_000
_WHITE = re.compile(rb"\s+")


def copied_answers(modules: Modules) -> tuple[Finding, ...]:
    """A new data file of the code that repeats a data file of the tests, read by changed code. Data that moved (and is
    gone from the tests) is no copy.
    """
    evidence = modules.evidence
    fresh = [p for p in evidence.change.paths if p.old is None and p.new is not None and p.new.mode == REGULAR and p.path.lower().endswith(_DATA) and modules.instruments.kind(p.path) is None]  # fmt: skip
    if not fresh or not modules.changed:
        return ()
    words = {c for m in modules.changed for c in python_code.constants(m.after) if isinstance(c, str)}
    theirs = {
        _squeezed(evidence.merged, p): p
        for p in evidence.merged.entries
        # What the change itself brings twice is no answer that it found.
        if p in evidence.base.entries
        and p.lower().endswith(_DATA)
        and modules.instruments.kind(p) is InstrumentKind.TEST_SUPPORT
    }
    out = []
    for changed in fresh:
        content = _squeezed(evidence.merged, changed.path)
        name = changed.path.rsplit("/", 1)[-1]
        read = any(w == name or w.endswith("/" + name) for w in words)
        twin = theirs.get(content)
        if twin is not None and read and len(content) >= _SHORT:
            message = f"{changed.path} repeats {twin}, what the tests expect, and the changed code reads it."
            out.append(finding("ANSWERS_HARDCODED", message, path=changed.path, key=changed.path))
    return tuple(out)


def _squeezed(tree: Tree, path: str) -> bytes:
    entry = tree.entries[path]
    return b"" if (entry.size or 0) > _MAX_BYTES else _WHITE.sub(b"", tree.read(path))
