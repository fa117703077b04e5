"""How often the gate stands in the way of honest work: human commits of a real library, judged one by one.

    python tests/bench/honest_history.py judge --repo PATH --branch main --commits 60 --environment VENV \
        --verify "PYTHONPATH=src python -m pytest -q" --results results.jsonl --scratch DIR [--again|--rejudge CODE|failed|all]
    python tests/bench/honest_history.py report results.jsonl ...

PATH is a clone that the caller made, VENV a virtual environment with the library's test requirements and without the
library. Each of the last N non-merge commits by people that touch Python files becomes a change: the target is its
parent, the head is the commit. The ticket allows the folders that the commit changed, permits nothing else and asks for
the library's own command. The claim is true: its report comes from a bare run of that command on a plain copy of the
commit, with the same interpreter, outside the gate.

A commit whose own suite fails in that environment says nothing about the gate and is left out; whether its parent fails
as well is recorded, so that such commits can be told from those that were red when they were made.

Runs of the sandbox are kept in DIR by content (tree, environment, suite, the gate's own files): the merge result of one
commit is the base of the next, and judging again after a change to the checks costs no test run. The results are JSON
lines, the last one of a commit counts; a commit that has one is not judged again unless `--again` names its verdict, a
code of its reasons, a beginning of its id, or `all`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

GIT_ENV = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C.UTF-8"}
MACHINE = re.compile(r"\[bot\]|\bbot\b|dependabot|pre-commit-ci|renovate|github-actions|weblate", re.IGNORECASE)
"""Authors that are no people."""
VERDICTS = ("accepted", "rejected", "needs_human", "undecided")
Row = dict[str, Any]


def git(where: Path, *arguments: str, binary: bool = False) -> Any:
    """Standard output of a git command that must succeed."""
    done = subprocess.run(["git", "-C", str(where), *arguments], env=GIT_ENV, check=True, capture_output=True)
    return done.stdout if binary else done.stdout.decode("utf-8", "surrogateescape")


def commits(repo: Path, branch: str, number: int) -> list[str]:
    """The last `number` commits, newest first, by people, with one parent, that touch a Python file."""
    found = []
    for line in git(repo, "log", "--no-merges", "--format=%H%x09%P%x09%an%x09%ae", branch, "--", "*.py").splitlines():
        commit, parents, name, address = line.split("\t", 3)
        if parents and " " not in parents and not MACHINE.search(f"{name} {address}"):
            found.append(commit)
        if len(found) == number:
            break
    return found


def allowed_by(repo: Path, commit: str) -> list[str]:
    """Globs for exactly what a commit changed: each folder with all below it, files at the root by name."""
    names = git(repo, "diff", "--no-renames", "--name-only", "-z", f"{commit}^", commit).split("\0")
    folders = {f"{n.rsplit('/', 1)[0]}/**" if "/" in n else n for n in names if n}
    return sorted(re.sub(r"([\[\]])", "?", f) for f in folders)


class Bare:
    """The library's own command on plain copies of its trees, outside the gate; results are kept by tree."""

    def __init__(self, repo: Path, environment: Path, verify: str, scratch: Path, timeout: float) -> None:
        self._repo, self._environment, self._verify, self._timeout = repo, environment, verify, timeout
        self._kept = scratch / "bare"
        self._kept.mkdir(parents=True, exist_ok=True)

    def run(self, commit: str) -> Row:
        """`exit_code`, `junit` (text) and the tail of the output."""
        tree = git(self._repo, "rev-parse", f"{commit}^{{tree}}").strip()
        mark = hashlib.sha256(f"{tree}\0{self._verify}\0{self._environment}".encode()).hexdigest()[:24]
        kept = self._kept / f"{mark}.json"
        if kept.exists():
            row: Row = json.loads(kept.read_text(encoding="utf-8"))
            return row
        with tempfile.TemporaryDirectory(prefix="honest-") as name:
            copy, report = Path(name) / "tree", Path(name) / "report.xml"
            copy.mkdir()
            archive = git(self._repo, "archive", commit, binary=True)
            subprocess.run(["tar", "-x", "-C", str(copy)], input=archive, check=True)
            env = {
                "PATH": f"{self._environment}/bin:{os.defpath}",
                "HOME": name,
                "LC_ALL": "C.UTF-8",
                "TZ": "UTC",
                "VIRTUAL_ENV": str(self._environment),
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTEST_ADDOPTS": f"--junitxml={report} -p no:cacheprovider",
            }
            try:
                done = subprocess.run(
                    ["sh", "-c", self._verify], cwd=copy, env=env, capture_output=True, text=True, errors="replace",
                    timeout=self._timeout, check=False,
                )  # fmt: skip
                code, output = done.returncode, done.stdout + done.stderr
            except subprocess.TimeoutExpired:
                code, output = -1, "timed out"
            junit = report.read_text(encoding="utf-8", errors="replace") if report.exists() else None
        row = {"exit_code": code, "junit": junit, "tail": output[-1500:]}
        kept.write_text(json.dumps(row), encoding="utf-8")
        return row


class KeptSandbox:
    """A sandbox whose runs are kept on disk by everything that decides them, whatever role they had."""

    def __init__(self, inner: Any, folder: Path) -> None:
        self._inner, self._folder = inner, folder
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, request: Any) -> Any:
        """The kept run under the request's own id and role, or a new one."""
        given = replace(request, id="", role="", tree=Path(), environment=request.environment.digest)
        mark = hashlib.sha256(repr(given).encode("utf-8", "surrogateescape")).hexdigest()
        kept = self._folder / f"{mark[:32]}.pickle"
        if kept.exists():
            made = pickle.loads(kept.read_bytes())  # our own file
        else:
            made = self._inner.run(request)
            fresh = kept.with_suffix(f".{os.getpid()}-{time.monotonic_ns()}")
            fresh.write_bytes(pickle.dumps(made))
            fresh.replace(kept)
        return replace(made, id=request.id, role=request.role)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def keep_runs(folder: Path) -> None:
    """Let every check in this process use kept runs."""
    from gatekeeper.wiring import engines

    plain: Callable[..., Any] = engines.sandbox
    engines.sandbox = lambda *a, **k: KeptSandbox(plain(*a, **k), folder)  # type: ignore[assignment]


TIP = "refs/history/tip"
"""Where the history that is judged ends; the branch itself is moved to be the target of each change."""


def judge(
    tools: Any, repo: Path, commit: str, environment: Path, command: str, bare: Bare, alone: bool, target: str
) -> Row:
    """One commit as a change to the branch `target`: the row for the results."""
    from gatekeeper.adapters.memory_durable import MemoryDurable
    from gatekeeper.domain.submission import Submission
    from gatekeeper.formats.report_json import document
    from gatekeeper.workflow.pipeline import step_table, verify

    parent = git(repo, "rev-parse", f"{commit}^").strip()
    row: Row = {"commit": commit, "parent": parent, "title": git(repo, "log", "-1", "--format=%s", commit).strip()}
    own = bare.run(commit)
    if own["exit_code"] != 0 or not own["junit"]:
        before = bare.run(parent)
        return {
            **row, "verdict": "left_out",
            "why": "its suite fails here" + (", its parent's passes" if before["exit_code"] == 0 else ", like its parent's"),
            "tail": own["tail"],
        }  # fmt: skip
    branch = f"refs/heads/{target}"
    git(repo, "update-ref", branch, parent)
    ticket = {
        "id": commit[:12], "title": row["title"][:400] or commit, "goal": git(repo, "log", "-1", "--format=%B", commit)[:15_000],
        "allowed": allowed_by(repo, commit), "forbidden": [], "verify": command, "risk": "low", "permits": [],
    }  # fmt: skip
    claim = {
        "head_sha": commit, "base_sha": parent, "commands": [{"cmd": command, "exit_code": 0}],
        "junit_xml": own["junit"], "summary": ticket["goal"],
    }  # fmt: skip
    submission = Submission(
        repository=str(repo), target_ref=branch.removeprefix("refs/heads/"), head=commit,
        ticket=json.dumps(ticket).encode(), claim=json.dumps(claim).encode(), environment=str(environment),
        approvals=(), submitter=None,
    )  # fmt: skip
    begun = time.perf_counter()
    steps = step_table(tools)
    if alone:
        steps |= dict.fromkeys(("again", "witness", "measure"), lambda *_: None)
    durable = MemoryDurable(steps, lambda *_: None)
    try:
        outcome = verify(durable, replace(submission, run_id=tools.new_id()), mode=tools.mode, started=time.time())
    finally:
        git(repo, "update-ref", *(("-d", branch) if target.endswith(commit[:12]) else (branch, TIP)))
    told = document(outcome)
    keep = ("code", "category", "effect", "primary", "message", "path", "line", "evidence")
    row |= {
        "verdict": told["verdict"],
        "findings": [{k: f.get(k) for k in keep} for f in told["findings"]],
        "roles": [r["role"] for r in told["runs"]],
        "seconds": round(time.perf_counter() - begun, 2),
    }
    if told["verdict"] != "accepted":
        row["parent_passes"] = bare.run(parent)["exit_code"] == 0
    return row


def reasons(row: Row) -> list[Row]:
    """Findings that block or ask, the primary one first."""
    found = [f for f in row.get("findings", ()) if f["effect"] != "advises"]
    return sorted(found, key=lambda f: not f["primary"])


def read_results(path: Path) -> dict[str, Row]:
    """The newest row of every commit, in the order of the first ones."""
    rows: dict[str, Row] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            rows[row["commit"]] = row
    return rows


def told(row: Row) -> str:
    """One line for people."""
    first = next(iter(reasons(row)), None)
    what = f"{first['code']} {first['message'][:150]!r}" if first else row.get("why", "")
    return f"{row['commit'][:12]} {row['verdict']:11} {what}  ({row['title'][:60]})"


def wanted(row: Row | None, again: str | None) -> bool:
    """True where the commit has no row yet or `again` names what it has."""
    if row is None:
        return True
    if again is None:
        return False
    codes = {f["code"] for f in reasons(row)}
    blocked = row["verdict"] not in ("accepted", "left_out")
    return (
        again in ("all", row["verdict"], *codes) or (again == "failed" and blocked) or row["commit"].startswith(again)
    )


def judge_all(options: argparse.Namespace) -> int:
    """Judge what has no result yet, and write each row at once."""
    source, scratch = options.repo.resolve(), options.scratch.resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    os.environ["XDG_STATE_HOME"] = str(scratch / "state")  # reports and keys of these checks stay apart
    keep_runs(scratch / "runs")
    repo = scratch / "clone.git"
    if not repo.exists():
        subprocess.run(
            ["git", "clone", "-q", "--bare", "--no-hardlinks", str(source), str(repo)], check=True, env=GIT_ENV
        )
    # Settings speak of branches by name, so the target has the name that it has in the library.
    default = git(repo, "symbolic-ref", "--short", "HEAD").strip()
    if subprocess.run(["git", "-C", str(repo), "rev-parse", "-q", "--verify", TIP], env=GIT_ENV, capture_output=True, check=False).returncode:  # fmt: skip
        git(repo, "update-ref", TIP, "HEAD")
    git(repo, "update-ref", f"refs/heads/{default}", TIP)
    rows = read_results(options.results)
    bare = Bare(repo, options.environment.resolve(), options.verify, scratch, options.timeout)

    def one(commit: str) -> None:
        target = default if options.jobs == 1 else f"{default}-{commit[:12]}"
        try:
            row = judge(tools, repo, commit, options.environment.resolve(), options.verify, bare, options.alone, target)
        except subprocess.CalledProcessError as error:
            row = {"commit": commit, "title": "", "verdict": "left_out", "why": f"git failed: {error.stderr!r}"[:300]}
        row["library"] = options.name or source.name.removesuffix(".git")
        with options.results.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps(row) + "\n")
        print(told(row), flush=True)

    if options.rejudge:
        chosen = [c for c, row in rows.items() if wanted(row, options.rejudge)]
    else:
        chosen = [c for c in commits(repo, options.branch, options.commits) if wanted(rows.get(c), options.again)]
    if not chosen:
        return 0
    from gatekeeper.config import paths
    from gatekeeper.wiring import one_shot

    # One set of tools for all commits, as in the service: what a check loads is not what is measured here.
    with (
        one_shot.check_tools(paths(), trust=None, publish=False, timeout_s=options.timeout) as tools,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        list(pool.map(one, chosen))
    return 0


def lines(rows: list[Row]) -> Iterator[str]:
    """The summary: a table by library, what was not accepted, and the codes."""
    yield f"{'library':18} judged accepted rejected needs_human undecided | left out (red here)"
    libraries = dict.fromkeys(r["library"] for r in rows)
    for name in [*libraries, "all"]:
        part = [r for r in rows if name in ("all", r["library"])]
        counts = Counter(r["verdict"] for r in part)
        judged = sum(counts[v] for v in VERDICTS)
        shares = " ".join(f"{counts[v]:4} {100 * counts[v] / max(1, judged):4.1f}%" for v in VERDICTS)
        yield f"{name:18} {judged:6} {shares} | {counts['left_out']}"
    yield ""
    codes: Counter[str] = Counter()
    for row in rows:
        if row["verdict"] == "accepted":
            continue
        yield f"{row['library']:14} {told(row)}"
        codes.update({f["code"] for f in reasons(row)[:1]})
    yield ""
    yield from (f"{number:4} {code}" for code, number in codes.most_common())
    whys = Counter(r["why"] for r in rows if r["verdict"] == "left_out")
    yield from (f"{number:4} left out: {why}" for why, number in whys.most_common())


def report(options: argparse.Namespace) -> int:
    """Print the summary of results files."""
    rows = [row for path in options.results for row in read_results(path).values()]
    print("\n".join(lines(rows)))
    return 0


def main() -> int:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("judge")
    one.add_argument("--repo", type=Path, required=True)
    one.add_argument("--name", help="of the library, in the results")
    one.add_argument("--branch", default="HEAD")
    one.add_argument("--commits", type=int, default=60)
    one.add_argument("--environment", type=Path, required=True)
    one.add_argument("--verify", required=True)
    one.add_argument("--results", type=Path, required=True)
    one.add_argument("--scratch", type=Path, required=True)
    one.add_argument("--again", help="a verdict, a code, the beginning of a commit id, failed, or all")
    one.add_argument("--rejudge", help="as --again, and none that has no result yet")
    one.add_argument(
        "--alone", action="store_true", help="only the runs that decide and compare: no witness, no mutants"
    )
    one.add_argument("--jobs", type=int, default=1)
    one.add_argument("--timeout", type=float, default=120.0)
    one.set_defaults(run=judge_all)
    summary = commands.add_parser("report")
    summary.add_argument("results", type=Path, nargs="+")
    summary.set_defaults(run=report)
    options = parser.parse_args()
    if shutil.which("git") is None:
        parser.error("git is needed")
    return int(options.run(options))


if __name__ == "__main__":
    sys.exit(main())
