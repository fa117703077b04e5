"""Assertions of scripts of any form are read in bounded time, and a test proves as much as itself."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.checks.javascript_tests.losses import losses
from gatekeeper.formats.javascript_assertions import assertions
from gatekeeper.formats.javascript_names import read_names
from gatekeeper.formats.javascript_reach import State
from gatekeeper.formats.javascript_tokens import tokens

PIECES = st.sampled_from(
    ["expect(f(a))", ".toBe(1)", ".not", ".resolves", "assert.ok(", "assert.equal(f(1), 2)", "const a = f(2);", "let b =", "a", ")",
     "if (a) {", "}", "{", "return;", "=> {", "() =>", "for (const x of [", "]", ".then(", "await ", "&& ", ";", "\n", "=", "==="]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=40))
def test_a_test_proves_as_much_as_itself(pieces):
    found = assertions(tokens("".join(pieces)))
    assert losses(found, found, set, lambda: 0, frozenset()) == []
    assert all(0 <= a.rank <= 10 and a.line >= 1 for a in found)


def test_values_put_into_values_do_not_grow_without_end():
    lines = ["const a0 = f(x, x, x, x);", *(f"const a{i + 1} = [a{i}, a{i}, a{i}, a{i}];" for i in range(60))]
    lines += ["expect(a60).toBe(a59);"] * 300
    found = assertions(tokens("\n".join(lines)))
    assert len(found) == 300
    assert all(len(a.subject) < 20_000 for a in found)


def test_brackets_within_brackets_are_read():
    body = "if (a) {" * 4000 + "assert.equal(f(1), 2);" * 40 + "}" * 4000
    assert {a.state for a in assertions(tokens(body))} <= {State.CONDITIONAL}


NAMES = st.sampled_from(
    ["const ", "let ", "var ", "function ", "async ", "a", "b", "{", "}", "[", "]", "(", ")", " = ", ", ", ": ", "=> ", ";", "\n", "import ", "* as ",
     "from './m'", "require('./m')", "export ", "default ", "exports", "module.", ".", "...", "Object.assign(", "jest.spyOn(", "'a'", "return ", "catch "]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(NAMES, max_size=40))
def test_names_of_any_module_are_read(pieces):
    names = read_names("".join(pieces))
    for name, places in names.bound.items():
        assert all(0 <= b.start <= len(names.found) and b.start <= b.end + 1 for b in places)
        for index in range(len(names.found)):
            one = names.plain(name, index)
            assert one is None or one in places
    assert all(i >= 0 for places in names.exports.values() for i in places)


def test_many_bindings_without_an_end_are_read_in_bounded_time():
    for piece in (
        "a = ",
        "let a = ",
        "const {a",
        "function a(",
        "a => ",
        "import a ",
        "export {a ",
        "assign(a, ",
        "{",
        "(a, ",
    ):
        assert read_names(piece * (60_000 // len(piece))).found
