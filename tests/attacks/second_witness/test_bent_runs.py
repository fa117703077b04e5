"""Code that bends the run it is in, so that the deciding run looks green; the second witness tells it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from sandbox_runs import Runs, usable_runs
from witness_scene import scene

from gatekeeper.config import Paths
from gatekeeper.domain.ticket import Risk
from gatekeeper.domain.verdict import Effect

BASE = {
    "app.py": "def add(a, b):\n    return a - b\n",
    "tests/test_app.py": "from app import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n",
}
WRONG = "\n\ndef add(a, b):\n    return a - b\n"


@pytest.fixture(scope="module")
def runs(gate_paths: Paths) -> Runs:
    return usable_runs(gate_paths)


ATTACKS: dict[str, tuple[str, set[str]]] = {
    "no test is called": (
        "import _pytest.python as p\np.Function.runtest = lambda self: None\n",
        {"RUNNER_BENT_BY_CODE"},
    ),
    "reports lose what was raised": (
        (
            "import _pytest.reports as r\nold = r.TestReport.from_item_and_call.__func__\n"
            "def new(cls, item, call):\n    call.excinfo = None\n    return old(cls, item, call)\n"
            "r.TestReport.from_item_and_call = classmethod(new)\n"
        ),
        {"RUNNER_BENT_BY_CODE"},
    ),
    "the recorder found and replaced, the status too": (
        (
            "import atexit, gc, os\nfor o in gc.get_objects():\n    if type(o).__name__ == '_Channel':\n        old = o.send\n"
            "        def send(kind, **f):\n            if kind == 'case': f['outcome'] = 'passed'\n"
            "            if kind == 'end': f['exit'] = 0\n            return old(kind, **f)\n        o.send = send\n"
            "atexit.register(os._exit, 0)\n"
        ),
        {"RUNNER_BENT_BY_CODE"},
    ),
    "only the first tests are bent": (
        (
            "import _pytest.python as p\nold = p.Function.runtest\nseen = []\ndef run(self):\n    seen.append(1)\n"
            "    return None if len(seen) < 3 else old(self)\np.Function.runtest = run\n"
        ),
        {"RUNNER_BENT_BY_CODE"},
    ),
    "only a test of that name is bent": (
        (
            "import _pytest.python as p\nold = p.Function.runtest\n"
            "p.Function.runtest = lambda self: None if self.name == 'test_add' else old(self)\n"
        ),
        {"PASSES_BY_NAME"},
    ),
    "only tests of that file are bent": (
        (
            "import _pytest.python as p\nold = p.Function.runtest\n"
            "p.Function.runtest = lambda self: None if self.path.name == 'test_app.py' else old(self)\n"
        ),
        {"PASSES_BY_NAME"},
    ),
    "only tests that use the code are bent": (
        (
            "import _pytest.python as p\nold = p.Function.runtest\n"
            "p.Function.runtest = lambda self: None if 'add' in self.obj.__code__.co_names else old(self)\n"
        ),
        {"PASSES_WHATEVER"},
    ),
    "bent only while few tests are there": (
        (
            "import _pytest.python as p\nold = p.Function.runtest\n"
            "p.Function.runtest = lambda self: None if len(self.session.items) < 4 else old(self)\n"
        ),
        {"PASSES_IN_COMPANY"},
    ),
    "other behaviour under the name of a test": (
        "import os\ndef add(a, b):\n    return a + b if 'test_add' in os.environ['PYTEST_CURRENT_TEST'] else a - b\n#",
        {"PASSES_BY_NAME"},
    ),
}


def changed(code: str) -> Mapping[str, str]:
    return {**BASE, "app.py": code + ("" if code.endswith("#") else WRONG)}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_bent_run_that_looks_green_is_found(runs: Runs, name: str) -> None:
    code, expected = ATTACKS[name]
    seen = scene(runs, BASE, changed(code), tier=Risk.LOW)
    assert seen.green, seen.decided[0].log
    assert set(seen.findings) == expected
    assert all(f.effect is not Effect.ADVISES for f in seen.findings.values())


def test_a_structured_suite_is_witnessed_as_well(runs: Runs) -> None:
    seen = scene(runs, BASE, changed(ATTACKS["no test is called"][0]), runner="pytest", command="-q")
    assert seen.green
    assert set(seen.findings) == {"RUNNER_BENT_BY_CODE"}


def test_a_conftest_that_swallows_failures_is_found_where_no_control_would_show_it(runs: Runs) -> None:
    base = {**BASE, "conftest.py": "import app\n"}
    code = (
        "import _pytest.python as p\ndef quiet(self):\n    try:\n        self.ihook.pytest_pyfunc_call(pyfuncitem=self)\n"
        "    except AssertionError:\n        pass\np.Function.runtest = quiet\n"
    )
    seen = scene(runs, base, {**base, "app.py": code + WRONG})
    assert seen.green
    assert set(seen.findings) == {"RUNNER_BENT_BY_CODE"}


def test_tests_that_code_hides_from_the_runner_are_missed(runs: Runs) -> None:
    base = {**BASE, "conftest.py": "import app\n", "app.py": "def add(a, b):\n    return a + b\n"}
    code = (
        "import _pytest.python as p\nold = p.Module.collect\n"
        "p.Module.collect = lambda self: [i for i in old(self) if i.name != 'test_add']\n"
    )
    seen = scene(runs, base, {**base, "app.py": code + WRONG})
    assert seen.green
    assert "TEST_NOT_COLLECTED" in seen.findings


def test_a_run_that_rewrites_its_golden_file_is_found(runs: Runs) -> None:
    base = {
        **BASE,
        "tests/golden.txt": "4\n",
        "tests/test_app.py": "from pathlib import Path\nfrom app import add\n\n\ndef test_add():\n    assert f'{add(2, 2)}\\n' == Path(__file__).with_name('golden.txt').read_text()\n",
        "app.py": "def add(a, b):\n    return a + b\n",
    }
    code = (
        "from pathlib import Path\n\n\ndef add(a, b):\n"
        "    Path(__file__).with_name('tests').joinpath('golden.txt').write_text(f'{a - b}\\n')\n    return a - b\n"
    )
    seen = scene(runs, base, {**base, "app.py": code}, tier=Risk.LOW)
    assert seen.green
    assert seen.findings["TREE_REWRITTEN"].effect is Effect.BLOCKS
    assert seen.findings["TREE_REWRITTEN"].path == "tests/golden.txt"


def test_a_file_that_was_changed_and_put_back_is_found(runs: Runs) -> None:
    base = {**BASE, "app.py": "def add(a, b):\n    return a + b\n", "tests/golden.txt": "4\n"}
    code = (
        "import atexit, os\nfrom pathlib import Path\nplace = Path('tests/golden.txt')\nbefore = os.stat(place)\n"
        "place.write_text('0\\n')\ndef back():\n    place.write_text('4\\n')\n"
        "    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))\natexit.register(back)\n"
        "def add(a, b):\n    return a + b\n"
    )
    seen = scene(runs, base, {**base, "app.py": code}, tier=Risk.LOW)
    assert seen.green
    assert seen.findings["TREE_REWRITTEN"].effect is Effect.ASKS


def test_without_the_second_look_the_first_still_counts(runs: Runs) -> None:
    from dataclasses import replace

    from gatekeeper.checks import second_witness

    seen = scene(runs, BASE, changed(ATTACKS["no test is called"][0]))
    less = replace(seen.evidence, witnessed=seen.first)
    assert {f.code for f in second_witness.check(less)} == {"RUNNER_BENT_BY_CODE"}
