"""Tests that failed and passed on the same code: told from failures, and never silently passed over.

A failure that the target's own code shows as well is not the change's: it is told and excused. One that the change's
code alone shows is the change's, however rarely it fails. Tests that never passed are the business of `suite_results`.
"""

from __future__ import annotations

from datetime import UTC, datetime

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.flake import Repeated, Told
from gatekeeper.domain.testrun import RunRole
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.text_safety import harmless

_WHERE = {
    RunRole.MERGED: "on the merge result",
    RunRole.BASE_INSTRUMENTS: "on the change's code with the target's own instruments",
}


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """One finding for each test that was seen both to pass and to fail."""
    flaky = evidence.flaky
    if flaky is None:
        return ()
    found = [made for one in flaky.tests if (made := _told(evidence, one)) is not None]
    if flaky.trouble is not None:
        code, message = flaky.trouble
        # It only could have excused something, so that it is not there blocks nothing by itself.
        found.append(finding(code, message, key="flake register", effect=Effect.ADVISES))
    return tuple(found)


def _told(evidence: Evidence, one: Repeated) -> Finding | None:
    name = harmless(one.test)
    file = one.test.partition("::")[0]
    path = file if file in evidence.merged.entries else None
    seen = f"{name} failed in {one.here} runs {_WHERE.get(one.on, '')}, and in {one.before} on the target branch"
    if one.told is Told.FLAKY:
        return finding("FLAKY_TEST", f"{seen}{_record(one)}.", path=path, key=one.test, evidence=_grounds(one))
    if one.told is Told.UNSTABLE and one.on is RunRole.MERGED:
        return finding("TEST_MADE_UNSTABLE", f"{seen}.", path=path, key=one.test, evidence=_grounds(one))
    return None


def _record(one: Repeated) -> str:
    record = one.known
    if record is None:
        return ""
    who = f"owner {harmless(record.owner)}" if record.owner else "no owner"
    until = datetime.fromtimestamp(record.expires_at, UTC).date()
    return f"; the register has it as flaky until {until} ({record.failed} of {record.runs} runs of the target, {who})"


def _grounds(one: Repeated) -> str:
    words = []
    if one.touched:
        words.append("The change alters this test or what its file holds beside tests.")
    if one.sole:
        words.append("It runs changed lines that no other test runs.")
    elif one.reaches:
        words.append("It runs lines that the change alters.")
    elif one.reaches is False:
        words.append("It runs no line that the change alters.")
    if not one.settled:
        words.append("The suite never ended well as a whole, so what follows this test in its command was not seen.")
    if one.known is not None and one.known.note:
        words.append(f"Note in the register: {harmless(one.known.note)}")
    return " ".join(words)
