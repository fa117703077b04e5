"""Expectations that follow a fault, and new tests that prove nothing."""

from __future__ import annotations

import pytest

from gatekeeper.domain.ticket import Permit, PermitKind
from gatekeeper.domain.verdict import Effect

T = "tests/test_a.py"
BASE = "from m import f\n\ndef test_two():\n    assert f(2) == 7\n"
FLIPPED = BASE.replace("== 7", "== 8")
ID = f"{T}::test_two"


def test_expectation_bent_to_the_fault(judge):
    found = judge({T: BASE}, {T: FLIPPED}, was={ID: "failed"}, now={ID: "passed"}, restored={ID: "failed"})
    assert set(found) == {"EXPECTATION_BENT"}


def test_bent_through_a_fixture_of_conftest(judge):
    conftest = {
        "tests/conftest.py": "import pytest\n\n@pytest.fixture(autouse=True)\ndef patch(monkeypatch):\n    monkeypatch.setattr('m.f', lambda n: 7)\n"
    }
    found = judge({T: BASE}, {T: BASE, **conftest}, was={ID: "failed"}, now={ID: "passed"}, restored={ID: "failed"})
    assert found["EXPECTATION_BENT"].path == "tests/conftest.py"


@pytest.mark.parametrize(
    "permit",
    [
        Permit(PermitKind.CHANGE_EXPECTATIONS, tests=(ID,)),
        Permit(PermitKind.CHANGE_EXPECTATIONS, paths=(T,)),
    ],
)
def test_expectation_changed_with_permit(judge, permit):
    found = judge(
        {T: BASE}, {T: FLIPPED}, was={ID: "passed"}, now={ID: "passed"}, restored={ID: "failed"}, permits=[permit]
    )
    assert not found


def test_snapshot_updated_with_permit(judge):
    base = "def test_two():\n    assert render() == Path('tests/golden/a.txt').read_text()\n"
    permit = Permit(PermitKind.UPDATE_SNAPSHOTS, paths=("tests/golden/**",))
    files, updated = {T: base, "tests/golden/a.txt": "1"}, {T: base, "tests/golden/a.txt": "2"}
    runs = {"was": {ID: "passed"}, "now": {ID: "passed"}, "restored": {ID: "failed"}}
    assert not judge(files, updated, **runs, permits=[permit])
    assert set(judge(files, updated, **runs)) == {"EXPECTATION_FOLLOWS_CODE"}


def test_behaviour_and_expectation_changed_together_is_asked(judge):
    found = judge(
        {T: BASE, "m.py": "1"},
        {T: FLIPPED, "m.py": "2"},
        was={ID: "passed"},
        now={ID: "passed"},
        restored={ID: "failed"},
    )
    assert found["EXPECTATION_FOLLOWS_CODE"].effect is Effect.ASKS


def test_expectation_tightened(judge):
    tight = BASE.replace("== 7", "== 7 and f(3) == 8")
    assert not judge({T: BASE}, {T: tight}, was={ID: "failed"}, now={ID: "passed"}, restored={ID: "passed"})


NEW = f"{T}::test_new"


@pytest.mark.parametrize(
    "body",
    [
        "assert True",
        "f(2)\n    assert 1",
        "x = f(2)\n    assert x == x",
        "pass",
        "assert (f(2) == 9, 'no')",
        "assert f(2) or True",
    ],
)
def test_new_test_that_can_not_fail(judge, body):
    merged = BASE + f"\ndef test_new():\n    {body}\n"
    now = {ID: "passed", NEW: "passed"}
    found = judge(
        {T: BASE},
        {T: merged},
        was={ID: "failed"},
        now=now,
        restored={ID: "passed"},
        probed={ID: "failed", NEW: "passed"},
    )
    assert found["TEST_PROVES_NOTHING"].effect is Effect.BLOCKS


@pytest.mark.parametrize(
    "body",
    [
        "assert f(3) == 8",
        "with pytest.raises(ValueError):\n        f(0)",
        "check_all(f)",
        "f.assert_called_once()",
        "assert len(f(2)) > 0",
    ],
)
def test_new_test_with_substance(judge, body):
    merged = BASE + f"\ndef test_new():\n    {body}\n"
    now = {ID: "passed", NEW: "passed"}
    assert not judge(
        {T: BASE},
        {T: merged},
        was={ID: "failed"},
        now=now,
        restored={ID: "passed"},
        probed={ID: "failed", NEW: "passed"},
    )


def test_smoke_test_that_fails_on_the_target_branch(judge):
    merged = BASE + "\ndef test_new():\n    import m.cli\n    m.cli.main([])\n"
    now = {ID: "passed", NEW: "passed"}
    assert not judge(
        {T: BASE}, {T: merged}, was={ID: "failed"}, now=now, restored={ID: "passed"}, probed={NEW: "failed"}
    )


GONE = "AttributeError: module 'm' has no attribute 'f'"
RENAMED = BASE.replace("import f", "import g").replace("f(2)", "g(2)")
PASSED = {"was": {ID: "passed"}, "now": {ID: "passed"}, "restored": {ID: "failed"}}


def test_test_follows_a_renamed_function_and_a_person_is_asked(judge):
    found = judge({T: BASE}, {T: RENAMED}, **PASSED, detail=GONE)
    assert set(found) == {"TEST_FOLLOWS_INTERFACE"}


def test_permit_for_the_renamed_function(judge):
    permit = Permit(PermitKind.RENAME_API, names=("m.f", "m.g"))
    assert not judge({T: BASE}, {T: RENAMED}, **PASSED, detail=GONE, permits=[permit])


def test_permit_for_a_rename_does_not_cover_a_flipped_value(judge):
    permit = Permit(PermitKind.RENAME_API, names=("m.f", "m.g"))
    runs = {**PASSED, "was": {ID: "failed"}}
    found = judge({T: BASE}, {T: FLIPPED}, **runs, detail="assert 8 == 7", permits=[permit])
    assert set(found) == {"EXPECTATION_BENT"}


def test_strict_expected_failure_that_passes_is_no_bent_oracle(judge):
    base = BASE.replace("def ", "@pytest.mark.xfail(strict=True)\ndef ")
    runs = {**PASSED, "was": {ID: "xfailed"}}
    assert not judge({T: base}, {T: BASE}, **runs, detail="[XPASS(strict)] repaired")


@pytest.mark.parametrize(("named", "stopped"), [("test_two", False), ("test_other", True)])
def test_a_permit_with_tests_and_their_file_covers_these_tests_alone(judge, named, stopped):
    permit = Permit(PermitKind.CHANGE_EXPECTATIONS, paths=(T,), tests=(f"{T}::{named}",))
    found = judge(
        {T: BASE}, {T: FLIPPED}, was={ID: "failed"}, now={ID: "passed"}, restored={ID: "failed"}, permits=[permit]
    )
    assert ("EXPECTATION_BENT" in found) is stopped


@pytest.mark.parametrize(
    ("goal", "allowed", "code", "effect"),
    [
        ("Update the tests to what f() gives.", ["tests/**"], {}, Effect.ASKS),
        ("Update the tests to what f() gives.", ["**"], {}, Effect.BLOCKS),
        ("f(2) must be 7.", ["tests/**"], {}, Effect.BLOCKS),
        ("Fix the test data loader.", ["tests/**"], {}, Effect.BLOCKS),
        ("Update the tests to what f() gives.", ["tests/**"], {"m.py": "f = abs\n"}, Effect.BLOCKS),
    ],
)
def test_a_ticket_for_tests_alone_lets_people_decide_about_a_red_one(judge, goal, allowed, code, effect):
    before, after = {T: BASE, "m.py": "f = int\n"}, {T: FLIPPED, "m.py": "f = int\n", **code}
    runs = {"was": {ID: "failed"}, "now": {ID: "passed"}, "restored": {ID: "failed"}}
    assert judge(before, after, **runs, goal=goal, allowed=allowed)["EXPECTATION_BENT"].effect is effect
