"""Parameter sets that stand elsewhere than at the test, changed with the code they judge, and failures that name an excuse."""

from __future__ import annotations

import pytest

from gatekeeper.domain.ticket import Permit, PermitKind

T = "tests/test_a.py"
BODY = "def test_twice(n, want):\n    assert pkg.twice(n) == want\n"
MARK = "pytest.mark.parametrize('n, want', ROWS)"
AT_NAME = f"import pytest\nimport pkg\n\nROWS = [(2, 4), (3, 6)]\n\n@{MARK}\n{BODY}"
IMPORTED = f"import pytest\nimport pkg\nfrom cases import ROWS\n\n@{MARK}\n{BODY}"
AT_CLASS = (
    "import pytest\nimport pkg\n\n@pytest.mark.parametrize('n, want', [(2, 4), (3, 6)])\nclass TestT:\n"
    "    def test_twice(self, n, want):\n        assert pkg.twice(n) == want\n"
)
FOR_MODULE = (
    f"import pytest\nimport pkg\n\npytestmark = [pytest.mark.parametrize('n, want', [(2, 4), (3, 6)])]\n\n{BODY}"
)
FIXTURE = (
    "import pytest\nimport pkg\n\n@pytest.fixture(params=[(2, 4), (3, 6)], ids=str)\ndef row(request):\n"
    "    return request.param\n\ndef test_twice(row):\n    assert pkg.twice(row[0]) == row[1]\n"
)
JSON = AT_NAME.replace(
    "ROWS = [(2, 4), (3, 6)]", "import json, pathlib\nROWS = json.loads(pathlib.Path('tests/rows.json').read_text())"
)
CASES = "ROWS = [(2, 4), (3, 6)]\n"
CODE = {"pkg.py": "def twice(n):\n    return n * 2\n"}
BROKEN = {"pkg.py": "def twice(n):\n    return n * 2 + (n == 3)\n"}
PLACES = {
    "a name": ({T: AT_NAME}, T, "test_twice"),
    "another module": ({T: IMPORTED, "tests/cases.py": CASES}, "tests/cases.py", "test_twice"),
    "a class": ({T: AT_CLASS}, T, "TestT::test_twice"),
    "a module": ({T: FOR_MODULE}, T, "test_twice"),
    "a fixture": ({T: FIXTURE}, T, "test_twice"),
}


def _ids(name, *rows, outcome="passed", last=""):
    found = {f"{T}::{name}[{r}]": outcome for r in rows}
    return {i: (last if last and i == list(found)[-1] else o) for i, o in found.items()}


def _runs(name, new):
    was = _ids(name, "2-4", "3-6")
    return {"was": was, "now": _ids(name, "2-4", new), "restored": _ids(name, "2-4", "3-6", last="failed")}


@pytest.mark.parametrize("where", PLACES)
def test_a_row_that_expects_otherwise_is_asked_about(judge, where):
    files, place, name = PLACES[where]
    merged = {**files, place: files[place].replace("(3, 6)", "(3, 7)")}
    found = judge({**CODE, **files}, {**BROKEN, **merged}, **_runs(name, "3-7"))
    assert set(found) == {"EXPECTATION_FOLLOWS_CODE"}


@pytest.mark.parametrize("where", PLACES)
def test_a_row_that_fails_exchanged_for_another_one_is_gone(judge, where):
    files, place, name = PLACES[where]
    merged = {**files, place: files[place].replace("(3, 6)", "(9, 18)")}
    found = judge({**CODE, **files}, {**BROKEN, **merged}, **_runs(name, "9-18"))
    assert set(found) == {"PARAMETERS_REMOVED"}


def test_rows_of_a_file_of_data_are_asked_about(judge):
    base = {**CODE, T: JSON, "tests/rows.json": "[[2, 4], [3, 6]]"}
    found = judge(base, {**base, **BROKEN, "tests/rows.json": "[[2, 4], [3, 7]]"}, **_runs("test_twice", "3-7"))
    assert set(found) == {"EXPECTATION_FOLLOWS_CODE"}


@pytest.mark.parametrize("where", PLACES)
def test_other_names_for_rows_that_go_on_passing_are_let_through(judge, where):
    files, place, name = PLACES[where]
    merged = {**files, place: files[place].replace("(3, 6)", "pytest.param(3, 6, id='three')")}
    runs = _runs(name, "three") | {"restored": _ids(name, "2-4", "3-6")}
    assert not judge({**CODE, **files}, {**CODE, **merged}, **runs)


@pytest.mark.parametrize("where", PLACES)
def test_a_permit_for_the_test_lets_its_rows_change(judge, where):
    files, place, name = PLACES[where]
    permit = Permit(PermitKind.CHANGE_EXPECTATIONS, tests=(f"{T}::{name}*",))
    merged = {**files, place: files[place].replace("(3, 6)", "(3, 7)")}
    assert not judge({**CODE, **files}, {**BROKEN, **merged}, **_runs(name, "3-7"), permits=[permit])


def test_a_permit_for_the_file_of_data_lets_its_rows_change(judge):
    permit = Permit(PermitKind.CHANGE_EXPECTATIONS, paths=("tests/rows.json",))
    base = {**CODE, T: JSON, "tests/rows.json": "[[2, 4], [3, 6]]"}
    runs = _runs("test_twice", "3-7")
    assert not judge(base, {**base, **BROKEN, "tests/rows.json": "[[2, 4], [3, 7]]"}, **runs, permits=[permit])


def test_a_permit_to_rename_frees_no_value(judge):
    permit = Permit(PermitKind.RENAME_API, names=("pkg.twice -> pkg.double",))
    found = judge(
        {**CODE, T: AT_NAME},
        {**BROKEN, T: AT_NAME.replace("(3, 6)", "(3, 7)")},
        **_runs("test_twice", "3-7"),
        permits=[permit],
    )
    assert set(found) == {"EXPECTATION_FOLLOWS_CODE"}


WHOLE = "import pkg\n\ndef test_one():\n    assert pkg.twice(3) == pkg.WANT\n"


def test_a_module_that_passes_as_a_whole_does_not_speak_for_its_tests(judge):
    files = {T: WHOLE}
    was = {f"{T}::test_one": "passed", f"{T}::style": "passed"}
    found = judge(
        {**CODE, **files},
        {**BROKEN, T: WHOLE + "\n\ndel test_one\n"},
        was=was,
        now={T: "passed", f"{T}::style": "passed"},
        restored=was | {f"{T}::test_one": "failed"},
    )
    assert set(found) == {"TEST_HIDDEN"}


STRICT = "[XPASS(strict)] mended"


@pytest.mark.parametrize(
    ("detail", "was", "stopped"),
    [
        ("E   assert <6 unexpected success> == 7", "passed", True),
        ("E   assert <6 unexpected success> == 7", "failed", True),
        (f"E   assert {STRICT}", "xfailed", True),
        (STRICT, "passed", True),
        (STRICT, "xfailed", False),
        ("Unexpected success", "xfailed", False),
        ("Failed: Unexpected success\nmore", "xfailed", False),
    ],
)
def test_only_a_failure_that_is_a_success_as_a_whole_is_none(judge, detail, was, stopped):
    ident, data = f"{T}::test_twice", {"tests/want.json": "6"}
    source = {
        T: "import json\nimport pkg\n\ndef test_twice():\n    assert pkg.twice(3) == json.load(open('tests/want.json'))\n"
    }
    found = judge(
        {**CODE, **source, **data},
        {**BROKEN, **source, "tests/want.json": "7"},
        was={ident: was},
        now={ident: "passed"},
        restored={ident: "failed"},
        detail=detail,
    )
    assert bool(found) is stopped


def test_a_test_that_a_changed_one_bends_by_way_of_an_unchanged_conftest_is_told(judge):
    conftest = "import pytest\nfrom test_values import WANT\n\n@pytest.fixture\ndef want():\n    return WANT\n"
    values = "WANT = 6\n\ndef test_values():\n    assert WANT\n"
    test = "import pkg\n\ndef test_twice(want):\n    assert pkg.twice(3) == want\n"
    base = {**CODE, T: test, "tests/conftest.py": conftest, "tests/test_values.py": values}
    merged = {**base, **BROKEN, "tests/test_values.py": values.replace("= 6", "= 7")}
    passed = {f"{T}::test_twice": "passed", "tests/test_values.py::test_values": "passed"}
    restored = {**passed, f"{T}::test_twice": "failed"}
    assert set(judge(base, merged, was=passed, now=passed, restored=restored)) == {"EXPECTATION_FOLLOWS_CODE"}
