"""Findings about hostile text."""

from __future__ import annotations

import json

import pytest

from gatekeeper.domain.finding import finding


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udc80.py", "\ud83d\ude00", "\x00\u202e"])
def test_any_surrogate_makes_a_finding_that_can_be_written(text):
    one = finding("SCOPE_OUTSIDE", f"{text} is changed", evidence=text, path="a.py")
    json.dumps([one.message, one.evidence], ensure_ascii=False).encode()
    assert len(one.fingerprint) == 64
    assert one.fingerprint != finding("SCOPE_OUTSIDE", "\ud801 is changed", path="a.py").fingerprint
    assert finding("SCOPE_OUTSIDE", "a", path=text).fingerprint == finding("SCOPE_OUTSIDE", "a", path=text).fingerprint


def test_plain_text_stays_as_it_is():
    one = finding("SCOPE_OUTSIDE", "caf\u00e9", evidence="\u65e5\u672c")
    assert (one.message, one.evidence) == ("caf\u00e9", "\u65e5\u672c")
