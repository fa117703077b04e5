"""depsort: order by need (src layout; suites for tests, style and annotations)."""

from __future__ import annotations

DEPSORT = {
    "README.md": "# depsort\n\nPut things in the order of what they need.\n",
    "CHANGELOG.md": "# Changes\n\n- 2.0: stable order.\n",
    ".gatekeeper.toml": """\
[environment]
kind = "host"

[[suite]]
name = "tests"
kind = "test"
runner = "pytest"

[[suite]]
name = "style"
kind = "lint"
runner = "command"
command = "python tools/check_style.py src tests"

[[suite]]
name = "annotations"
kind = "types"
runner = "command"
command = "python tools/check_annotations.py src"

[scope]
shared = ["CHANGELOG.md"]
""",
    "pyproject.toml": """\
[project]
name = "depsort"
version = "2.0.0"
dependencies = []

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["src"]
""",
    "requirements-docs.txt": "markdown==3.7\n",
    "tools/check_style.py": '''\
"""Complain about long lines, tabs and blanks at the end of a line."""

import sys
from pathlib import Path

LIMIT = 100


def complaints(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if len(line) > LIMIT:
            yield f"{path}:{number}: line too long ({len(line)})"
        if "\\t" in line or line != line.rstrip():
            yield f"{path}:{number}: blanks"


if __name__ == "__main__":
    found = [text for root in sys.argv[1:] for path in sorted(Path(root).rglob("*.py")) for text in complaints(path)]
    print("\\n".join(found))
    sys.exit(1 if found else 0)
''',
    "tools/check_annotations.py": '''\
"""Every public function says what it takes and gives."""

import ast
import sys
from pathlib import Path


def complaints(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            missing = [a.arg for a in node.args.args if a.annotation is None and a.arg != "self"]
            if missing or node.returns is None:
                yield f"{path}:{node.lineno}: {node.name} is not annotated"


if __name__ == "__main__":
    found = [text for root in sys.argv[1:] for path in sorted(Path(root).rglob("*.py")) for text in complaints(path)]
    print("\\n".join(found))
    sys.exit(1 if found else 0)
''',
    "src/depsort/__init__.py": '"""Order by need."""\n\nfrom depsort.graph import Graph\nfrom depsort.order import CycleError, levels, order\n\n'
    '__all__ = ["CycleError", "Graph", "levels", "order"]\n',
    "src/depsort/graph.py": '''\
"""Who needs whom."""


class Graph:
    """Nodes and what they need."""

    def __init__(self, needs: dict[str, list[str]] | None = None) -> None:
        self._needs: dict[str, set[str]] = {}
        for node, others in (needs or {}).items():
            self.add(node, *others)

    def add(self, node: str, *others: str) -> None:
        self._needs.setdefault(node, set()).update(others)
        for other in others:
            self._needs.setdefault(other, set())

    def nodes(self) -> list[str]:
        return sorted(self._needs)

    def needs(self, node: str) -> list[str]:
        return sorted(self._needs[node])

    def closure(self, node: str) -> set[str]:
        """Everything the node needs, directly or not."""
        seen: set[str] = set()
        todo = [node]
        while todo:
            for other in self._needs[todo.pop()]:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen
''',
    "src/depsort/order.py": '''\
"""Orders in which everything comes after what it needs."""

from depsort.graph import Graph


class CycleError(ValueError):
    """Things need each other."""


def levels(graph: Graph) -> list[list[str]]:
    """Groups that can be done together; each needs only earlier ones."""
    left = {node: set(graph.needs(node)) for node in graph.nodes()}
    found = []
    while left:
        ready = sorted(node for node, needs in left.items() if not needs)
        if not ready:
            raise CycleError("cycle: " + ", ".join(sorted(left)))
        found.append(ready)
        for node in ready:
            del left[node]
        for needs in left.values():
            needs.difference_update(ready)
    return found


def order(graph: Graph) -> list[str]:
    """All nodes; those of one level by name."""
    return [node for level in levels(graph) for node in level]
''',
    "src/depsort/dot.py": '''\
"""Graphs for graphviz."""

from depsort.graph import Graph


def dot(graph: Graph) -> str:
    lines = [f'  "{node}" -> "{other}";' for node in graph.nodes() for other in graph.needs(node)]
    return "digraph {\\n" + "".join(line + "\\n" for line in lines) + "}\\n"
''',
    "tests/oracle.py": '''\
"""Says whether an order is right, slowly."""


def respects(needs, found):
    nodes = set(needs) | {other for others in needs.values() for other in others}
    if sorted(found) != sorted(nodes):
        return False
    pairs = [(node, other) for node, others in needs.items() for other in others]
    return all(found.index(other) < found.index(node) for node, other in pairs)
''',
    "tests/conftest.py": """\
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
""",
    "tests/test_order.py": """\
import pytest
from oracle import respects

from depsort import CycleError, Graph, levels, order

GRAPHS = [
    {"app": ["lib", "log"], "lib": ["core"], "log": ["core"]},
    {"a": [], "b": [], "c": ["a"]},
    {"x": ["y"], "y": ["z"], "z": []},
    {"top": ["m1", "m2", "m3"], "m1": ["base"], "m3": ["m2"]},
]


@pytest.mark.parametrize("needs", GRAPHS)
def test_order_respects_needs(needs):
    assert respects(needs, order(Graph(needs)))


def test_order_is_stable():
    assert order(Graph(GRAPHS[0])) == ["core", "lib", "log", "app"]


def test_levels():
    assert levels(Graph(GRAPHS[3])) == [["base", "m2"], ["m1", "m3"], ["top"]]


def test_cycle():
    with pytest.raises(CycleError, match="cycle: a, b"):
        order(Graph({"a": ["b"], "b": ["a"], "c": []}))


def test_nothing():
    assert order(Graph()) == []
""",
    "tests/test_graph.py": """\
from depsort import Graph
from depsort.dot import dot


def test_nodes_include_what_is_needed():
    assert Graph({"b": ["c", "a"]}).nodes() == ["a", "b", "c"]


def test_needs_are_sorted():
    assert Graph({"b": ["c", "a"]}).needs("b") == ["a", "c"]


def test_closure():
    assert Graph({"a": ["b"], "b": ["c"], "d": []}).closure("a") == {"b", "c"}


def test_closure_of_a_leaf():
    assert Graph({"a": []}).closure("a") == set()


def test_dot():
    assert dot(Graph({"b": ["c", "a"]})) == 'digraph {\\n  "b" -> "a";\\n  "b" -> "c";\\n}\\n'
""",
}
