"""Whatever stands in code or in examples: what explains plain edits answers, and claims nothing it can not know."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.formats import python_code
from gatekeeper.formats.python_delegates import delegates, handed_on
from gatekeeper.formats.python_old_branches import never_taken

STATEMENTS = st.sampled_from(
    [
        "import sys", "import sys as s", "from m import sys", "sys = 1", "x = 2", "def f(a):\n    return g(a)", "def g(a):\n    return a", "def f(a):\n    return C.f(a)",
        "class C:\n    sys = 3", "if sys.version_info >= (3, 8):\n    a = 1\nelse:\n    b = 1", "if sys.version_info < (3, 99):\n    c = 1", "f = g", "@d('x')\ndef f(a):\n    return C.g(a)",
    ]
)  # fmt: skip


@given(st.lists(STATEMENTS, max_size=8).map("\n".join))
def test_a_dead_branch_is_none_where_sys_is_bound_otherwise(source):
    tree = python_code.parse(source)
    assert tree is not None
    dead = never_taken(tree)
    if (
        "sys = 1" in source
        or "from m import sys" in source
        or "import sys\n" not in f"{source}\n"
        or "    sys" in source
    ):
        assert not dead
    named = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) in dead}
    assert named <= {"b"}


@given(
    st.text(max_size=200) | st.lists(STATEMENTS, max_size=8).map("\n".join), st.text(max_size=60), st.text(max_size=10)
)
def test_examples_of_any_text_are_answered(source, example, module):
    known = delegates(source)
    told = handed_on({"": [(example, "1"), ("f(1)", "2")]}, known, module)
    assert [e[1] for e in told[""]] == ["1", "2"]
    assert told[""][1][0] == (f"{known['f'][0]}(1)" if "f" in known else "f(1)")
