"""A feature taken away or hollowed out instead of repaired; one that has another name now is not gone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gatekeeper.checks.implementation_gaming.inherited import inherited
from gatekeeper.checks.implementation_gaming.modules import Module, Modules
from gatekeeper.checks.implementation_gaming.renamed import unannounced
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats import python_code
from gatekeeper.formats.python_behaviour import likeness
from gatekeeper.formats.python_code import Definition, Function, written
from gatekeeper.formats.python_deprecations import announced, says_that_deprecated_things_go, says_to_go

_ARROW = re.compile(r"\s*(?:->|=>|\u2192|\s+to\s+)\s*")
"""Between the old and the new name of a rename permit; only the old one is let go."""


_ALIKE = 0.5
"""Share of a removed definition that a new one must hold to be its successor under another name."""
_BUILDS = {
    "setup.py": "", "noxfile.py": "nox", "fabfile.py": "fabric", "tasks.py": "invoke", "dodo.py": "", "hatch_build.py": "hatchling",
}  # fmt: skip
"""Scripts at the root that build a project, and what they import: what they define may go, for it is nobody's feature."""
_MOST_FILES = 2000
"""Python files that are searched for the old name; in a larger tree a person looks."""


def removed(evidence: Evidence, modules: Modules) -> tuple[Finding, ...]:
    """Public functions, methods and classes that vanished or became stubs although no permit names them."""
    everywhere = _names_after(modules)
    out: list[Finding] = []
    for module in (*modules.changed, *modules.deleted):
        out += _module(evidence, modules, module, everywhere)
    return tuple(out)


def _builds(module: Module) -> bool:
    tool = _BUILDS.get(module.path)
    used = {name.split(".")[0] for name in python_code.imports(module.before).values()}
    return tool is not None and (not tool or tool in used)


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


def _spoken_of(evidence: Evidence, name: str) -> bool:
    """The ticket undoes an earlier change, or one of its sentences says that this very thing is to go."""
    if _reverts(evidence):
        return True
    return says_to_go(_plan(evidence), rf"{re.escape(name.rsplit('.', maxsplit=1)[-1])}(?!\w)")


def _reverts(evidence: Evidence) -> bool:
    return evidence.ticket.title.strip().lower().startswith(("revert ", 'revert"'))


def _in_title(evidence: Evidence, name: str) -> bool:
    """The title names it, words of it joined in any way: `send_async`, `send-async`, `send async`."""
    parts = [re.escape(p) for p in re.split(r"[_\W]+", name.rsplit(".", maxsplit=1)[-1]) if p]
    return (
        bool(parts)
        and re.search(rf"(?<![^\W_]){'[-_ ]?'.join(parts)}(?![^\W_])", evidence.ticket.title, re.IGNORECASE) is not None
    )


def _plan(evidence: Evidence) -> tuple[str, ...]:
    return (evidence.ticket.title, evidence.ticket.goal, *evidence.ticket.acceptance)


def _weight(evidence: Evidence, names: list[str], successors: dict[str, str], before: ast.Module) -> Effect | None:
    """Advice where the ticket asks for the end of what had warned of it or undoes it by name, a question where less explains it."""
    ending = announced(before)
    ended = {n for n in names if n in ending or n.split(".")[0] in ending}
    if len(ended) == len(names) and says_that_deprecated_things_go(_plan(evidence)):
        return Effect.ADVISES
    if _reverts(evidence) and all(_in_title(evidence, n) for n in names):
        return Effect.ADVISES
    return Effect.ASKS if all(successors[n] or n in ended or _spoken_of(evidence, n) for n in names) else None


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
            above = inherited(module.before, module.after, name, node)
            moved = (last in everywhere and not bases) or (above is not None and not _trivial(above))
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
    followed = {n for n, _ in gone if successors[n] and _followed(evidence, n, successors[n])}
    quiet = [(n, d) for n, d in gone if n in followed and unannounced(evidence, module.path, n, successors[n])]
    gone = [(n, d) for n, d in gone if n not in followed]
    if quiet and not gone and not _builds(module):
        yield finding(
            "FEATURE_REMOVED", f"{', '.join(f'{n} is {successors[n]} now' for n, _ in quiet[:5])}: callers elsewhere break, and the ticket does not speak of it.",
            path=module.path, line=quiet[0][1].lineno, key=" ".join(n for n, _ in quiet), effect=Effect.ASKS,
        )  # fmt: skip
    if gone and not _builds(module):
        effect = _weight(evidence, [n for n, _ in gone], successors, module.before)
        yield finding(
            "FEATURE_REMOVED", f"{', '.join(n for n, _ in gone[:5])} {'is' if len(gone) == 1 else 'are'} gone instead of repaired; no permit of the ticket names it.",
            path=module.path, line=gone[0][1].lineno, key=" ".join(n for n, _ in gone), effect=effect,
            evidence="\n".join(f"{n} seems to be {successors[n]} now" for n, _ in gone if successors[n]),
        )  # fmt: skip
    if stubbed:
        yield finding(
            "FEATURE_STUBBED", f"{', '.join(n for n, _ in stubbed[:5])} no longer computes anything: the body is a constant, empty or not implemented.",
            path=module.path, line=stubbed[0][1].lineno, key=" ".join(n for n, _ in stubbed), evidence=written(stubbed[0][1])[:300],
        )  # fmt: skip
