"""The registry of reasons, read entry by entry, is the file as a TOML reader sees it."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest

from gatekeeper.errors import reason, reasons


def test_entries_are_what_the_whole_file_says():
    table = tomllib.loads(resources.files("gatekeeper").joinpath("codes.toml").read_text(encoding="utf-8"))
    assert list(reasons()) == list(table)
    assert len(reasons()) == len(table)
    for code, row in table.items():
        found = reasons()[code]
        assert {name: getattr(found, name) for name in row} == row
        assert found.code == code
        assert code in reasons()
        assert reasons()[code] is found


def test_code_that_is_not_there():
    assert "NO_SUCH" not in reasons()
    assert reasons().get("NO_SUCH") is None
    with pytest.raises(KeyError, match="NO_SUCH is not in"):
        reason("NO_SUCH")
