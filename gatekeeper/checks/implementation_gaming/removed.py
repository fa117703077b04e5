"""A feature taken away or hollowed out instead of repaired; one that has another name now is not gone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gatekeeper.checks.implementation_gaming.modules import Module, Modules
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats import python_code
from gatekeeper.formats.python_behaviour import likeness
from gatekeeper.formats.python_code import Definition, Function

_ARROW = re.compile(r"\s*(?:->|=>|\u2192|\s+to\s+)\s*")
"""Between the old and the new name of a rename permit; only the old one is let go."""


_ALIKE = 0.5
"""Share of a removed definition that a new one must hold to be its successor under another name."""
_MOST_FILES = 2000
"""Python files that are searched for the old name; in a larger tree a person looks."""


def removed(evidence: Evidence, modules: Modules) -> tuple[Finding, ...]:
    """Public functions, methods and classes that vanished or became stubs although no permit names them."""
    everywhere = _names_after(modules)
    out: list[Finding] = []
    for module in (*modules.changed, *modules.deleted):
        out += _module(evidence, modules, module, everywhere)
    return tuple(out)


def _names_after(modules: Modules) -> dict[str, set[str]]:
    """Last name -> bodies of definitions in changed modules after the change, with names that are bound otherwise."""
    found: dict[str, set[str]] = {}
    for module in modules.changed:
        for name, node in python_code.definitions(module.after):
            found.setdefault(name.split(".")[-1], set()).add(_body(node))
        for part in python_code.walk(module.after):
            if isinstance(part, ast.alias):
                found.setdefault((part.asname or part.name).split(".")[-1], set())
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                found.setdefault(part.id, set())
    return found


def _exported(evidence: Evidence, path: str, name: str) -> bool:
    """The package around a module hands the name on."""
    package = python_code.parse(text(evidence.base, f"{path.rpartition('/')[0]}/__init__.py".lstrip("/")))
    return package is not None and name in python_code.imports(package)


def _body(node: Definition) -> str:
    return python_code.meaning(ast.Module(list(node.body), []))


def _permitted(evidence: Evidence, path: str, name: str) -> bool:
    module = re.sub(r"(?:/__init__)?\.py$", "", path).replace("/", ".")
    full = f".{module}.{name}"
    for kind in (PermitKind.REMOVE_FEATURE, PermitKind.RENAME_API):
        for permit in evidence.ticket.permits_of(kind):
            for given in (n for whole in permit.names for n in _ARROW.split(whole)[:1]):
                wanted = "." + given.strip().removesuffix("()").replace(":", ".").replace("/", ".").strip(".")
                if full.endswith(wanted) or f"{full}.".find(f"{wanted}.") >= 0:
                    return True
    return False


def _trivial(node: Function) -> bool:
    """True for a body that only passes, raises NotImplementedError or returns a constant."""
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if not body:
        return True
    if len(body) > 1:
        return False
    one = body[0]
    if isinstance(one, ast.Raise):
        return "NotImplemented" in ast.dump(one)
    if isinstance(one, ast.Return):
        return one.value is None or not any(
            isinstance(n, ast.Name | ast.Call | ast.Attribute) for n in ast.walk(one.value)
        )
    return isinstance(one, ast.Pass)


def _successor(module: Module, name: str, node: Definition) -> str:
    """The new definition beside the removed one that does nearly the same, by qualified name; empty for none."""
    before = {n for n, _ in python_code.definitions(module.before)}
    owner = name.rpartition(".")[0]
    best, found = _ALIKE, ""
    for other, candidate in python_code.definitions(module.after):
        if (
            other in before
            or other.rpartition(".")[0] != owner
            or isinstance(candidate, ast.ClassDef) != isinstance(node, ast.ClassDef)
        ):
            continue
        if not isinstance(candidate, ast.ClassDef) and _trivial(candidate):
            continue
        share = likeness(node, candidate)
        if share >= best:
            best, found = share, other
    return found


def _followed(evidence: Evidence, old: str, new: str) -> bool:
    """Every Python file that spoke of the old name speaks of the new one instead: a rename, carried through."""
    was, now = (re.compile(rf"(?<!\w){re.escape(n.split('.')[-1])}(?!\w)") for n in (old, new))
    paths = [p for p in evidence.merged.entries if p.endswith(".py")]
    if len(paths) > _MOST_FILES:
        return False
    for path in paths:
        try:
            after, before = text(evidence.merged, path) or "", text(evidence.base, path) or ""
        except CouldNotCheck:
            return False
        if was.search(after) or (was.search(before) and not now.search(after)):
            return False
    return True


_REMOVAL = r"\b(?:remov|drop|delet|retir|discontinu|get(?:ting)? rid of|revert)\w*\b"


def _spoken_of(evidence: Evidence, name: str) -> bool:
    """The ticket undoes an earlier change, or one of its lines says that this very thing is to go."""
    title = evidence.ticket.title.strip().lower()
    if title.startswith(("revert ", 'revert"')):
        return True
    goes = re.compile(
        rf"{_REMOVAL}[^.;\n]{{0,80}}(?<!\w){re.escape(name.rsplit('.', maxsplit=1)[-1])}(?!\w)", re.IGNORECASE
    )
    rows = [evidence.ticket.title, *evidence.ticket.goal.splitlines(), *evidence.ticket.acceptance]
    return any(
        (found := goes.search(row)) is not None
        and not re.search(r"\b(?:not|never|without|n't|no)\b", row[: found.end()], re.IGNORECASE)
        for row in rows
    )


def _announced(before: ast.Module) -> set[str]:
    """Qualified names that the module itself warned would go: when used, or by a decorator; classes built on such included.

    Words in a docstring alone are none: they warn nobody who runs the code.
    """
    found: set[str] = set()
    classes: list[tuple[str, ast.ClassDef]] = []
    for name, node in python_code.definitions(before):
        parts: list[ast.AST] = [*node.decorator_list, *(node.body if not isinstance(node, ast.ClassDef) else ())]
        if isinstance(node, ast.ClassDef):
            classes.append((name, node))
            made = [n for n in node.body if getattr(n, "name", "") in ("__init__", "__new__", "__init_subclass__")]
            parts += [s for m in made for s in getattr(m, "body", ())]
        # A warning behind a condition is about one way of use, not about the whole.
        if any(_warns(p) for p in parts):
            found.add(name)
    for name, node in classes:
        if any(getattr(b, "id", "") in found for b in node.bases):
            found.add(name)
    return found


def _warns(part: ast.AST) -> bool:
    """A statement or decorator that warns of deprecation whenever it is reached."""
    call = part.value if isinstance(part, ast.Expr) else part
    if isinstance(call, ast.Call):
        called = getattr(call.func, "attr", getattr(call.func, "id", ""))
        words = {w for n in ast.walk(call) for w in (getattr(n, "id", ""), getattr(n, "attr", "")) if w}
        if called == "warn":
            return bool(words & {"DeprecationWarning", "PendingDeprecationWarning", "FutureWarning"})
        part = call.func
    return getattr(part, "attr", getattr(part, "id", "")) == "deprecated"


def _module(evidence: Evidence, modules: Modules, module: Module, everywhere: dict[str, set[str]]) -> Iterator[Finding]:
    after = dict(python_code.definitions(module.after))
    bodies = {b for s in everywhere.values() for b in s}
    goal = f"{evidence.ticket.title} {evidence.ticket.goal}"
    gone: list[tuple[str, Definition]] = []
    stubbed: list[tuple[str, Function]] = []
    for name, node in python_code.definitions(module.before):
        last = name.split(".")[-1]
        # A module that begins with an underscore is nobody's business outside the package, as such a name is.
        places = (
            *name.split("."),
            *(() if _exported(evidence, module.path, last) else module.path.removesuffix(".py").split("/")),
        )
        if any(p.startswith("_") and not p.startswith("__") for p in places) or _permitted(evidence, module.path, name):
            continue
        known = last in modules.test_names or re.search(rf"(?<![\w]){re.escape(last)}(?![\w])", goal) is not None
        if name not in after:
            bases = isinstance(after.get(name.rpartition(".")[0]), ast.ClassDef)
            moved = last in everywhere and not bases
            if known and not moved and _body(node) not in bodies and not any(name.startswith(f"{g}.") for g, _ in gone):
                gone.append((name, node))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            other = after[name]
            abstract = any("abstract" in ast.dump(d) or "overload" in ast.dump(d) for d in other.decorator_list)
            if (
                isinstance(other, ast.FunctionDef | ast.AsyncFunctionDef)
                and _trivial(other)
                and not _trivial(node)
                and not abstract
            ):
                stubbed.append((name, other))
    successors = {name: _successor(module, name, node) for name, node in gone}
    gone = [(n, d) for n, d in gone if not (new := successors[n]) or not _followed(evidence, n, new)]
    if gone:
        announced = _announced(module.before)
        expected = all(
            successors[n] or n.split(".")[0] in announced or n in announced or _spoken_of(evidence, n) for n, _ in gone
        )
        yield finding(
            "FEATURE_REMOVED", f"{', '.join(n for n, _ in gone[:5])} {'is' if len(gone) == 1 else 'are'} gone instead of repaired; no permit of the ticket names it.",
            path=module.path, line=gone[0][1].lineno, key=" ".join(n for n, _ in gone), effect=Effect.ASKS if expected else None,
            evidence="\n".join(f"{n} seems to be {successors[n]} now" for n, _ in gone if successors[n]),
        )  # fmt: skip
    if stubbed:
        yield finding(
            "FEATURE_STUBBED", f"{', '.join(n for n, _ in stubbed[:5])} no longer computes anything: the body is a constant, empty or not implemented.",
            path=module.path, line=stubbed[0][1].lineno, key=" ".join(n for n, _ in stubbed), evidence=ast.unparse(stubbed[0][1])[:300],
        )  # fmt: skip
