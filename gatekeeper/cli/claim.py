"""`gatekeeper claim`: the author's own tool, on the author's own machine: run the tests, write down what was seen.

Nothing here is part of the gate. The command runs as the caller would run it, without a sandbox.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from gatekeeper.cli.check import read_input
from gatekeeper.errors import UsageError
from gatekeeper.records import dataclass

MAX_REPORT = 16 * 1024 * 1024
MAX_NAMED = 10
"""Differing paths that are named."""
PAPERS = ("claim.json", "ticket.json")
"""Names that `gatekeeper init` gives to what lies in the work tree and is no part of it."""
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ENV = re.compile(r"[A-Za-z_]\w*=")


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(context_settings={"allow_interspersed_args": False})
    def claim(
        run: Annotated[
            list[str] | None,
            typer.Argument(metavar="[--] COMMAND...", help="What to run; one quoted argument is a line for the shell."),
        ] = None,
        repo: Annotated[Path, typer.Option(help="The git work tree; the command runs in its root.")] = Path(),
        head: Annotated[str, typer.Option(help="The commit that the claim is about.")] = "HEAD",
        base: Annotated[str | None, typer.Option(help="The commit of the target that the work began from.")] = None,
        junit: Annotated[
            list[Path] | None, typer.Option(help="A JUnit XML report that the command writes; may be repeated.")
        ] = None,
        ticket: Annotated[
            Path | None, typer.Option(help="The ticket: without COMMAND its verify lines are run, else compared.")
        ] = None,
        command: Annotated[str | None, typer.Option(help="Run nothing: this was run before, with --exit-code.")] = None,
        exit_code: Annotated[
            int | None, typer.Option(min=-255, max=255, help="The exit status that --command ended with.")
        ] = None,
        summary: Annotated[str, typer.Option(help="What was changed and why.")] = "",
        risks: Annotated[str, typer.Option(help="What could go wrong.")] = "",
        rollback: Annotated[str, typer.Option(help="How to take it back.")] = "",
        not_done: Annotated[str, typer.Option(help="What was left out.")] = "",
        allow_dirty: Annotated[
            bool, typer.Option("--allow-dirty", help="Claim although the work tree is not the commit.")
        ] = False,
        output: Annotated[Path, typer.Option(help="Where to write the claim; - for standard output.")] = Path(
            "claim.json"
        ),
    ) -> int:
        """Run the tests as you would, and write claim.json: the commit, the command, its exit status and its report.

        A tool of the change's author: the command runs here and now, without a sandbox. The gate believes nothing of it
        and compares it with a run of its own.

        Exit status: 0 the claim was written, whatever status the command had; 2 it was not.
        """
        from gatekeeper.formats.claim_document import claim_document

        work = _work_tree(repo, head)
        commit = work.commit if head == "HEAD" else _resolved(work.root, head, "--head")
        verify = _verify(ticket)
        asked = _asked(run or [], command, exit_code, verify, ticket)
        if not output.absolute().parent.is_dir():
            raise UsageError(
                "USAGE",
                f"--output is {str(output)!r}, and there is no such directory.",
                next_action="Name a file in a directory that exists, for instance --output claim.json.",
            )
        papers = [output, *_reports(asked, junit or []), *([ticket] if ticket else [])]
        _require_clean(work, commit, papers, allow_dirty, ran=asked.run)
        started = _resolved(work.root, base, "--base") if base is not None else None
        if exit_code is not None:
            done = _Done(exit_code, tuple(_report(p) for p in junit or ()))
        else:
            done = _run(work, asked, junit or [], aside=_to_stdout(output))
        if asked.run and _resolved(work.root, "HEAD", "--head") != work.commit:
            raise UsageError(
                "CLAIM_OTHER_COMMIT", "The command moved HEAD, so it is not known which commit it was run on."
            )
        data = claim_document(
            head=commit,
            base=started,
            command=asked.recorded,
            exit_code=done.exit_code,
            reports=done.reports,
            texts={"summary": summary, "risks": risks, "rollback": rollback, "not_done": not_done},
        )
        _warn(asked, done, verify)
        try:
            if _to_stdout(output):
                sys.stdout.write(data.decode("ascii"))
                sys.stdout.flush()
            else:
                output.write_bytes(data)
        except OSError as error:
            raise UsageError(
                "USAGE",
                f"--output {str(output)!r} cannot be written: {error.strerror}.",
                next_action="Name a file that you may write, for instance --output /tmp/claim.json.",
            ) from error
        kept = f"{len(done.reports)} {'report' if len(done.reports) == 1 else 'reports'}"
        _say(f"{output} written: commit {commit[:12]}, exit status {done.exit_code}, {kept}.")
        return 0


@dataclass(frozen=True, slots=True)
class _WorkTree:
    root: Path
    commit: str
    """Of its HEAD."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """The command as the claim tells it, and as it is started (empty: it was run before)."""

    recorded: str
    words: tuple[str, ...] = ()
    """Of a program and its arguments; empty for a line of the shell."""
    run: bool = True


@dataclass(frozen=True, slots=True)
class _Done:
    exit_code: int
    reports: tuple[bytes, ...]


def _to_stdout(output: Path) -> bool:
    return str(output) == "-"


def _say(words: str) -> None:
    print(f"gatekeeper claim: {words}", file=sys.stderr)


def _git(root: Path, *words: str) -> bytes | None:
    """What git says; None where it refuses. Raises `UsageError` where there is no git."""
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError("REPOSITORY_UNREADABLE", f"git cannot be run on {str(root)!r}: {error}.") from error
    return done.stdout if done.returncode == 0 else None


def _work_tree(repo: Path, head: str) -> _WorkTree:
    root = _git(repo, "rev-parse", "--show-toplevel") if repo.is_dir() else None
    if not root or not root.strip():
        raise UsageError(
            "REPOSITORY_UNREADABLE",
            f"--repo is {str(repo)!r}, which is no git work tree.",
            next_action="Give a directory of a clone with files in it, for instance --repo . within it.",
        )
    place = Path(os.fsdecode(root.rstrip(b"\n")))
    return _WorkTree(place, _resolved(place, "HEAD", "--head" if head == "HEAD" else "--repo"))


def _resolved(root: Path, name: str, option: str) -> str:
    found = (_git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}") or b"").decode()
    if not _COMMIT.fullmatch(found.strip()):
        raise UsageError(
            "HEAD_NOT_FOUND",
            f"{option} is {name[:80]!r}, which is no commit of {str(root)!r}.",
            next_action=f"Give a commit or branch that is there, for instance {option} HEAD after `git commit`.",
        )
    return found.strip()


def _verify(ticket: Path | None) -> tuple[str, ...]:
    if ticket is None:
        return ()
    from gatekeeper.formats.ticket import parse_ticket

    return parse_ticket(read_input(ticket, "ticket")).verify


def _asked(
    words: list[str], command: str | None, exit_code: int | None, verify: tuple[str, ...], ticket: Path | None
) -> _Asked:
    """What to run, or what was run. Raises `UsageError` where that is not said once."""
    if command is not None or exit_code is not None:
        if words or command is None or exit_code is None or not command.strip():
            raise UsageError(
                "USAGE",
                "--command and --exit-code go together and without a COMMAND: they tell what was run before.",
                next_action="Write for instance: gatekeeper claim --junit report.xml --command 'pytest -q' --exit-code 0",
            )
        return _Asked(command, run=False)
    if not words and verify:
        return _Asked("\n".join(verify))
    if not words or not words[0].strip():
        why = "The ticket has no verify lines, and no COMMAND is given." if ticket else "No COMMAND is given."
        raise UsageError(
            "USAGE",
            why,
            next_action="Write it last, for instance: gatekeeper claim -- python -m pytest -q",
        )
    if len(words) == 1 and len(words[0].split()) > 1:
        return _Asked(words[0])
    return _Asked(shlex.join(words), tuple(words))


def _require_clean(work: _WorkTree, commit: str, papers: list[Path], allowed: bool, *, ran: bool) -> None:
    """Raises `UsageError` (CLAIM_TREE_DIRTY, CLAIM_OTHER_COMMIT) unless what lies in the work tree is the commit."""
    from gatekeeper.formats.claim_document import differences
    from gatekeeper.formats.text_safety import harmless

    if commit != work.commit:
        if not ran:
            return
        raise UsageError(
            "CLAIM_OTHER_COMMIT",
            f"--head is {commit}, but the work tree has {work.commit} checked out, and that is what the command would run on.",
            next_action=f"git switch --detach {commit[:12]} first, or leave --head out.",
        )
    status = _git(work.root, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all")
    if status is None:
        raise UsageError("REPOSITORY_UNREADABLE", f"git cannot say what differs in {str(work.root)!r}.")
    found = differences(status, {*PAPERS, *(p for path in papers for p in _within(work.root, path))})
    if not found:
        return
    more = f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    named = ", ".join(harmless(f[:300], newlines=False) for f in found[:MAX_NAMED])
    message = f"The work tree is not commit {commit[:12]}; it differs in: {named}{more}."
    if not allowed:
        raise UsageError("CLAIM_TREE_DIRTY", message)
    _say(f"{message} The claim says otherwise (--allow-dirty).")


def _within(root: Path, path: Path) -> set[str]:
    """The path as git writes it, as the caller or as the command would mean it; empty where it lies elsewhere."""
    top = os.path.realpath(root)
    places = (os.path.join(os.path.realpath(p.parent), p.name) for p in (Path.cwd() / path, root / path))
    return {os.path.relpath(p, top) for p in places if p.startswith(top + os.sep)}


def _report(path: Path) -> bytes:
    if not path.is_file():
        raise UsageError(
            "CLAIM_REPORT_NOT_WRITTEN",
            f"There is no report {str(path)!r}.",
            next_action="Name the JUnit XML file that the runner wrote, for instance --junit report.xml.",
        )
    return read_input(path, "report", MAX_REPORT)


def _reports(asked: _Asked, junit: list[Path]) -> list[Path]:
    """The reports that the command is known to write: those named with --junit, else the one it names itself."""
    from gatekeeper.formats.pytest_command import is_pytest, report_of

    own = report_of(asked.recorded) if asked.run and not junit and is_pytest(asked.recorded) else None
    return [Path(own)] if own else junit


def _run(work: _WorkTree, asked: _Asked, junit: list[Path], *, aside: bool) -> _Done:
    """Run the command and take in its reports; pytest is asked for one where none is named."""
    import tempfile

    from gatekeeper.formats.pytest_command import is_pytest, takes_report

    wanted = _reports(asked, junit)
    with tempfile.TemporaryDirectory(prefix="gatekeeper-claim-") as folder:
        extra = Path(folder) / "report.xml"
        if not wanted and is_pytest(asked.recorded) and takes_report(asked.recorded):
            _say(f"pytest is run with --junit-xml={extra} as well; the claim tells the command without it.")
            code = _started(work.root, asked, f"--junit-xml={extra}", aside=aside)
            return _Done(code, (_report(extra),) if extra.is_file() else ())
    places = [(path, [_place(p) for p in dict.fromkeys((Path.cwd() / path, work.root / path))]) for path in wanted]
    code = _started(work.root, asked, "", aside=aside)
    return _Done(code, tuple(_report(_fresh(path, before, code)) for path, before in places))


@dataclass(frozen=True, slots=True)
class _Place:
    """A file where a report may be written, and what lay there before."""

    path: Path
    before: tuple[int, int, int] | None


def _mark(path: Path) -> tuple[int, int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _place(path: Path) -> _Place:
    return _Place(path, _mark(path))


def _fresh(path: Path, places: list[_Place], code: int) -> Path:
    """Where the command wrote the report. Raises `UsageError` (CLAIM_REPORT_NOT_WRITTEN): an old one is none."""
    for place in places:
        now = _mark(place.path)
        if now is not None and now != place.before:
            return place.path
    old = any(_mark(p.path) is not None for p in places)
    what = "is there from before; the command did not write it" if old else "was not written"
    raise UsageError("CLAIM_REPORT_NOT_WRITTEN", f"The report {str(path)!r} {what} (exit status {code}).")


def _started(root: Path, asked: _Asked, option: str, *, aside: bool) -> int:
    """The exit status, as a shell would tell it. Raises `UsageError` (CLAIM_COMMAND_NOT_RUN).

    `aside`: standard output is for the claim alone, so the command writes to standard error.
    """
    if asked.words:
        words = [*asked.words, option] if option else list(asked.words)
        words = ["env", *words] if _ENV.match(words[0]) else words
    else:
        line = f"{asked.recorded.rstrip()} {shlex.quote(option)}" if option else asked.recorded
        words = ["sh", "-c", f"set -e\n{line}" if "\n" in line.strip() else line]
    # What the program sets for itself is not the command's.
    env = {k: v for k, v in os.environ.items() if (k, v) != ("TYPER_USE_RICH", "0")}
    sys.stdout.flush()
    try:
        code = subprocess.run(words, cwd=root, env=env, stdout=2 if aside else None, check=False).returncode
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        misplaced = len(asked.words) > 1 and " " in asked.words[0]
        raise UsageError(
            "CLAIM_COMMAND_NOT_RUN",
            f"{asked.recorded[:200]!r} cannot be started: {why}.",
            next_action="Options of `gatekeeper claim` stand before the command." if misplaced else None,
        ) from error
    return 128 - code if code < 0 else code


def _warn(asked: _Asked, done: _Done, verify: tuple[str, ...]) -> None:
    """What the gate will find fault with, said before it does."""
    from gatekeeper.formats.claim_document import unlike
    from gatekeeper.formats.pytest_command import is_pytest, renames

    for line in unlike(asked.recorded, verify):
        _say(f"the ticket's {line[:200]!r} is not among what was run; the gate will say CLAIM_OTHER_COMMAND.")
    if done.reports and is_pytest(asked.recorded):
        for option in renames(asked.recorded):
            _say(
                f"with {option} the report names the tests otherwise than the gate's run does; it will say"
                f" CLAIM_PASSED_NOT_SEEN. Run it without {option}."
            )
    if not done.reports:
        _say(
            "there is no report in it. Where the gate counts single tests it will say CLAIM_REPORT_MISSING; have the runner"
            " write JUnit XML and name the file with --junit."
        )
