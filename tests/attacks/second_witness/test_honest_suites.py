"""Honest changes to suites in which a second witness could go wrong: it says nothing, or that it could not look."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from sandbox_runs import Runs, usable_runs
from witness_scene import scene

from gatekeeper.config import Paths
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.witness_reading import faults

APP = {"app.py": "def add(a, b):\n    return a - b\n"}
FIXED = {"app.py": "def add(a, b):\n    return a + b\n"}
TEST = {"tests/test_app.py": "from app import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n"}


@pytest.fixture(scope="module")
def runs(gate_paths: Paths) -> Runs:
    return usable_runs(gate_paths)


# name: (files of both trees beside the code, further files of the change, whether the gate's tests can be witnessed)
SUITES: dict[str, tuple[Mapping[str, str], Mapping[str, str], bool]] = {
    "settings that end early and are strict": (
        {
            **TEST,
            "pytest.ini": "[pytest]\naddopts = -x --strict-markers --doctest-modules -p no:cacheprovider --runxfail\n"
            "filterwarnings = error\nxfail_strict = true\n",
        },
        {},
        True,
    ),
    "a conftest that reorders, selects and deselects": (
        {
            **TEST,
            "conftest.py": "def pytest_collection_modifyitems(config, items):\n    items.reverse()\n"
            "    items[:] = [i for i in items if 'test_add' in i.nodeid or 'test_app' in i.nodeid][:1] or items\n",
        },
        {},
        True,
    ),
    "other naming rules": (
        {
            "checks/check_app.py": "from app import add\n\n\ndef check_add():\n    assert add(2, 2) == 4\n",
            "pytest.ini": "[pytest]\npython_files = check_*.py test_*.py\npython_functions = check_*\ntestpaths = checks tests\npythonpath = .\n",
            "tests/test_b.py": "from app import add\n\n\ndef check_b():\n    assert add(1, 2) == 3\n",
        },
        {},
        True,
    ),
    "a unittest suite in a package": (
        {
            "tests/__init__.py": "",
            "tests/common.py": "import unittest\n\n\nclass Common(unittest.TestCase):\n    expected = 4\n\n    def test_base(self):\n        self.assertTrue(self.expected)\n",
            "tests/test_app.py": "from app import add\nfrom .common import Common\n\ndone = []\n\n\ndef setUpModule():\n    done.append(1)\n\n\n"
            "class AddTest(Common):\n    @classmethod\n    def setUpClass(cls):\n        assert done == [1]\n\n    def test_a(self):\n        self.assertEqual(add(2, 2), self.expected)\n",
        },
        {},
        True,
    ),
    "tests that pass only after others": (
        {
            "tests/test_a.py": "import app\n\n\ndef test_first():\n    app.state = 1\n",
            "tests/test_app.py": "import app\n\n\ndef test_state():\n    assert app.state == 1\n\n\ndef test_add():\n    assert app.add(2, 2) == 4\n",
        },
        {},
        True,
    ),
    "tests that look at their names": (
        {
            "tests/test_app.py": "from pathlib import Path\nimport pytest\nfrom app import add\n\n\n@pytest.fixture\ndef golden(request):\n"
            "    return Path(__file__).with_name(f'{request.node.name}.txt').read_text()\n\n\n"
            "def test_add(golden):\n    assert str(add(2, 2)) == golden.strip()\n\n\ndef test_zero(golden):\n    assert str(add(0, 0)) == golden.strip()\n",
            "tests/test_add.txt": "4\n",
            "tests/test_zero.txt": "0\n",
        },
        {},
        True,
    ),
    "a new fixture for a new test": (
        {**TEST, "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef one():\n    return 1\n"},
        {
            "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef one():\n    return 1\n\n\n@pytest.fixture\ndef two():\n    return 2\n",
            "tests/test_app.py": TEST["tests/test_app.py"] + "\n\ndef test_two(two):\n    assert add(two, two) == 4\n",
        },
        True,
    ),
    "a suite that skips everything where something is missing": (
        {
            "tests/test_app.py": "from app import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n",
            "tests/conftest.py": "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef needs(request):\n    if request.node.name != 'test_add':\n        pytest.skip('no database')\n",
        },
        {},
        False,
    ),
    "a session that demands more than passing tests": (
        {
            **TEST,
            "conftest.py": "ran = []\n\n\ndef pytest_runtest_logreport(report):\n    ran.append(report)\n\n\n"
            "def pytest_sessionfinish(session):\n    if len(ran) < 3:\n        session.exitstatus = 3\n",
        },
        {},
        True,
    ),
    "pytest under test": (
        {
            "conftest.py": "pytest_plugins = ['pytester']\n",
            "tests/test_app.py": "from app import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n\n\n"
            "def test_inner(pytester):\n    pytester.makepyfile('def test_x(): assert 0')\n    assert pytester.runpytest('-p', 'no:gatekeeper_pytest_recorder').ret == 1\n\n\n"
            "def test_process(pytester):\n    pytester.makepyfile('def test_x(): pass')\n    assert pytester.runpytest_subprocess().ret == 0\n",
        },
        {},
        True,
    ),
    "caches, outputs and files that the target's run rewrites too": (
        {
            "tests/version.txt": "0\n",
            "tests/test_app.py": "from pathlib import Path\nfrom app import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n\n\n"
            "def test_writes():\n    Path('build').mkdir(exist_ok=True)\n    Path('build/out.txt').write_text('x')\n    Path('tests/version.txt').write_text('1\\n')\n",
        },
        {},
        True,
    ),
    "code that speaks with the interpreter": (
        TEST,
        {
            "app.py": "import atexit\nimport importlib\nimport inspect\nimport os\nimport sys\n\n\nclass Registry:\n    known = []\n\n"
            "    def __init_subclass__(cls):\n        Registry.known.append(cls)\n\n\n"
            "def load(name):\n    return getattr(importlib.import_module(name), 'main', None)\n\n\n"
            "atexit.register(print, 'bye')\nDEBUG = 'APP' in os.environ and sys.gettrace() is None\n\n\n"
            "def add(a, b):\n    return a + b\n"
        },
        True,
    ),
}


@pytest.mark.parametrize("name", SUITES)
def test_nothing_is_held_against_an_honest_change(runs: Runs, name: str) -> None:
    both, more, witnessed = SUITES[name]
    seen = scene(runs, {**APP, **both}, {**both, **FIXED, **more})
    assert [f for f in seen.findings.values() if f.effect is not Effect.ADVISES] == [], seen.findings
    assert seen.witnessed is not None
    sights = [sight for s in seen.witnessed.sightings for sight in (s.first, *s.again)]
    assert sights
    assert any(not faults(s) for s in sights) is witnessed
    assert seen.decided[0].exit_code == 0, seen.decided[0].log


def test_a_low_change_that_cannot_reach_the_runner_costs_no_further_run(runs: Runs) -> None:
    from gatekeeper.domain.ticket import Risk

    seen = scene(runs, {**APP, **TEST}, {**TEST, **FIXED}, tier=Risk.LOW)
    assert seen.green
    assert seen.witnessed is None
