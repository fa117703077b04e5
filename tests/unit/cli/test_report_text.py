"""The text report: golden texts of every kind of outcome, no control character, colour on a terminal only."""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from pathlib import Path

import pytest
from outcomes import made_outcome, made_run

from gatekeeper.cli.report_text import IN_FULL, WIDTH, report
from gatekeeper.domain.finding import finding
from gatekeeper.domain.verdict import Verdict
from gatekeeper.formats.repair_brief import repair_brief

GOLDEN = Path(__file__).parents[2] / "golden"


def _generator():
    spec = importlib.util.spec_from_file_location("make_report_texts", GOLDEN / "make_report_texts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MADE = _generator()


@pytest.mark.parametrize("name", sorted(MADE.texts()))
def test_the_text_is_the_golden_one(name):
    kept = (GOLDEN / "report" / name).read_text(encoding="utf-8")
    assert MADE.texts()[name] == kept, "wanted? then run tests/golden/make_report_texts.py"


def test_no_golden_text_is_left_over():
    assert {p.name for p in (GOLDEN / "report").iterdir()} == set(MADE.texts())


@pytest.mark.parametrize("kind", [k.__name__ for k in MADE.KINDS])
def test_nothing_reaches_a_terminal_raw_and_lines_stay_narrow(kind):
    text = report(getattr(MADE, kind)())
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") for c in text.replace("\n", ""))
    quoted = [line for line in text.splitlines() if line.startswith("     | ")]
    assert all(len(line) <= WIDTH for line in text.splitlines() if line not in quoted)


def test_colour_is_asked_for():
    outcome = made_outcome(verdict=Verdict.ACCEPTED)
    assert "\x1b[" not in report(outcome)
    assert report(outcome, color=True).startswith("\x1b[1;32mACCEPTED\x1b[0m")


def test_of_many_alike_only_the_first_are_told_in_full():
    found = [finding("TESTS_FAILED", f"t{n} failed.", path="a.py", line=n + 1, evidence="E") for n in range(12)]
    text = report(made_outcome(found, [made_run({"a.py::t": "failed"})]))
    assert text.count("     | E") == IN_FULL
    assert all(f"t{n} failed." in text for n in range(12))


def test_a_narrow_terminal_gets_narrow_lines():
    text = report(MADE.needs_human(), width=60)
    assert max(len(line) for line in text.splitlines() if not line.startswith("     | ")) <= 60


@pytest.mark.parametrize("kind", [k.__name__ for k in MADE.KINDS])
def test_what_the_change_wrote_never_begins_a_line_of_the_brief(kind):
    own = re.compile(
        r"|\| .*|\||\d+\. [A-Z_]+ \((?:blocks|asks a person)\).*|   (?:What is wrong|Seen|Expected|Why it matters|Change next): .*"
        r"|(?:REJECTED|UNDECIDED|A PERSON MUST DECIDE): head .*|Attempt \d.*|Lines that begin with .*|The same goes for .*"
        r"|Nothing is wrong that .*|The gate could not .*|What must not be touched:|  - .*|    permitted: .*|Then:|    status .*"
        r"|Submit the same head .*|Submit nothing new .*|Suite .*|The output of the failing .*|\(it wrote nothing\)|\.\.\. and \d+ more reasons.*"
    )
    for line in repair_brief(getattr(MADE, kind)(), attempt=1).splitlines():
        assert own.fullmatch(line), line


def test_a_fault_of_the_ticket_sends_nobody_to_the_change():
    text = report(made_outcome([finding("TICKET_MALFORMED", "The field 'allowed' is missing.")], ticket=None))
    last = " ".join(text[text.index("next  ") :].split())
    assert last.startswith("next the ticket is at fault, not the change: whoever keeps the ticket mends it")
    assert "commit, check again" not in last
