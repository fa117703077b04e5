"""Arbitrary and mutated bytes give a value or an `InputError`, never anything else; globs stay linear."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.domain.globs import matches, problem
from gatekeeper.errors import GatekeeperError, InputError
from gatekeeper.formats.claim import parse_claim
from gatekeeper.formats.junit_xml import parse_junit
from gatekeeper.formats.settings import parse_settings
from gatekeeper.formats.ticket import parse_ticket

PARSERS = [parse_claim, parse_ticket, parse_settings, parse_junit]
KEYS = st.sampled_from(
    [
        "id",
        "title",
        "goal",
        "allowed",
        "forbidden",
        "verify",
        "suites",
        "permits",
        "kind",
        "paths",
        "risk",
        "budget",
        "head_sha",
        "commands",
        "cmd",
        "exit_code",
        "runs",
        "reports",
        "junit_xml",
        "summary",
        "agent",
        "usage",
        "log",
        "acceptance",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=5), inner, max_size=6),
    max_leaves=20,
)
XML = st.lists(
    st.sampled_from(
        ["<testsuite>", "</testsuite>", "<testcase name='a'>", "</testcase>", "<failure/>", "tests='x'", "&#0;", "&x;",
         "<!DOCTYPE a>", "<skipped message='\ud7ff'/>", "<testcase time='nan'/>", "<testsuites>", "</testsuites>"]
    ),
    max_size=12,
)  # fmt: skip


@pytest.mark.parametrize("parse", PARSERS)
@given(data=st.binary(max_size=300))
def test_arbitrary_bytes(parse, data) -> None:
    with contextlib.suppress(GatekeeperError):
        parse(data)


@pytest.mark.parametrize("parse", [parse_claim, parse_ticket])
@given(value=JSON)
def test_arbitrary_documents(parse, value) -> None:
    with contextlib.suppress(InputError):
        parse(json.dumps(value).encode())


@given(parts=XML)
def test_arbitrary_reports(parts) -> None:
    with contextlib.suppress(InputError):
        parse_junit("".join(parts).encode("utf-8"))


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"a":' * 100_000, b"9" * 100_000, b'{"id":"a","id":"b"}', b"NaN"])
def test_bombs_are_refused(data) -> None:
    for parse in (parse_claim, parse_ticket):
        with pytest.raises(InputError):
            parse(data)


@settings(max_examples=50)
@given(st.integers(1, 40))
def test_stars_do_not_blow_up(n) -> None:
    assert not matches("*a" * n + "b", "a" * 500)
    assert not matches("**/a/" * n + "b", "a/" * 200 + "c")


@pytest.mark.parametrize(
    ("glob", "path", "hit"),
    [
        ("a.py", "a.py", True), ("a.py", "x/a.py", False), ("*.py", "x/a.py", False), ("**/*.py", "a.py", True),
        ("**/*.py", "x/y/a.py", True), ("d/**", "d/e/f", True), ("d/**", "d", False), ("d/*", "d/.hid", True),
        ("d/?", "d/ab", False), ("d/[ab]", "d/a", True), ("D/*", "d/a", False), ("a/**/b", "a/b", True),
    ],
)  # fmt: skip
def test_vectors(glob, path, hit) -> None:
    assert problem(glob) is None
    assert matches(glob, path) is hit


@pytest.mark.parametrize("glob", ["", "/a", "../a", "a/../b", "a\\b"])
def test_invalid_globs_are_told(glob) -> None:
    assert problem(glob)
