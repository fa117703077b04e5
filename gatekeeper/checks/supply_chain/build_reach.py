"""What a build script brings in beside its own text: modules of the project, packages, files it writes, things it rebinds."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from gatekeeper.checks.supply_chain.build_calls import doubtful, starters
from gatekeeper.domain.tree import Tree, text
from gatekeeper.formats import python_code

_MOST_FILES = 30
_OF_BUILDS = frozenset({
    "setuptools", "distutils", "pkg_resources", "wheel", "Cython", "numpy", "pybind11", "cffi", "sphinx", "babel", "skbuild", "torch", "mypyc",
    "setuptools_rust", "setuptools_scm", "setuptools_scm_git_archive", "pbr", "py2exe", "py2app", "cx_Freeze", "packaging", "versioneer", "six", "pip",
    "build", "twine", "hatchling", "pdm", "poetry", "ez_setup", "extension_helpers", "setuptools_cpp", "jupyter_packaging", "petsc4py", "mpi4py",
})  # fmt: skip
"""Packages that build scripts are known to use."""
_WRITES = frozenset({
    "shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "shutil.move", "os.rename", "os.replace", "os.symlink", "os.link", "os.chmod",
})  # fmt: skip
_WRITING = frozenset({"write_text", "write_bytes", "symlink_to", "hardlink_to"})
_INSIDE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def modules_run(tree: Tree, script: ast.Module) -> dict[str, set[str]]:
    """What modules of the project start as soon as the script imports them, by path; what they only define is left out."""
    found: dict[str, set[str]] = {}
    waiting, seen = list(_local(tree, script, "")), set[str]()
    while waiting and len(seen) < _MOST_FILES:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        module = python_code.parse(text(tree, path))
        if module is None:
            continue
        at_once = ast.Module(list(_at_once(module)), [])
        found[path] = {*starters(at_once), *doubtful(at_once)} & ({*starters(module), *doubtful(module)})
        waiting += _local(tree, at_once, path.rpartition("/")[0])
    return found


def packages(tree: Tree, script: ast.Module) -> dict[str, int]:
    """Lines of imports that are neither of the standard library, nor of the project, nor of what build scripts use."""
    known = sys.stdlib_module_names | _OF_BUILDS | {"__future__"}
    return {
        name.split(".")[0]: getattr(node, "lineno", 1)
        for node in python_code.walk(script)
        for name in _modules(node)
        if name
        and not name.startswith(".")
        and name.split(".")[0] not in known
        and not _files(tree, name.split(".")[0])
    }


def writes(script: ast.Module) -> dict[str, int]:
    """Lines where files are written, by what writes them."""
    names = python_code.imports(script)
    found: dict[str, int] = {}
    for node in python_code.walk(script):
        if not isinstance(node, ast.Call):
            continue
        called = python_code.dotted(node.func, names)
        if called in _WRITES or (isinstance(node.func, ast.Attribute) and node.func.attr in _WRITING):
            found[ast.unparse(node)[:200]] = node.lineno
        elif called.rsplit(".", 1)[-1] == "open" or (isinstance(node.func, ast.Attribute) and node.func.attr == "open"):
            # A path has its mode first, all others have the name of the file there.
            first = 1 if called in ("open", "io.open", "codecs.open", "gzip.open", "builtins.open") else 0
            how = [*node.args[first : first + 1], *(k.value for k in node.keywords if k.arg == "mode")]
            modes = [
                h.value for h in how if isinstance(h, ast.Constant) and isinstance(h.value, str) and len(h.value) < 4
            ]
            if any(m[:1] in ("w", "a", "x") or "+" in m for m in modes if set(m) <= set("rwaxbt+U")):
                found[ast.unparse(node)[:200]] = node.lineno
    return found


def rebound(script: ast.Module) -> dict[str, int]:
    """Lines where an attribute of something imported is given another meaning."""
    names = python_code.imports(script)
    found: dict[str, int] = {}
    for node in python_code.walk(script):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            path = python_code.dotted(target, names) if isinstance(target, ast.Attribute) else ""
            root = target
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id in names and not path.startswith(("sys.", "os.environ")):
                found[path] = target.lineno
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr" and node.args:
            first = python_code.dotted(node.args[0], names)
            if first.split(".")[0] in {n.split(".")[0] for n in names.values()}:
                found[f"setattr({first})"] = node.lineno
    return found


def _modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        start = "." * node.level + (node.module or "")
        return [
            start,
            *(
                f"{start}.{a.name}".replace("..", ".")
                if not node.level
                else f"{start}{'.' if node.module else ''}{a.name}"
                for a in node.names
            ),
        ]
    return []


def _local(tree: Tree, module: ast.Module, folder: str) -> Iterator[str]:
    """Files of the project that the module imports."""
    for node in python_code.walk(module):
        for name in _modules(node):
            level = len(name) - len(name.lstrip("."))
            inner = name.lstrip(".").replace(".", "/")
            if level:
                parts = folder.split("/") if folder else []
                base = "/".join(parts[: len(parts) - level + 1])
                yield from _files(tree, f"{base}/{inner}".strip("/") if base else inner)
            else:
                pieces = inner.split("/")
                for end in range(1, len(pieces) + 1):
                    yield from _files(tree, "/".join(pieces[:end]))


def _files(tree: Tree, at: str) -> list[str]:
    return [p for p in (f"{at}.py", f"{at}/__init__.py", f"src/{at}.py", f"src/{at}/__init__.py") if p in tree.entries]


def _at_once(module: ast.Module) -> Iterator[ast.stmt]:
    """Statements that run on import, with the functions of the module that they call by name."""
    own = {n.name: n for n in module.body if isinstance(n, ast.FunctionDef)}
    waiting: list[ast.AST] = [n for n in module.body if not isinstance(n, _INSIDE)]
    seen = set[str]()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ClassDef):
            waiting += [n for n in node.body if not isinstance(n, _INSIDE)]
            continue
        if isinstance(node, ast.stmt):
            yield node
        for inner in ast.walk(node):
            if (
                isinstance(inner, ast.Call)
                and isinstance(inner.func, ast.Name)
                and inner.func.id in own
                and inner.func.id not in seen
            ):
                seen.add(inner.func.id)
                waiting += own[inner.func.id].body
