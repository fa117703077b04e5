"""A public name renamed under a task that does not speak of it, next to renames that are nobody's business or the task."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tree_evidence import permit, tree_evidence

from gatekeeper.checks.implementation_gaming import check
from gatekeeper.domain.verdict import Effect

ROUTER = "class Router:\n    def resolve(self, path):\n        for route in self.routes:\n            args = route.match(path)\n            if args is not None:\n                return route.endpoint, args\n        raise KeyError(path)\n"
TESTS = "from kit.router import Router\n\n\ndef test_root():\n    assert Router().resolve('/') == ('home', {})\n"


def asked(goal: str = "A trailing slash is let pass.", *, path: str = "kit/router.py", after: str = "", **kw) -> list:
    name = path.removesuffix(".py").replace("/", ".")
    tests = TESTS.replace("kit.router", name)
    new = after or ROUTER.replace("resolve", "dispatch").replace("match(path)", "match(path.rstrip('/'))")
    ev = tree_evidence(
        {path: ROUTER, "kit/__init__.py": "", "tests/test_r.py": tests},
        {path: new, "tests/test_r.py": tests.replace("resolve", "dispatch")},
        goal=goal, **kw,
    )  # fmt: skip
    return [f.effect for f in check(replace(ev)) if f.code == "FEATURE_REMOVED"]


def test_a_rename_that_the_ticket_does_not_speak_of_goes_to_a_person() -> None:
    assert asked() == [Effect.ASKS]


@pytest.mark.parametrize(
    "goal", ["Rename the methods of the router.", "The router's dispatch lets a slash pass.", "resolve() is gone."]
)
def test_a_rename_that_the_ticket_speaks_of_is_none_of_these(goal: str) -> None:
    assert asked(goal) == []


def test_private_modules_permits_and_aliases_are_let_through() -> None:
    assert asked(path="kit/_router.py") == []
    assert asked(path="kit/internal/router.py") == []
    assert asked(permits=[permit("rename_api", names=["Router.resolve"])]) == []
    kept = ROUTER.replace("resolve", "dispatch") + "\n    resolve = dispatch\n"
    assert asked(after=kept) == []
