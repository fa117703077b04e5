"""Which tests speak of a name that is gone: the test itself, what is set up for it, or only its neighbours."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from gatekeeper.formats import python_code

ITSELF = "itself"
"""The test, what it calls of its own class, or what that class sets up for it."""
AROUND = "around"
"""Its class, in a place of which nobody can tell whether the test needs it."""
_SET_UP = re.compile(
    r"(?:setup|teardown)(?:_(?:method|class|module|function))?|(?:setUp|tearDown)(?:Class|Module)?|asyncSetUp|asyncTearDown"
)
PLAIN = ("object", "TestCase")
"""Classes that bring a class of tests no tests and nothing of the project."""


def bound_by(tree: ast.Module, names: set[str]) -> set[str]:
    """Names that the module's imports bind to one of `names`, or to something out of a module of such a name."""
    return {
        (a.asname or a.name).split(".")[0]
        for n in ast.walk(tree)
        if isinstance(n, ast.Import | ast.ImportFrom)
        for a in n.names
        if names & {*a.name.split("."), *((getattr(n, "module", None) or "").split("."))}
    }


def spoken(*nodes: ast.AST) -> set[str]:
    """Every name, attribute and argument in the nodes."""
    return {
        x
        for node in nodes
        for n in ast.walk(node)
        for x in (getattr(n, "id", None), getattr(n, "attr", None), getattr(n, "arg", None))
        if x
    }


def uses(
    tree: ast.Module, name: str, names: set[str], ancestors: Callable[[ast.ClassDef], list[ast.ClassDef]] | None = None
) -> str:
    """`ITSELF`, `AROUND`, or "" for the test `name` (qualified with `::`) of the module and names that are gone.

    `ancestors` gives the classes that a class is built on, nearest first, as far as they are known: what a test asks of
    them may lead back to the class.
    """
    wanted = names | bound_by(tree, names)
    node: ast.AST | None = next((n for n in tree.body if getattr(n, "name", "") == name.split("::", 1)[0]), None)
    if node is None or not spoken(node) & wanted:
        return ""
    classes: list[ast.ClassDef] = []
    for part in name.split("::")[1:]:
        if not isinstance(node, ast.ClassDef):
            return ""
        classes.append(node)
        node = next((n for n in reversed(node.body) if getattr(n, "name", "") == part), None)
        if node is None:
            break
    heads = spoken(*(p for c in classes for p in (*c.bases, *c.keywords, *c.decorator_list)))
    if node is None:
        # Inherited: whatever the class holds beside tests of its own is there for it.
        held = spoken(*(m for c in classes for m in c.body if not getattr(m, "name", "").startswith("test")))
        return ITSELF if (heads | held) & wanted else AROUND
    if (heads | _reached(node, classes[::-1])) & wanted:
        return ITSELF
    above = ancestors(classes[-1]) if ancestors is not None and len(classes) == 1 else []
    if above and _reached(node, [classes[-1], *above]) & wanted:
        return ITSELF
    bases = {b.attr if isinstance(b, ast.Attribute) else getattr(b, "id", "") for c in classes for b in c.bases}
    return AROUND if bases - set(PLAIN) else ""


def _reached(test: ast.AST, classes: list[ast.ClassDef]) -> set[str]:
    """What the test says, with the set-up of its classes and the members that one of them names.

    Of several members of one name that of the nearest class counts, as it does when the test runs.
    """
    members: list[tuple[ast.stmt, set[str]]] = []
    taken: set[str] = set()
    for owner in classes:
        rows = [(m, bound_in(m)) for m in owner.body if m is not test]
        members += [(m, called) for m, called in rows if not called or not called <= taken]
        taken = taken.union(*(called for _, called in rows))
    reached = spoken(test)
    left = []
    for member, called in members:
        if set_up(member):
            reached |= spoken(member)
        elif not any(n.startswith("test") for n in called):
            left.append((member, called))
    while more := [(m, called) for m, called in left if called & reached]:
        left = [row for row in left if row not in more]
        reached |= spoken(*(m for m, _ in more))
    return reached


def set_up(member: ast.stmt) -> bool:
    """A member of a class, or of a module, that runs for every test of it."""
    names = bound_in(member)
    return any(_SET_UP.fullmatch(n) for n in names) or "autouse" in spoken(*getattr(member, "decorator_list", ()))


def bound_in(member: ast.stmt) -> set[str]:
    """What a statement of a class binds."""
    if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {member.name}
    return {n.id for n in python_code.walk(member) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
