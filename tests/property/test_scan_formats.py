"""Hostile bytes and texts: typed errors only, and nothing unprintable comes out."""

from __future__ import annotations

import contextlib
import json

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.adapters.kingfisher_scanner.views import views
from gatekeeper.errors import InputError
from gatekeeper.formats.added_lines import added_lines
from gatekeeper.formats.reviewer_notes import reviewer_note
from gatekeeper.formats.semgrep_json import parse_semgrep
from gatekeeper.formats.text_safety import encoding_fault, harmless, hidden_characters
from gatekeeper.observability import redacted

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda x: (
        st.lists(x, max_size=3)
        | st.dictionaries(st.sampled_from(["results", "errors", "paths", "scanned", "start", "line", "extra", "x"]), x)
    ),
    max_leaves=12,
)


@given(st.binary(max_size=200) | JSON.map(lambda v: json.dumps(v).encode()))
def test_report_parser_knows_typed_errors_only(data):
    with contextlib.suppress(InputError):
        report = parse_semgrep(data)
        assert all(m.line >= 1 for m in report.matches)


@given(st.text())
def test_harmless_is_printable_and_stable(text):
    shown = harmless(text, newlines=False)
    assert all(c.isprintable() or c.isspace() for c in shown)
    assert "\x1b" not in shown
    assert "\n" not in shown
    assert harmless(shown, newlines=False) == shown


@given(st.text(), st.text())
def test_added_lines_are_lines_of_the_new_text(before, after):
    lines = after.split("\n")
    assert all(lines[n - 1] == t for n, t in added_lines(before, after))
    assert added_lines(after, after) == []


@given(st.text(), st.binary())
def test_text_checks_never_raise(text, data):
    list(hidden_characters(text))
    reviewer_note(list(enumerate(text.split("\n"), 1)))
    encoding_fault(data, True)
    list(views(data))
    redacted(text)
