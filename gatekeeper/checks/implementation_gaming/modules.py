"""The changed library modules, before and after, and what the tests hold."""

from __future__ import annotations

import ast
from functools import cached_property

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.instruments import InstrumentKind, Instruments
from gatekeeper.domain.tree import text
from gatekeeper.formats import python_code
from gatekeeper.records import dataclass

_TESTS = (InstrumentKind.TEST, InstrumentKind.TEST_SUPPORT)
_PATCHERS = ("patch", "object", "setattr", "dict")
"""Last names of what replaces an attribute in a test: mock.patch, mock.patch.object, monkeypatch.setattr."""
_MOST_TESTS = 400
"""Test modules that are read for constants; more would cost time and prove nothing more."""


@dataclass(frozen=True)
class Module:
    """One changed module of the code. `before` is an empty module for a new file; `after` for a deleted one."""

    path: str
    before: ast.Module
    after: ast.Module


@dataclass(frozen=True)
class Modules:
    """Changed modules, and the trees they belong to."""

    changed: tuple[Module, ...]
    deleted: tuple[Module, ...]
    evidence: Evidence
    instruments: Instruments

    @cached_property
    def test_constants(self) -> set[object]:
        """Constants of all test modules, old and new."""
        found: set[object] = set()
        for tree in (self.evidence.base, self.evidence.merged):
            paths = [p for p in tree.entries if p.endswith(".py") and self.instruments.kind(p) in _TESTS]
            for path in paths[:_MOST_TESTS]:
                parsed = python_code.parse(text(tree, path))
                if parsed:
                    found |= python_code.constants(parsed)
        return found

    @cached_property
    def refused(self) -> set[object]:
        """Constants of the base's tests that stand where an exception is expected."""
        found: set[object] = set()
        for path in [p for p in self.evidence.base.entries if p.endswith(".py") and self.instruments.kind(p) in _TESTS][
            :_MOST_TESTS
        ]:
            for node in python_code.walk(python_code.parse(text(self.evidence.base, path)) or ast.Module([], [])):
                if isinstance(node, ast.With) and any(_expects(i.context_expr) for i in node.items):
                    found |= python_code.constants(ast.Module(node.body, []))
                elif isinstance(node, ast.Call) and _expects(node) and len(node.args) > 1:
                    found |= python_code.constants(node)
                elif isinstance(node, ast.FunctionDef) and node.decorator_list:
                    inside = (i.context_expr for w in ast.walk(node) if isinstance(w, ast.With) for i in w.items)
                    if any(_expects(c) for c in inside):
                        found |= {c for d in node.decorator_list for c in python_code.constants(d)}
        return found

    def patched(self, name: str) -> bool:
        """True where a test of the merge result puts something else in the place of a function of that name."""
        return any(v == name or v.endswith(f".{name}") for v in self._patched)

    @cached_property
    def _patched(self) -> set[str]:
        found: set[str] = set()
        tree = self.evidence.merged
        for path in [p for p in tree.entries if p.endswith(".py") and self.instruments.kind(p) in _TESTS][:_MOST_TESTS]:
            for node in ast.walk(python_code.parse(text(tree, path)) or ast.Module([], [])):
                if isinstance(node, ast.Call) and python_code.dotted(node.func, {}).rsplit(".", 1)[-1] in _PATCHERS:
                    found |= {w for a in node.args[:2] if (w := python_code.folded(a))}
        return found

    @cached_property
    def test_names(self) -> set[str]:
        """Names and attributes that the base's tests use."""
        found: set[str] = set()
        for path in [p for p in self.evidence.base.entries if p.endswith(".py") and self.instruments.kind(p) in _TESTS][
            :_MOST_TESTS
        ]:
            for node in ast.walk(python_code.parse(text(self.evidence.base, path)) or ast.Module([], [])):
                if isinstance(node, ast.Attribute):
                    found.add(node.attr)
                elif isinstance(node, ast.Name):
                    found.add(node.id)
                elif isinstance(node, ast.alias):
                    found.add(node.name.split(".")[-1])
        return found

    @cached_property
    def test_folders(self) -> set[str]:
        """Folder names that hold tests or their data."""
        return {part for p in self.evidence.base.entries if self.instruments.kind(p) in _TESTS for part in p.split("/")[:-1]} - {"src", "lib"}  # fmt: skip

    @cached_property
    def test_data(self) -> set[str]:
        """Base names of data files among the tests."""
        return {
            p.rsplit("/", 1)[-1]
            for p in self.evidence.base.entries
            if self.instruments.kind(p) in _TESTS and not p.endswith(".py")
        }


def _expects(node: ast.AST) -> bool:
    """`pytest.raises(...)`, `self.assertRaises(...)` and the like."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in ("raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "assert_raises")


def changed_modules(evidence: Evidence) -> Modules:
    """Python files outside tests and instruments that differ and do something else than before."""
    instruments = Instruments(evidence.settings, evidence.suites, evidence.base)
    changed, deleted = [], []
    for entry in evidence.change.paths:
        if not entry.path.endswith(".py") or instruments.kind(entry.path) is not None:
            continue
        before = python_code.parse(text(evidence.base, entry.path)) or ast.Module([], [])
        after = python_code.parse(text(evidence.merged, entry.path)) or ast.Module([], [])
        if entry.new is None:
            deleted.append(Module(entry.path, before, after))
        elif python_code.meaning(before) != python_code.meaning(after):
            changed.append(Module(entry.path, before, after))
    return Modules(tuple(changed), tuple(deleted), evidence, instruments)
