"""The same test module under other names: what a test comes to must not depend on what it is called.

With it go twins: copies of some tests with one assertion turned round, which must fail where the test itself passes.
"""

from __future__ import annotations

import ast
import copy
import re
from collections import Counter
from collections.abc import Callable

from gatekeeper.formats import python_code
from gatekeeper.formats.python_source import TestFunction, read_module
from gatekeeper.records import dataclass

MAX_RENAMED = 2000
MAX_TWINS = 8
"""Each runs a test once more."""


@dataclass(frozen=True)
class Renamed:
    """A module whose tests have other names."""

    source: str
    names: tuple[tuple[str, str], ...]
    """(new name, name as it was) of the functions that were renamed."""
    twins: tuple[tuple[str, str], ...]
    """(name of the copy, name of the test as it was)."""


def renamed(source: str, name_for: Callable[[str], str]) -> Renamed | None:
    """The module with its tests renamed to `name_for` their names, and twins; None for a text that is no Python.

    A function keeps its name where anything else in the module speaks of it, and where it is more than its own affair:
    methods, since other classes may inherit them, and functions that are not at the top level.
    """
    tree = python_code.parse(source)
    module = read_module(source)
    if tree is None or module is None or "\f" in source or "\r" in source:
        return None
    mentioned = _mentioned(tree)
    top = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    lines = source.split("\n")
    done: list[tuple[str, str]] = []
    copies: list[tuple[str, str]] = []
    blocks: list[str] = []
    for name, test in module.tests.items():
        node = top.get(name)
        if node is None or node.lineno != test.line or len(done) >= MAX_RENAMED:
            continue
        if mentioned[name] == 1:
            changed, count = re.subn(
                rf"(\bdef\s+){re.escape(name)}(?=\s*\()", rf"\g<1>{name_for(name)}", lines[node.lineno - 1], count=1
            )
            if count:
                lines[node.lineno - 1] = changed
                done.append((name_for(name), name))
        twin = _twin(node, test, name_for(f"{name} turned")) if len(copies) < MAX_TWINS else None
        if twin is not None:
            blocks.append(twin)
            copies.append((name_for(f"{name} turned"), name))
    text = "\n".join(["\n".join(lines), *blocks])
    # Lines of the file and lines of the tree can differ: then nothing is renamed.
    if python_code.parse(text) is None or not _writable(text):
        return Renamed(source, (), ()) if _writable(source) else None
    return Renamed(text, tuple(done), tuple(copies))


def _writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _twin(node: ast.FunctionDef | ast.AsyncFunctionDef, test: TestFunction, name: str) -> str | None:
    """The source of a copy that must fail where the test passes; None where no plain assertion stands in its body."""
    places = [i for i, s in enumerate(node.body) if isinstance(s, ast.Assert)]
    # A test that may end before its assertion passes honestly whatever that says.
    early = any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Return | ast.Raise) for n in ast.walk(node))
    if not places or test.silencers or early:
        return None
    try:
        made = copy.deepcopy(node)
        made.name = name
        one = made.body[places[-1]]
        assert isinstance(one, ast.Assert)
        one.test = ast.UnaryOp(ast.Not(), one.test)
        return "\n\n" + ast.unparse(ast.fix_missing_locations(made)) + "\n"
    except (RecursionError, ValueError, AttributeError):
        return None


def _mentioned(tree: ast.Module) -> Counter[str]:
    """How often each word is a name, an attribute, or a part of a string; a definition counts as one."""
    seen: Counter[str] = Counter()
    for node in python_code.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            seen[node.name] += 1
        elif isinstance(node, ast.Name):
            seen[node.id] += 1
        elif isinstance(node, ast.Attribute):
            seen[node.attr] += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            seen.update(re.findall(r"\w+", node.value[:100_000]))
    return seen


_OWN_NAME = re.compile(
    r"\b(?:request|__name__|__file__|__module__|__qualname__|\w*snapshot\w*|fspath|node|nodeid|PYTEST_CURRENT_TEST|caplog|"
    r"inspect|getframeinfo|golden\w*|\w*regression|\w*datadir|stem|pickle|cassette\w*|vcr|record\w*|approv\w*|__loader__)\b"
)


def looks_at_names(source: str) -> bool:
    """The tests or their fixtures look at what they are called, or at files named after them, as far as the text shows."""
    return _OWN_NAME.search(source) is not None
