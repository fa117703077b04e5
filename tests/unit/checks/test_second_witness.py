"""The check over evidence alone: what counts as a difference, and what the target branch explains."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidence_builder import build_evidence, build_run, build_ticket

from gatekeeper.checks import second_witness
from gatekeeper.domain.followup import Sight, Sighting, Witnessed
from gatekeeper.domain.testrun import Outcome, RunRole, SuiteRun, Termination
from gatekeeper.domain.ticket import Permit, PermitKind
from gatekeeper.domain.verdict import Effect

FILE = "tests/test_a.py"
BASE = {FILE: "def test_a():\n    assert 1\n", "a.py": "", "tests/golden.txt": "1\n"}
HEAD = {**BASE, "a.py": "x = 1\n"}
CANARIES = (("tests/test_c.py::test_c", Outcome.FAILED), ("tests/test_c.py::test_s", Outcome.SKIPPED))
DECIDED = build_run({f"{FILE}::test_a": "passed"})


def sight(
    own: str = "passed", canary: str = "failed", *, alias: bool = True, twin: str = "failed", **run: object
) -> Sight:
    """One run: the test, its twin, and two tests of the gate."""
    place, name = ("tests/test_x.py", "test_y") if alias else (FILE, "test_a")
    made = build_run(
        {f"{place}::{name}": own, f"{place}::test_t": twin, CANARIES[0][0]: canary, CANARIES[1][0]: "skipped"},
        role=RunRole.WITNESS, **run,
    )  # type: ignore[arg-type]  # fmt: skip
    names = ((name, "test_a"),) if alias else ()
    return Sight(made, FILE, CANARIES, place if alias else "", names, (("test_t", "test_a"),))


def codes(sighting: Sighting, head: dict[str, str] | None = None, decided: SuiteRun = DECIDED) -> dict[str, Effect]:
    evidence = build_evidence(BASE, head or HEAD, runs=[decided])
    evidence = replace(evidence, witnessed=Witnessed(sightings=(sighting,)))
    return {f.code: f.effect for f in second_witness.check(evidence)}


def asked(first: Sight, control: Sight | None) -> Sighting:
    return Sighting("verify", first, (first, replace(first, alias="", names=(), file=FILE)), control)


GOOD = sight()
BENT = sight(canary="passed")


def test_as_written_says_nothing() -> None:
    assert codes(Sighting("verify", GOOD)) == {}


@pytest.mark.parametrize(
    "bent",
    [
        BENT,
        sight(canary="skipped"),
        sight(exit_code=0),
        sight(recorded=False),
        sight(termination=Termination.SIGNALLED),
    ],
)
def test_a_bent_run_is_rejected_unless_a_control_explains_it(bent: Sight) -> None:
    assert codes(Sighting("verify", bent)) == {"RUNNER_BENT_BY_CODE": Effect.BLOCKS}
    assert codes(Sighting("verify", bent, (bent, bent), GOOD)) == {"RUNNER_BENT_BY_CODE": Effect.BLOCKS}
    assert codes(Sighting("verify", bent, (bent, bent), bent)) == {"WITNESS_LEFT_OUT": Effect.ADVISES}
    assert codes(Sighting("verify", bent, (bent, GOOD), GOOD)) == {}


def test_the_category_follows_what_was_changed() -> None:
    tests = {**BASE, "tests/conftest.py": "import _pytest\n_pytest.x = 1\n"}
    assert codes(Sighting("verify", BENT), tests) == {"RUNNER_BENT_BY_TESTS": Effect.BLOCKS}


def test_tests_that_pass_in_company_alone_are_a_question() -> None:
    first, plain = sight(own="failed"), sight(own="failed", alias=False)
    assert codes(Sighting("verify", first, (first, plain), GOOD)) == {"PASSES_IN_COMPANY": Effect.ASKS}
    assert codes(Sighting("verify", first)) == {"PASSES_IN_COMPANY": Effect.ASKS}
    assert codes(Sighting("verify", first, (GOOD, plain), GOOD)) == {}


def test_an_order_dependence_of_the_target_branch_is_no_fault_but_a_failure_there_explains_nothing() -> None:
    first, plain = sight(own="failed"), sight(own="failed", alias=False)
    rows = Sighting("verify", first, (first, plain), first)
    evidence = build_evidence(BASE, HEAD, runs=[DECIDED])
    for came, expected in (("passed", set()), ("failed", {"PASSES_IN_COMPANY"})):
        whole = build_run({f"{FILE}::test_a": came}, role=RunRole.WITNESS)
        known = Witnessed(sightings=(rows,), controls=(whole,))
        assert {f.code for f in second_witness.check(replace(evidence, witnessed=known))} == expected
        before = replace(evidence, runs=(DECIDED, replace(whole, role=RunRole.BASE)))
        known = replace(known, controls=())
        assert {f.code for f in second_witness.check(replace(before, witnessed=known))} == expected
    assert codes(rows) == {"PASSES_IN_COMPANY": Effect.ASKS}


def test_tests_that_pass_under_their_names_alone_are_rejected() -> None:
    first, plain = sight(own="failed"), sight(alias=False)
    assert codes(Sighting("verify", first, (first, plain), GOOD)) == {"PASSES_BY_NAME": Effect.BLOCKS}
    assert codes(Sighting("verify", first, (first, plain), first)) == {"PASSES_BY_NAME": Effect.ASKS}
    assert codes(Sighting("verify", first, (GOOD, plain), GOOD)) == {}


def test_where_the_test_itself_looks_at_its_name_a_failing_control_explains_it() -> None:
    first, plain = sight(own="failed"), sight(alias=False)
    base = {**BASE, FILE: "def test_a(request):\n    assert request.node.name\n"}
    evidence = build_evidence(base, {**base, "a.py": "x = 1\n"}, runs=[DECIDED])
    rows = Witnessed(sightings=(Sighting("verify", first, (first, plain), first),))
    assert second_witness.check(replace(evidence, witnessed=rows)) == ()


def test_tests_that_pass_whatever_they_assert_are_rejected() -> None:
    first = sight(twin="passed")
    assert codes(Sighting("verify", first, (first, first), GOOD)) == {"PASSES_WHATEVER": Effect.BLOCKS}
    assert codes(Sighting("verify", first, (first, first), first)) == {}
    assert codes(Sighting("verify", first, (GOOD, first), GOOD)) == {}


def rewritten(*rows: tuple[str, str], base: tuple[tuple[str, str], ...] = (), permits: tuple[Permit, ...] = ()) -> dict[str, Effect]:  # fmt: skip
    runs = [replace(DECIDED, rewritten=rows), replace(DECIDED, role=RunRole.BASE, rewritten=base)]
    evidence = build_evidence(BASE, HEAD, runs=runs, ticket=build_ticket(permits=permits))
    return {f.code: f.effect for f in second_witness.check(evidence)}


def test_files_that_a_run_rewrites() -> None:
    assert rewritten((FILE, "content")) == {"TREE_REWRITTEN": Effect.BLOCKS}
    assert rewritten(("tests/golden.txt", "gone")) == {"TREE_REWRITTEN": Effect.BLOCKS}
    assert rewritten(("tests/brought.txt", "content")) == {"TREE_REWRITTEN": Effect.ASKS}
    assert rewritten(("a.py", "touched")) == {}
    assert rewritten(("tests/golden.txt", "touched")) == {"TREE_REWRITTEN": Effect.ASKS}
    assert rewritten(("a.py", "content")) == {"TREE_REWRITTEN": Effect.ASKS}
    assert rewritten(("notes.txt", "content"), ("build/x.o", "content")) == {}
    assert rewritten((FILE, "content"), base=((FILE, "content"),)) == {}
    permit = Permit(PermitKind.UPDATE_SNAPSHOTS, ("tests/golden.txt",))
    assert rewritten(("tests/golden.txt", "content"), permits=(permit,)) == {}
    assert rewritten(("tests/golden.txt", "content"), (FILE, "content"), permits=(permit,)) != {}


def test_a_module_in_the_place_of_an_installed_one_is_a_question() -> None:
    base = {**BASE, "b.py": "import requests\nfrom . import c\n"}
    for path in ("requests.py", "src/requests/__init__.py", "requests/__init__.py"):
        evidence = build_evidence(base, {**base, path: ""})
        assert {f.code: f.effect for f in second_witness.check(evidence)} == {"INSTALLED_SHADOWED": Effect.ASKS}
    for path in ("vendor/requests/__init__.py", "c.py", "requests/data.txt", "new.py", "docs/requests.py"):
        assert second_witness.check(build_evidence(base, {**base, path: ""})) == ()


@pytest.mark.parametrize(
    "path", ["evil-1.0.dist-info/entry_points.txt", "src/evil.egg-info/entry_points.txt", "evil.egg-link"]
)
def test_metadata_that_plugs_into_the_runner_is_found(path: str) -> None:
    from gatekeeper.checks import suite_integrity

    found = suite_integrity.check(build_evidence(BASE, {**BASE, path: "[pytest11]\nevil = evil\n"}))
    assert "RUNNER_SHADOWED" in {f.code for f in found}


@pytest.mark.parametrize("path", ["tests/data/x.dist-info/METADATA", "tests/x.egg-info/PKG-INFO", "docs/info.txt"])
def test_metadata_as_data_of_tests_is_let_through(path: str) -> None:
    from gatekeeper.checks import suite_integrity

    found = suite_integrity.check(build_evidence(BASE, {**BASE, path: "x"}))
    assert "RUNNER_SHADOWED" not in {f.code for f in found}
