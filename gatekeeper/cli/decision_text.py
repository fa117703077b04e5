"""What a reviewer reads before deciding through the server: the plan, what was judged, how to read it, what was found."""

from __future__ import annotations

import re
from shlex import quote
from typing import TYPE_CHECKING

from gatekeeper.cli.connection import line, word
from gatekeeper.cli.listing import question_lines, short
from gatekeeper.cli.report_text import wrapped
from gatekeeper.cli.verification_text import report

if TYPE_CHECKING:
    from gatekeeper.client import Change, Ticket, Verification

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(r"refs/heads/[^\s\x00-\x1f\x7f]+")


def shown(change: Change, made: Verification, ticket: Ticket | None) -> str:
    """All of it as text; `ticket` is None where it could not be read. Nothing of it reaches a terminal raw."""
    ticket_id = line(made.ticket.rpartition("/")[2], 64)
    state = word(change.state, change.State, "STATE_").replace("_", " ")
    lines = [f"change   {line(short(change.name))}, {state}"]
    if ticket is None:
        lines.append(f"ticket   {ticket_id}; the server does not show it")
    else:
        lines += wrapped(f"ticket   {ticket_id}: {line(ticket.title)}", "         ")
        lines += wrapped(f"goal     {line(ticket.goal, 2000)}", "         ")
        if ticket.digest != made.ticket_digest:
            lines.append("         THE TICKET WAS CHANGED SINCE: this verdict is of an older one")
    lines.append(f"target   {line(made.target_ref)} at {line(made.base_commit, 64) or 'a commit that is not known'}")
    lines.append(f"head     {line(made.head_commit, 64)}")
    by, behalf = made.submitter.subject, made.submitter.on_behalf_of
    lines.append(f"from     {line(by)}{f' for {line(behalf)}' if behalf else ''}")
    lines += question_lines(change)
    # Never wrapped: it is there to be copied.
    command = diff_command(made)
    lines += ["", "Read the diff in a clone of your own:", f"  {command}"] if command else []
    return "\n".join([*lines, "", report(made, change, following=False)])


def diff_command(made: Verification) -> str:
    """Fetches both sides and shows what the head adds; empty where the server's words cannot be git's."""
    if (
        not _COMMIT.fullmatch(made.head_commit)
        or not _REF.fullmatch(made.target_ref)
        or not made.target_ref.isprintable()
    ):
        return ""
    # The first of what is fetched is FETCH_HEAD: the target as it is now, where the gate got to no base.
    base = made.base_commit if _COMMIT.fullmatch(made.base_commit) else "FETCH_HEAD"
    fetch = f"git fetch origin {quote(made.target_ref)} {made.head_commit}"
    return f"{fetch} && git diff {base}...{made.head_commit}"
