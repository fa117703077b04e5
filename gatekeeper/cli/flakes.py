"""`gatekeeper flakes`: the register of tests that are known to be flaky, on this machine."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from gatekeeper.cli.token import Format, FormatOption, open_records, operator, seconds, timestamp
from gatekeeper.errors import UsageError
from gatekeeper.formats.text_safety import harmless

if TYPE_CHECKING:
    from gatekeeper.domain.flake import FlakeRecord
    from gatekeeper.domain.ports import FlakeDesk

TestArgument = Annotated[str, typer.Argument(help="Id of the test as `flakes list` shows it: tests/test_a.py::test_b.")]
RepositoryOption = Annotated[
    str,
    typer.Option("--repository", help="Only this repository, as `flakes list` names it; needed where several match."),
]
SuiteOption = Annotated[str, typer.Option(help="Only this suite; needed where several match.")]
ServiceOption = Annotated[
    bool, typer.Option("--service", help="The register of the service on this machine, instead of that of `check`.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        help="Tests known to be flaky.\n\nA test enters the register when it fails and passes on one commit of the target "
        "branch itself; nothing that a change does puts it there. While its entry lasts (14 days after it was last seen, "
        "unless you say otherwise) a failure of the test is told and excused, if it passes when it is run again.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    app.add_typer(group, name="flakes")

    @group.command("list")
    def list_records(
        repository: RepositoryOption = "",
        suite: SuiteOption = "",
        service: ServiceOption = False,
        form: FormatOption = Format.TEXT,
    ) -> int:
        """Show all entries, expired ones too: how often each failed, until when it excuses, and who is to mend it."""
        with _desk(service) as desk:
            found = [r for r in desk.records() if repository in ("", r.repository) and suite in ("", r.suite)]
        now = _now()
        if form is Format.JSON:
            print(json.dumps({"flakes": [{**asdict(r), "expired": not r.excuses(now)} for r in found]}, indent=2))
            return 0
        for r in found:
            until = f"until {timestamp(r.expires_at)}" if r.excuses(now) else f"expired {timestamp(r.expires_at)}"
            owner = harmless(r.owner, newlines=False) or "no owner"
            print(f"{harmless(r.test, newlines=False)}  {r.failed} of {r.runs} runs failed  {until}  {owner}")
            note = f"  {harmless(r.note, newlines=False)}" if r.note else ""
            print(f"    {harmless(r.repository, newlines=False)}  suite {harmless(r.suite, newlines=False)}{note}")
        if not found:
            print("no entries", file=sys.stderr)
        return 0

    @group.command()
    def own(
        test: TestArgument,
        owner: Annotated[str, typer.Option(help="Who is to mend it: a name or an address.")],
        expires: Annotated[str, typer.Option(help="How long from now it excuses: 30d, 12h; 90 days at most.")] = "14d",
        note: Annotated[
            str, typer.Option(help="Words for those who read the finding, such as an issue's address.")
        ] = "",
        repository: RepositoryOption = "",
        suite: SuiteOption = "",
        service: ServiceOption = False,
    ) -> int:
        """Name who mends a flaky test, and until when it is excused."""
        from gatekeeper.domain.flake import MAX_EXPIRY_S, MAX_WORDS

        life = seconds(expires)
        if life is None or life > MAX_EXPIRY_S:
            raise UsageError(
                "USAGE",
                f"--expires takes at most {MAX_EXPIRY_S // 86_400} days, not {expires!r}.",
                next_action="Give a shorter time, for instance --expires 14d; it can be given again.",
            )
        for name, text in (("--owner", owner), ("--note", note)):
            if (
                len(text) > MAX_WORDS
                or not (text.isprintable() and text == text.strip())
                or (name == "--owner" and not text)
            ):
                raise UsageError(
                    "USAGE",
                    f"{name} takes at most {MAX_WORDS} printable characters.",
                    next_action=f"Write one short line, for instance {name} {'ada@example.org' if name == '--owner' else chr(39) + 'mended in T-7' + chr(39)}.",
                )
        with _desk(service) as desk:
            record = _one(desk, test, repository, suite)
            desk.own(replace(record, owner=owner, note=note, expires_at=_now() + life), operator(), _now())
        print(f"{harmless(test, newlines=False)}: owner {owner}, excused for {expires}", file=sys.stderr)
        return 0

    @group.command()
    def forget(
        test: TestArgument, repository: RepositoryOption = "", suite: SuiteOption = "", service: ServiceOption = False
    ) -> int:
        """Take an entry out: the test is mended, or its failures are to count again."""
        with _desk(service) as desk:
            desk.forget(_one(desk, test, repository, suite), operator(), _now())
        print(f"{harmless(test, newlines=False)}: forgotten", file=sys.stderr)
        return 0


@contextlib.contextmanager
def _desk(service: bool) -> Iterator[FlakeDesk]:
    if service:
        from gatekeeper.workflow.service.flakes import ServiceFlakes

        with open_records() as records:
            yield ServiceFlakes(records)
        return
    from gatekeeper.config import paths
    from gatekeeper.wiring.engines import flake_register

    yield flake_register(paths())


def _one(desk: FlakeDesk, test: str, repository: str, suite: str) -> FlakeRecord:
    found = [
        r for r in desk.records() if r.test == test and repository in ("", r.repository) and suite in ("", r.suite)
    ]
    if len(found) == 1:
        return found[0]
    message = (
        f"There is no entry for {test!r}." if not found else f"{len(found)} entries are for {test!r}: name one of them."
    )
    raise UsageError(
        "USAGE", message, next_action="`gatekeeper flakes list` shows all; --repository and --suite choose."
    )


def _now() -> float:
    from gatekeeper.wiring.machine import SystemClock

    return SystemClock().now()
