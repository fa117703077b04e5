"""A ticket that asks for a suite which is not there is told what would help, by what the target has."""

from __future__ import annotations

import json

import pytest

from gatekeeper.domain.ticket import Suite
from gatekeeper.errors import InputError
from gatekeeper.formats.ticket import parse_ticket
from gatekeeper.workflow.steps.plan import suites_of

TICKET = {"id": "T-1", "title": "t", "allowed": ["**"], "forbidden": [], "risk": "low"}


def ticket(**more):
    return parse_ticket(json.dumps({**TICKET, **more}).encode())


@pytest.mark.parametrize(
    ("there", "words"),
    [((), "take `suites` out of the ticket"), ((Suite("unit", command="true"),), "Name a suite that is there")],
)
def test_the_next_step_fits_what_the_target_has(there, words):
    with pytest.raises(InputError) as caught:
        suites_of(ticket(suites=["tests"], verify="true"), there)
    assert caught.value.code == "TICKET_UNKNOWN_SUITE"
    assert words in caught.value.next_action


def test_a_suite_that_is_there_and_a_verify_command_are_both_run():
    there = (Suite("tests", command="true"),)
    assert [s.name for s in suites_of(ticket(suites=["tests"], verify="true"), there)] == ["tests", "verify"]
    assert [s.name for s in suites_of(ticket(verify="true"), ())] == ["verify"]
