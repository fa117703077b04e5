"""Keys of pages: made from rows, and told from what clients send."""

from __future__ import annotations

import json
from typing import Any

import pytest
import record_builder as make
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.domain.paging import is_key, row_key
from gatekeeper.domain.records import ChangeRecord, Event, RepositoryRecord

ROWS = [
    make.repository(),
    make.ticket(),
    make.change(),
    make.verification(),
    make.attestation(),
    make.event(sequence=4),
]


@pytest.mark.parametrize("row", ROWS)
def test_the_key_of_a_row_is_one_and_survives_json(row: Any) -> None:
    key = row_key(row)
    assert is_key(type(row), key)
    assert tuple(json.loads(json.dumps(key))) == key


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        (RepositoryRecord, ()), (RepositoryRecord, (1,)), (RepositoryRecord, ("a", "b")), (RepositoryRecord, ["a"]),
        (Event, ("1",)), (Event, (True,)), (Event, (-1,)), (Event, (2**63,)), (Event, (1.0,)),
        (ChangeRecord, ("n", 1.0)), (ChangeRecord, (float("inf"), "n")), (ChangeRecord, (10**400, "n")),
        (ChangeRecord, (1.0, "\ud800")), (ChangeRecord, (1.0, "a\0")), (ChangeRecord, None),
    ],
)  # fmt: skip
def test_other_shapes_are_no_keys(kind: type[Any], key: object) -> None:
    assert not is_key(kind, key)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda v: st.lists(v) | st.tuples(v, v)
)


@given(st.sampled_from([type(r) for r in ROWS]), json_values)
def test_anything_is_answered(kind: type[Any], key: object) -> None:
    assert is_key(kind, key) in (True, False)
