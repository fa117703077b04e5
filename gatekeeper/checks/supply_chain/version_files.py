"""Build scripts that run a file of the project to learn its version: harmless only where all of it can be seen.

`exec(file.read(), about)` is passed over where the path is written out and leads to a regular file of the merged tree that
gives names to literals and does nothing else, and where nothing in the script could make it read or run another thing:
every name on the way is bound once, and the script calls nothing but what is listed here, before or after: it may run twice.
What only a word of a person starts is no part of a build.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter

from gatekeeper.checks.supply_chain.build_scripts import as_built, bound_names
from gatekeeper.domain.tree import Tree, text
from gatekeeper.formats import python_code

_CALLED = frozenset({
    "open", "codecs.open", "io.open", "exec", "dict", "str", "len", "print", "os.path.join", "os.path.dirname", "os.path.abspath",
    "os.path.realpath", "os.path.exists", "sys.exit", "re.search", "re.match", "re.findall", "re.compile", "setup", "setuptools.setup",
    "setuptools.find_packages", "setuptools.find_namespace_packages", "distutils.core.setup", "pathlib.Path",
})  # fmt: skip
"""What the script may call, with functions of its own; none of it can write, rebind or import."""
_METHODS = frozenset({"read", "strip", "rstrip", "lstrip", "split", "splitlines", "join", "format", "startswith", "endswith", "group", "groups", "lower", "read_text", "resolve", "absolute"})  # fmt: skip
_READING = frozenset({"r", "rt", "utf-8", "utf8", "UTF-8", "UTF8", "ascii"})
_TYPES = frozenset({"str", "int", "float", "bool", "tuple", "list"})
_OF_TYPING = frozenset({"Final", "Tuple", "List", "Optional", "Union"})
_MODULES = sys.stdlib_module_names | {"setuptools"}


def harmless(tree: Tree, script: ast.Module) -> tuple[ast.Call, ...]:
    """The calls of `exec` in a build script that only learn constants from a file of `tree`; all of them or none."""
    anywhere, script = bound_names(script), as_built(script)
    runs = _runs(script)
    if not runs:
        return ()
    names, bound = python_code.imports(script), bound_names(script)
    imported = Counter((a.asname or a.name).split(".")[0] for n in python_code.walk(script) if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names)  # fmt: skip
    if any(bound[n] != imported[n] for n in {*imported, *_CALLED}):
        return ()
    own = {n.name for n in script.body if isinstance(n, ast.FunctionDef) and bound[n.name] == 1}
    if not all(_plain(node, names, own, tree) for node in python_code.walk(script)):
        return ()
    seen = _seen(script)
    for run in runs:
        module = facts_of(tree, seen.file(run))
        if module is None or not _into_its_own(run, module, anywhere):
            return ()
    return tuple(runs)


def files_run(script: ast.Module) -> tuple[str | None, ...]:
    """The path that each call of `exec` in a build reads from the root of the project; None where it cannot be told."""
    script = as_built(script)
    seen = _seen(script)
    return tuple(seen.file(run) for run in _runs(script))


def _seen(script: ast.Module) -> _Seen:
    """What names stand for when the last file is run: a name may stand for another thing once it is done."""
    until = _up_to(script, _runs(script))
    return _Seen(until, python_code.imports(until), bound_names(until))


def _runs(script: ast.Module) -> list[ast.Call]:
    return [n for n in python_code.walk(script) if isinstance(n, ast.Call) and _named(n.func) == "exec"]


def _up_to(script: ast.Module, runs: list[ast.Call]) -> ast.Module:
    """The statements that are done before the last file has been run: all of them where a function runs it."""
    within = {id(n) for f in python_code.functions(script) for n in python_code.walk(f)}
    if any(id(run) in within for run in runs):
        return script
    if not runs:
        return script
    rows = [any(id(n) in {id(r) for r in runs} for n in python_code.walk(row)) for row in script.body]
    return ast.Module(script.body[: len(rows) - rows[::-1].index(True)], [])


class _Seen:
    """What the names of a script stand for, as far as they are bound once."""

    def __init__(self, script: ast.Module, names: dict[str, str], bound: Counter[str]) -> None:
        self._names, self._bound = names, bound
        self._once: dict[str, ast.expr] = {}
        self._opened: dict[str, ast.expr] = {}
        self._used = Counter(
            n.id for n in python_code.walk(script) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        )
        for row in script.body:
            if isinstance(row, ast.Assign) and len(row.targets) == 1 and isinstance(row.targets[0], ast.Name):
                self._once[row.targets[0].id] = row.value
        for node in python_code.walk(script):
            for item in node.items if isinstance(node, ast.With) else ():
                if isinstance(item.optional_vars, ast.Name):
                    self._opened[item.optional_vars.id] = item.context_expr

    def file(self, run: ast.Call) -> str | None:
        """The path that `exec(<open file>.read(), ...)` reads from the root of the project; None where it is not plain."""
        if not run.args or any(isinstance(a, ast.Starred) for a in run.args) or run.keywords:
            return None
        code = run.args[0]
        if isinstance(code, ast.Call) and isinstance(code.func, ast.Attribute) and code.func.attr == "read_text":
            given = [*code.args, *(k.value for k in code.keywords)]
            plain = all(isinstance(g, ast.Constant) and g.value in _READING for g in given)
            return _inside(self._path(code.func.value)) if plain else None
        if not (isinstance(code, ast.Call) and isinstance(code.func, ast.Attribute) and code.func.attr == "read"):
            return None
        opened: ast.expr | None = code.func.value
        if isinstance(opened, ast.Name):
            # Read once in all, or what is left of the file could be other code than the whole.
            alone = self._bound[opened.id] == 1 and self._used[opened.id] == 1
            opened = self._opened.get(opened.id) if alone else None
        if code.args or code.keywords or not isinstance(opened, ast.Call) or not opened.args:
            return None
        where = python_code.dotted(opened.func, self._names)
        imported = self._names.get("open") in ("codecs.open", "io.open")
        if where not in ("open", "codecs.open", "io.open") or self._bound["open"] != (1 if imported else 0):
            return None
        how = [*opened.args[1:], *(k.value for k in opened.keywords)]
        if not all(isinstance(h, ast.Constant) and h.value in _READING for h in how):
            return None
        return _inside(self._path(opened.args[0]))

    def _path(self, node: ast.expr, depth: int = 0) -> str | None:
        """A literal path below the script; the folder of the script itself is empty."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return None if node.value.startswith("/") or ":" in node.value else node.value.removeprefix("./")
        if isinstance(node, ast.Name) and self._bound[node.id] == 1 and node.id in self._once and depth < 5:
            return self._path(self._once[node.id], depth + 1)
        if depth > 10:
            return None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            sides = [self._path(node.left, depth + 1), self._path(node.right, depth + 1)]
            return None if None in sides else "/".join(p for p in sides if p)
        if isinstance(node, ast.Attribute) and node.attr == "parent":
            return "" if self._script(node.value) else None
        if (
            isinstance(node, ast.Call)
            and python_code.dotted(node.func, self._names) == "pathlib.Path"
            and not node.keywords
        ):
            parts = [self._path(a, depth + 1) for a in node.args]
            return None if None in parts or not parts else "/".join(p for p in parts if p)
        if not isinstance(node, ast.Call) or node.keywords or self._bound["os"] != 1:
            return None
        called = python_code.dotted(node.func, self._names)
        if called == "os.path.join":
            parts = [self._path(a, depth) for a in node.args]
            return None if None in parts else "/".join(p for p in parts if p)
        return "" if depth < 5 and called.startswith("os.path.") and self._folder(node) else None

    def _script(self, node: ast.expr) -> bool:
        """`Path(__file__)`, made absolute or not."""
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("resolve", "absolute")
        ):
            node = ast.Constant(None) if node.args or node.keywords else node.func.value
        called = isinstance(node, ast.Call) and python_code.dotted(node.func, self._names) == "pathlib.Path"
        alone = isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords and not self._bound["__file__"]
        return called and alone and isinstance(node, ast.Call) and _named(node.args[0]) == "__file__"

    def _folder(self, node: ast.expr) -> bool:
        """`dirname(__file__)`, made absolute or not."""
        if not isinstance(node, ast.Call) or len(node.args) != 1 or self._bound["__file__"]:
            return False
        called, inner = python_code.dotted(node.func, self._names), node.args[0]
        if called == "os.path.dirname":
            if isinstance(inner, ast.Call) and len(inner.args) == 1:
                absolute = python_code.dotted(inner.func, self._names) in ("os.path.abspath", "os.path.realpath")
                inner = inner.args[0] if absolute else inner
            return _named(inner) == "__file__"
        return called in ("os.path.abspath", "os.path.realpath") and self._folder(inner)


def _inside(path: str | None) -> str | None:
    """The path where it stays below the root of the project."""
    return path if path and ".." not in path.split("/") and "\\" not in path and ":" not in path else None


def _named(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _plain(node: ast.AST, names: dict[str, str], own: set[str], tree: Tree) -> bool:
    """Nothing that could write a file, bind a name out of sight or bring in other code of the project."""
    if isinstance(
        node, ast.ClassDef | ast.AsyncFunctionDef | ast.Lambda | ast.Delete | ast.Global | ast.Nonlocal | ast.Match
    ):
        return False
    if isinstance(node, ast.FunctionDef):
        return not node.decorator_list
    if isinstance(node, ast.Attribute | ast.Subscript):
        hidden = isinstance(node, ast.Attribute) and node.attr.startswith("__")
        return isinstance(node.ctx, ast.Load) and not hidden
    if isinstance(node, ast.Name):
        return not node.id.startswith("__") or node.id in ("__file__", "__name__")
    if isinstance(node, ast.Import | ast.ImportFrom):
        return _of_others(node, tree)
    if isinstance(node, ast.Call):
        called = python_code.dotted(node.func, names)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            return node.func.attr != "read" or not (node.args or node.keywords)
        if called.rsplit(".", 1)[-1] == "open":
            how = [*node.args[1:], *(k.value for k in node.keywords)]
            return called in _CALLED and all(isinstance(h, ast.Constant) and h.value in _READING for h in how)
        return called in _CALLED or _named(node.func) in own
    return True


def _of_others(node: ast.Import | ast.ImportFrom, tree: Tree) -> bool:
    """Imports of the standard library or the build tool under their own names, which no file of the tree stands before."""
    modules = [a.name for a in node.names] if isinstance(node, ast.Import) else ["." * node.level + (node.module or "")]
    tops = {m.split(".")[0] for m in modules}
    shadowed = any(p.split("/")[0].split(".")[0] in tops for p in tree.entries)
    return tops <= _MODULES and not shadowed and all(a.name != "*" and a.asname is None for a in node.names)


def _into_its_own(run: ast.Call, facts: ast.Module, bound: Counter[str]) -> bool:
    """The constants go into a table of their own, or give no name another meaning that the script uses."""
    if len(run.args) == 2 and not isinstance(run.args[1], ast.Constant):
        return isinstance(run.args[1], ast.Name | ast.Dict)
    given = {n.id for n in ast.walk(facts) if isinstance(n, ast.Name)}
    return len(run.args) == 1 and not given & (
        {"open", "exec", "__file__", "setup"} | {n for n, c in bound.items() if c}
    )


def facts_of(tree: Tree, path: str | None) -> ast.Module | None:
    """The file at `path` where it holds literals under names, texts and nothing else."""
    content = text(tree, path) if path is not None else None
    if content is None or not content.isascii():
        return None
    module = python_code.parse(content)
    if "typing" in content and any(p in tree.entries for p in ("typing.py", "typing/__init__.py")):
        return None  # another module under that name
    return module if module is not None and all(map(is_fact, module.body)) else None


def is_fact(statement: ast.stmt) -> bool:
    """A text by itself, or a literal under names."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.ImportFrom) and not statement.level:
        plain = all(
            a.asname is None and (a.name in _OF_TYPING or statement.module == "__future__") for a in statement.names
        )
        return plain and statement.module in ("__future__", "typing")
    if isinstance(statement, ast.AnnAssign):
        typed = _is_type(statement.annotation)
        value = statement.value if typed and isinstance(statement.target, ast.Name) else None
    elif isinstance(statement, ast.Assign):
        value = statement.value if all(isinstance(t, ast.Name) for t in statement.targets) else None
    else:
        return False
    if value is None:
        return False
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _is_type(node: ast.expr) -> bool:
    """`str`, `Final`, `Final[str]`, `tuple[int, ...]`: names of types and nothing that could do more."""
    return all(
        isinstance(n, ast.Subscript | ast.Tuple | ast.Load | ast.Constant | ast.BinOp | ast.BitOr)
        or (isinstance(n, ast.Name) and n.id in _TYPES | _OF_TYPING)
        for n in ast.walk(node)
    )
