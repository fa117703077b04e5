"""Settings, scripts, hooks and code that bend the runner, each beside the harmless change that looks alike."""

from __future__ import annotations

import pytest

from gatekeeper.domain.ticket import Permit, PermitKind

A, B = "tests/test_a.py::test_x", "tests/test_b.py::test_y"
WAS = {A: "passed", B: "failed"}
TESTS = {
    "tests/test_a.py": "def test_x():\n    assert f(1) == 1\n",
    "tests/test_b.py": "def test_y():\n    assert f(2) == 2\n",
}
PYPROJECT = '[tool.pytest.ini_options]\ntestpaths = ["tests"]\naddopts = "--strict-markers"\n'


def run(judge, base, merged, now=None, **more):
    return judge({**TESTS, **base}, {**TESTS, **merged}, was=WAS, now=now or {A: "passed"}, restored=WAS, **more)


TAKEOVERS = {
    "pytest.toml": '[pytest]\ntestpaths = ["tests/test_a.py"]\n',
    ".pytest.toml": '[pytest]\naddopts = ["-k", "not y"]\n',
    "pytest.ini": "[pytest]\naddopts = --deselect tests/test_b.py::test_y\n",
    ".pytest.ini": "",
    "tests/pytest.ini": "[pytest]\naddopts = -k 'not test_y' --strict-markers\n",
    "tests/setup.cfg": "[tool:pytest]\npython_functions = test_x\n",
}


@pytest.mark.parametrize("path", TAKEOVERS)
def test_settings_file_takes_over(judge, path):
    found = run(judge, {"pyproject.toml": PYPROJECT}, {"pyproject.toml": PYPROJECT, path: TAKEOVERS[path]})
    assert set(found) == {"SETTINGS_TAKEOVER"}
    assert found["SETTINGS_TAKEOVER"].path == path


def test_settings_moved_to_another_file_as_they_were(judge):
    ini = "[pytest]\ntestpaths = tests\naddopts = --strict-markers\n"
    assert not run(judge, {"pyproject.toml": PYPROJECT}, {"pyproject.toml": "", "pytest.ini": ini}, WAS)


WEAKER = [
    ('["tests"]', '["tests/test_a.py"]'),
    ("--strict-markers", "--strict-markers -m 'not slow'"),
    ("--strict-markers", "--strict-markers --ignore=tests/test_b.py"),
    ("--strict-markers", "--strict-markers -p no:python"),
    ("--strict-markers", "--strict-markers --assert=plain"),
    ("--strict-markers", "-q"),
    ("addopts", 'python_files = ["test_a*.py"]\naddopts'),
    ("addopts", 'python_functions = ["test_x*"]\naddopts'),
]


@pytest.mark.parametrize(("old", "new"), WEAKER)
def test_settings_weakened(judge, old, new):
    merged = {"pyproject.toml": PYPROJECT.replace(old, new)}
    assert set(run(judge, {"pyproject.toml": PYPROJECT}, merged)) == {"SETTINGS_WEAKENED"}


STRICTER = [
    ('["tests"]', '["tests", "checks"]'),
    ("--strict-markers", "--strict-markers --strict-config -ra"),
    ("addopts", "xfail_strict = true\naddopts"),
    ("addopts", 'filterwarnings = ["error"]\naddopts'),
    ("addopts", 'python_files = ["test_*.py", "*_test.py", "check_*.py"]\naddopts'),
    ("addopts", "# how the tests run\naddopts"),
]


@pytest.mark.parametrize(("old", "new"), STRICTER)
def test_settings_stricter_or_wider(judge, old, new):
    merged = {"pyproject.toml": PYPROJECT.replace(old, new)}
    assert not run(judge, {"pyproject.toml": PYPROJECT}, merged, WAS)


def test_permitted_settings_do_not_permit_the_loss_of_tests(judge):
    permit = Permit(PermitKind.CHANGE_INSTRUMENTS, paths=("pyproject.toml",))
    merged = {"pyproject.toml": PYPROJECT.replace("--strict-markers", "-k x")}
    assert set(run(judge, {"pyproject.toml": PYPROJECT}, merged, permits=[permit])) == {"TEST_HIDDEN"}


HOOKS = {
    "outcome": "@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    o = yield\n    r = o.get_result()\n    r.outcome = 'passed'\n",
    "status": "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n",
    "setattr": "def pytest_runtest_logreport(report):\n    setattr(report, 'out' + 'come', 'passed')\n",
    "bodies": "def pytest_pyfunc_call(pyfuncitem):\n    return True\n",
    "swallow": "@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_call(item):\n    try:\n        return (yield)\n    except AssertionError:\n        return None\n",
    "loop": "def pytest_runtestloop(session):\n    return True\n",
    "drop": "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if 'y' not in i.name]\n",
    "skip": "def pytest_collection_modifyitems(items):\n    for i in items:\n        i.add_marker(pytest.mark.skip)\n",
    "ignore": "collect_ignore = ['test_b.py']\n",
    "glob": "collect_ignore_glob = ['*_b.py']\n",
    "named": "@pytest.hookimpl(specname='pytest_runtest_logreport')\ndef tidy(report):\n    report.outcome = 'passed'\n",
    "class": "class P:\n    def pytest_sessionfinish(self, session):\n        session.exitstatus = 0\n",
}


@pytest.mark.parametrize("how", HOOKS)
def test_hook_bends_results(judge, how):
    assert set(run(judge, {}, {"tests/conftest.py": f"import pytest\n\n{HOOKS[how]}"})) == {"REPORT_HOOK"}


HARMLESS = {
    "option": "def pytest_addoption(parser):\n    parser.addoption('--slow', action='store_true')\n",
    "fixture": "@pytest.fixture\ndef clock():\n    return object()\n",
    "sort": "def pytest_collection_modifyitems(items):\n    items.sort(key=lambda i: i.nodeid)\n",
    "recipe": "@pytest.hookimpl(wrapper=True, tryfirst=True)\ndef pytest_runtest_makereport(item, call):\n    rep = yield\n    setattr(item, 'rep_' + rep.when, rep)\n    return rep\n",
    "configure": "def pytest_configure(config):\n    config.addinivalue_line('markers', 'slow: slow')\n",
    "slow": "def pytest_collection_modifyitems(config, items):\n    if config.getoption('--slow'):\n        return\n    for i in items:\n        if 'slow' in i.keywords:\n            i.add_marker(pytest.mark.skip(reason='slow'))\n",
}


@pytest.mark.parametrize("what", HARMLESS)
def test_harmless_conftest(judge, what):
    assert not run(judge, {}, {"tests/conftest.py": f"import pytest\n\n{HARMLESS[what]}"}, WAS)


VERIFY = '#!/bin/sh\n# Runs everything.\nset -eu\ncd "$(dirname "$0")/.."\nexec python -m pytest -q\n'
WEAKER_SCRIPTS = [
    VERIFY.replace("exec python -m pytest -q", "python -m pytest -q || true"),
    VERIFY.replace("exec python -m pytest -q", "python -m pytest -q\nexit 0"),
    VERIFY.replace("exec python -m pytest -q", "echo '2 passed'"),
    VERIFY.replace("exec python", "exec python -O"),
    VERIFY.replace("set -eu\n", "set +e\n").replace("exec python -m pytest -q", "python -m pytest -q\necho done"),
    VERIFY.replace("pytest -q", "pytest -q -k 'not y'"),
    VERIFY.replace("pytest -q", "pytest -q tests/test_a.py"),
    VERIFY.replace("pytest -q", "pytest -q --assert=plain"),
    VERIFY.replace("exec python -m pytest -q", "python -m pytest -q | tail -1"),
    VERIFY.replace("exec python", "exit 0\nexec python"),
    VERIFY.replace("exec python -m pytest -q", "python -m pytest -q &"),
    VERIFY.replace("exec python", 'export PATH="$PWD/tools:$PATH"\nexec python'),
    VERIFY.replace("exec python", "PYTHONPATH=tools/fake exec python"),
    VERIFY.replace("exec python -m pytest -q", "if ! python -m pytest -q; then :; fi"),
    VERIFY.replace("exec python", "export PYTHONOPTIMIZE=1\nexec python"),
    VERIFY.replace("set -eu\n", "set -eu\ntrap 'exit 0' EXIT\n").replace("exec ", ""),
]


@pytest.fixture
def judge_script():
    from evidence_builder import build_evidence, build_run

    from gatekeeper.checks import suite_integrity
    from gatekeeper.domain.testrun import RunRole
    from gatekeeper.domain.ticket import Suite

    def check(after, path="scripts/verify.sh"):
        runs = [build_run(WAS, role=r) for r in (RunRole.BASE, RunRole.BASE_INSTRUMENTS)] + [build_run({A: "passed"})]
        evidence = build_evidence({**TESTS, path: VERIFY}, {**TESTS, path: after}, runs=runs, suites=[Suite("verify", command=f"sh {path}")])  # fmt: skip
        return {f.code for f in suite_integrity.check(evidence)}

    return check


@pytest.mark.parametrize("after", WEAKER_SCRIPTS)
def test_verify_script_weakened(judge_script, after):
    assert judge_script(after) == {"VERIFY_SCRIPT_WEAKENED"}


@pytest.mark.parametrize(
    "after",
    [
        VERIFY.replace("Runs everything.", "Runs everything; never `|| true`."),
        VERIFY.replace("exec python", "python -m ruff check .\nexec python"),
        VERIFY.replace("exec python", "exec python3"),
        VERIFY.replace("set -eu", "set -euo pipefail"),
        VERIFY.replace("exec python", "rm -rf build || true\npython"),
        VERIFY.replace("exec python", "trap 'rm -rf \"$tmp\"' EXIT\npython"),
        VERIFY.replace("exec python", "PYTHONPATH=src python"),
        VERIFY.replace("exec python", 'export PATH="$PWD/.venv/bin:$PATH"\nexec python'),
        VERIFY.replace("exec python", "python -m http.server 0 &\npython"),
        VERIFY.replace("pytest -q", "pytest -q -ra --strict-markers"),
    ],
)
def test_verify_script_as_strict_as_before(judge_script, after):
    assert "VERIFY_SCRIPT_WEAKENED" not in judge_script(after)


SHADOWS = [
    "pytest/__init__.py",
    "pytest.py",
    "src/_pytest/__init__.py",
    "tests/pytest.py",
    "sitecustomize.py",
    "zz.pth",
    "unittest/__init__.py",
]


@pytest.mark.parametrize("path", SHADOWS)
def test_runner_shadowed(judge, path):
    assert "RUNNER_SHADOWED" in run(judge, {}, {path: "print('2 passed')\n"})


@pytest.mark.parametrize(
    "path", ["src/unit/pytest_plugin.py", "docs/pytest.md", "src/unit/unittest.py", "unit/queue.py"]
)
def test_names_that_shadow_nothing(judge, path):
    assert not run(judge, {}, {path: "x = 1\n"}, WAS)


PATCHES = [
    "import sys\n_m = sys.modules.get('_pytest.python')\nif _m:\n    _m.Function.runtest = lambda self: None\n",
    "import _pytest.runner as r\nr.check_interactive_exception = None\n",
    "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n",
    "from unittest import TestCase\nsetattr(TestCase, 'assertTrue', print)\n",
    "import importlib\np = importlib.import_module('_py' + 'test.python')\nF = p.Function\nF.runtest = print\n",
    "import os, sys\nif 'pytest' in sys.modules:\n    os._exit(0)\n",
    "import os\n\ndef _flush():\n    os._exit(0)\n\n__import__('atexit').register(_flush)\n",
    "import atexit, os\natexit.register(lambda: os._exit(0))\n",
    "import atexit, os\n\n@atexit.register\ndef bye():\n    os._exit(0)\n",
    "import sys\nsys.exit(0)\n",
    "raise SystemExit(0)\n",
]


@pytest.mark.parametrize("source", PATCHES)
def test_runner_patched_or_ended(judge, source):
    assert "RUNNER_PATCHED" in run(judge, {"m/__init__.py": ""}, {"m/__init__.py": source})


@pytest.mark.parametrize(
    "source",
    [
        "import sys\n\ndef main():\n    return 0\n\nif __name__ == '__main__':\n    sys.exit(main())\n",
        "import atexit, os\n\ndef close():\n    os.remove('x')\n\natexit.register(close)\n",
        "import os\n\ndef child():\n    if os.fork() == 0:\n        os._exit(0)\n",
        "import sys\ntry:\n    import tomllib\nexcept ImportError:\n    sys.exit('needs 3.11')\n",
        "class A:\n    def __init__(self):\n        self.outcome = 'passed'\n",
    ],
)
def test_ordinary_code(judge, source):
    assert not run(judge, {"m/__init__.py": ""}, {"m/__init__.py": source}, WAS)
