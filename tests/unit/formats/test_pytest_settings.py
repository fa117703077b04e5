"""Which settings file pytest takes, and what one takes away from another."""

from __future__ import annotations

import pytest

from gatekeeper.formats import pytest_settings


def test_first_file_in_order_counts_even_when_empty():
    files = {"pytest.ini": "", "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-q"\n'}
    assert pytest_settings.effective("", files.get) == ("pytest.ini", {})


def test_files_without_a_section_do_not_count():
    files = {"pyproject.toml": "[project]\n", "tox.ini": "[tox]\n", "setup.cfg": "[tool:pytest]\nxfail_strict = true\n"}
    assert pytest_settings.effective("", files.get) == ("setup.cfg", {"xfail_strict": "true"})


def test_native_table_of_pyproject():
    assert pytest_settings.values("pyproject.toml", '[tool.pytest]\naddopts = ["-q"]\n') == {"addopts": ["-q"]}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"addopts": "--strict-markers"}, {"addopts": ["--strict-markers", "-ra"]}),
        ({"testpaths": "tests/unit"}, {"testpaths": "tests"}),
        ({}, {"xfail_strict": "true"}),
        ({"addopts": "--cov-fail-under=80"}, {"addopts": "--cov-fail-under=90"}),
        ({"python_functions": "test_*"}, {"python_functions": "test"}),
    ],
)
def test_as_strict_as_before(old, new):
    assert pytest_settings.weakened(old, new, ["tests/unit/test_a.py"]) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"xfail_strict": "true"}, {}),
        ({"filterwarnings": ["error"]}, {"filterwarnings": ["ignore"]}),
        ({"addopts": "--cov-fail-under=80"}, {"addopts": "--cov-fail-under=50"}),
        ({}, {"norecursedirs": "tests"}),
        ({}, {"addopts": "-knot_y"}),
        ({}, {"addopts": ["--override-ini=python_files=x.py"]}),
        ({}, {"python_classes": "Only"}),
    ],
)
def test_weaker(old, new):
    assert len(pytest_settings.weakened(old, new, ["tests/unit/test_a.py"])) == 1
