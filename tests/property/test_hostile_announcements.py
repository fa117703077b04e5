"""Arbitrary modules as code that announces an end: comparing them ends and answers, and a changed body is never overlooked."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.formats.python_announcing import ended_ways, newly_warned
from gatekeeper.formats.python_deprecations import named_for_deprecation, says_that_this_goes
from gatekeeper.formats.python_expected_warnings import only_expects

WARN = "warnings.warn('f is deprecated', DeprecationWarning)"
LINES = st.sampled_from(
    [
        "import warnings", "from warnings import warn, deprecated", "import pytest", "from functools import partial", "x = 1",
        "def f(n):", "async def f(n):", "class A:", "class A(A):", "def __init__(self, *a, **b):", "super().__init__(*a, **b)",
        "@deprecated('f is deprecated')", "@pytest.mark.filterwarnings('ignore:f is deprecated:DeprecationWarning')",
        WARN, "warn('f is deprecated', FutureWarning, stacklevel=2)", "warn(*x)", "warnings.warn()", "if n is None:", "if not n:",
        "if n:", "elif n is not None:", "else:", "try:", "except n:", "finally:", "with pytest.deprecated_call():",
        "with pytest.warns(DeprecationWarning), open(n) as m:", "return n", "return f", "return partial(f, n=1)", "f(n=n, **b)",
        "pytestmark = [pytest.mark.skip]", "lambda: 0", "match n:", "case 1:", "while n:", "for n in n:", "pass", "f()",
    ]
)  # fmt: skip


@st.composite
def trees(draw: st.DrawFn) -> ast.Module:
    out, depth = [], 0
    for line in draw(st.lists(LINES, max_size=25)):
        out.append(f"{' ' * depth}{line}")
        if line.endswith(":"):
            depth += 1
        elif draw(st.booleans()):
            depth = max(0, depth - draw(st.integers(0, 3)))
    if out and out[-1].endswith(":"):
        out.append(f"{' ' * depth}pass")
    try:
        return ast.parse("\n".join(out))
    except SyntaxError:
        return ast.parse("")


@given(trees(), trees(), st.text(max_size=40))
def test_any_modules_are_compared(old, new, message):
    before = ast.dump(old), ast.dump(new)
    newly_warned(old, new)
    ended_ways(old, new)
    only_expects(old, new, {message})
    assert (ast.dump(old), ast.dump(new)) == before
    assert newly_warned(old, old) in ({}, None)
    assert ended_ways(old, old) in ((), None)
    assert only_expects(old, old, {message})


@given(trees(), st.integers(0, 10))
def test_a_changed_body_is_never_overlooked(tree, place):
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    changed = ast.parse(ast.unparse(tree))
    twins = [n for n in ast.walk(changed) if isinstance(n, ast.FunctionDef)]
    if functions:
        twins[place % len(twins)].body.append(ast.parse("broken = 1").body[0])
        assert newly_warned(tree, changed) is None
        assert ended_ways(tree, changed) is None
        assert not only_expects(tree, changed, {"f is deprecated"})


@given(st.text(), st.text())
def test_any_plan_is_read(plan, message):
    assert all(name in plan for name in named_for_deprecation([plan]))
    assert says_that_this_goes([plan], message) in (True, False)
