"""What a setup.py and a noxfile.py install, as far as it is written out: nothing is run to learn it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gatekeeper.formats import python_code
from gatekeeper.formats.python_requirements.manifest import Dependency, Manifest, canonical, requirement

_KEYS = frozenset(
    {"install_requires", "setup_requires", "tests_require", "extras_require", "extra_require", "requires"}
)
_LIKE = re.compile(r"(?:^|_)(?:requires?|requirements?|deps|dependencies|extras)(?:$|_)", re.IGNORECASE)
_ADDING = frozenset({"append", "extend", "add", "update", "insert", "setdefault"})
_TAKING = frozenset({"list", "tuple", "set", "sorted", "dict", "sum"})
MAX_ENTRIES = 20_000
_NAMES = 200


def setup_script(text: str) -> Manifest | None:
    """Literal requirements of `setup(...)`, and of the names and tables that lead to it; None where it is no Python."""
    tree = python_code.parse(text)
    if tree is None:
        return None
    found: dict[tuple[str, str], Dependency] = {}
    links: list[tuple[str, int]] = []
    own = ""
    bound = _bound(tree)
    for key, value in _told(tree):
        if key == "name":
            own = own or (python_code.folded(value) or "")
        elif key == "dependency_links":
            links += [(f"dependency_links {spec}"[:300], line) for spec, line in _specs(value, bound)]
        else:
            section = f"build.{key}" if key == "setup_requires" else key
            for spec, line in _specs(value, bound):
                one = requirement(spec, line, section=section)
                if one is not None and len(found) < MAX_ENTRIES:
                    found[one.name, one.source] = one
    plain = re.fullmatch(r"[\w.-]{1,200}", own)
    return Manifest(tuple(found.values()), tuple(links), own_name=canonical(own) if plain else "")


def nox_file(text: str) -> Manifest | None:
    """Literal arguments of `session.install(...)`; None where it is no Python."""
    tree = python_code.parse(text)
    if tree is None:
        return None
    found: list[Dependency] = []
    options: list[tuple[str, int]] = []
    for node in python_code.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("install", "conda_install")
        ):
            words = [(python_code.folded(a) or "", a.lineno) for a in node.args]
            indexes = [
                w for w in words if re.match(r"(?:-i|-f|--index-url|--extra-index-url|--find-links)(?:=|$)", w[0])
            ]
            if indexes:
                options.append((" ".join(w for w, _ in words)[:300], indexes[0][1]))
            for word, line in words:
                if (
                    word
                    and not word.startswith(("-", ".", "/"))
                    and not word.endswith((".txt", ".in", ".lock", ".toml"))
                ):
                    one = requirement(word, line, section="nox session")
                    found += [one] if one is not None and one.source not in [o[0].split()[-1] for o in options] else []
    return Manifest(tuple(found[:MAX_ENTRIES]), tuple(options))


def _told(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Keywords of calls, entries of tables and stores into them under the keys that setuptools reads."""
    wanted = _KEYS | {"dependency_links", "name"}
    for node in python_code.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield from (
                (k.arg, k.value) for k in node.keywords if k.arg in wanted and (k.arg != "name" or called == "setup")
            )
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in wanted - {"name"}:
                    yield str(key.value), value
        elif isinstance(node, ast.Assign | ast.AugAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                word = _key(target)
                if word in wanted - {"name"} or (isinstance(target, ast.Name) and _LIKE.search(word)):
                    yield word, node.value


def _key(target: ast.expr) -> str:
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        return str(target.slice.value)
    return ""


def _bound(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """Everything that a name may hold: what is assigned to it, and what is put into it."""
    found: dict[str, list[ast.expr]] = {}
    for node in python_code.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                holder = target.value if isinstance(target, ast.Subscript) else target
                if isinstance(holder, ast.Name):
                    found.setdefault(holder.id, []).append(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDING:
            holder = node.func.value
            while isinstance(holder, ast.Subscript):
                holder = holder.value
            if isinstance(holder, ast.Name):
                found.setdefault(holder.id, []).extend(ast.List([a], ast.Load()) for a in node.args)
        elif isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).extend(
                n.value for n in ast.walk(node) if isinstance(n, ast.Return) and n.value is not None
            )
    return found


def _specs(value: ast.expr, bound: dict[str, list[ast.expr]]) -> Iterator[tuple[str, int]]:
    """Texts that stand in lists, and those behind the names in them; what a call reads from elsewhere is left out."""
    waiting, seen, inside = [value], set[str](), 0
    while waiting and inside < MAX_ENTRIES:
        inside += 1
        node = waiting.pop()
        text = python_code.folded(node) if not isinstance(node, ast.JoinedStr) else _start(node)
        if text is not None:
            # A text in place of a list is a list of lines.
            yield from ((row.strip(), node.lineno) for row in text.splitlines() if row.strip() and len(row) < 1000)
        elif isinstance(node, ast.Name):
            if node.id not in seen and len(seen) < _NAMES:
                seen.add(node.id)
                waiting += bound.get(node.id, [])
        elif isinstance(node, ast.Dict):
            waiting += node.values
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "id", "") if isinstance(node.func, ast.Name) else ""
            if called in _TAKING:
                waiting += [*node.args, *(k.value for k in node.keywords)]
            elif called in bound and not node.args:
                waiting.append(node.func)
            elif isinstance(node.func, ast.Attribute) and node.func.attr in ("split", "splitlines") and not node.args:
                words = python_code.folded(node.func.value)
                yield from ((w, node.lineno) for w in (words or "").split() if len(w) < 1000)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            first = python_code.folded(node.left) or ""
            yield from [(first.split("%")[0].rstrip("<>=!~ "), node.lineno)] if first else []
        elif isinstance(node, ast.List | ast.Tuple | ast.Set | ast.BinOp | ast.IfExp | ast.BoolOp | ast.Starred):
            waiting += [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        elif isinstance(node, ast.Subscript):
            waiting.append(node.value)


def _start(node: ast.JoinedStr) -> str:
    """The name at the start of a text that is made on the spot, without the version that it is filled with."""
    first = node.values[0] if node.values else None
    said = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    return said.rstrip("<>=!~ ")
