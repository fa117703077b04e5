"""Claims from another machine: what only the platform explains is no lie; what it does not explain stays one."""

from __future__ import annotations

import pytest
from evidence_builder import build_claim, build_evidence, build_run

from gatekeeper.checks.rerun_match import check
from gatekeeper.domain.testrun import RunRole

PATH = "tests/test_a.py"
ONE, TWO = f"{PATH}::test_one", f"{PATH}::test_two"
SAID = {ONE: "passed", TWO: "passed"}
SKIPPED = {ONE: "passed", TWO: "skipped"}


def module(mark: str, head: str = "") -> str:
    return f"import os, sys, platform, shutil, unittest\nimport pytest\n{head}\ndef test_one():\n    assert 1\n\n{mark}\ndef test_two():\n    assert 2\n"


def codes(source: str, said=SAID, seen=SKIPPED, base=SKIPPED) -> set[str]:
    runs = [build_run(seen)] + ([build_run(base, role=RunRole.BASE)] if base else [])
    return {f.code for f in check(build_evidence({PATH: source}, {PATH: source}, claim=build_claim(said), runs=runs))}


@pytest.mark.parametrize(
    ("mark", "head"),
    [
        ("@pytest.mark.skipif(sys.platform != 'win32', reason='windows')", ""),
        ("@pytest.mark.skipif(\"sys.platform == 'linux'\", reason='x')", ""),
        ("@pytest.mark.skipif(not WINDOWS, reason='windows')", "WINDOWS = os.name == 'nt'\n"),
        ("@unittest.skipUnless(sys.version_info >= (3, 14), 'new')", ""),
        ("@pytest.mark.skipif(shutil.which('pandoc') is None, reason='pandoc')", ""),
        ("@pytest.mark.skipif(not HAS_GTK, reason='gtk')", "try:\n    import gtk\n    HAS_GTK = True\nexcept ImportError:\n    HAS_GTK = False\n"),
        ("@mac_only", "mac_only = pytest.mark.skipif(platform.system() != 'Darwin', reason='mac')\n"),
        ("", "pytestmark = pytest.mark.skipif(sys.platform != 'darwin', reason='mac')\n"),
    ],
)  # fmt: skip
def test_a_skip_for_the_platform_is_no_lie(mark, head) -> None:
    assert codes(module(mark, head)) == {"CLAIM_OTHER_PLATFORM"}


@pytest.mark.parametrize(
    ("mark", "head"),
    [
        ("@pytest.mark.skip(reason='later')", ""),
        ("@pytest.mark.skip(reason='only on win32, see sys.platform')", ""),
        ("@pytest.mark.skipif(True, reason='sys.platform')", ""),
        ("@pytest.mark.skipif(not os.environ.get('RUN_SLOW'), reason='slow')", ""),
        ("@pytest.mark.skipif(sys.platform == 'linux' and not os.environ.get('CI'), reason='x')", ""),
        ("@unittest.skip('flaky')", "WINDOWS = os.name == 'nt'\n"),
        ("@pytest.mark.skip(reason='later')", "np = pytest.importorskip('pytest')\n"),
        ("@pytest.mark.skip(reason='later')", "pytestmark = pytest.mark.skipif(sys.platform == 'win32', reason='x')\n"),
        ("@pytest.mark.xfail(reason='broken')", ""),
        ("", ""),
    ],
)
def test_any_other_skip_told_as_passed_is_one(mark, head) -> None:
    assert codes(module(mark, head)) == {"CLAIM_PASSED_SEEN_SKIPPED"}


def test_a_platform_mark_on_a_test_that_ran_before_explains_nothing() -> None:
    source = module("@pytest.mark.skipif(sys.platform == 'linux', reason='x')")
    assert codes(source, base=SAID) == {"CLAIM_PASSED_SEEN_SKIPPED"}


def test_a_failing_test_is_no_matter_of_platform() -> None:
    source = module("@pytest.mark.skipif(sys.platform == 'win32', reason='x')")
    assert "CLAIM_PASSED_SEEN_FAILED" in codes(source, seen={ONE: "passed", TWO: "failed"})


def test_more_skips_there_than_here_are_honest() -> None:
    assert codes(module(""), said=SKIPPED, seen=SAID, base=None) == set()


def rows(*names: str, outcome: str = "passed") -> dict[str, str]:
    return {f"{ONE}[{n}]": outcome for n in names}


def test_parameter_ids_that_name_a_place_may_differ() -> None:
    assert codes(module(""), said=rows("C:\\tmp\\a", "C:\\tmp\\b"), seen=rows("/tmp/a", "/tmp/b"), base=None) == set()


def test_fewer_parameter_sets_or_other_outcomes_are_no_matter_of_ids() -> None:
    here = rows("/tmp/a", "/tmp/b")
    assert codes(module(""), said=rows("C:\\a"), seen=here, base=None) == {"CLAIM_PASSED_NOT_SEEN", "CLAIM_INCOMPLETE"}
    more = rows("C:\\a", "C:\\b", "C:\\c")
    assert codes(module(""), said=more, seen=here, base=None) == {"CLAIM_PASSED_NOT_SEEN", "CLAIM_INCOMPLETE"}
    bad = {**rows("/tmp/a"), **rows("/tmp/b", outcome="failed")}
    assert "CLAIM_INCOMPLETE" in codes(module(""), said=rows("C:\\a", "C:\\b"), seen=bad, base=None)


def test_a_module_that_the_author_skipped_as_a_whole_is_not_left_out() -> None:
    said = {ONE: "passed", "tests.test_win": "skipped"}
    seen = {ONE: "passed", "tests/test_win.py::test_x": "passed", "tests/test_win.py::TestY::test_z": "passed"}
    assert codes(module(""), said=said, seen=seen, base=None) == set()
    assert codes(module(""), said={ONE: "passed"}, seen=seen, base=None) == {"CLAIM_INCOMPLETE"}


def test_a_module_that_is_skipped_here_as_a_whole() -> None:
    said = {"tests.test_a::test_one": "passed"}
    seen = {PATH: "skipped", "tests/test_b.py::test_b": "passed"}
    everything = {**said, "tests.test_b::test_b": "passed"}
    wanted = "import pytest\ngtk = pytest.importorskip('gtk')\ndef test_one(): assert gtk\n"
    assert codes(wanted, said=everything, seen=seen, base=None) == {"CLAIM_OTHER_PLATFORM"}
    never = "import pytest\npytest.skip('later', allow_module_level=True)\ndef test_one(): assert 1\n"
    assert codes(never, said=everything, seen=seen, base=None) == {"CLAIM_PASSED_SEEN_SKIPPED"}
