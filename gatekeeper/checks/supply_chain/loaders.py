"""Other ways to run what nobody reads: serialised objects, files loaded as modules, hooks of the import system, lines of a shell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gatekeeper.domain.tree import Tree
from gatekeeper.formats import python_code

_UNPICKLES = (
    "pickle.load",
    "marshal.load",
    "dill.load",
    "cloudpickle.load",
    "joblib.load",
    "_pickle.load",
    "pickle.Unpickler",
    "shelve.open",
)
_LOADS = (
    "importlib.machinery.SourceFileLoader", "importlib.machinery.SourcelessFileLoader", "importlib.machinery.ExtensionFileLoader",
    "importlib.util.spec_from_file_location", "imp.load_source", "imp.load_compiled", "imp.load_dynamic", "zipimport.zipimporter",
    "runpy.run_path", "ctypes.CDLL", "ctypes.cdll.LoadLibrary",
)  # fmt: skip
_IMPORT_SYSTEM = ("sys.meta_path", "sys.path_hooks", "sys.path_importer_cache")
_CHANGING = frozenset({"append", "insert", "extend"})


def odd_loads(tree: Tree, module: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """What is loaded, in words, and where: only what is carried along as data or lies in the project as a file."""
    names = python_code.imports(module)
    for node in python_code.walk(module):
        if isinstance(node, ast.Call):
            called = python_code.dotted(node.func, names)
            if called.startswith(("os.", "subprocess.")) and _pipes(node):
                yield "a download that a shell runs", node
            elif called.startswith(_UNPICKLES) and (called.startswith("marshal.") or _carried(tree, node)):
                yield f"{called} of what stands in the change", node
            elif called in _LOADS and _odd_file(tree, node):
                yield f"{called} of a file that is no module", node
            elif (
                isinstance(node.func, ast.Attribute)
                and node.func.attr in _CHANGING
                and (owner := python_code.dotted(node.func.value, names)) in _IMPORT_SYSTEM
            ):
                yield f"a hook in {owner}", node
        elif isinstance(node, ast.Assign | ast.AugAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                holder = target.value if isinstance(target, ast.Subscript) else target
                if (owner := python_code.dotted(holder, names)) in _IMPORT_SYSTEM[:2]:
                    yield f"a hook in {owner}", node


def _pipes(call: ast.Call) -> bool:
    """True for a line that is written out and feeds an interpreter with what it fetches."""
    said = [
        n.value for a in call.args[:1] for n in ast.walk(a) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    ]
    return any(
        re.search(
            r"\b(?:curl|wget)\b[^|]{0,500}\|\s*(?:sudo\s+)?(?:\S{0,100}/)?(?:ba|z|da)?(?:sh|python[0-9.]*|perl|node)\b",
            w[:2000],
        )
        for w in said
    )


def _carried(tree: Tree, call: ast.Call) -> bool:
    """True where what is read is written out in the code, or in a file of the project that the code names."""
    given = [*call.args[:1], *(k.value for k in call.keywords if k.arg in ("data", "file"))]
    for node in (n for value in given for n in ast.walk(value)):
        if isinstance(node, ast.Constant) and isinstance(node.value, bytes) and len(node.value) > 8:
            return True
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and (len(node.value) > 40 or _there(tree, node.value))
        ):
            return True
    return False


def _odd_file(tree: Tree, call: ast.Call) -> bool:
    words = [
        n.value
        for a in [*call.args, *(k.value for k in call.keywords)]
        for n in ast.walk(a)
        if isinstance(n, ast.Constant) and isinstance(n.value, str)
    ]
    return any("." in w and not w.endswith((".py", ".so", ".dll", ".dylib", ".pyd")) and _there(tree, w) for w in words)


def _there(tree: Tree, word: str) -> bool:
    """True for the name of a file of the project, wherever it lies."""
    end = word.replace("\\", "/").removeprefix("./").lstrip("/")
    return "." in end and len(end) < 300 and any(p == end or p.endswith(f"/{end}") for p in tree.entries)
