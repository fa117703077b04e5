"""Which files decide how a change is measured."""

import pytest

from gatekeeper.domain.instruments import InstrumentKind as Kind
from gatekeeper.domain.instruments import Instruments, scripts_of
from gatekeeper.domain.settings import Settings
from gatekeeper.domain.ticket import Suite
from gatekeeper.domain.tree import MemoryTree

BASE = MemoryTree.of(
    {
        "scripts/verify.sh": "python -m pytest -q\nsh scripts/more.sh\npython tools/lint.py src\n",
        "scripts/more.sh": "echo more\n",
        "scripts/release.sh": "echo not part of it\n",
        "tools/lint.py": "import ast\n",
        "src/app/core.py": "x = 1\n",
        "select.py": "honest = 1\n",
    }
)
SUITES = (Suite(name="verify", command="sh scripts/verify.sh"),)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("tests/test_a.py", Kind.TEST),
        ("src/app/test_inline.py", Kind.TEST),
        ("app/core_test.py", Kind.TEST),
        ("web/button.spec.tsx", Kind.TEST),
        ("pkg/core_test.go", Kind.TEST),
        ("tests/golden/a.txt", Kind.TEST_SUPPORT),
        ("conftest.py", Kind.TEST_SUPPORT),
        ("src/app/conftest.py", Kind.TEST_SUPPORT),
        ("pytest.ini", Kind.RUNNER_SETTINGS),
        ("tests/pytest.ini", Kind.RUNNER_SETTINGS),
        (".pytest.toml", Kind.RUNNER_SETTINGS),
        ("pyproject.toml", Kind.RUNNER_SETTINGS),
        ("scripts/verify.sh", Kind.SCRIPT),
        ("scripts/more.sh", Kind.SCRIPT),
        ("tools/lint.py", Kind.SCRIPT),
        ("pytest/__init__.py", Kind.SHADOW),
        ("src/_pytest/__init__.py", Kind.SHADOW),
        ("sitecustomize.py", Kind.SHADOW),
        ("src/evil.pth", Kind.SHADOW),
        ("json.py", Kind.SHADOW),
        (".github/workflows/ci.yml", Kind.CI),
        ("AGENTS.md", Kind.INSTRUCTIONS),
        ("sub/.claude/settings.json", Kind.INSTRUCTIONS),
        (".gatekeeper.toml", Kind.GATE),
        ("data/inputs.csv", Kind.DECLARED),
        # Honest look-alikes: ordinary code and text.
        ("src/app/core.py", None),
        ("src/app/testing_notes.py", None),
        ("src/app/attest.py", None),
        ("scripts/release.sh", None),
        ("docs/testing.md", None),
        ("src/app/json.py", None),
        ("select.py", None),
    ],
)
def test_classification(path, kind):
    settings = Settings(instruments=("data/*.csv",))
    assert Instruments(settings, SUITES, BASE).kind(path) is kind


def test_scripts_are_followed_but_not_without_end():
    loop = MemoryTree.of({"a.sh": "sh b.sh\n", "b.sh": "sh a.sh\n"})
    assert scripts_of([Suite(name="v", command="sh a.sh")], loop) == {"a.sh", "b.sh"}


def test_a_makefile_is_an_instrument_of_make():
    base = MemoryTree.of({"Makefile": "test:\n\tsh ci/run.sh\n", "ci/run.sh": "pytest\n"})
    assert scripts_of([Suite(name="v", command="make test")], base) == {"Makefile", "ci/run.sh"}


def test_only_what_bends_runs_calls_for_more_runs():
    assert Kind.TEST.bends_runs
    assert Kind.SCRIPT.bends_runs
    assert Kind.SHADOW.bends_runs
    assert not Kind.CI.bends_runs
    assert not Kind.INSTRUCTIONS.bends_runs
