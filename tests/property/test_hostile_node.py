"""Whatever stands in events, locks and sources of JavaScript: a typed error or a result, never anything else."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.domain.testrun import Outcome, SuiteReport
from gatekeeper.errors import InputError
from gatekeeper.formats.javascript_tests import read_tests
from gatekeeper.formats.javascript_titles import Titles
from gatekeeper.formats.javascript_tokens import closing, tokens
from gatekeeper.formats.node_events import parse_node_events
from gatekeeper.formats.npm_lock import depends, npm_project, workspaces

texts = st.text(max_size=60)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
)
PIECES = st.sampled_from(
    ["test(", "it.skip('a', ", "describe('b', () => {", "});", "`", "${", "}", "'", '"', "/", "\\", "expect(1)", ".toBe(", ")",
     "[", "]", "{", "try {", "} catch {", "\n", "//", "/*", "*/", "=>", "it.each([[1]])('%d', ", "\u2028", "\ud83d\ude00", "jest.mock('./a')"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_no_events(data):
    try:
        parse_node_events(data, runner="node")
    except InputError as error:
        if error.code != "REPORT_UNREADABLE":
            raise


records = st.fixed_dictionaries(
    {
        "file": texts | values,
        "names": st.lists(texts, max_size=3) | values,
        "outcome": st.sampled_from([*Outcome]) | texts,
    },
    optional={"line": values, "ms": values, "text": values, "other": values},
)


@settings(max_examples=150, deadline=None)
@given(st.lists(records, max_size=4), st.booleans(), texts)
def test_every_record_is_understood_or_refused(found, success, workdir):
    lines = [{"gatekeeper": 1, "runner": "jest"}, *found, {"end": len(found), "success": success}]
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    try:
        report = parse_node_events(data, runner="jest", workdir=workdir)
    except InputError as error:
        if error.code != "REPORT_UNREADABLE":
            raise
        return
    assert isinstance(report, SuiteReport)
    assert len(report.cases) == len(found)
    for case in report.cases:
        assert case.file is not None
        assert not case.file.startswith(("/", "../"))
        assert "\n" not in case.id


@settings(max_examples=100, deadline=None)
@given(st.lists(records, min_size=1, max_size=4), st.data())
def test_events_that_are_cut_short_are_refused(found, data):
    lines = [{"gatekeeper": 1, "runner": "node"}, *found, {"end": len(found), "success": False}]
    whole = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    try:
        parse_node_events(cut, runner="node")
    except InputError:
        return
    raise AssertionError("half of a file passed for a whole one")


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(texts | st.just("packages") | st.just("lockfileVersion"), values, max_size=4), values)
def test_every_lock_and_manifest_is_understood_or_refused(lock, manifest):
    raw, other = json.dumps(lock).encode(), json.dumps(manifest).encode()
    for action in (lambda: depends(other), lambda: workspaces(raw), lambda: npm_project({"": other}, raw)):
        try:
            action()
        except InputError as error:
            if error.code != "INPUT_MALFORMED":
                raise


entries = st.dictionaries(
    st.sampled_from(
        ["version", "resolved", "integrity", "link", "dependencies", "inBundle", "bin", "name", "os", "scripts"]
    ),
    values | st.just("1.0.0") | st.just("sha512-" + "a" * 88),
    max_size=6,
)
keys = st.sampled_from(
    [
        "",
        "node_modules/a",
        "node_modules/@s/b",
        "../x",
        "node_modules/../../etc",
        "packages/p",
        "/abs",
        "node_modules/a/node_modules/c",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(keys, entries, max_size=5))
def test_nothing_but_names_versions_and_digests_comes_out_of_a_lock(packages):
    lock = json.dumps({"lockfileVersion": 3, "packages": packages}).encode()
    try:
        made = npm_project({"": b"{}"}, lock)
    except InputError:
        return
    for key, entry in made.lock["packages"].items():
        assert ".." not in key.split("/")
        assert not key.startswith("/")
        assert "resolved" not in entry or entry.get("link") is True
        assert not {"scripts", "hasInstallScript"} & set(entry)
        if key and not entry.get("link") and not entry.get("inBundle"):
            assert entry["integrity"].startswith("sha")


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES | st.text(max_size=8), max_size=40).map("".join))
def test_every_source_is_read(source):
    found = tokens(source)
    assert all(a < b for a, b in closing(found).items())
    module = read_tests(source)
    for test in module.tests:
        assert 1 <= test.line <= source.count("\n") + 1
        assert test.pattern.fullmatch(test.title) or test.dynamic


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a.test.js", "b.test.js"]), texts), max_size=6), st.lists(texts, max_size=6))
def test_titles_of_what_was_seen_match_themselves(seen, claimed):
    ids = [f"{path}::{title}" for path, title in seen]
    titles = Titles(ids, claimed)
    for test_id in ids:
        titles.seen(test_id)
    for case in claimed:
        titles.claimed(case)
