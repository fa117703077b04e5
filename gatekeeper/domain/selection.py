"""Which tests of a suite to run, where not all are needed. The same words reach every runner that can be told so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gatekeeper.records import dataclass

SELECTION_FILE = "select.json"
"""Name among the gate's own files in the sandbox; the recorder in the tests' environment reads it."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A part of a suite: `known`, or one or more of the others."""

    ids: tuple[str, ...] = ()
    """Only these tests."""
    files: tuple[str, ...] = ()
    """Only tests of these files, by path in the tree."""
    functions: tuple[str, ...] = ()
    """Only these tests, whatever their parameters: `path::name` or `path::Class::name`."""
    known: tuple[str, ...] | None = None
    """Every test but these; the names of all of them are told."""
    lines: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """(path, 1-based lines): it is told which of them each test runs."""

    def as_file(self) -> Mapping[str, bytes]:
        """The file that says it to the recorder."""
        words: dict[str, Any] = {"ids": self.ids, "files": self.files}
        if self.functions:
            words["functions"] = self.functions
        if self.known is not None:
            words = {"known": self.known}
        if self.lines:
            words["lines"] = self.lines
        return {SELECTION_FILE: json.dumps(words).encode("ascii")}

    @property
    def tests(self) -> tuple[str, ...]:
        """What a structured runner without the recorder can be told; empty where it can not."""
        return self.ids or self.files
