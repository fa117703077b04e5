"""unittest under an opaque command: tests that are skipped or left out, which no run shows, beside changes that lose none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidence_builder import build_evidence, build_run, build_ticket

from gatekeeper.checks import suite_integrity
from gatekeeper.domain.testrun import RunRole
from gatekeeper.domain.ticket import Permit, PermitKind, Suite

BASE = """import os
import sys
import unittest

from shop import area


class AreaTest(unittest.TestCase):
    def test_square(self):
        self.assertEqual(area(2, 2), 4)

    def test_line(self):
        self.assertEqual(area(0, 3), 0)


class Other(unittest.TestCase):
    def test_other(self):
        self.assertEqual(area(1, 3), 3)
"""
PATH = "tests/test_area.py"
B = BASE.replace
CLASS = "class AreaTest(unittest.TestCase):\n"
LINE = "    def test_line(self):\n"
MAIN = "if __name__ == '__main__':\n    unittest.main()\n"
MAKE = "test:\n\tpython3 -m unittest discover -v\n"


def judge(after, *, permits=(), base=None, logs=None):
    before = {PATH: BASE, "Makefile": MAKE, "tests/__init__.py": "", "shop.py": "", **(base or {})}
    merged = {**before, **(after if isinstance(after, dict) else {PATH: after})}
    merged = {p: s for p, s in merged.items() if s is not None}
    runs = [build_run({}, role=r, recorded=False) for r in (RunRole.BASE, RunRole.BASE_INSTRUMENTS, RunRole.MERGED)]
    if logs:
        runs = [replace(r, log=logs[0 if r.role is not RunRole.MERGED else 1]) for r in runs]
    evidence = build_evidence(before, merged, runs=runs, suites=[Suite("verify", command="make test")], ticket=build_ticket(permits=permits))  # fmt: skip
    return {(f.code, f.effect.value) for f in suite_integrity.check(evidence)}


SILENT = {
    "setup": B(
        CLASS,
        CLASS
        + "    def setUp(self):\n        if self._testMethodName == 'test_line':\n            raise unittest.SkipTest('later')\n\n",
    ),
    "setup-class": B(
        CLASS, CLASS + "    @classmethod\n    def setUpClass(cls):\n        raise unittest.SkipTest('later')\n\n"
    ),
    "setup-skiptest-method": B(CLASS, CLASS + "    def setUp(self):\n        self.skipTest('later')\n\n"),
    "setup-module": B(
        "class AreaTest",
        "def setUpModule():\n    if not os.environ.get('FULL'):\n        raise unittest.SkipTest('later')\n\n\nclass AreaTest",
    ),
    "module": B(
        "class AreaTest", "if not os.environ.get('FULL'):\n    raise unittest.SkipTest('later')\n\n\nclass AreaTest"
    ),
    "decorator": B(LINE, "    @unittest.skip('later')\n" + LINE),
    "decorator-environment": B(
        LINE, "    @unittest.skipUnless(os.environ.get('FULL') and sys.platform, 'later')\n" + LINE
    ),
    "class-decorator": B(CLASS, "@unittest.skipIf(True, 'later')\n" + CLASS),
    "expected": B(LINE, "    @unittest.expectedFailure\n" + LINE),
    "body": B(LINE, LINE + "        self.skipTest('later')\n"),
    "mark": BASE + "\n\nAreaTest.test_line.__unittest_skip__ = True\n",
    "class-mark": B(CLASS, CLASS + "    __unittest_skip__ = True\n"),
    "run": B(CLASS, CLASS + "    def run(self, result=None):\n        return result\n\n"),
}
HIDDEN = {
    "load-tests": BASE
    + "\n\ndef load_tests(loader, tests, pattern):\n    suite = unittest.TestSuite()\n    suite.addTest(AreaTest('test_square'))\n    return suite\n",
    "load-tests-assigned": BASE + "\n\nload_tests = lambda loader, tests, pattern: unittest.TestSuite()\n",
    "no-case": B(CLASS, "class AreaTest:\n"),
    "object": B(CLASS, "class AreaTest(object):\n"),
    "del-class": BASE + "\n\ndel AreaTest\n",
    "del-method": BASE + "\n\ndel AreaTest.test_line\n",
    "rebound": BASE + "\n\nAreaTest = None\n",
}


def _valid(source):
    compile(source, "t", "exec")
    return source


@pytest.mark.parametrize("name", SILENT)
def test_a_test_that_is_skipped_out_of_sight(name):
    assert ("TEST_SILENCED", "blocks") in judge(_valid(SILENT[name]))


@pytest.mark.parametrize("name", HIDDEN)
def test_a_test_that_is_left_out(name):
    assert ("TEST_HIDDEN", "blocks") in judge(_valid(HIDDEN[name]))


def test_a_class_under_a_condition():
    lines = BASE.splitlines()
    at = lines.index(CLASS.strip())
    bent = "\n".join([*lines[:at], "if os.environ.get('FULL'):", *("    " + x for x in lines[at:])]) + "\n"
    assert ("TEST_HIDDEN", "blocks") in judge(_valid(bent))


def test_a_file_that_discovery_does_not_find():
    assert ("TEST_HIDDEN", "blocks") in judge({PATH: None, "tests/area_checks.py": BASE})
    assert judge({PATH: None, "tests/test_areas.py": BASE}) == set()
    assert ("TEST_HIDDEN", "blocks") in judge({"tests/__init__.py": None})
    started = {"Makefile": MAKE.replace("discover", "discover -s tests")}
    assert judge({"tests/__init__.py": None}, base=started) == set()


def test_a_package_that_leaves_out_the_tests_in_it():
    loads = "def load_tests(loader, tests, pattern):\n    return type(tests)()\n"
    assert ("TEST_HIDDEN", "blocks") in judge({"tests/__init__.py": loads})


def test_fewer_tests_than_the_sources_explain():
    said = ("Ran 3 tests in 0.1s\n\nOK\n", "Ran 1 test in 0.1s\n\nOK\n", "Ran 3 tests in 0.1s\n\nOK (skipped=1)\n")
    changed = {"shop.py": "A = 1\n"}
    assert judge(changed, logs=(said[0], said[1])) == {("TEST_REMOVED", "asks")}
    assert judge(changed, logs=(said[0], said[2])) == {("TEST_REMOVED", "asks")}
    assert judge(changed, logs=(said[0], said[0])) == set()
    assert judge(changed, logs=(said[1], said[0])) == set()
    assert judge(changed, logs=(said[0], said[1]), permits=[Permit(PermitKind.SKIP_TESTS, tests=("x",))]) == set()


HONEST = {
    "new-test-with-skip": BASE
    + "\n    @unittest.skipUnless(sys.platform == 'linux', 'linux')\n    def test_new(self):\n        self.assertEqual(area(2, 1), 2)\n",
    "new-class-with-setup": BASE
    + "\n\nclass New(unittest.TestCase):\n    def setUp(self):\n        if not os.environ.get('DB'):\n            self.skipTest('no database')\n\n    def test_db(self):\n        self.assertEqual(area(2, 1), 2)\n",
    "setup": B(CLASS, CLASS + "    def setUp(self):\n        self.side = 2\n\n").replace(
        "area(2, 2)", "area(self.side, self.side)"
    ),
    "subtest": B(
        "        self.assertEqual(area(2, 2), 4)\n",
        "        for a, want in [(2, 4), (3, 9)]:\n            with self.subTest(a=a):\n                self.assertEqual(area(a, a), want)\n",
    ),
    "doctests": BASE
    + "\n\ndef load_tests(loader, tests, pattern):\n    tests.addTests(doctest.DocTestSuite(shop))\n    return tests\n",
    "base-class": B("class AreaTest", "class Case(unittest.TestCase):\n    pass\n\n\nclass AreaTest").replace(
        CLASS, "class AreaTest(Case):\n"
    ),
    "imported-base": B(CLASS, "class AreaTest(Checked):\n"),
    "main": BASE + "\n\n" + MAIN,
    "more": BASE + "\n    def test_more(self):\n        self.assertEqual(area(3, 3), 9)\n",
    "marked": B(CLASS, CLASS + "    __test__ = True\n"),
}


@pytest.mark.parametrize("name", HONEST)
def test_nothing_is_lost(name):
    assert judge(HONEST[name]) == set()


def test_a_skip_that_hangs_on_the_machine_is_for_a_person():
    assert judge(B(LINE, "    @unittest.skipUnless(sys.platform == 'linux', 'linux')\n" + LINE)) == {
        ("TEST_SILENCED", "asks")
    }


def test_a_permit_that_names_the_test():
    permit = Permit(PermitKind.SKIP_TESTS, tests=(f"{PATH}::AreaTest::test_line",))
    assert judge(SILENT["decorator"], permits=[permit]) == set()
    other = Permit(PermitKind.SKIP_TESTS, tests=(f"{PATH}::AreaTest::test_square",))
    assert judge(SILENT["decorator"], permits=[other]) == {("TEST_SILENCED", "blocks")}


def test_a_module_for_pytest_needs_no_base():
    made = {"Makefile": "test:\n\tpython3 -m pytest -q tests\n"}
    assert judge({PATH: B(CLASS, "class AreaTest:\n")}, base=made) == set()
