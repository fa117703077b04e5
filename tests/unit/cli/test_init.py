"""`gatekeeper init`: files that fit what lies there, and nothing where no repository is."""

from __future__ import annotations

import json
import tomllib

import pytest

from gatekeeper.cli.init import _repository
from gatekeeper.errors import UsageError
from gatekeeper.formats.settings import parse_settings
from gatekeeper.formats.ticket import parse_ticket


@pytest.mark.parametrize(
    ("files", "runner"),
    [
        ({}, "pytest"),
        ({"package.json": "{}"}, "node"),
        ({"package.json": '{"devDependencies": {"jest": "^29"}}'}, "jest"),
        ({"package.json": '{"devDependencies": {"vitest": "^3"}}'}, "vitest"),
        ({"package.json": "{}", "pyproject.toml": ""}, "pytest"),
        ({"go.mod": "module x"}, "go"),
    ],
)
def test_the_suite_is_of_the_language_that_lies_there(tmp_path, files, runner):
    (tmp_path / ".git").mkdir()
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert _repository(tmp_path) == 0
    settings = (tmp_path / ".gatekeeper.toml").read_bytes()
    assert [s.runner for s in parse_settings(settings).suites] == [runner]
    assert tomllib.loads(settings.decode())["suite"][0]["name"] == "tests"
    assert parse_ticket((tmp_path / "ticket.json").read_bytes()).suites == ("tests",)
    assert json.loads((tmp_path / "claim.json").read_text())["commands"]


def test_a_directory_that_is_no_repository_gets_nothing(tmp_path):
    with pytest.raises(UsageError, match="not the root of a git work tree") as caught:
        _repository(tmp_path)
    assert caught.value.code == "REPOSITORY_UNREADABLE"
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_there_stay(tmp_path):
    (tmp_path / ".git").write_text("gitdir: elsewhere")  # a linked work tree has a file
    (tmp_path / "ticket.json").write_text("mine")
    assert _repository(tmp_path) == 0
    assert (tmp_path / "ticket.json").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("README.md", "-- python -m pytest -q\n"),
        ("go.mod", "-- 'go test -json ./... > report.json'\n"),
        ("package.json", "-- node --test\n"),
    ],
)
def test_it_says_how_the_author_makes_the_claim(tmp_path, capsys, name, command):
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text("{}")
    assert _repository(tmp_path) == 0
    assert f"gatekeeper claim --summary 'What was done' {command}" in capsys.readouterr().out
