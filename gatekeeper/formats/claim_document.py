"""A `claim.json` as its author's tool writes it, held against the rules by which the gate will read it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gatekeeper.errors import InputError
from gatekeeper.formats.claim import parse_claim
from gatekeeper.formats.command_lines import essence
from gatekeeper.formats.junit_xml import parse_junit

SCHEMA = "gatekeeper.claim/1"
LEFTOVERS = frozenset({"__pycache__", ".pytest_cache", ".coverage", ".hypothesis", ".mypy_cache", ".ruff_cache"})
"""Names that runners leave behind where a repository does not ignore them; no commit lacks them."""

_ADVICE = {
    "CLAIM_REPORT_CONTRADICTS_ITSELF": "Give the report of this very run as the runner wrote it, and let the command end with the"
    " runner's own status (no `|| true`)."
}


def claim_document(
    *, head: str, base: str | None, command: str, exit_code: int, reports: Sequence[bytes], texts: Mapping[str, str]
) -> bytes:
    """The claim of one command about one commit; `texts` are further fields for people, those without words are left out.

    Raises `InputError` for what the gate would refuse: a report that is no JUnit XML (CLAIM_REPORT_MALFORMED) or that
    contradicts itself or the exit status (CLAIM_REPORT_CONTRADICTS_ITSELF), a text that is too long (CLAIM_MALFORMED).
    """
    written = []
    for report in reports:
        parse_junit(report)
        try:
            written.append(report.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise InputError("CLAIM_REPORT_MALFORMED", "The report is not UTF-8, which a claim can hold.") from error
    row: dict[str, Any] = {"cmd": command, "exit_code": exit_code}
    table: dict[str, Any] = {"schema": SCHEMA, "head_sha": head}
    if base is not None:
        table["base_sha"] = base
    if len(written) > 1:
        table["runs"] = [{**row, "reports": written}]
    else:
        table["commands"] = [row]
        if written:
            table["junit_xml"] = written[0]
    table |= {name: words for name, words in texts.items() if words}
    data = (json.dumps(table, indent=2) + "\n").encode("ascii")
    for code, message in parse_claim(data).report_faults:
        raise InputError(code, message, next_action=_ADVICE.get(code))
    return data


def unlike(command: str, verify: Iterable[str]) -> tuple[str, ...]:
    """Those lines of a ticket's `verify` that the command does not run, by the rule of the gate's own comparison."""
    ran = {essence(line) for line in command.splitlines() if line.strip()} | {essence(command)}
    lines = [line for text in verify for line in text.splitlines() if line.strip()]
    return tuple(line.strip() for line in lines if essence(line) not in ran)


def differences(status: bytes, papers: Iterable[str]) -> tuple[str, ...]:
    """What `git status --porcelain=v1 -z --no-renames` lists, as `mark path`, without what runners leave behind.

    `papers` are paths (as git writes them) that are no part of the work: claim, ticket, report. They are left out where
    git does not know them; a committed file of such a name counts like any other.
    """
    aside, found = frozenset(papers), []
    for row in status.split(b"\0"):
        text = row.decode("utf-8", "backslashreplace")
        mark, path = text[:2], text[3:]
        if not path or (mark == "??" and (path in aside or LEFTOVERS.intersection(path.split("/")))):
            continue
        found.append(f"{'new' if mark == '??' else mark.strip()} {path}")
    return tuple(found)
