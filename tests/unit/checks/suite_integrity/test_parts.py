"""The pure parts that all of the check looks at: ids, results, permits, scripts."""

from __future__ import annotations

import pytest
from evidence_builder import build_cases, build_evidence, build_ticket

from gatekeeper.checks.suite_integrity.scripts import weaker
from gatekeeper.checks.suite_integrity.situation import Results, Situation, near, place
from gatekeeper.domain.testrun import Outcome
from gatekeeper.domain.ticket import Permit, PermitKind

T = "tests/test_a.py"


@pytest.mark.parametrize(
    ("test_id", "expected"),
    [
        (f"{T}::test_a", (T, "test_a")),
        (f"{T}::TestA::test_b[x::y]", (T, "TestA::test_b")),
        ("tests.test_a::test_b", ("tests.test_a", "test_b")),
        (T, (T, "")),
    ],
)
def test_place(test_id, expected):
    assert place(test_id) == expected


def test_an_instrument_reaches_what_is_below_its_folder():
    assert near(T, "conftest.py")
    assert near(T, "tests/conftest.py")
    assert not near(T, "tests/unit/conftest.py")
    assert not near("tests_more/test_a.py", "tests/conftest.py")


def test_results_of_a_module_stand_for_its_tests_and_the_worst_comes_first():
    results = Results(build_cases({T: "errored", f"{T}::test_b[1]": "passed", f"{T}::test_b[2]": "failed"}))
    assert results.outcomes(f"{T}::test_a") == {Outcome.ERRORED: 1}
    assert results.functions == {(T, "test_b"): [f"{T}::test_b[1]", f"{T}::test_b[2]"]}
    first = results.first(f"{T}::test_b[2]")
    assert first is not None
    assert first.outcome is Outcome.FAILED
    assert results.first("other.py::test_a") is None


@pytest.mark.parametrize(
    ("permit", "given", "allowed"),
    [
        ({"tests": (f"{T}::test_a[1]",)}, {"test_id": f"{T}::test_a[1]", "path": T}, True),
        ({"tests": (f"{T}::test_a[1]",)}, {"test_id": f"{T}::test_a[2]", "path": T}, False),
        ({"tests": (f"{T}::test_a[1]",)}, {"test_id": f"{T}::test_a", "path": T}, False),
        ({"tests": (f"{T}::test_a",)}, {"test_id": f"{T}::test_a[2]", "path": T}, True),
        ({"tests": (f"{T}::test_a",)}, {"test_id": f"{T}::test_ab", "path": T}, False),
        ({"tests": (f"{T}::TestA::*",)}, {"test_id": f"{T}::TestA::test_b[1]", "path": T}, True),
        ({"tests": (f"{T}::TestA::*",)}, {"test_id": f"{T}::TestAB::test_b", "path": T}, False),
        ({"paths": (T,)}, {"test_id": f"{T}::test_a", "path": T}, True),
        ({"paths": (T,), "tests": (f"{T}::test_a",)}, {"test_id": f"{T}::test_b", "path": T}, False),
        (
            {"paths": ("tests/*.py",)},
            {"test_id": "tests/unit/test_a.py::test_a", "path": "tests/unit/test_a.py"},
            False,
        ),
        ({"names": ("shop.area",)}, {"path": T, "words": "test_area of area"}, True),
        ({"names": ("shop.area",)}, {"path": T, "words": "test_areas of areas"}, False),
        ({"names": ("area -> surface",)}, {"path": T, "words": "surface"}, True),
    ],
)
def test_a_permit_covers_what_it_names(permit, given, allowed):
    ticket = build_ticket(permits=[Permit(PermitKind.REMOVE_TESTS, **permit)])
    situation = Situation(build_evidence({T: ""}, {T: "x"}, ticket=ticket))
    assert situation.permits((PermitKind.REMOVE_TESTS,), **given) is allowed
    assert not situation.permits((PermitKind.SKIP_TESTS,), **given)


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        ("pytest -q\n", "pytest -q || true\n", True),
        ("set -e\npytest -q\n", "set +e\npytest -q\n", True),
        ("pytest -q\n", "pytest -q tests/test_a.py\n", True),
        ("pytest -q\n", "# all of it\npytest -q\n", False),
        ("pytest -q\n", "set -euo pipefail\npytest -q\n", False),
        ("pytest -q\n", "rm -f log || true\npytest -q\n", False),
    ],
)
def test_what_makes_a_script_weaker(before, after, lost):
    assert bool(weaker(before, after)) is lost
