"""Which lines a change really changes, and which faults are put into them."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from gatekeeper.formats.python_mutants import ChangedCode, changed_code, mutants, round_robin, whole_code


def code_of(after: str, before: str | None = None, *others: str) -> ChangedCode:
    made = changed_code(
        "m.py",
        None if before is None else dedent(before).encode(),
        dedent(after).encode(),
        others=[dedent(o).encode() for o in others],
    )
    assert made is not None
    return made


def said(after: str, before: str | None = None) -> set[tuple[str, str]]:
    return {(m.before, m.after) for m in mutants(code_of(after, before))}


def test_a_changed_line_alone_is_changed() -> None:
    before = "def f(x):\n    y = x + 1\n    return y\n"
    assert code_of(before.replace("+ 1", "+ 2"), before).lines == (2,)


def test_a_moved_function_is_not_new() -> None:
    moved = "def g(x):\n    return x * 2\n"
    assert code_of(f"def f():\n    return 1\n\n\n{moved}", f"{moved}\n\ndef f():\n    return 1\n").lines == ()
    assert code_of(moved, None, f"import os\n\n{moved}").lines == ()


@pytest.mark.parametrize(
    "after",
    [
        'def f(x: int) -> int:\n    """Doc."""\n    return x + 1\n',
        "def f(\n    x,\n):\n    return (\n        x + 1\n    )\n",
        "import os\n\n\ndef f(x):\n    # a comment\n    return x + 1\n",
    ],
)
def test_annotations_layout_docstrings_imports_and_comments_are_not_changes(after: str) -> None:
    assert code_of(after, "def f(x):\n    return x + 1\n").lines == ()


def test_a_new_early_return_is_found_although_the_same_line_stood_there_before() -> None:
    before = "def f(x):\n    if x:\n        return None\n    return x\n"
    after = "def f(x):\n    if not x.ok:\n        return None\n    if x:\n        return None\n    return x\n"
    assert set(code_of(after, before).lines) == {2, 3}


@pytest.mark.parametrize(
    "text",
    [
        '__all__ = ["f"]\n__version__ = "1"\n',
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    LIMIT = 3\n",
        "def f():\n    raise NotImplementedError\n",
        "from typing import overload\n@overload\ndef f(x: int) -> int: ...\n",
        "import logging\nlog = logging.getLogger('a')\n",
        'def f():\n    """Only a docstring."""\n',
    ],
)
def test_what_no_test_looks_at_has_no_mutant(text: str) -> None:
    assert mutants(code_of(text)) == ()


def test_texts_for_people_are_left_alone() -> None:
    found = said("def f(x):\n    log.warning('odd %s', x)\n    print('here')\n    raise ValueError('bad value')\n")
    assert {b for b, _ in found} == {"raise ValueError('bad value')", "raise ValueError"}


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("return a < b", {("<", ">="), ("<", "<=")}),
        ("return a is not b", {("is not", "is")}),
        ("return a and b", {("and", "or"), ("a", "leaving it out of the 'and'")}),
        ("return not a", {("not a", "a")}),
        ("return a + b", {("+", "-"), ("return a + b", "return None")}),
        ("return a[1:b]", {("the lower bound 1", "none"), ("the upper bound b", "none"), ("1", "2")}),
        ("return True", {("True", "False")}),
        ("return None", {("return None", "return 0")}),
        ("a.b = c", {("a.b = c", "nothing")}),
        ("a.call(b)", {("a.call(b)", "nothing")}),
        ("raise KeyError(a)", {("raise KeyError(a)", "nothing"), ("raise KeyError", "raise Exception")}),
        ("return f(a, b, key=c)", {("key=c", "leaving it out"), ("a, b", "the other order")}),
        ("return max(a)", {("max", "min")}),
        ("return a if b else c", {("if b", "never"), ("if b", "always")}),
        ("return 'x'", {("'x'", '""')}),
        ("return [i for i in a if i]", {("if i", "always"), ("a", "one element less"), ("i", "another value")}),
        ("return a", {("return a", "another value"), ("return a", "leaving the value empty")}),
        ("a.b = c", {("a.b = c", "another value")}),
        ("a, b = c", {("a, b = c", "another value")}),
        ("x = b(c)", {("x = b(c)", "another value"), ("c", "another value")}),
        ("return f(*a, **b)", {("a", "another value"), ("b", "another value")}),
        ("a += b", {("b", "another value")}),
        ("for x in a: b(x)", {("a", "one element less"), ("x", "another value")}),
        ("yield a", {("yield a", "another value")}),
        ("return a[b:]", {("the lower bound b", "another value")}),
        ("return 'utf-8'", {("'utf-8'", "'utf-9'")}),
        ("return a([b, c])", {("[b, c]", "another value"), ("[b, c]", "[]")}),
        ("return lambda: a", {("a", "another value")}),
        ("return ', '.join(a)", {("return ', '.join(a)", "another value")}),
        ("return '%d days' % a", {("return '%d days' % a", "another value")}),
        ("return f'{a} days'", {("return f'{a} days'", "another value"), ("f'{a} days'", '""')}),
    ],
)
def test_each_kind_of_fault_is_made(line: str, wanted: set[tuple[str, str]]) -> None:
    assert wanted <= said(f"def g(a, b, c):\n    {line}\n")


def test_loops_handlers_and_defaults_have_faults() -> None:
    text = """
        def f(rows, most=3):
            for row in rows:
                try:
                    row.go()
                except (ValueError, KeyError):
                    continue
                break
            while most > 0:
                most -= 1
    """
    found = said(text)
    assert {("3", "4"), ("rows", "()"), ("continue", "break"), ("break", "continue"), ("-=", "+=")} <= found
    assert {("except ValueError", "not catching it"), ("if most > 0", "never")} <= found
    assert ("if most > 0", "always") not in found


def test_a_fault_at_the_edge_that_changes_nothing_is_not_made() -> None:
    assert (">", ">=") not in said("def f(a, best):\n    if a > best:\n        best = a\n    return best\n")
    assert (">", ">=") not in said("def f(a, b):\n    return a if a > b else b\n")
    assert (">", ">=") in said("def f(a, b):\n    return 1 if a > b else 0\n")


def test_arguments_whose_order_is_no_matter_are_not_swapped() -> None:
    assert ("a, b", "the other order") not in said("def f(a, b):\n    return min(a, b)\n")
    assert ("a, b", "the other order") in said("def f(a, b):\n    return div(a, b)\n")


@pytest.mark.parametrize(
    "line",
    [
        "raise ValueError('bad value %s' % a)",
        "raise ValueError('bad value {}'.format(a))",
        "raise ValueError(f'bad value {a}')",
        "raise ValueError('bad ' + a)",
    ],
)
def test_a_message_that_is_put_together_is_left_alone(line: str) -> None:
    found = said(f"def f(a):\n    {line}\n")
    assert {after for _, after in found} == {"nothing", "raise Exception"}


def test_what_an_exception_carries_is_not_changed_to_another_value() -> None:
    found = said("def f(a):\n    raise KeyError(a, key=a.b)\n")
    assert "another value" not in {after for _, after in found}
    assert ("a", "None") in found


@pytest.mark.parametrize("line", ["self.message = message", "super().__init__(message)", "return say(self.msg)"])
def test_what_is_named_a_message_is_not_changed_to_another_value(line: str) -> None:
    found = said(f"def f(self, message):\n    {line}\n")
    assert {before for before, after in found if after == "another value"} <= {"return say(self.msg)"}


def test_a_message_that_has_a_name_is_left_alone() -> None:
    assert {m.line for m in mutants(code_of("def f(a):\n    msg = 'bad %s' % a\n    raise ValueError(msg)\n"))} == {3}


def test_a_text_about_an_object_has_gross_faults_alone() -> None:
    found = mutants(code_of("class A:\n    def __repr__(self):\n        return 'A(' + repr(self.x) + ')'\n"))
    assert {m.after for m in found} == {"return None"}


def test_which_end_a_text_is_split_from_is_no_matter_without_a_limit() -> None:
    assert ("split", "rsplit") not in said("def f(a):\n    return a.split('T')\n")
    assert ("split", "rsplit") in said("def f(a):\n    return a.split('T', 1)\n")


@pytest.mark.parametrize(
    "line", ["return await a", "x = yield a", "return (yield from a)", "return 3", "f(i for i in a)"]
)
def test_what_is_no_plain_value_does_not_pass_through_a_function(line: str) -> None:
    prefix = "async def" if "await" in line else "def"
    found = mutants(code_of(f"{prefix} f(a):\n    {line}\n"))
    assert found
    for mutant in found:
        assert not mutant.by_value or mutant.before in ("a", "i", "yield a")


def test_a_mutant_of_a_value_leaves_it_alone_where_nobody_brings_the_function() -> None:
    code = code_of("def f(a):\n    return a + 1\n")
    rows = [m for m in mutants(code) if m.after == "another value"]
    assert rows
    for row in rows:
        space: dict[str, object] = {}
        exec(row.applied(code.text.text), space)
        assert space["f"](2) == 3  # type: ignore[operator]


def test_one_of_each_kind_comes_before_a_second_of_any() -> None:
    line = "return f(a, b, c, key=a.x, other=b.y) + g(c.z, b.w, a.v)"
    kinds = [(m.kind, m.rank) for m in mutants(code_of(f"def h(a, b, c):\n    {line}\n"))]
    first_repeat = next(n for n, kind in enumerate(kinds) if kind in kinds[:n])
    assert set(kinds[first_repeat:]) <= set(kinds[:first_repeat])


def test_lines_stay_where_they_are_when_a_fault_covers_several() -> None:
    code = code_of("def f(a):\n    return (\n        a\n        + 1\n    )\n\n\ndef g():\n    return 2\n")
    for mutant in mutants(code):
        assert mutant.applied(code.text.text).count("\n") == code.text.text.count("\n")


def test_positions_are_right_behind_letters_of_several_bytes_and_with_any_line_end() -> None:
    code = changed_code("m.py", None, 'def f(a):\r\n    é = "日本" + a\r\n    return é < a\r\n'.encode())
    assert code is not None
    found = {m.applied(code.text.text) for m in mutants(code)}
    assert 'def f(a):\r\n    é = "日本" + a\r\n    return é <= a\r\n' in found


def test_every_line_gets_its_first_mutant_before_any_gets_its_second() -> None:
    rows = round_robin(mutants(code_of("LIMIT = 1\n\ndef f(a):\n    b = a < 3\n    return b + 1\n")))
    lines = [m.line for m in rows]
    assert lines[:3] == [4, 5, 1]
    assert len(lines) > 3


@pytest.mark.parametrize(
    "data", [b"def f(:\n", b"\xff\xfe", b"# coding: latin-1\nx = '\xe9'\n", b"a\x00b", b"\xef\xbb\xbfx = 1\n"]
)
def test_what_cannot_be_read_is_not_measured(data: bytes) -> None:
    assert changed_code("m.py", None, data) is None


def test_named_lines_alone_are_taken() -> None:
    code = whole_code("m.py", b"def f(a):\n    b = a + 1\n    return b\n", [3])
    assert code is not None
    assert {m.line for m in mutants(code)} == {3}


def test_a_deep_expression_is_no_crash() -> None:
    deep = "def f(a):\n    return " + " + ".join(["a"] * 3000) + "\n"
    code = changed_code("m.py", None, deep.encode())
    assert code is None or isinstance(mutants(code), tuple)


def test_a_file_of_equal_lines_is_compared_in_time() -> None:
    before = "x = 1\n" * 3000
    code = changed_code("m.py", before.encode(), ("x = 1\n" * 2999 + "y = 2\nx = 1\n").encode())
    assert code is not None
    assert ast.parse(code.text.text)
