"""`[effort]` of the gate's settings file."""

from __future__ import annotations

import pytest

from gatekeeper.domain.effort import DEFAULT, measuring
from gatekeeper.domain.ticket import Risk
from gatekeeper.errors import ConfigurationError
from gatekeeper.formats.gate_settings import parse_gate_settings


def test_without_a_table_the_defaults_hold_and_the_low_tier_is_not_measured() -> None:
    assert parse_gate_settings(b"").effort == DEFAULT
    assert DEFAULT[Risk.LOW].mutation_s == 0


def test_a_tier_takes_what_is_said_and_keeps_the_rest() -> None:
    found = parse_gate_settings(b"[effort.low]\nmutation_s = 2.5\n[effort.high]\nreruns = 9\n").effort
    assert (found[Risk.LOW].mutation_s, found[Risk.LOW].reruns) == (2.5, DEFAULT[Risk.LOW].reruns)
    assert (found[Risk.HIGH].mutation_s, found[Risk.HIGH].reruns) == (DEFAULT[Risk.HIGH].mutation_s, 9)
    assert found[Risk.MEDIUM] == DEFAULT[Risk.MEDIUM]


def test_the_seconds_of_one_check_hold_for_every_tier() -> None:
    found = measuring(DEFAULT, 7)
    assert {row.mutation_s for row in found.values()} == {7}
    assert found[Risk.HIGH].reruns == DEFAULT[Risk.HIGH].reruns


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[effort]\nlow = 3\n", "low in [effort] must be a table"),
        ("[effort.lo]\nmutation_s = 1\n", "did you mean 'low'"),
        ("[effort.low]\nmutations = 1\n", "did you mean 'mutation_s'"),
        ("[effort.low]\nmutation_s = -1\n", "a number from 0"),
        ("[effort.low]\nmutation_s = true\n", "a number from 0"),
        ("[effort.low]\nreruns = 1.5\n", "a whole number"),
    ],
)
def test_what_makes_no_sense_is_named(text: str, word: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot be used") as caught:
        parse_gate_settings(text.encode())
    assert word in caught.value.message
