"""What the command of a lint, type or build suite starts is a script; what it is given to look at is none."""

from __future__ import annotations

import pytest

from gatekeeper.domain.instruments import scripts_of
from gatekeeper.domain.ticket import Suite, SuiteKind
from gatekeeper.domain.tree import MemoryTree

FILES = ("app.py", "tools/lint.py", "ruff.toml", "scripts/x.sh", "Makefile", "conf/m.ini")


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("mypy --no-incremental --cache-dir /dev/null app.py", []),
        ("mypy --config-file=conf/m.ini app.py", ["conf/m.ini"]),
        ("ruff check --config ruff.toml app.py", ["ruff.toml"]),
        ("python tools/lint.py app.py", ["tools/lint.py"]),
        ("python -m tools.lint app.py", ["tools/lint.py"]),
        ("A=1 ./scripts/x.sh app.py && mypy app.py", ["scripts/x.sh"]),
        ("sh -e scripts/x.sh", ["scripts/x.sh"]),
        ("python -B tools/lint.py app.py", ["tools/lint.py"]),
        ("env A=1 nice -n 5 python tools/lint.py app.py", ["tools/lint.py"]),
        ("sh scripts/x.sh", ["scripts/x.sh"]),
        ("shellcheck scripts/x.sh", []),
        ("make lint", ["Makefile"]),
    ],
)
def test_scripts_of_a_check_suite(command, found):
    base = MemoryTree.of(dict.fromkeys(FILES, ""))
    assert sorted(scripts_of([Suite("lint", SuiteKind.LINT, command=command)], base)) == found


def test_a_test_suite_keeps_every_file_that_it_names():
    base = MemoryTree.of(dict.fromkeys(FILES, ""))
    assert "app.py" in scripts_of([Suite("unit", command="python -m pytest && mypy app.py")], base)
