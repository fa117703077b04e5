"""Arbitrary Python texts as tests: reading and comparing them ends, answers, and costs no more than their size."""

from __future__ import annotations

import sys

import pytest
from evidence_builder import build_evidence, build_run
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.checks import suite_integrity, weakened_tests
from gatekeeper.domain.testrun import RunRole
from gatekeeper.formats import python_assertions, python_source

T = "tests/test_a.py"
LINES = st.sampled_from(
    [
        "import pytest", "from unittest import mock", "from m import f", "X = 5", "def test_a():", "async def test_a():",
        "def test_b(x):", "class TestA:", "class TestA(TestA):", "@pytest.mark.parametrize('x', [1, 2])",
        "@pytest.mark.parametrize('x,y', [(1, '\\ud800'), pytest.param(*z), pytest.param()])", "@pytest.mark.parametrize(*x)",
        "@pytest.mark.skip", "@mock.patch('m.f')", "@mock.patch()", "@pytest.fixture(autouse=True)", "assert f(1) == 2",
        "assert f(1) == '\\udfff'", "assert (f(1), 2)", "assert f(1) < 1e999", "assert f(1) == 10 ** 10 ** 10", "assert 1 / 0",
        "assert f(1) == pytest.approx(1, rel=x)", "assert not not f(1)", "assert a < b < c", "self.assertEqual()",
        "self.assertAlmostEqual(f(1), 2, places=-99999)", "self.assertRaises(ValueError, f)", "return", "yield", "pass",
        "raise", "try:", "except Exception:", "finally:", "else:", "if False:", "while True:", "for _ in []:", "match x:",
        "case 1:", "with pytest.raises():", "with pytest.raises(ValueError, match='x'):", "with suppress(*x):", "del test_a",
        "test_a.__test__ = False", "__test__ = False", "f = mock.Mock()", "sys.modules['m'] = f", "setattr(m, 'f', f)",
        "monkeypatch.setattr('m.f', f)", "pytestmark = pytest.mark.skip", "lambda: 0", "*a, = b", "print(f'{x!r:>{y}}')",
    ]
)  # fmt: skip


@st.composite
def modules(draw: st.DrawFn) -> str:
    """Python that mostly parses: lines under the lines that open a block."""
    out, depth = [], 0
    for line in draw(st.lists(LINES, max_size=25)):
        out.append(f"{' ' * depth}{line}")
        if line.endswith(":"):
            depth += 1
        elif draw(st.booleans()):
            depth = max(0, depth - draw(st.integers(0, 3)))
    if out and out[-1].endswith(":"):
        out.append(f"{' ' * depth}pass")
    return "\n".join(out) + "\n"


HOSTILE = modules() | st.text() | st.text(st.characters(categories=["Cs", "Cc", "Cf", "Lo", "Nd"]), max_size=40)
TOP = sys.getrecursionlimit()
EXTREME = {
    "parentheses": "assert " + "(" * 90 + "f(1)" + ")" * 90 + "\n",
    "too many parentheses": "assert " + "(" * 5000,
    "a long sum": "assert f(1) == " + "+".join(["1"] * 5000) + "\n",
    "a long chain": "assert f" + ".a" * 5000 + "\n",
    "many calls": "assert f" + "()" * 3000 + "\n",
    "not": "assert " + "not " * 3000 + "f(1)\n",
    "minus": "assert f(1) == " + "-" * 3000 + "1\n",
    "nested functions": "".join(" " * i + "def test_a():\n" for i in range(95)) + " " * 95 + "assert 1\n",
    "nested classes": "".join(" " * i + "class TestA:\n" for i in range(95)) + " " * 95 + "x = 1\n",
    "elif": "def test_a():\n if x:\n  pass\n" + " elif x:\n  assert f(1)\n" * 900,
    "one huge line": "def test_a(): assert f(1) == '" + "x" * 900_000 + "'\n",
    "nothing but NUL": "\x00" * 1000,
    "NUL inside": "def test_a():\n    assert f(1) == '\x00'\n",
    "lone surrogate": "def test_a():\n    assert f(1) == '\ud800'\n",
    "huge number": "def test_a():\n    assert f(1) == " + "9" * 4000 + "\n",
    "too huge number": "def test_a():\n    assert f(1) == " + "9" * 20_000 + "\n",
    "self-referring names": "A = B\nB = A\ndef test_a():\n    assert A == B\n",
    "doubling names": "A0 = x\n" + "".join(f"A{i + 1} = A{i} + A{i}\n" for i in range(60)) + "def test_a():\n    assert A60 == 1\n",
    "form feeds and odd ends": "def test_a():\r    assert f(1)\f\r\n\x85\u2028x = 1\n",
}  # fmt: skip


@given(HOSTILE)
def test_reading_answers_for_any_text(source: str) -> None:
    read = python_assertions.read(source)
    assert read is None or all(len(b.rows) == len(b.row_ids) for b in read.bodies.values())


@given(HOSTILE)
def test_the_inventory_answers_for_any_text(source: str) -> None:
    module = python_source.read_module(source)
    assert module is None or all(isinstance(t.material.names, object) for t in module.tests.values())


def _evidence(before: str, after: str):
    runs = [
        build_run({f"{T}::test_a": "passed", f"{T}::TestA::test_a[x]": o}, role=r)
        for r, o in ((RunRole.BASE, "passed"), (RunRole.MERGED, "skipped"), (RunRole.BASE_INSTRUMENTS, "failed"))
    ]
    encode = {"errors": "surrogatepass"}
    old = {
        T: before.encode("utf-8", **encode),
        "tests/conftest.py": after.encode("utf-8", **encode),
        "m.py": "def f(x): return x\n",
    }
    new = {
        T: after.encode("utf-8", **encode),
        "tests/conftest.py": before.encode("utf-8", **encode),
        "m.py": "def f(x): return 2\n",
    }
    return build_evidence(old, new, runs=runs)


@given(HOSTILE, HOSTILE)
def test_the_checks_answer_for_any_two_texts(before: str, after: str) -> None:
    evidence = _evidence(before, after)
    for check in (weakened_tests.check, suite_integrity.check):
        found = check(evidence)
        assert len({f.fingerprint for f in found}) <= len(found) <= 200


@given(modules())
def test_a_text_against_itself_is_not_weaker(source: str) -> None:
    files = {T: source}
    evidence = build_evidence(files, {**files, "m.py": "x = 1\n"})
    assert weakened_tests.check(evidence) == ()


@pytest.mark.parametrize("name", EXTREME)
@pytest.mark.parametrize("turned", [False, True])
def test_the_checks_answer_for_extreme_texts(name: str, turned: bool) -> None:
    pair = ("def test_a():\n    assert f(1) == 2\n", EXTREME[name])
    evidence = _evidence(*(reversed(pair) if turned else pair))
    assert isinstance(weakened_tests.check(evidence), tuple)
    assert isinstance(suite_integrity.check(evidence), tuple)
    assert sys.getrecursionlimit() == TOP


def _lines_run(source: str) -> int:
    """Lines of the project's own code that comparing `source` with a weaker self runs: a cost without a clock."""
    count = 0
    own = python_assertions.__file__.rsplit("/", 3)[0]

    def trace(frame, event, arg):
        nonlocal count
        if not frame.f_code.co_filename.startswith(own):
            return None
        count += event == "line"
        return trace

    evidence = build_evidence({T: source}, {T: source.replace("== 1", ">= 1")})
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        weakened_tests.check(evidence)
        suite_integrity.check(evidence)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "".join(f"def test_{i}():\n    assert f({i}) == 1\n" for i in range(n)),
        lambda n: "def test_a():\n" + "".join(f"    x{i} = g({i})\n" for i in range(n)) + "    assert x0 == 1\n",
        lambda n: "".join(f"X{i} = X{i - 1} + X{i - 1}\n" for i in range(1, n)) + f"def test_a():\n    assert X{n - 1} == 1\n",
        lambda n: "def test_a():\n" + "".join(f"    assert g(x{i}) == 1\n" for i in range(n)),
        lambda n: f"@pytest.mark.parametrize('x', {[(i, '== 1') for i in range(n)]})\ndef test_a(x):\n    assert f(x) == 1\n",
    ],
    ids=["many tests", "a long test", "names of names", "many assertions", "many rows"],
)  # fmt: skip
def test_the_cost_grows_with_the_size(make) -> None:
    small, large = _lines_run(make(20)), _lines_run(make(80))
    assert large <= 6 * small + 2000
