"""`gatekeeper submit` and `gatekeeper cancel`: hand one head of a change to the server, or take it back."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from gatekeeper.cli.connection import Session, command, line
from gatekeeper.errors import UsageError

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def register(app: typer.Typer) -> None:
    """Add the commands."""

    @command(app)
    def submit(
        session: Session,
        repo: Annotated[str, typer.Option("--repo", "-R", help="The registered repository, owner/repository.")],
        change: Annotated[str, typer.Option(help="Your key of this work, for instance the pull request's number.")],
        ticket: Annotated[str, typer.Option(help="Id of the approved ticket.")],
        head: Annotated[
            str, typer.Option(help="The commit to judge; a name is resolved in the current folder.")
        ] = "HEAD",
        target: Annotated[str, typer.Option(help="The branch it should land on.")] = "main",
        claim: Annotated[
            Path | None, typer.Option(help="What the agent says it ran and saw (JSON, at most 8 MiB).")
        ] = None,
        bundle: Annotated[
            Path | None, typer.Option(help="A git bundle with the commits, where the gate cannot fetch them.")
        ] = None,
        ticket_digest: Annotated[str, typer.Option(help="Refuse if the approved ticket is another than this.")] = "",
        merge_group: Annotated[str, typer.Option(help="Name of the merge queue's group.")] = "",
        on_behalf_of: Annotated[str, typer.Option(help="For whom the agent works.")] = "",
        request_id: Annotated[str | None, typer.Option(help="UUID of an earlier try, to repeat it.")] = None,
        watch: Annotated[bool, typer.Option("--watch", "-w", help="Wait, and end with the verdict's status.")] = False,
        timeout: Annotated[float | None, typer.Option(min=1, help="With --watch: seconds to wait at most.")] = None,
    ) -> int:
        """Submit one head of a change. Prints its name; status 0 says that it is stored, not that it is accepted."""
        made = session.client.submit(
            repository=repo, change=change, head=_resolved(head), ticket=ticket, target=target, claim=claim,
            bundle=bundle, ticket_digest=ticket_digest, merge_group=merge_group, on_behalf_of=on_behalf_of,
            request_id=request_id,
        )  # fmt: skip
        if not watch:
            session.show(made, lambda: line(made.name, 400))
            return 0
        from gatekeeper.cli.watch import follow

        if not session.as_json:
            print(f"submitted {line(made.name, 400)}", file=sys.stderr)
        return follow(session, [made.name], timeout, full=True)

    @command(app)
    def cancel(
        session: Session,
        verification: Annotated[str, typer.Argument(help="Whole name of the verification.")],
        comment: Annotated[str, typer.Option(help="Why.")] = "",
    ) -> int:
        """Cancel a verification that is not final."""
        made = session.client.cancel(verification, comment)
        session.show(made, lambda: f"cancelled {line(made.name, 400)}")
        return 0


def _resolved(head: str) -> str:
    if _COMMIT.fullmatch(head):
        return head
    if head.startswith("-"):
        raise UsageError(
            "USAGE", f"--head is {head[:80]!r}, which names no commit.", next_action="Give for instance --head HEAD."
        )
    try:
        found = subprocess.run(
            ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{head}^{{commit}}"],
            capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(
            "USAGE",
            f"git cannot say what {head[:80]!r} of --head is.",
            next_action="Give the full commit: all 40 hexadecimal digits.",
        ) from error
    commit = found.stdout.strip()
    if not _COMMIT.fullmatch(commit):
        raise UsageError(
            "USAGE",
            f"--head is {head[:80]!r}, which is no commit of a repository here.",
            next_action="Run it in the clone, or give the full commit: all 40 hexadecimal digits.",
        )
    return commit
