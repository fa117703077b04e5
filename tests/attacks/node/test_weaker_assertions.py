"""Assertions of JavaScript tests that hold for more than they did, or do not run, beside changes that prove as much."""

from __future__ import annotations

import pytest
from evidence_builder import build_evidence, build_run, build_ticket

from gatekeeper.checks import javascript_tests
from gatekeeper.domain.testrun import RunRole
from gatekeeper.domain.ticket import Permit, PermitKind, Suite

PATH = "test/query.test.js"
NODE = "import { test, mock } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { f, g } from '../src/query.js';\n"
JEST = "import { f, g } from '../src/query.js';\n"
OLD = "  assert.deepEqual(f('a=1&a=2'), { a: ['1', '2'] });"
EXPECT = "  expect(f('x')).toEqual([1, 2, 3]);"
TWO = "  assert.equal(f(1), 11);\n  assert.equal(f(2), 22);"


def made(body, head=NODE, tail="", mark="() =>"):
    return f"{head}\ntest('t', {mark} {{\n{body}\n}});\n{tail}"


def judge(old, new, *, permits=(), extra=None, code="export const f = (x) => x;\n"):
    runs = [build_run({f"{PATH}::t": "passed"}, role=r, suite="unit") for r in (RunRole.BASE, RunRole.MERGED, RunRole.BASE_INSTRUMENTS)]  # fmt: skip
    before = {PATH: old, "src/query.js": code}
    evidence = build_evidence(before, {**before, PATH: new, "src/query.js": code + "// more\n", **(extra or {})}, runs=runs, suites=[Suite("unit", runner="node")], ticket=build_ticket(permits=permits))  # fmt: skip
    return {f.code for f in javascript_tests.check(evidence) if f.effect.value == "blocks"}


WEAKER = [
    (OLD, "  assert.ok(f('a=1&a=2').a);"),
    (OLD, "  assert.ok(f('a=1&a=2'));"),
    (OLD, "  assert(f('a=1&a=2'));"),
    (OLD, "  assert.equal(typeof f('a=1&a=2'), 'object');"),
    (OLD, "  assert.equal(f('a=1&a=2').a.length, 2);"),
    (OLD, "  assert.ok(Array.isArray(f('a=1&a=2').a));"),
    (OLD, "  const got = f('a=1&a=2');\n  assert.ok(got);"),
    (OLD, "  assert.deepEqual(Object.keys(f('a=1&a=2')), ['a']);"),
    (OLD, "  assert.doesNotThrow(() => f('a=1&a=2'));"),
    (OLD, "  assert.ok('a' in f('a=1&a=2'));"),
    (OLD, "  f('a=1&a=2');\n  assert.equal(1, 1);"),
    (OLD, "  assert.deepEqual(f('a=1&a=2'), f('a=1&a=2'));"),
    (OLD, "  const want = { a: ['1', '2'] };\n  assert.ok(f('a=1&a=2').a, want);"),
    (OLD, "  assert.notDeepEqual(f('a=1&a=2'), {});"),
    (OLD, "  assert.partialDeepStrictEqual(f('a=1&a=2'), { a: ['1'] });"),
    (OLD, "  assert.match(String(f('a=1&a=2').a), /1/);"),
    (OLD, "  assert.ok(f('a=1&a=2').a.includes('1'));"),
    (OLD, "  assert.ok(f('x=1'));"),
    (OLD, "  // " + OLD.strip()),
    (OLD, "  return;\n" + OLD),
    (OLD, "  if (process.env.FULL) {\n" + OLD + "\n  }"),
    (OLD, "  if (process.env.FULL) return;\n" + OLD),
    (OLD, "  if (!process.env.FULL) {\n    return;\n  }\n" + OLD),
    (OLD, "  process.env.FULL && " + OLD.strip()),
    (OLD, "  if (f('a=1&a=2').a)" + OLD),
    (OLD, "  const check = () => {\n" + OLD + "\n  };"),
    (OLD, "  setTimeout(() => {\n" + OLD + "\n  }, 10);"),
    (OLD, "  Promise.resolve().then(() => {\n" + OLD + "\n  });"),
    (OLD, "  for (const _ of []) {\n" + OLD + "\n  }"),
    (OLD, "  try {\n" + OLD + "\n  } catch {}"),
    (OLD, "  while (false) {\n" + OLD + "\n  }"),
    (TWO, "  assert.equal(f(1), 11);\n  assert.ok(f(2));"),
    (TWO, "  assert.equal(f(1), 11);\n  assert.ok(f(2) > 0);"),
    (TWO, "  assert.equal(f(1), 11);"),
    ("  assert.match(f(1), /^one two$/);", "  assert.match(f(1), /one/);"),
    ("  assert.match(f(1), /^one two$/);", "  assert.match(f(1), /.*/);"),
    ("  assert.throws(() => f(1), /too long/);", "  assert.throws(() => f(1));"),
    ("  assert.equal(f(0.1), 0.3);", "  assert.ok(Math.abs(f(0.1) - 0.3) < 1);"),
    (EXPECT, "  expect(f('x').length).toBe(3);"),
    (EXPECT, "  expect(Array.isArray(f('x'))).toBe(true);"),
    (EXPECT, "  expect(f('x').length).toBeGreaterThan(0);"),
    (EXPECT, "  expect(f('x')).toHaveLength(3);"),
    (EXPECT, "  expect(typeof f('x')).toBe('object');"),
    (EXPECT, "  expect(f('x')).toEqual(expect.anything());"),
    (EXPECT, "  expect(f('x')).toEqual(expect.any(Array));"),
    (EXPECT, "  expect(f('x')).toEqual(expect.arrayContaining([1]));"),
    (EXPECT, "  expect(f('x')).toContain(1);"),
    (EXPECT, "  expect(f('x')).toBeTruthy();"),
    (EXPECT, "  expect(f('x')).not.toBeNull();"),
    (EXPECT, "  const result = f('x');\n  expect(result).toBeDefined();"),
    ("  expect(f('x')).toBeCloseTo(0.3, 5);", "  expect(f('x')).toBeCloseTo(0.3, 1);"),
    ("  expect(f('x')).toBeLessThan(5);", "  expect(f('x')).toBeLessThan(500);"),
    ("  expect(f('x')).toBeGreaterThan(5);", "  expect(f('x')).toBeGreaterThan(-5);"),
    ("  expect(() => f('x')).toThrow('too long');", "  expect(() => f('x')).toThrow();"),
    ("  expect(() => f('x')).toThrow('too long');", "  expect(() => f('x')).toThrow('o');"),
    ("  expect(f('x')).to.deep.equal([1]);", "  expect(f('x')).to.be.ok;"),
    ("  expect(f('x')).to.equal(1);", "  expect(f('x')).to.be.a('number');"),
    ("  await expect(f('x')).resolves.toEqual([1]);", "  expect(f('x')).resolves.toEqual([1]);"),
    ("  await expect(f('x')).resolves.toEqual([1]);", "  expect(f('x')).toBeDefined();"),
    ("  await assert.rejects(f('x'), /no/);", "  assert.rejects(f('x'), /no/);"),
    ("  assert.equal(await f(1), 11);", "  assert.ok(f(1));"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), WEAKER)
def test_an_assertion_that_holds_for_more_or_does_not_run(old, new):
    mark = "async () =>" if "await" in old else "() =>"
    head = JEST if "expect(" in old else NODE
    found = judge(made(old, head, mark=mark), made(new, head, mark=mark))
    assert len(found) == 1
    assert found <= {"ASSERTION_WEAKENED", "ASSERTION_REMOVED", "ASSERTION_UNREACHABLE", "ASSERTION_SWALLOWED"}  # fmt: skip


AS_STRONG = [
    (OLD, "  const got = f('a=1&a=2');\n  assert.deepEqual(got, { a: ['1', '2'] });"),
    (OLD, "  const want = { a: ['1', '2'] };\n  assert.deepStrictEqual(f('a=1&a=2'), want);"),
    (OLD, "  assert.deepEqual(\n    f(\"a=1&a=2\"),\n    { a: [\"1\", \"2\"] },\n    'lists',\n  );"),
    (OLD, "  assert.deepEqual({ a: ['1', '2'] }, f('a=1&a=2'));"),
    (OLD, "  for (const [text, want] of [['a=1&a=2', { a: ['1', '2'] }], ['b=1', { b: '1' }]]) {\n    assert.deepEqual(f(text), want);\n  }"),
    (OLD, "  const input = 'a=1&a=2';\n  const out = f(input);\n  assert.ok(out);\n  assert.deepEqual(out, { a: ['1', '2'] });"),
    (OLD, "  assert.deepEqual(f('a=1&a=2').a, ['1', '2']);"),
    (OLD, OLD + "\n  if (process.platform === 'linux') assert.equal(f('b'), 1);"),
    (OLD, "  [['a=1&a=2', { a: ['1', '2'] }]].forEach(([text, want]) => {\n    assert.deepEqual(f(text), want);\n  });"),
    (TWO, "  assert.deepEqual([1, 2].map(f), [11, 22]);"),
    (TWO, "  const rows = [[1, 11], [2, 22]];\n  for (const [a, b] of rows) {\n    assert.equal(f(a), b);\n  }"),
    (TWO, "  const one = f(1);\n  const two = f(2);\n  assert.equal(one, 11);\n  assert.equal(two, 22);"),
    ("  assert.ok(f(1));", "  assert.equal(f(1), 11);"),
    ("  assert.ok(f(1) === 11);", "  assert.equal(f(1), 11);"),
    ("  assert.equal(f(1), 11);", "  assert.ok(f(1) === 11);"),
    ("  assert.equal(f(1), 11);", "  assert.strictEqual(await f(1), 11);"),
    ("  const res = f(1);\n  assert.equal(res.a, 1);\n  assert.equal(res.b, 2);", "  const reply = f(1);\n  assert.equal(reply.a, 1);\n  assert.equal(reply.b, 2);"),
    ("  const res = f(1);\n  assert.equal(res.a, 1);\n  assert.equal(res.b, 2);", "  assert.deepEqual(f(1), { a: 1, b: 2 });"),
    ("  assert.throws(() => f(1));", "  assert.throws(() => f(1), /too long/);"),
    ("  assert.match(f(1), /one/);", "  assert.match(f(1), /^one two$/);"),
    (EXPECT, "  expect(f('x')).toStrictEqual([1, 2, 3]);"),
    (EXPECT, "  const list = f('x')\n  expect(list).toEqual([1, 2, 3])\n  expect(list).toHaveLength(3)"),
    ("  expect(f('x').length).toBe(3);", "  expect(f('x')).toHaveLength(3);"),
    ("  expect(f('x')).toBe(null);", "  expect(f('x')).toBeNull();"),
    ("  expect(f('x')).toBeCloseTo(0.3);", "  expect(f('x')).toBeCloseTo(0.3, 8);"),
    ("  expect(await f('x')).toEqual([1]);", "  await expect(f('x')).resolves.toEqual([1]);"),
    ("  await expect(f('x')).rejects.toThrow('no');", "  return expect(f('x')).rejects.toThrow('no');"),
    ("  for (const a of [1, 2]) {\n    expect(f(a)).toBe(a);\n  }", "  for (const n of [1, 2, 3]) {\n    expect(f(n)).toBe(n);\n  }"),
    ("  expect(f('x')).toBeDefined();\n" + EXPECT, EXPECT),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), AS_STRONG)
def test_an_assertion_as_strong_as_before(old, new):
    head = JEST if "expect(" in old else NODE
    assert judge(made(old, head, mark="async () =>"), made(new, head, mark="async () =>")) == set()


def test_functions_that_assert_stand_for_what_they_assert():
    strong = "\nfunction check(text, want) {\n  assert.deepEqual(f(text), want);\n}\n"
    call = "  check('a=1&a=2', { a: ['1', '2'] });"
    assert judge(made(OLD), made(call, tail=strong)) == set()
    weak = "\nconst check = (text, want) => {\n  assert.ok(f(text), want);\n};\n"
    assert judge(made(OLD), made(call, tail=weak)) == {"ASSERTION_WEAKENED"}
    elsewhere = {
        "test/support.js": "import assert from 'node:assert';\nexport function check(a, b) {\n  assert.deepEqual(a, b);\n}\n"
    }
    head = NODE + "import { check } from './support.js';\n"
    assert judge(made(OLD), made("  check(f('a=1&a=2'), { a: ['1', '2'] });", head), extra=elsewhere) == set()
    assert judge(made(OLD), made("  check(f('a=1&a=2'), { a: ['1', '2'] });", head)) == {"ASSERTION_REMOVED"}


def test_a_permit_lets_expectations_change():
    permit = Permit(PermitKind.CHANGE_EXPECTATIONS, tests=(f"{PATH}::t",))
    assert judge(made(OLD), made("  assert.ok(f('a=1&a=2'));"), permits=[permit]) == set()


IMPORT = "import { f, g } from '../src/query.js';\n"
PLACED = [
    (IMPORT, "import * as lib from '../src/query.js';\nconst g = lib.g;\nconst f = mock.fn(() => ({ a: ['1', '2'] }));\n"),
    (IMPORT, "import { g } from '../src/query.js';\nconst f = vi.fn().mockReturnValue({ a: ['1', '2'] });\n"),
    (IMPORT, "import { g } from '../src/query.js';\nconst f = () => ({ a: ['1', '2'] });\n"),
    (IMPORT, "import { g } from '../src/query.js';\nfunction f() {\n  return { a: ['1', '2'] };\n}\n"),
    (IMPORT, "import { f, g } from './fake.js';\n"),
    (IMPORT, IMPORT + "jest.mock('../src/query.js', () => ({ f: () => 1 }));\n"),
    (IMPORT, IMPORT + "import * as lib from '../src/query.js';\njest.spyOn(lib, 'f').mockReturnValue({ a: ['1', '2'] });\n"),
    (IMPORT, IMPORT + "import * as lib from '../src/query.js';\nmock.method(lib, 'f', () => ({ a: ['1', '2'] }));\n"),
]  # fmt: skip
KEPT = [
    (IMPORT, "import * as lib from '../src/query.js';\n\nconst { f, g } = lib;\n"),
    (IMPORT, "import * as lib from '../src/query.js';\nconst f = lib.f;\n"),
    (IMPORT, "const { f, g } = require('../src/query.js');\n"),
    (IMPORT, "const { f, g } = await import('../src/query.js');\n"),
    (IMPORT, "import { f } from '../src/parse.js';\n"),
    (IMPORT, IMPORT + "import fs from 'node:fs';\nmock.method(fs, 'readFileSync', () => 'x');\n"),
    (IMPORT, IMPORT + "globalThis.fetch = mock.fn(async () => ({ ok: true }));\nmock.timers.enable();\n"),
    (IMPORT, IMPORT + "import * as db from '../src/db.js';\njest.spyOn(db, 'query').mockReturnValue([]);\n"),
    (IMPORT, IMPORT + "jest.mock('../src/db.js');\n"),
    (IMPORT, IMPORT + "const log = mock.fn();\n"),
    (IMPORT, IMPORT + "import * as lib from '../src/query.js';\njest.spyOn(lib, 'f');\n"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), PLACED)
def test_the_code_under_test_is_replaced(old, new):
    assert judge(made(OLD), made(OLD, NODE.replace(old, new))) == {"SUBJECT_MOCKED"}


@pytest.mark.parametrize(("old", "new"), KEPT)
def test_what_stands_around_the_code_may_be_replaced(old, new):
    assert judge(made(OLD), made(OLD, NODE.replace(old, new))) == set()


def test_a_test_that_moved_or_has_another_name_proves_as_much():
    weak = made("  assert.ok(f('a=1&a=2').a, { a: ['1', '2'] });")
    assert judge(made(OLD), weak.replace("test('t'", "test('other'")) & {"ASSERTION_WEAKENED"}
    assert judge(made(OLD), NODE, extra={"test/unit/query.test.js": weak}) & {"ASSERTION_WEAKENED"}
    assert "ASSERTION_WEAKENED" not in judge(made(OLD), NODE, extra={"test/unit/query.test.js": made(OLD)})
    assert "ASSERTION_WEAKENED" not in judge(
        made(OLD), made(OLD + "\n  assert.ok(f('b'));").replace("test('t'", "test('o'")
    )
