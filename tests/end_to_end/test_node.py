"""Node.js's runners end to end: real node, real sandbox, real packages, the whole of `gatekeeper check`."""

from __future__ import annotations

import pytest
from node_projects import (
    BUGGY,
    FIXED,
    NEW_TEST,
    PROJECT,
    TESTS,
    TITLES,
    Judge,
    codes,
    counts,
    junit,
    node_or_skip,
)  # fmt: skip


@pytest.fixture
def judge(make_repo, gate_env):
    node_or_skip()
    return Judge(make_repo(), PROJECT)


def test_an_honest_fix_with_a_new_test_is_accepted(judge):
    code, answer = judge({"src/math.js": FIXED, "test/add.test.js": NEW_TEST}, report=junit([*TITLES, "adds"]))
    assert (code, answer["verdict"], answer["reasons"]) == (0, "accepted", [])
    assert counts(answer)["merged"] == {"passed": 4}
    assert counts(answer)["new_tests_on_base"] == {"failed": 1}, "the new test fails before"
    assert {r["guarantee"] for r in answer["runs"]} == {"structured"}
    assert codes(answer) == set()


def test_without_a_changed_test_one_run_decides(judge):
    code, answer = judge({"src/math.js": FIXED}, report=junit(TITLES))
    assert (code, [r["role"] for r in answer["runs"]]) == (0, ["merged"])


def test_a_failing_test_is_told_with_its_line_and_output(judge):
    broken = BUGGY.replace("a * 2", "a * 3")
    code, answer = judge({"src/math.js": broken}, report=junit(TITLES))
    failed = next(f for f in answer["findings"] if f["code"] == "TESTS_FAILED")
    assert code == 1
    assert (failed["path"], failed["line"]) == ("test/math.test.js", 6)
    assert "12 == 8" in failed["evidence"] or "12" in failed["evidence"]
    assert "CLAIM_PASSED_SEEN_FAILED" in codes(answer)


def test_a_deleted_test_is_rejected_and_a_moved_one_is_not(judge):
    negative = TESTS[TESTS.index("test('negative") :]
    code, answer = judge(
        {"src/math.js": FIXED, "test/math.test.js": TESTS.replace(negative, "")}, report=junit(TITLES[:2])
    )
    removed = next(f for f in answer["findings"] if f["code"] == "TEST_REMOVED")
    assert (code, removed["path"], removed["line"]) == (1, "test/math.test.js", 14)
    head = "import { test } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { twice } from '../src/math.js';\n\n"
    renamed = negative.replace("negative numbers", "numbers below zero")
    code, answer = judge(
        {
            "src/math.js": FIXED,
            "test/math.test.js": TESTS.replace(negative, ""),
            "test/negative.test.js": head + renamed,
        },
        report=junit([*TITLES[:2], "numbers below zero"]),
    )
    assert (code, answer["verdict"], codes(answer)) == (0, "accepted", set())


@pytest.mark.parametrize(
    "bent",
    [
        TESTS.replace("it('doubles', ", "it('doubles', { skip: 'later' }, "),
        TESTS.replace("it('doubles', ", "it.skip('doubles', "),
        TESTS.replace("it('doubles', ", "it.todo('doubles', "),
        TESTS.replace("describe('twice', ", "describe.skip('twice', "),
        TESTS.replace("it('doubles', () => {\n", "it('doubles', (t) => {\n    return t.skip();\n"),
    ],
    ids=["option", "skip", "todo", "suite", "from-inside"],
)
def test_a_silenced_test_is_rejected(judge, bent):
    code, answer = judge({"src/math.js": FIXED, "test/math.test.js": bent}, report=junit(TITLES))
    assert code == 1
    assert "TEST_SILENCED" in codes(answer, "blocks")


def test_a_skip_that_the_ticket_permits_is_let_through(judge):
    skipped = TESTS.replace("it('doubles', ", "it.skip('doubles', ")
    permit = {"kind": "skip_tests", "tests": ["test/math.test.js::twice > doubles"], "reason": "moved elsewhere"}
    report = junit(TITLES[1:]).replace("</testsuites>", '<testsuite name="twice" disabled="0"><testcase name="doubles" classname="test"><skipped type="skipped"/></testcase></testsuite></testsuites>')  # fmt: skip
    code, answer = judge({"src/math.js": FIXED, "test/math.test.js": skipped}, report=report, permits=[permit])
    assert (code, answer["verdict"], codes(answer, "blocks")) == (0, "accepted", set())


def test_the_targets_own_tests_are_run_on_the_changes_code(judge):
    broken = FIXED.replace("a * 2", "a * 2 + 1")
    bent = TESTS.replace("8)", "9)").replace("(0), 0)", "(0), 1)").replace("-6", "-5")
    code, answer = judge({"src/math.js": broken, "test/math.test.js": bent}, report=junit(TITLES))
    assert counts(answer)["merged"] == {"passed": 3}
    assert counts(answer)["base_instruments"] == {"failed": 3}
    assert code in (1, 4)
    assert "EXPECTATION_FOLLOWS_CODE" in codes(answer, "asks") | codes(answer, "blocks")


def test_a_new_test_that_passes_before_is_said_to_prove_nothing(judge):
    code, answer = judge(
        {"src/math.js": FIXED, "test/more.test.js": NEW_TEST.replace("add(1, 2), 3", "add(0, 0), 0")},
        report=junit([*TITLES, "adds"]),
    )
    said = [f for f in answer["findings"] if f["code"] == "TEST_PROVES_NOTHING"]
    assert [(f["effect"], f["path"]) for f in said] == [("advises", "test/more.test.js")]
    assert code == 0


def test_a_change_of_tests_alone_is_not_told_that_it_proves_nothing(judge):
    code, answer = judge(
        {"test/more.test.js": NEW_TEST.replace("add(1, 2), 3", "add(0, 0), 0")}, report=junit([*TITLES, "adds"])
    )
    assert (code, codes(answer)) == (0, set())


def test_an_invented_test_in_the_claim_is_rejected(judge):
    code, answer = judge({"src/math.js": FIXED}, report=junit([*TITLES, "multiplies"]))
    assert code == 1
    assert "CLAIM_PASSED_NOT_SEEN" in codes(answer, "blocks")


def test_a_claim_that_leaves_out_tests_is_told(judge):
    _, answer = judge({"src/math.js": FIXED}, report=junit(TITLES[:1]))
    assert "CLAIM_INCOMPLETE" in codes(answer)


def test_packages_without_a_lock_are_no_fault_of_the_change(make_repo, gate_env):
    node_or_skip()
    manifest = '{"name": "m", "version": "1.0.0", "type": "module", "dependencies": {"left-pad": "1.3.0"}}'
    code, answer = Judge(make_repo(), {**PROJECT, "package.json": manifest})(
        {"src/math.js": FIXED}, report=junit(TITLES)
    )
    fault = next(f for f in answer["findings"] if f["code"] == "ENVIRONMENT_FAILED")
    assert (code, fault["blame"]) == (3, "environment")
    assert "package-lock.json" in fault["next_action"]
