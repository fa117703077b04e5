"""Tests that cannot fail, code that meddles with the measurement, mutants that run wild; and honest look-alikes."""

from __future__ import annotations

import re

import pytest
from measured_scene import Scene
from sandbox_runs import usable_runs

from gatekeeper.checks import change_proof
from gatekeeper.config import Paths
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.followup import Measured, MutantResult
from gatekeeper.domain.ticket import Risk, Suite
from gatekeeper.domain.verdict import Effect

INIT = {"pkg/__init__.py": ""}
BROKEN = "def total(prices, rate):\n    net = sum(prices)\n    return net\n"
MENDED = "def total(prices, rate):\n    net = sum(prices)\n    tax = net * rate\n    return net + tax\n"
OLD_TEST = "from pkg.bill import total\n\ndef test_free():\n    assert total([1, 2], 0) == 3\n"


@pytest.fixture(scope="module")
def scene(gate_paths: Paths) -> Scene:
    return Scene(usable_runs(gate_paths))


def said(evidence: Evidence) -> list[tuple[str, Effect]]:
    return [(f.code, f.effect) for f in change_proof.check(evidence)]


def taken(evidence: Evidence) -> Measured:
    assert evidence.measured is not None
    return evidence.measured


SWALLOWS = """
    from pkg.bill import total

    def test_taxed():
        try:
            assert total([100], 0.5) == 150
        except Exception:
            pass
        except AssertionError:
            pass
"""


@pytest.mark.parametrize(("tier", "effect"), [(Risk.MEDIUM, Effect.ASKS), (Risk.LOW, Effect.ADVISES)])
def test_tests_that_swallow_their_failures_are_named(scene: Scene, tier: Risk, effect: Effect) -> None:
    base = {**INIT, "pkg/bill.py": BROKEN, "tests/test_bill.py": OLD_TEST}
    merged = {**INIT, "pkg/bill.py": MENDED, "tests/test_bill.py": OLD_TEST, "tests/test_taxed.py": SWALLOWS}
    assert said(scene.measured(base, merged, tier=tier)) == [("TESTS_NOTICE_NOTHING", effect)]


def test_an_honest_fix_with_its_regression_test_is_let_through(scene: Scene) -> None:
    test = "from pkg.bill import total\n\ndef test_taxed():\n    assert total([100], 0.5) == 150\n"
    base = {**INIT, "pkg/bill.py": BROKEN, "tests/test_bill.py": OLD_TEST}
    merged = {**INIT, "pkg/bill.py": MENDED, "tests/test_bill.py": OLD_TEST, "tests/test_taxed.py": test}
    evidence = scene.measured(base, merged)
    assert said(evidence) == []
    measured = taken(evidence)
    assert measured.failed_before == ("tests/test_taxed.py::test_taxed",)
    assert [one.executed for one in measured.lines] == [True, True]
    assert all(m.result is MutantResult.KILLED for m in measured.mutants if m.kind == "arithmetic")
    assert any(m.by_own_test for m in measured.mutants)


LOOSE = """
    from pkg.bill import total

    def test_taxed():
        result = total([100], 0.5)
        assert round(result) > 0
        assert isinstance(result, float)
"""


def test_a_test_that_looks_at_a_type_alone_is_told_by_values_of_that_type(scene: Scene) -> None:
    base = {**INIT, "pkg/bill.py": BROKEN, "tests/test_other.py": "def test(): pass\n"}
    strict = "from pkg.bill import total\n\ndef test_taxed():\n    assert total([100], 0.5) == 150\n"
    alive = {}
    for name, test in (("loose", LOOSE), ("strict", strict)):
        measured = taken(scene.measured(base, {**base, "pkg/bill.py": MENDED, "tests/test_taxed.py": test}))
        rows = [m for m in measured.mutants if m.after == "another value"]
        alive[name] = {m.before for m in rows if m.result is MutantResult.SURVIVED}
        assert {m.before for m in rows} >= {"return net + tax", "tax = net * rate"}
        assert all(re.fullmatch(r"[\d.]+ became [\d.]+", m.value) for m in rows), "what it became when it ran is told"
    assert alive == {"loose": {"return net + tax", "tax = net * rate"}, "strict": set()}


SAME = """
    class Box:
        def __init__(self, owner=None):
            self.owner = owner

        def put(self, rows):
            for row in rows:
                row.box = self
            return self
"""


def test_a_fault_that_changed_no_value_in_any_run_is_not_held_against_the_tests(scene: Scene) -> None:
    test = """
        from pkg.box import Box

        def test_put():
            box = Box()
            assert box.owner is None
            assert box.put([]) is box
    """
    base = {**INIT, "tests/test_other.py": "def test(): pass\n"}
    measured = taken(scene.measured(base, {**base, "pkg/box.py": SAME, "tests/test_box.py": test}))
    idle = {m.before: m.result for m in measured.mutants if m.after in ("another value", "one element less")}
    assert {"self.owner = owner", "return self", "rows"} <= idle.keys()
    assert set(idle.values()) == {MutantResult.NOT_TRIED}
    assert any("changed no value" in note for note in measured.notes)


def test_an_honest_refactoring_is_let_through(scene: Scene) -> None:
    other = "def total(prices, rate):\n    net = 0\n    for price in prices:\n        net += price\n    return net\n"
    base = {**INIT, "pkg/bill.py": BROKEN, "tests/test_bill.py": OLD_TEST}
    merged = {**INIT, "pkg/bill.py": other, "tests/test_bill.py": OLD_TEST}
    evidence = scene.measured(base, merged, title="Refactor total")
    assert said(evidence) == []
    assert taken(evidence).tried


def test_tests_beside_the_change_are_named(scene: Scene) -> None:
    test = "from pkg.other import seven\n\ndef test_seven():\n    assert seven() == 7\n"
    base = {
        **INIT,
        "pkg/bill.py": BROKEN,
        "pkg/other.py": "def seven():\n    return 7\n",
        "tests/test_bill.py": "def test(): pass\n",
    }
    merged = {**base, "pkg/bill.py": MENDED, "tests/test_seven.py": test}
    assert said(scene.measured(base, merged)) == [("CHANGE_NOT_EXECUTED", Effect.ASKS)]


def test_a_change_that_only_a_subprocess_runs_is_let_through(scene: Scene) -> None:
    test = """
        import subprocess, sys

        def test_told():
            done = subprocess.run([sys.executable, "-m", "pkg.bill"], capture_output=True, text=True)
            assert done.stdout.strip() == "150.0"
    """
    tail = "\nimport sys\n\ndef main():\n    sys.stdout.write(str(total([100], 0.5)))\n\nif __name__ == '__main__':\n    main()\n"
    base = {**INIT, "pkg/bill.py": BROKEN + tail, "tests/test_bill.py": "def test(): pass\n"}
    merged = {**base, "pkg/bill.py": MENDED + tail, "tests/test_told.py": test}
    evidence = scene.measured(base, merged)
    assert said(evidence) == []
    assert [one.executed for one in taken(evidence).lines] == [None, None]
    assert any(m.result is MutantResult.KILLED for m in taken(evidence).mutants)


def test_code_that_sees_the_measurement_and_refuses_is_not_measured_and_not_fine(scene: Scene) -> None:
    seer = MENDED + "\nimport os\nif os.path.exists('/run/gate/gatekeeper_measure.py'):\n    raise SystemExit(3)\n"
    base = {**INIT, "pkg/bill.py": BROKEN, "tests/test_bill.py": OLD_TEST}
    evidence = scene.measured(base, {**base, "pkg/bill.py": seer})
    measured = taken(evidence)
    assert measured.tried == ()
    assert measured.notes


RESULTS = "/tmp/gatekeeper-measurement"
WAITER = f"import time\nwhile True:\n    open({RESULTS!r}, 'a').write('x')\n    time.sleep(0.01)\n"
HARMLESS = {
    "leaves a file": f"open({RESULTS!r}, 'a').write('[]\\n')",
    "leaves a link": f"os.path.lexists({RESULTS!r}) or os.symlink('/etc/passwd', {RESULTS!r})",
    # One that waits is the attack; one more for each of hundreds of processes would only be a slow machine.
    "waits to write": "import subprocess, sys; os.path.exists('/tmp/one') or (open('/tmp/one', 'w').close(), "
    "subprocess.Popen([sys.executable, '-c', WAITER], start_new_session=True))",
}
HARMFUL = {
    "bars the place": f"os.makedirs({RESULTS + '/x'!r}, exist_ok=True)",
    "ends the program": "import signal; os.kill(os.getppid(), signal.SIGKILL)",
}


def meddling(scene: Scene, how: str) -> Evidence:
    hostile = (
        f"{MENDED}\nimport os\nWAITER = {WAITER!r}\nif os.path.exists('/run/gate/gatekeeper_measure.py'):\n    {how}\n"
    )
    base = {**INIT, "pkg/bill.py": BROKEN, "tests/test_bill.py": OLD_TEST}
    return scene.measured(base, {**base, "pkg/bill.py": hostile})


@pytest.mark.parametrize("how", HARMLESS)
def test_what_is_put_in_the_place_of_the_results_is_not_taken_for_them(scene: Scene, how: str) -> None:
    evidence = meddling(scene, HARMLESS[how])
    assert taken(evidence).disturbed == ""
    assert {m.result for m in taken(evidence).mutants if m.line == 3} >= {MutantResult.KILLED}


@pytest.mark.parametrize("how", HARMFUL)
def test_results_that_are_kept_from_coming_are_named(scene: Scene, how: str) -> None:
    evidence = meddling(scene, HARMFUL[how])
    assert said(evidence) == [("MEASUREMENT_MALFORMED", Effect.ASKS)]
    assert taken(evidence).tried == ()


WILD = """
    import subprocess
    import sys

    def fill(count):
        rows = []
        number = 0
        while number < count:
            rows.append(bytearray(1_000_000))
            number += 1
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        return len(rows)
"""


def test_mutants_that_hang_eat_memory_or_leave_processes_end_and_count_as_noticed(scene: Scene) -> None:
    test = "from pkg.wild import fill\n\ndef test_fill():\n    assert fill(3) == 3\n"
    base = {**INIT, "tests/test_other.py": "def test(): pass\n"}
    evidence = scene.measured(base, {**base, "pkg/wild.py": WILD, "tests/test_wild.py": test})
    measured = taken(evidence)
    stuck = [m for m in measured.mutants if m.before == "number += 1" and m.after == "nothing"]
    assert [m.result in (MutantResult.KILLED, MutantResult.TIMED_OUT) for m in stuck] == [True]
    assert measured.disturbed == ""


def test_an_opaque_command_that_runs_pytest_is_measured_too(scene: Scene) -> None:
    suite = Suite("verify", runner="command", command="PYTHONPATH=src python -m pytest -q tests")
    test = "from bill import total\n\ndef test_taxed():\n    assert total([100], 0.5) == 150\n"
    base = {"src/bill.py": BROKEN, "tests/test_bill.py": "def test(): pass\n"}
    evidence = scene.measured(base, {**base, "src/bill.py": MENDED, "tests/test_taxed.py": test}, suite=suite)
    assert said(evidence) == []
    assert any(m.result is MutantResult.KILLED for m in taken(evidence).mutants)


def test_without_a_budget_nothing_is_measured_and_that_is_said(scene: Scene) -> None:
    base = {**INIT, "pkg/bill.py": BROKEN, "tests/test_bill.py": OLD_TEST}
    measured = taken(scene.measured(base, {**base, "pkg/bill.py": MENDED}, budget_s=0))
    assert (measured.tried, measured.runs) == ((), ())
    assert measured.notes == ("no time is set aside for it in the medium tier",)
