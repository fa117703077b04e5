"""Tests are found in JavaScript and TypeScript sources, and compared by what they do."""

from __future__ import annotations

import pytest

from gatekeeper.formats.javascript_tests import read_tests
from gatekeeper.formats.javascript_tokens import Kind, tokens


def one(source):
    (test,) = (t for t in read_tests(source).tests if not t.suite)
    return test


def test_names_are_nested_and_lines_told():
    source = "describe('a', () => {\n  describe(\"b\", function () {\n    it(`c`, async () => { await x() })\n  })\n})\ntest('d', () => f())\n"
    assert [(t.title, t.suite, t.line) for t in read_tests(source).tests] == [
        ("a", True, 1), ("a > b", True, 2), ("a > b > c", False, 3), ("d", False, 6),
    ]  # fmt: skip


def test_subtests_of_node_belong_to_their_test():
    source = "test('outer', async (t) => { await t.test('inner', () => { f() }) })"
    assert [t.title for t in read_tests(source).tests] == ["outer", "outer > inner"]


@pytest.mark.parametrize(
    "source",
    [
        "/a/.test('x')",
        "object.it('x', f)",
        "function test(a) { return a }",
        "const it = 3",
        "'test(1)'",
        "// test('a', f)",
        "`${test}`",
    ],
)
def test_what_is_no_call_of_a_test_is_none(source):
    assert read_tests(source).tests == ()


@pytest.mark.parametrize(
    ("source", "silencers"),
    [
        ("it.skip('a', f)", ("skip",)), ("xit('a', f)", ("xit",)), ("test.todo('a')", ("todo",)), ("test.failing('a', f)", ("failing",)),
        ("test.fails('a', f)", ("fails",)), ("test('a', { skip: true }, f)", ("skip",)), ("test('a', { todo: 'x' }, f)", ("todo",)),
        ("test('a', { skip: false }, f)", ()), ("it.only('a', f)", ("only",)), ("it.skipIf(x)('a', f)", ("skipIf",)),
        ("describe.skip('s', () => { it('a', f) })", ("skip",)), ("it.concurrent('a', f)", ()), ("xdescribe('s', () => { it('a', f) })", ("xdescribe",)),
    ],
)  # fmt: skip
def test_what_silences_a_test(source, silencers):
    assert one(source).silencers == silencers


def test_comments_white_space_quotes_and_trailing_marks_do_not_count():
    a = one("it('x', () => {\n  // note\n  expect(f('a', [1, 2,])).toBe(3);\n});")
    b = one('it("x", () => { expect(f("a", [1, 2])).toBe(3) })')
    c = one('it("x", () => { expect(f("a", [1, 3])).toBe(3) })')
    assert a.body == b.body
    assert a.body != c.body


def test_tables_make_several_tests():
    test = one("it.each([[1, 2], [3, 4]])('of %d is $b', (a, b) => { expect(a).toBe(b) })")
    assert test.dynamic
    assert len(test.rows) == 2
    assert test.pattern.fullmatch("of 1 is 2")
    assert not test.pattern.fullmatch("from 1 to 2")
    assert len(one("test.each`a|b\n${1}|${2}\n${3}|${4}`('$a', f)").rows) == 2


def test_a_name_with_a_thousand_gaps_is_matched_at_once():
    test = one(f"it(`{'${a}b' * 1000}`, () => f())")
    assert test.pattern.fullmatch("x" * 3000) is not None


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("() => {}", "empty"), ("async function () { }", "empty"), ("() => { expect(true).toBe(true) }", "constant"),
        ("() => expect(1).toEqual(1)", "constant"), ("() => { assert.ok(true); assert.equal(2, 2) }", "constant"),
        ("() => { expect.assertions(0); run() }", "none_expected"),
        ("() => { expect(add(1)).toBe(1) }", ""), ("() => { checkAll() }", ""), ("helper", ""), ("() => { expect(x).toBe(true) }", ""),
    ],
)  # fmt: skip
def test_a_body_that_cannot_fail(body, why):
    assert one(f"it('a', {body})").hollow == why


def test_assertions_are_taken_apart():
    test = one(
        "it('a', () => { expect(f(1)).not.toBe(2); assert.equal(g(), 3); expect(h()).resolves.toEqual({a: 1}) })"
    )
    assert [(s.replace("\x1f", ""), m, e.replace("\x1f", "")) for s, m, e in test.assertions] == [
        ("f(1)", "not.toBe", "2"), ("g()", "assert.equal", "3"), ("h()", "resolves.toEqual", "{a:1}"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "swallows"),
    [
        ("try { expect(f()).toBe(1) } catch (e) {}", True), ("try { expect(f()).toBe(1) } catch { log() }", True),
        ("return expect(f()).resolves.toBe(1).catch(() => {})", True),
        ("try { f(); } catch (e) { expect(e.message).toBe('x') }", False), ("try { expect(f()).toBe(1) } catch (e) { throw e }", False),
        ("await f().catch(() => {}); expect(g()).toBe(1)", False),
    ],
)  # fmt: skip
def test_a_failing_assertion_that_would_be_caught(body, swallows):
    assert one(f"it('a', async () => {{ {body} }})").swallows is swallows


def test_mocks_and_imports():
    module = read_tests(
        "import { a } from './a'; const b = require('../b'); vi.mock('./a', () => ({})); jest.mock('c')"
    )
    assert module.imports == ("./a", "../b")
    assert module.mocked == (("./a", 1), ("c", 1))


def test_regular_expressions_and_divisions_are_told_apart():
    kinds = [t.kind for t in tokens("a / b / c; return /x[/]y/g.test(z)")]
    assert kinds.count(Kind.REGEX) == 1


@pytest.mark.parametrize("piece", ["`", "'", "/[", "'\\", "`${", "/*", "{", "\\", "1.", "it('", "<a>it's \""])
def test_no_source_takes_long(piece):
    source = piece * (60_000 // len(piece))
    assert isinstance(tokens(source), tuple)
