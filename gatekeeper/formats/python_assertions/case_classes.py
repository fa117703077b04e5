"""Classes of tests whose methods may be other ones than those that they define."""

from __future__ import annotations

import ast

from gatekeeper.formats.python_assertions.bound_names import bound_names
from gatekeeper.formats.python_assertions.expression import last_name
from gatekeeper.formats.python_assertions.support import Look, Place, defined_class

_BENDING = frozenset(
    {"__getattribute__", "__getattr__", "__init_subclass__", "__class_getitem__", "__new__", "__dict__", "__class__",
     "__set_name__", "__prepare__", "__instancecheck__", "__mro_entries__", "__slots__", "__setattr__", "__bases__"}
)  # fmt: skip
_MARKS = frozenset(
    {"skip", "skipIf", "skipUnless", "override_settings", "modify_settings", "tag", "freeze_time", "usefixtures", "final",
     "isolate_apps", "expectedFailure", "filterwarnings", "requires", "flaky", "patch", "object", "dict", "xfail", "django_db",
     "skipif", "parametrize", "timeout", "asyncio", "slow"}
)  # fmt: skip
"""Decorators of libraries that leave the methods of a class what they are; what `patch` replaces is looked at apart."""
_FRAMEWORKS = ("unittest", "django", "rest_framework", "twisted", "tornado", "testtools", "aiohttp", "absl", "flask_testing",
               "pyramid", "zope", "asynctest", "wagtail", "trytond", "sqlalchemy", "pytest", "fixtures", "pyfakefs")  # fmt: skip
_PLAIN = frozenset({"object", "abc.ABC", "typing.Generic", "typing.Protocol"})


def bends(at: Place, node: ast.ClassDef) -> bool:
    """Decorated with something unknown, made by another class, or with hooks by which attributes are found."""
    if node.keywords and not all(k.arg == "metaclass" and at.names_of(k.value) == "abc.ABCMeta" for k in node.keywords):
        return True
    if any(not _harmless(at, d) for d in node.decorator_list):
        return True
    return bool(_BENDING & {n for n, _ in bound_names(node.body)})


def _harmless(at: Place, mark: ast.expr) -> bool:
    func = mark.func if isinstance(mark, ast.Call) else mark
    first = func
    while isinstance(first, ast.Attribute):
        first = first.value
    if not isinstance(first, ast.Name) or at.binds[first.id] != 1 or first.id not in at.imports:
        return False
    origin = at.names_of(func)
    if origin.startswith("pytest.mark."):
        return True
    return last_name(func) in _MARKS and origin.split(".")[0] in (
        *_FRAMEWORKS,
        "freezegun",
        "flaky",
        "mock",
        "typing",
        "test",
    )


def unreadable(at: Place, node: ast.ClassDef, look: Look) -> bool:
    """One of its bases is neither a class of the repository that can be read nor a well-known one of a test library."""
    return any(defined_class(at, b, look) is None and not _known(at, b, look) for b in node.bases)


def _known(at: Place, base: ast.expr, look: Look) -> bool:
    if isinstance(base, ast.Subscript):
        base = base.value
    first = base
    while isinstance(first, ast.Attribute):
        first = first.value
    if not isinstance(first, ast.Name):
        return False
    if first.id == "object" and isinstance(base, ast.Name):
        return not at.binds["object"]
    origin = at.names_of(base)
    if at.binds[first.id] != 1 or first.id not in at.imports or look(at, origin) is not None:
        return False
    if origin in _PLAIN:
        return True
    return origin.split(".")[0] in _FRAMEWORKS and ("Case" in last_name(base) or last_name(base).endswith("Test"))
