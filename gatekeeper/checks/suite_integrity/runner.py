"""The runner itself: modules that stand in its place, code that patches it or ends its process."""

from __future__ import annotations

import ast
import re

from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.instruments import InstrumentKind
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.formats import python_code

_INTERNALS = re.compile(r"(?:_pytest|pluggy|pytest|unittest)(?:\.\w+)*")
_OWN = re.compile(r"(?:_pytest|pluggy)(?:\.|$)|pytest$|unittest\.(?:case|TestCase|result|runner|main|loader|suite)")
_PLACES = {"pytest", "_pytest", "pluggy", "sitecustomize", "usercustomize", "xdist", "pytest_cov", "coverage"}
_ENDS = {"os._exit", "posix._exit", "os.abort", "os.kill"}
_ENDS_MODULE = _ENDS | {"sys.exit", "exit", "quit", "SystemExit", "builtins.exit", "pytest.exit"}


def shadows(situation: Situation) -> list[Finding]:
    """One finding for each new module that would be imported instead of the runner or at every start."""
    found: dict[str, str] = {}
    for path, changed in situation.changed.items():
        if changed.new is None or changed.old is not None:
            continue
        parts = path.split("/")
        stems = [p.split(".", 1)[0] if p.endswith((".py", ".so", ".pth")) else p for p in parts]
        deep = next((i for i, s in enumerate(stems) if s in _PLACES), None)
        python = path.endswith((".py", ".so", ".pth", ".pyc"))
        if situation.kind(path) is InstrumentKind.SHADOW:
            place = "/".join(parts[: deep + 1]) if deep is not None else path
        elif python and deep is not None and (deep <= 1 and parts[0] in ("tests", "test", "src", "lib", "testing")):
            place = "/".join(parts[: deep + 1])
        else:
            continue
        if not situation.permits((PermitKind.CHANGE_INSTRUMENTS,), path=path):
            found.setdefault(place, path)
    return [
        finding("RUNNER_SHADOWED", f"{path} would be loaded in place of the runner, the standard library or at every start.", path=path, key=place)
        for place, path in found.items()
    ]  # fmt: skip


def patched(situation: Situation) -> list[Finding]:
    """One finding a file that patches the runner or ends its process from outside a command line entry point."""
    out = []
    for path, changed in situation.changed.items():
        if changed.new is None or not path.endswith(".py"):
            continue
        tree = python_code.parse(situation.source(path))
        if tree is None:
            continue
        old = python_code.parse(situation.source(path, base=True)) if changed.old is not None else None
        known = {what for what, _ in _all(old)} if old is not None else set()
        rows = [(what, line) for what, line in _all(tree) if what not in known]
        if rows and not situation.permits((PermitKind.CHANGE_INSTRUMENTS,), path=path):
            message = f"{path}: {'; '.join(w for w, _ in rows[:4])}."
            out.append(
                finding("RUNNER_PATCHED", message, path=path, line=rows[0][1], key="; ".join(w for w, _ in rows))
            )
    return out


def _all(tree: ast.Module) -> list[tuple[str, int]]:
    try:
        return [*_patches(tree), *_exits(tree)]
    except RecursionError:
        return []


def _patches(tree: ast.Module) -> list[tuple[str, int]]:
    """Assignments to attributes of the runner's own modules and classes, however they were reached."""
    names = python_code.imports(tree)
    owned: dict[str, str] = {}
    for _ in range(4):  # a name may be taken from a name: four steps are more than anyone writes openly
        known = len(owned)
        for node in python_code.walk(tree):
            if isinstance(node, ast.Assign | ast.NamedExpr | ast.AnnAssign) and node.value is not None:
                origin = _origin(node.value, names, owned)
                if origin:
                    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                        if isinstance(target, ast.Name):
                            owned.setdefault(target.id, origin)
            elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
                origin = _origin(node.iter, names, owned)
                if origin:
                    owned.setdefault(node.target.id, origin)
        if len(owned) == known:
            break
    out = []
    for node in python_code.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Attribute | ast.Subscript):
                    origin = _origin(target.value, names, owned)
                    name = target.attr if isinstance(target, ast.Attribute) else "[...]"
                    if origin:
                        out.append((f"replaces {origin}.{name}", node.lineno))
                    elif (
                        isinstance(target, ast.Attribute)
                        and python_code.dotted(target, names) == "builtins.AssertionError"
                    ):
                        out.append(("replaces AssertionError", node.lineno))
        elif isinstance(node, ast.Call) and node.args:
            called = python_code.dotted(node.func, names)
            last = called.rsplit(".", 1)[-1]
            first = python_code.folded(node.args[0]) or ""
            if last in ("setattr", "__setattr__") or called.endswith("patch.object"):
                origin = _origin(node.args[0], names, owned) or (first if _OWN.match(first) else "")
                if origin:
                    out.append((f"sets an attribute of {origin}", node.lineno))
            elif last == "patch" and _OWN.match(first):
                out.append((f"patches {first}", node.lineno))
    return out


def _origin(node: ast.AST, names: dict[str, str], owned: dict[str, str]) -> str:
    """The runner's module or class that an expression stands for, or ""."""
    if isinstance(node, ast.Name) and node.id in owned:
        return owned[node.id]
    dotted = python_code.dotted(node, names)
    if dotted and _OWN.match(dotted):
        return dotted
    if isinstance(node, ast.Attribute):
        inner = _origin(node.value, names, owned)
        return f"{inner}.{node.attr}" if inner else ""
    if isinstance(node, ast.Subscript):
        text = python_code.folded(node.slice)
        if text and _OWN.match(text) and python_code.dotted(node.value, names).endswith("modules"):
            return text
        return _origin(node.value, names, owned)
    if isinstance(node, ast.Call):
        called = python_code.dotted(node.func, names)
        first = python_code.folded(node.args[0]) if node.args else None
        if first and _OWN.match(first) and (called.endswith(("modules.get", "import_module", "__import__"))):
            return first
        if called in ("vars", "getattr") and node.args:
            return _origin(node.args[0], names, owned)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "values", "items", "copy"):
            return _origin(node.func.value, names, owned)
    if isinstance(node, ast.BoolOp):
        return next((o for v in node.values if (o := _origin(v, names, owned))), "")
    return ""


def _exits(tree: ast.Module) -> list[tuple[str, int]]:
    """Ways out of the process while a module is imported, and from a function that runs at the very end."""
    names = python_code.imports(tree)
    registered = {
        a.id for n in python_code.walk(tree) if isinstance(n, ast.Call) and python_code.dotted(n.func, names).endswith("atexit.register")
        for a in n.args if isinstance(a, ast.Name)
    }  # fmt: skip
    out = []
    for node in python_code.walk(tree):
        if isinstance(node, ast.Call) and python_code.dotted(node.func, names).endswith("atexit.register"):
            if any(_ends(a, names, _ENDS) or python_code.dotted(a, names) in _ENDS for a in node.args):
                out.append(("ends the process from an exit handler", node.lineno))
        elif isinstance(node, ast.FunctionDef):
            late = node.name in registered or any("atexit" in ast.dump(d) for d in node.decorator_list)
            if late and _ends(node, names, _ENDS):
                out.append(("ends the process from an exit handler", node.lineno))
    out += [
        ("ends the process while it is imported", n.lineno)
        for n in _at_import(tree.body)
        if _exit_call(n, names, _ENDS_MODULE)
    ]
    return out


def _at_import(body: list[ast.stmt]) -> list[ast.Call | ast.Raise]:
    """Calls and raises that run on import; a main guard does not."""
    out: list[ast.Call | ast.Raise] = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "__main__" in ast.dump(node.test):
            out += _at_import(node.orelse)
        elif isinstance(node, ast.ClassDef | ast.With | ast.For | ast.While | ast.If | ast.Try):
            for part in ("body", "orelse", "finalbody"):
                out += _at_import(getattr(node, part, []))
            for handler in getattr(node, "handlers", []):
                # `except ImportError: sys.exit(...)` says plainly what is missing; os._exit would still be seen below.
                out += [n for n in _at_import(handler.body) if isinstance(n, ast.Call) and "_exit" in ast.dump(n.func)]
        elif isinstance(node, ast.Raise):
            out.append(node)
        else:
            out += [n for n in _walk(node) if isinstance(n, ast.Call)]
    return out


def _walk(node: ast.AST) -> list[ast.AST]:
    """Nodes that run at once: not the inside of a lambda."""
    out = [node]
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.Lambda):
            out += _walk(child)
    return out


def _exit_call(node: ast.Call | ast.Raise, names: dict[str, str], which: set[str]) -> bool:
    if isinstance(node, ast.Raise):
        cause = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return cause is not None and python_code.dotted(cause, names) in which
    return python_code.dotted(node.func, names) in which


def _ends(node: ast.AST, names: dict[str, str], which: set[str]) -> bool:
    local = {**names, **python_code.imports(node)}
    return any(isinstance(n, ast.Call) and python_code.dotted(n.func, local) in which for n in ast.walk(node))
