"""Tickets: a guard under a misspelt name is refused, any other unknown field is none of the gate's business."""

from __future__ import annotations

import json

import pytest

from gatekeeper.errors import InputError
from gatekeeper.formats.ticket import parse_ticket

TICKET = {"id": "T-1", "title": "t", "allowed": ["src/**"], "forbidden": [], "risk": "low"}


def parsed(**more):
    return parse_ticket(json.dumps({**TICKET, **more}).encode())


@pytest.mark.parametrize(
    ("name", "meant"),
    [("permit", "permits"), ("suite", "suites"), ("Permits", "permits"), ("verfy", "verify")],
)
def test_a_misspelt_guard_is_refused_by_its_right_name(name, meant):
    with pytest.raises(InputError, match=f"'{name}'; '{meant}' was meant") as caught:
        parsed(**{name: []})
    assert caught.value.code == "TICKET_MALFORMED"


def test_a_required_guard_under_a_wrong_name_is_named():
    rows = {name: value for name, value in TICKET.items() if name != "allowed"}
    with pytest.raises(InputError, match="'alowed'; 'allowed' was meant"):
        parse_ticket(json.dumps({**rows, "alowed": ["src/**"]}).encode())


@pytest.mark.parametrize(
    "name", ["notes", "labels", "assignee", "priority", "x", "", "url", "due", "estimate", "reporter"]
)
def test_other_fields_are_let_through(name):
    assert parsed(**{name: 1}).id == "T-1"


def test_a_second_name_beside_the_right_one_is_let_through():
    assert parsed(permit=[], permits=[]).permits == ()
