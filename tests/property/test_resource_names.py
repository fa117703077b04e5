"""Names, refs, commits and tokens of pages bear any text."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.api.paging import page_of, query, token_of
from gatekeeper.api.requests import source_uri, text
from gatekeeper.api.v1 import changes_pb2, events_pb2
from gatekeeper.domain.records import ChangeRecord, Event
from gatekeeper.errors import InputError
from gatekeeper.formats import resource_names as names

PARTS = st.sampled_from(["owners", "a", "repositories", "b", "changes", "c", "verifications", "v", "-", "..", "", "ä"])
TEXTS = st.one_of(st.text(max_size=80), st.lists(PARTS, max_size=9).map("/".join))
CHECKS = [
    *(lambda t, k=k: names.resource_name(k, t, "f") for k in names.Kind),
    *(lambda t, c=c: c(t, "f") for c in (names.segment, names.commit, names.sha256, names.request_id, names.ref)),
    lambda t: source_uri(t, "f"),
    lambda t: text(t, "f", 40),
]


@given(TEXTS)
def test_any_text_is_taken_as_it_is_or_refused(value: str):
    for check in CHECKS:
        try:
            got = check(value)
        except InputError as error:
            assert error.code in ("INPUT_MALFORMED", "INPUT_TOO_LARGE")  # noqa: PT017
            assert error.details["field"] == "f"  # noqa: PT017
        else:
            assert got in (value, value.lower())


@pytest.mark.parametrize(
    "name",
    [
        "owners/a/repositories/b", "owners/A-1/repositories/b.c_d", "owners/a/repositories/b/changes/42",
        "owners/a/repositories/b/changes/42/verifications/v1",
    ],
)  # fmt: skip
def test_honest_names_pass(name: str):
    kind = {4: names.Kind.REPOSITORY, 6: names.Kind.CHANGE, 8: names.Kind.VERIFICATION}[name.count("/") + 1]
    assert names.resource_name(kind, name, "name") == name
    assert names.repository_of(name) == "/".join(name.split("/")[:4])


@pytest.mark.parametrize(
    "name",
    [
        "owners/a/repositories/b\n", "owners/a/repositories/", "owners/../repositories/b", "owners/-/repositories/-",
        "/owners/a/repositories/b", "owners/a/repositories/b/", "owners/a/repositories/" + "b" * 65,
        "owners/a/repositories/b/changes/c", "OWNERS/a/repositories/b", "owners/a/repositories/.b", "owners/a/repositories/é",
    ],
)  # fmt: skip
def test_others_are_refused(name: str):
    with pytest.raises(InputError):
        names.resource_name(names.Kind.REPOSITORY, name, "name")


@pytest.mark.parametrize("ref", ["refs/heads/main", "refs/heads/release/1.2", "refs/heads/a-b_c", "refs/tags/v1"])
def test_honest_refs_pass(ref: str):
    assert names.ref(ref, "target_ref") == ref


@pytest.mark.parametrize(
    "ref",
    [
        "main", "refs/heads", "refs/heads/", "refs/heads/-x", "refs/heads/a..b", "refs/heads/a.lock", "refs/heads/a@{1}",
        "refs/heads/.a", "refs/heads/a.", "refs/heads/a b", "refs/heads/a\n", "refs/heads/a:b", "refs/heads/a^",
        "refs//heads/a", "refs/heads/" + "a" * 600,
    ],
)  # fmt: skip
def test_other_refs_are_refused(ref: str):
    with pytest.raises(InputError):
        names.ref(ref, "target_ref")


@pytest.mark.parametrize(
    "uri",
    ["https://git.example/a.git", "ssh://git@git.example:2222/a.git", "file:///srv/git/a.git", "https://[::1]:8443/a"],
)
def test_honest_sources_pass(uri: str):
    assert source_uri(uri, "source_uri") == uri


@pytest.mark.parametrize(
    "uri",
    [
        "http://git.example/a.git", "https://u:p@git.example/a.git", "https://u@git.example/a", "ssh://u:p@h/a",
        "file://host/a", "ext::sh -c x", "ssh://-oProxyCommand=x/a", "ssh://-x@h/a", "https:///a", "https://h/a?b=c",
        "https://h/a#b", "git@h:a.git", "https://h:99999/a", "https://h/a b", "", "https://h\\a/b",
    ],
)  # fmt: skip
def test_other_sources_are_refused(uri: str):
    with pytest.raises(InputError):
        source_uri(uri, "source_uri")


REQUEST = changes_pb2.ListChangesRequest(parent="owners/a/repositories/b", page_size=10)


@given(st.one_of(st.text(max_size=60), st.binary(max_size=60).map(lambda b: base64.urlsafe_b64encode(b).decode())))
def test_a_token_that_the_gate_did_not_make_is_refused(token: str):
    request = changes_pb2.ListChangesRequest()
    request.CopyFrom(REQUEST)
    request.page_token = token
    if token:
        with pytest.raises(InputError) as refused:
            page_of(ChangeRecord, request)
        assert refused.value.code == "PAGE_TOKEN_INVALID"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


@given(st.lists(JSON, max_size=3))
def test_a_token_for_the_right_query_holds_a_key_of_the_right_shape(key: list):
    token = base64.urlsafe_b64encode(json.dumps([query(REQUEST), *key]).encode()).decode()
    request = changes_pb2.ListChangesRequest()
    request.CopyFrom(REQUEST)
    request.page_token = token
    try:
        after = page_of(ChangeRecord, request).after
    except InputError as error:
        assert error.code == "PAGE_TOKEN_INVALID"  # noqa: PT017
    else:
        assert after is not None
        assert isinstance(after[0], int | float)
        assert isinstance(after[1], str)


@given(st.floats(0, 2**40), st.text("abc/-", min_size=1, max_size=20))
def test_a_token_leads_back_to_its_key(time: float, name: str):
    request = changes_pb2.ListChangesRequest()
    request.CopyFrom(REQUEST)
    request.page_token = token_of((time, name), request)
    request.page_size = 99
    assert page_of(ChangeRecord, request).after == (time, name)
    assert page_of(ChangeRecord, request).size == 99


def test_sizes_of_pages():
    assert page_of(ChangeRecord, changes_pb2.ListChangesRequest()).size == 50
    assert page_of(ChangeRecord, changes_pb2.ListChangesRequest(page_size=10_000)).size == 100
    assert page_of(Event, events_pb2.ListEventsRequest(page_size=10_000), default=100, cap=1000).size == 1000
    with pytest.raises(InputError):
        page_of(ChangeRecord, changes_pb2.ListChangesRequest(page_size=-1))
