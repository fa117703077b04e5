"""Go at full depth through `gatekeeper check`: ids, the base's tests on head's code, new tests on the base's code."""

from __future__ import annotations

import pytest
from go_cache import go_ready
from suite_cases import Judge, junit, reasons, runs

CODE = "package calc\n\nfunc Add(a, b int) int { return a - b }\n\nfunc Double(a int) int { return a * 2 }\n"
FIXED = CODE.replace("a - b", "a + b")
TESTS = """package calc

import "testing"

func TestAdd(t *testing.T) {
	if got := Add(2, 2); got != 4 {
		t.Errorf("got %d", got)
	}
}

func TestDouble(t *testing.T) {
	for _, c := range []struct{ in, out int }{{1, 2}, {4, 8}} {
		t.Run("row", func(t *testing.T) {
			if Double(c.in) != c.out {
				t.Error("wrong")
			}
		})
	}
}
"""
PROJECT = {
    "go.mod": "module example.com/calc\n\ngo 1.21\n",
    "calc/calc.go": CODE,
    "calc/calc_test.go": TESTS,
    ".gatekeeper.toml": '[[suite]]\nname = "unit"\nrunner = "go"\n',
}
NAMES = ["TestAdd", "TestDouble", "TestDouble/row", "TestDouble/row#01"]
MORE = '\nfunc TestAddMore(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal("no")\n\t}\n}\n'


@pytest.fixture
def judge(make_repo, tmp_path, gate_env):
    """Judges a change of a small module with a bug in Add."""
    go_ready(gate_env)
    repo = make_repo()
    repo.commit(PROJECT, "Import")
    judge = Judge(repo, tmp_path)

    def run(files, names=NAMES, **more):
        return judge(files, claim={"junit_xml": junit("example.com/calc/calc", names)}, **more)

    return run


def test_an_honest_fix_with_a_new_test(judge):
    report = judge({"calc/calc.go": FIXED, "calc/calc_test.go": TESTS + MORE}, [*NAMES, "TestAddMore"])
    assert report["verdict"] == "accepted", report["reasons"]
    seen = runs(report)
    assert seen["merged"]["counts"] == {"passed": 5}
    assert seen["merged"]["guarantee"] == "structured"
    # The target's own tests pass on the new code, and the new test fails on the old.
    assert seen["base_instruments"]["counts"] == {"passed": 4}
    assert seen["new_tests_on_base"]["counts"] == {"failed": 2, "passed": 3}


def test_a_test_bent_to_the_bug(judge):
    report = judge({"calc/calc_test.go": TESTS.replace("got != 4", "got != 0")})
    assert report["verdict"] == "rejected"
    assert "EXPECTATION_BENT" in reasons(report)
    assert runs(report)["base_instruments"]["counts"] == {"failed": 1, "passed": 3}


def test_a_skip_and_a_test_that_is_gone(judge):
    skipped = TESTS.replace("func TestAdd(t *testing.T) {", 'func TestAdd(t *testing.T) {\n\tt.Skip("flaky")')
    report = judge({"calc/calc.go": FIXED, "calc/calc_test.go": skipped})
    assert "TEST_SILENCED" in reasons(report), report["reasons"]
    gone = TESTS[: TESTS.index("func TestAdd")] + TESTS[TESTS.index("func TestDouble") :]
    report = judge({"calc/calc_test.go": gone}, NAMES[1:])
    assert reasons(report) == {"TEST_REMOVED"}, report["reasons"]


def test_a_renamed_and_moved_test_is_explained(judge):
    moved = TESTS.replace("TestDouble", "TestTwice")
    names = ["TestAdd", "TestTwice", "TestTwice/row", "TestTwice/row#01"]
    report = judge({"calc/calc.go": FIXED, "calc/calc_test.go": None, "calc/numbers_test.go": moved}, names)
    assert report["verdict"] == "accepted", report["reasons"]


@pytest.mark.parametrize(
    "source",
    [
        'import (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n',
        'import (\n\t"syscall"\n\t"testing"\n)\n\nfunc TestAaa(t *testing.T) { syscall.Exit(0) }\n',
        'import "os"\n\nfunc init() { os.Exit(0) }\n',
    ],
)
def test_a_process_that_ends_early_never_passes(judge, source):
    report = judge({"calc/end_test.go": f"package calc\n\n{source}"})
    assert report["verdict"] == "rejected"
    assert runs(report)["merged"]["exit"] == 0
    assert "TESTS_FAILED" in reasons(report), report["reasons"]


def test_code_that_does_not_build(judge):
    report = judge({"calc/calc.go": FIXED + "\nfunc x() int { return y }\n"})
    failed = [r for r in report["reasons"] if r["code"] == "TESTS_FAILED"]
    assert failed, report["reasons"]
    assert "undefined: y" in failed[0]["evidence"]


def test_a_claim_that_is_better_than_what_is_seen(judge):
    report = judge({"calc/calc.go": CODE.replace("a - b", "a * b + 1")})
    assert {"TESTS_FAILED", "CLAIM_PASSED_SEEN_FAILED"} <= reasons(report)
