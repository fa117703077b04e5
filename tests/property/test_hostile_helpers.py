"""Tests that call helpers, fixtures and rows of any shape: writing them out ends in an answer, never in an error."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tree_evidence import tree_evidence

from gatekeeper.checks import suite_integrity, weakened_tests

PATH = "tests/test_kit.py"
LIB = "class Router:\n    def resolve(self, path):\n        return path, {}\n"
SIGNATURES = st.sampled_from(
    ["", "x", "x, y=1", "*args", "**more", "x, *args, y=None, **more", "x, /, y, *, z=2", "self", "self, x=[]", "x=lambda: 0"]
)  # fmt: skip
CALLS = st.sampled_from(
    [
        "helper()", "helper(1)", "helper(1, 2, 3)", "helper(*a)", "helper(**a)", "helper(x=1)", "helper(y=2, *[1], **{'z': 3})",
        "self.helper(1)", "self.helper()", "await helper(1)", "a = helper(1)", "a, b = helper(1)", "assert helper(1)",
        "assert helper(1) == (1, 2)", "with helper(1) as c: assert c", "[helper(n) for n in (1, 2)]", "helper(helper(1))",
        "support.helper(1)", "assert f(1) == 2", "assert (y := f(1)) == 2", "self.assertEqual(f(1), 2)", "helper(1); helper(1)",
        "lambda: helper(1)", "assert clock.slept == []", "helper(fixture)", "del helper", "helper = f",
    ]
)  # fmt: skip
BODIES = st.sampled_from(
    [
        "assert f(x) == 2", "assert f(x) == y, 'why'", "return f(x)", "return", "yield f(x)", "yield", "helper(x)", "other(x)",
        "x = f(x)", "x, y = f(1)", "x += 1", "global x", "nonlocal x", "del x", "for n in [1, 2]: assert f(n) == n",
        "for n in range(10 ** 9): assert f(n)", "while x: assert f(x)", "try: assert f(x) == 1\n    except Exception: pass",
        "with pytest.raises(ValueError): f(x)", "with self.subTest(x=x): self.assertEqual(f(x), 1)", "if x: assert f(x)",
        "if y is None: y = f(x)", "match x:\n        case 1: assert f(x)", "def inner(): assert f(x)\n    inner()",
        "import support", "assert more == args", "self.assertEqual(f(self.x), x)", "raise AssertionError(f'{x!r:>{y}}')",
        "async with x: pass", "print(f'{x!r}\\n{y}')", "assert [f(n) for n in args] == [*args, *more]", "return helper",
    ]
)  # fmt: skip
HEADS = st.sampled_from(
    ["", "@pytest.fixture\n", "@pytest.fixture(params=[1, 2])\n", "@pytest.mark.parametrize('x, y', [(1, 2), (3, 4)])\n",
     "@pytest.mark.parametrize('x', ROWS)\n", "@contextmanager\n", "@staticmethod\n", "async "]
)  # fmt: skip


@st.composite
def functions(draw: st.DrawFn, name: str, lines: st.SearchStrategy[str]) -> str:
    """One function of the name, possibly decorated, with lines of that kind."""
    body = draw(st.lists(lines, min_size=1, max_size=4))
    head = draw(HEADS)
    return f"{head}def {name}({draw(SIGNATURES)}):\n" + "".join(f"    {line}\n" for line in body) + "\n\n"


TAILS = st.sampled_from(
    [
        "", "helper = f", "from kit import *", "from . import *", "from tests.support import *", "import tests.support as support\nsupport.helper = f",
        "setattr(TestA, 'helper', f)", "setattr(*x)", "setattr()", "globals()[x] = f", "globals().update(x, helper=f, **x)", "exec('helper = f')",
        "exec('(')", "exec(x)", "eval(\"exec('exec(1)')\")", "vars(TestA)['x'] += 1", "del helper", "match x:\n    case {'a': helper, **more}: pass",
        "for TestA.helper in x: pass", "@x.y(1)[2]\nclass TestA(helper, *x, **y): helper: int", "sys.modules[__name__] = f", "f(TestA, [helper], {**x})",
        "class TestB(TestA): pass\nclass TestA(TestB): pass", "pytest_plugins = ['tests.support', *x]", "monkeypatch.setattr(f'{x}.y', 1)",
        "patch.dict(sys.modules, {x: 1, **y})", "patch.multiple('a.b', **x)", "patch.object()", "x.__code__.y.__class__ = 1", "type(x).y = 1",
        "(lambda self: self.__dict__)(x)[:] = 1", "with helper(), TestA as x.y, support.q: assert f(1)", "import a.b.c as d, e.f", "from .... import q",
    ]
)  # fmt: skip


@st.composite
def modules(draw: st.DrawFn) -> str:
    """A module of tests with helpers, some of them in a class."""
    parts = [
        draw(functions("helper", BODIES)),
        draw(functions("other", BODIES | CALLS)),
        draw(functions("test_a", CALLS)),
    ]
    parts.append(draw(functions("test_b", CALLS | BODIES)))
    if draw(st.booleans()):
        inside = "".join(parts[draw(st.integers(0, 2)) :]).rstrip()
        parts = [
            *parts[:2],
            "class TestA(unittest.TestCase):\n" + "".join(f"    {row}\n" for row in inside.split("\n")),
        ]
    draw(st.randoms(use_true_random=False)).shuffle(parts)
    return "import pytest, unittest\nfrom tests import support\nfrom tests.support import helper as other\nfrom kit import f\nROWS = [1, 2]\n\n" + "".join(parts) + "\n" + draw(TAILS) + "\n" + draw(TAILS) + "\n"  # fmt: skip


@given(modules(), modules(), modules())
def test_comparing_answers_whatever_helpers_do(old: str, new: str, support: str) -> None:
    base = {"kit/__init__.py": LIB, "tests/__init__.py": "", "tests/support.py": "", PATH: old}
    evidence = tree_evidence(base, {**base, PATH: new, "tests/support.py": support, "tests/conftest.py": support})
    for check in (weakened_tests.check, suite_integrity.check):
        assert all(f.code for f in check(evidence))
