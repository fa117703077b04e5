"""JUnit of Java names classes; their files are what a change touches."""

from __future__ import annotations

from evidence_builder import build_evidence, build_run

from gatekeeper.checks import suite_integrity
from gatekeeper.domain.testrun import RunRole

PATH = "src/test/java/calc/CalcTest.java"
TEST = "package calc;\npublic class CalcTest { @Test public void adds() { assertEquals(4, Calc.add(2, 2)); } }\n"


def codes(after, merged, restored, before):
    runs = [
        build_run({"calc.CalcTest::adds": merged}, role=RunRole.MERGED),
        build_run({"calc.CalcTest::adds": restored}, role=RunRole.BASE_INSTRUMENTS),
        build_run({"calc.CalcTest::adds": before}, role=RunRole.BASE),
    ]
    return [(f.code, f.path) for f in suite_integrity.check(build_evidence({PATH: TEST}, {PATH: after}, runs=runs))]


def test_an_expectation_bent_to_the_code():
    bent = TEST.replace("assertEquals(4", "assertEquals(0")
    assert codes(bent, "passed", "failed", "failed") == [("EXPECTATION_BENT", PATH)]


def test_a_test_that_falls_silent():
    assert codes(TEST.replace("@Test", "@Ignore @Test"), "skipped", "passed", "passed") == [("TEST_SILENCED", PATH)]


def test_a_change_of_layout():
    assert codes(TEST + "// end\n", "passed", "passed", "passed") == []
