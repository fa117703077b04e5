"""Which command lines are pytest, and where they write their report."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.formats.claim_document import differences, unlike
from gatekeeper.formats.command_lines import essence
from gatekeeper.formats.pytest_command import is_pytest, renames, report_of, takes_report


@pytest.mark.parametrize(
    "line",
    [
        "pytest", "python -m pytest -q", "/opt/v/bin/python3.11 -m pytest tests", ".venv/bin/pytest -q", "uv run pytest",
        "poetry run pytest -x", "PYTHONPATH=src pytest", "DEBUG=1 python -m pytest", "pytest -k 'a or (b)'", "py.test",
    ],
)  # fmt: skip
def test_pytest_alone_is_seen(line):
    assert is_pytest(line)


@pytest.mark.parametrize(
    "line",
    [
        "", "make test", "cd lib && pytest", "pytest; true", "pytest || true", "pytest\npytest", "pytest | tee log", "echo pytest",
        "coverage run -m pytest", "python pytest.py", "pytest tests/*.py", "pytest 'unfinished", "FOO=1", "tox -e pytest",
    ],
)  # fmt: skip
def test_what_needs_a_shell_or_is_another_program_is_not(line):
    assert not is_pytest(line)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("pytest --junitxml=a.xml", "a.xml"), ("pytest --junit-xml a.xml -q", "a.xml"), ("pytest --junitxml 'a b.xml'", "a b.xml"),
        ("pytest --junitxml=a --junit-xml=b", "b"), ("pytest", None), ("pytest -- --junitxml=a", None), ("pytest --junitxml", None),
    ],
)  # fmt: skip
def test_the_report_that_the_command_names(line, path):
    assert report_of(line) == path


def test_options_that_name_tests_otherwise():
    assert renames("pytest -q --junit-prefix=ci --rootdir tests tests") == ("--junit-prefix", "--rootdir")
    assert renames("pytest -q tests --junitxml=rootdir.xml") == ()


def test_an_option_more_is_added_only_where_it_is_one():
    assert takes_report("pytest -q tests")
    assert not takes_report("pytest -- tests")
    assert not takes_report("pytest -p no:junitxml")


@given(st.text(max_size=60))
def test_any_line_has_an_answer_and_a_report_option_changes_no_comparison(line):
    if is_pytest(line):
        assert report_of(line) is None or report_of(line)
        if takes_report(line):
            assert essence(f"{line.rstrip()} --junit-xml=/tmp/r.xml") == essence(line)


def test_the_lines_of_a_ticket_that_were_not_run():
    assert unlike("python3 -m pytest -v", ["pytest -q"]) == ()
    assert unlike("pytest tests/unit", ["pytest", "ruff check ."]) == ("pytest", "ruff check .")
    assert unlike("a\nb", ["a\nb"]) == ()


@given(st.binary(max_size=200), st.lists(st.text(max_size=5), max_size=3))
def test_any_status_can_be_told(status, papers):
    for row in differences(status, papers):
        row.encode("utf-8")
        assert " " in row


def test_a_status_is_told_by_mark_and_path():
    status = b" M a.py\0?? new.py\0?? ticket.json\0?? x/__pycache__/a.pyc\0 D ticket.json\0A  b \xff.py\0"
    assert differences(status, {"ticket.json"}) == ("M a.py", "new new.py", "D ticket.json", "A b \\xff.py")
