"""Functions that assert for JavaScript tests, and that something else replaces, empties or keeps from running."""

from __future__ import annotations

import pytest
from evidence_builder import build_evidence, build_run, build_ticket

from gatekeeper.checks import javascript_tests
from gatekeeper.domain.testrun import RunRole
from gatekeeper.domain.ticket import Permit, PermitKind, Suite

PATH = "test/query.test.js"
KIT = "test/kit.js"
TOP = "import { test, mock } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { f } from '../src/query.js';\n"
PLAIN = "  assert.deepEqual(f('a=1'), { a: '1' });"
CALL = "  assertUp(f('a=1'), { a: '1' });"
UP = "function assertUp(got, want) {\n  assert.deepEqual(got, want);\n}\n"
ARROW = "const assertUp = (got, want) => {\n  assert.deepEqual(got, want);\n};\n"
LATER = "async function assertUp(got, want) {\n  assert.deepEqual(await got, want);\n}\n"
HEAD_KIT = "import assert from 'node:assert/strict';\n"
EXPORTED = HEAD_KIT + "export " + UP
FROM_KIT = "import { assertUp } from './kit.js';\n"
ALL_KIT = "import * as kit from './kit.js';\n"
KIT_CALL = CALL.replace("assertUp", "kit.assertUp")


def made(body, *, top=TOP, above="", below="", mark="() =>"):
    """A module with one test."""
    return f"{top}{above}\ntest('t', {mark} {{\n{body}\n}});\n{below}"


def judge(old, new, *, permits=()):
    """Codes of what blocks, for files of both sides; a text alone is the test file."""
    quiet = "export default { deepEqual() {} };\nexport const test = (name) => {};\n"
    before = {
        "src/query.js": "export const f = (x) => x;\n",
        "test/quiet.js": quiet,
        **({PATH: old} if isinstance(old, str) else old),
    }
    after = {**before, **({PATH: new} if isinstance(new, str) else new)}
    runs = [build_run({f"{PATH}::t": "passed"}, role=r, suite="unit") for r in (RunRole.BASE, RunRole.MERGED, RunRole.BASE_INSTRUMENTS)]  # fmt: skip
    suites = [Suite("unit", runner="node")]
    evidence = build_evidence(before, after, runs=runs, suites=suites, ticket=build_ticket(permits=permits))
    return {f.code for f in javascript_tests.check(evidence) if f.effect.value == "blocks"}


DRAWN_OUT = {
    # What the test asserted itself is said by a function now, and the function does not do it.
    "assigned_anew": made(CALL, above="let assertUp = (a, b) => {\n  assert.deepEqual(a, b);\n};\nassertUp = () => {};\n"),
    "assigned_in_a_hook": made(CALL, above="let assertUp = (a, b) => {\n  assert.deepEqual(a, b);\n};\nbeforeEach(() => {\n  assertUp = () => {};\n});\n"),
    "declared_twice": made(CALL, above=UP, below="function assertUp() {}\n"),
    "declared_twice_with_var": made(CALL, above="var assertUp = (a, b) => { assert.deepEqual(a, b); };\nvar assertUp = () => {};\n"),
    "shadowed_by_a_constant": made("  const assertUp = () => {};\n" + CALL, above=UP),
    "shadowed_by_a_function": made(CALL + "\n  function assertUp() {}", above=UP),
    "shadowed_by_a_parameter": made(CALL, above=UP, mark="(assertUp) =>"),
    "shadowed_by_a_pattern": made("  const { assertUp } = quiet;\n" + CALL, above=UP),
    "shadowed_by_the_suite": TOP + UP + "describe('s', () => {\n  const assertUp = () => {};\n  test('t', () => {\n" + CALL + "\n  });\n});\n",
    "returns_before": made(CALL, above=UP.replace("{\n", "{\n  return;\n", 1)),
    "returns_under_a_condition": made(CALL, above=UP.replace("{\n", "{\n  if (!process.env.FULL) return;\n", 1)),
    "asserts_in_a_function_that_nobody_calls": made(CALL, above=UP.replace("  assert", "  const later = () => assert")),
    "asserts_in_a_timer": made(CALL, above=UP.replace("  assert.deepEqual(got, want);", "  setTimeout(() => {\n    assert.deepEqual(got, want);\n  }, 5);")),
    "catches": made(CALL, above=UP.replace("  assert.deepEqual(got, want);", "  try {\n    assert.deepEqual(got, want);\n  } catch {}")),
    "not_called": made("  f('a=1');\n  void assertUp;", above=UP),
    "called_in_a_function_that_nobody_calls": made("  const later = () => {\n" + CALL + "\n  };", above=UP),
    "called_under_a_condition": made("  if (process.env.FULL) {\n" + CALL + "\n  }", above=UP),
    "called_behind_a_return": made("  return;\n" + CALL, above=UP),
    "call_caught": made("  try {\n" + CALL + "\n  } catch {}", above=UP),
    "not_awaited": made(CALL, above=LATER, mark="async () =>"),
    "promise_caught": made(CALL.replace("assertUp", "await assertUp").replace(");", ").catch(() => {});"), above=LATER, mark="async () =>"),
    "compares_with_itself": made(CALL, above="function assertUp(got, want) {\n  assert.deepEqual(got, got);\n}\n"),
    "loops_over_nothing": made("  for (const x of []) {\n    assertUp(f('a=1'), { a: '1' });\n  }", above=UP),
    "another_assert": made(PLAIN, top=TOP.replace("import assert from 'node:assert/strict';\n", "import assert from './quiet.js';\n")),
    "own_assert": made(PLAIN, top=TOP.replace("import assert from 'node:assert/strict';\n", "const assert = { deepEqual() {} };\n")),
    "own_assert_in_the_test": made("  const assert = { deepEqual() {} };\n" + PLAIN),
    "assert_as_a_parameter": made(PLAIN, mark="(t, assert = quiet) =>"),
    "assert_mocked": made(PLAIN, above="mock.module('node:assert/strict', { defaultExport: { deepEqual() {} } });\n"),
    "assert_method_mocked": made(PLAIN, above="mock.method(assert, 'deepEqual', () => {});\n"),
    "tests_wrapped": made(PLAIN, top=TOP.replace("test, mock", "test as run"), above="const test = (name, body) => run(name, () => {});\n"),
    "tests_from_elsewhere": made(PLAIN, top=TOP.replace("test, mock } from 'node:test'", "test } from './quiet.js'")),
}  # fmt: skip

IN_KIT = {
    "reassigned_in_the_kit": (FROM_KIT, CALL, "let real = 1;\n" + HEAD_KIT + "export let " + ARROW.removeprefix("const ") + "assertUp = () => {};\n", ""),
    "exports_twice": ("const { assertUp } = require('./kit.js');\n", CALL, HEAD_KIT + UP + "module.exports = { assertUp };\nmodule.exports.assertUp = () => {};\n", ""),
    "exports_something_else": (FROM_KIT, CALL, HEAD_KIT + UP + "const run = () => {};\nexport { run as assertUp };\n", ""),
    "another_name_imported": ("import { run as assertUp } from './kit.js';\n", CALL, EXPORTED + "export function run() {}\n", ""),
    "kit_mocked": (FROM_KIT, CALL, EXPORTED, "jest.mock('./kit.js');\n"),
    "kit_mocked_by_vitest": (FROM_KIT, CALL, EXPORTED, "vi.mock('./kit.js', () => ({ assertUp: () => {} }));\n"),
    "kit_mocked_by_node": (FROM_KIT, CALL, EXPORTED, "mock.module('./kit.js', { namedExports: { assertUp() {} } });\n"),
    "spied": (ALL_KIT, KIT_CALL, EXPORTED, "jest.spyOn(kit, 'assertUp').mockImplementation(() => {});\n"),
    "member_assigned": (ALL_KIT, KIT_CALL, EXPORTED, "kit.assertUp = () => {};\n"),
    "object_assign": (ALL_KIT, KIT_CALL, EXPORTED, "Object.assign(kit, { assertUp: () => {} });\n"),
    "define_property": (ALL_KIT, KIT_CALL, EXPORTED, "Object.defineProperty(kit, 'assertUp', { value: () => {} });\n"),
    "asserts_with_its_own": (FROM_KIT, CALL, "const assert = { deepEqual() {} };\nexport " + UP, ""),
    "asserts_with_anothers": (FROM_KIT, CALL, "import assert from './quiet.js';\nexport " + UP, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN_OUT)
def test_a_function_that_only_seems_to_assert(name):
    assert judge(made(PLAIN, mark="async () =>"), DRAWN_OUT[name])


@pytest.mark.parametrize("name", IN_KIT)
def test_a_function_of_another_module_that_only_seems_to_assert(name):
    load, call, kit, above = IN_KIT[name]
    assert judge(made(PLAIN), {PATH: made(call, top=TOP + load, above=above), KIT: kit})


@pytest.mark.parametrize("name", [n for n in DRAWN_OUT if "assertUp" in DRAWN_OUT[n]])
def test_a_function_that_tests_call_no_longer_asserts(name):
    above = LATER if "await got" in DRAWN_OUT[name] else UP
    call = CALL.replace("assertUp", "await assertUp") if above == LATER else CALL
    assert judge(made(call, above=above, mark="async () =>"), DRAWN_OUT[name])


@pytest.mark.parametrize("name", IN_KIT)
def test_a_function_of_another_module_that_tests_call_no_longer_asserts(name):
    load, call, kit, above = IN_KIT[name]
    first = {PATH: made(CALL, top=TOP + FROM_KIT), KIT: EXPORTED}
    if "kit." in call:
        first[PATH] = made(call, top=TOP + load)
    if "require" in load:
        first = {PATH: made(call, top=TOP + load), KIT: HEAD_KIT + UP + "module.exports = { assertUp };\n"}
    assert judge(first, {PATH: made(call, top=TOP + load, above=above), KIT: kit})


EMPTIED = {
    "emptied": "export function assertUp() {}\n",
    "looser": HEAD_KIT + "export function assertUp(got, want) {\n  assert.ok(got, want);\n}\n",
    "returns": EXPORTED.replace("{\n", "{\n  return;\n", 1),
}


@pytest.mark.parametrize("name", EMPTIED)
def test_a_module_that_tests_draw_on_is_emptied_while_they_stay_as_they_are(name):
    first = {PATH: made(CALL, top=TOP + FROM_KIT), KIT: EXPORTED}
    assert judge(first, {KIT: EMPTIED[name]})


def test_a_call_that_asserted_is_taken_away():
    assert judge(made(CALL, above=UP), made("  f('a=1');", above=UP)) == {"ASSERTION_REMOVED"}
    permit = Permit(PermitKind.CHANGE_EXPECTATIONS, tests=(f"{PATH}::t",))
    assert judge(made(CALL, above=UP), made("  f('a=1');", above=UP), permits=[permit]) == set()


HONEST = {
    "drawn_out": (made(PLAIN), made(CALL, above=UP)),
    "drawn_out_below": (made(PLAIN), made(CALL, below=UP)),
    "drawn_out_as_an_arrow": (made(PLAIN), made(CALL, above=ARROW)),
    "drawn_out_typed": (made(PLAIN), made(CALL, above=UP.replace("got, want)", "got: Query, want?: Record<string, string>): void", 1))),
    "drawn_out_inside": (made(PLAIN), made("  const assertUp = (got, want) => assert.deepEqual(got, want);\n" + CALL)),
    "drawn_out_into_the_suite": (made(PLAIN), TOP + "describe('s', () => {\n  " + ARROW + "  test('t', () => {\n" + CALL + "\n  });\n});\n"),
    "drawn_out_async": (made(PLAIN, mark="async () =>"), made(CALL.replace("assertUp", "await assertUp"), above=LATER, mark="async () =>")),
    "drawn_out_async_returned": (made(PLAIN), made(CALL.replace("assertUp", "return assertUp"), above=LATER)),
    "drawn_out_async_arrow": (made(PLAIN), made(CALL.replace("assertUp", "await assertUp"), above="const assertUp = async (got, want) => assert.deepEqual(await got, want);\n", mark="async () =>")),
    "drawn_out_in_two": (made(PLAIN), made(CALL, above="const same = (a, b) => assert.deepEqual(a, b);\nfunction assertUp(got, want) {\n  same(got, want);\n}\n")),
    "drawn_out_with_a_message": (made(PLAIN), made(CALL, above="function assertUp(got, want) {\n  if (!got) {\n    throw new Error('nothing');\n  }\n  assert.deepEqual(got, want);\n}\n")),
    "another_test_has_a_local_of_that_name": (made(PLAIN), made(CALL, above=UP, below="test('u', () => {\n  const assertUp = 3;\n  assert.equal(f(assertUp), 3);\n});\n")),
    "renamed_function": (made(CALL, above=UP), made(CALL.replace("assertUp", "same"), above=UP.replace("assertUp", "same"))),
    "renamed_parameters": (made(CALL, above=UP), made(CALL, above=UP.replace("got", "a").replace("want", "b"))),
    "written_out": (made(CALL, above=UP), made(PLAIN)),
    "to_an_arrow": (made(CALL, above=UP), made(CALL, above=ARROW)),
    "stricter": (made(CALL, above=UP), made(CALL, above=UP.replace("deepEqual", "deepStrictEqual"))),
    "awaited_now": (made(CALL, above=UP), made(CALL.replace("assertUp", "await assertUp"), above=LATER, mark="async () =>")),
    "table": (made(CALL, above=UP), made("  for (const [a, b] of [['a=1', { a: '1' }], ['', {}]]) {\n    assertUp(f(a), b);\n  }", above=UP)),
    "moved_to_the_kit": (made(CALL, above=UP), {PATH: made(CALL, top=TOP + FROM_KIT), KIT: EXPORTED}),
    "moved_to_the_kit_with_require": (made(CALL, above=UP), {PATH: made(CALL, top=TOP + "const { assertUp } = require('./kit');\n"), KIT: "const assert = require('assert');\n" + UP + "module.exports = { assertUp };\n"}),
    "moved_to_a_folder": (made(CALL, above=UP), {PATH: made(CALL, top=TOP + "import { assertUp } from './kit';\n"), "test/kit/index.ts": "export * from './assertions';\n", "test/kit/assertions.ts": EXPORTED}),
    "through_the_name_of_the_kit": (made(PLAIN), {PATH: made(KIT_CALL, top=TOP + ALL_KIT), KIT: EXPORTED}),
    "under_another_name": (made(PLAIN), {PATH: made(CALL, top=TOP + "import { same as assertUp } from './kit.js';\n"), KIT: EXPORTED.replace("assertUp", "same")}),
    "as_the_default": (made(PLAIN), {PATH: made(CALL, top=TOP + "import assertUp from './kit.js';\n"), KIT: HEAD_KIT + "export default " + UP}),
    "another_module_mocked": (made(PLAIN), {PATH: made(CALL, top=TOP + FROM_KIT, above="jest.mock('../src/db.js');\nmock.method(console, 'log', () => {});\n"), KIT: EXPORTED}),
    "assert_of_another_name": (made(PLAIN), made(PLAIN, top=TOP.replace("import assert from 'node:assert/strict'", "import { strict as assert } from 'node:assert'"))),
    "assert_required": (made(PLAIN), made(PLAIN, top=TOP.replace("import assert from 'node:assert/strict'", "const assert = require('node:assert').strict"))),
    "assert_of_chai": (made(PLAIN), made(PLAIN, top=TOP.replace("import assert from 'node:assert/strict'", "const { assert, expect } = require('chai')"))),
    "set_up_and_tear_down": (made(CALL, above=UP), made(CALL, above=UP + "let server;\nbeforeEach(() => {\n  server = start();\n});\nafterEach(() => server.close());\n")),
    "caught_in_order_to_look_at_it": (made(CALL, above=UP), made("  try {\n    f(null);\n  } catch (error) {\n    assert.match(error.message, /null/);\n  }\n" + CALL, above=UP)),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_change_of_such_functions_is_let_through(name):
    assert judge(*HONEST[name]) == set()
