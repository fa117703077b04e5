"""Make the git repository, ticket.json and claim.json of a case, with claims from real runs.

`python build.py [--only TEXT] [--out DIR]` builds every case, and checks that the suites of base and head end as the case says.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from bases import BASES
from catalogue import CASES
from model import Case, Commit, Context, Moved, Script, Sub


def _replaced(text: str, pairs: tuple[tuple[str, str], ...], path: str) -> str:
    for old, new in pairs:
        if text.count(old) != 1:
            raise ValueError(f"{path}: {text.count(old)} times: {old!r}")
        text = text.replace(old, new)
    return text


def apply(root: Path, edits: Mapping[str, Any]) -> None:
    """Write edits into a work tree; sources of moves are read before anything changes."""
    moves = {path: (root / e.source).read_text() for path, e in edits.items() if isinstance(e, Moved)}
    for path, text in moves.items():
        edit = edits[path]
        (root / edit.source).unlink(missing_ok=True)
        moves[path] = _replaced(text, edit.pairs, path)
    for path, edit in edits.items():
        file = root / path
        if edit is None:
            file.unlink()
            continue
        if isinstance(edit, Sub):
            text = _replaced(file.read_text(), edit.pairs, path) + edit.tail
        else:
            text = moves[path] if isinstance(edit, Moved) else edit.text if isinstance(edit, Script) else edit
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if isinstance(edit, Script) or text.startswith("#!"):
            file.chmod(0o755)


def git(root: Path, *args: str, minute: int = 0, who: str = "agent") -> str:
    """Plain git with a fixed author, a fixed date and no hooks."""
    stamp = f"2026-03-02T09:{minute:02}:00+00:00"
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(root),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": who,
        "GIT_AUTHOR_EMAIL": f"{who}@example.org",
        "GIT_COMMITTER_NAME": who,
        "GIT_COMMITTER_EMAIL": f"{who}@example.org",
        "GIT_AUTHOR_DATE": stamp,
        "GIT_COMMITTER_DATE": stamp,
    }
    cmd = ["git", "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgsign=false", *args]
    return subprocess.run(cmd, cwd=root, env=env, check=True, capture_output=True, text=True).stdout.strip()


def _commit(root: Path, commit: Commit, minute: int, who: str) -> str:
    apply(root, commit.edits)
    git(root, "add", "-A", minute=minute, who=who)
    git(root, "commit", "-q", "--allow-empty", "-m", commit.message, minute=minute, who=who)
    return git(root, "rev-parse", "HEAD")


def _shell(tree: Path, line: str, tools: Path, more: Mapping[str, str]) -> subprocess.CompletedProcess:
    env = {
        "PATH": f"{tools}:/usr/bin:/bin",
        "HOME": str(tools),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "LANG": "C.UTF-8",
        **more,
    }
    return subprocess.run(["sh", "-c", line], cwd=tree, env=env, capture_output=True, text=True, timeout=120)


def run_suites(repo: Path, commit: str, ticket: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Run what ticket and settings of a commit ask for, in a temporary copy: [{suite, cmd, exit_code, reports, log}]."""
    with tempfile.TemporaryDirectory(prefix="catalogue-") as temporary:
        tree, tools = Path(temporary) / "tree", Path(temporary) / "tools"
        tree.mkdir()
        tools.mkdir()
        # A launcher keeps the environment of the interpreter; a link to it would not.
        for name in ("python", "python3"):
            (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
            (tools / name).chmod(0o755)
        archive = subprocess.run(["git", "archive", commit], cwd=repo, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(tree)], input=archive, check=True)
        suites = []
        if (tree / ".gatekeeper.toml").exists():
            for suite in tomllib.loads((tree / ".gatekeeper.toml").read_text())["suite"]:
                plain = suite["runner"] == "pytest"
                line = f"python -m pytest -q {suite.get('command', '')}".strip() if plain else suite["command"]
                suites.append((suite["name"], line))
        if "verify" in ticket:
            suites.append(("verify", ticket["verify"]))
        runs = []
        for name, line in suites:
            report = Path(temporary) / f"{name}.xml"
            options = f"-p no:cacheprovider --junitxml={report}"
            done = _shell(
                tree, line.replace("python -m pytest", "python -B -m pytest"), tools, {"PYTEST_ADDOPTS": options}
            )
            reports = [report.read_text()] if report.exists() else []
            runs.append(
                {"suite": name, "cmd": line, "exit_code": done.returncode, "reports": reports, "log": done.stdout}
            )
        return runs


def truthful(case: Case, context: Context) -> dict[str, Any]:
    """The claim of an author who reports what was seen."""
    claim: dict[str, Any] = {
        "schema": "gatekeeper.claim/1",
        "head_sha": context.head,
        "base_sha": context.base,
        "summary": case.summary,
    }
    if len(context.runs) == 1:
        only = context.runs[0]
        claim["commands"] = [
            {"cmd": f"PYTEST_ADDOPTS=--junitxml=report.xml {only['cmd']}", "exit_code": only["exit_code"]}
        ]
        claim["junit_xml"] = context.report
        return claim
    keep = ("suite", "cmd", "exit_code", "reports", "log")
    claim["runs"] = [
        {key: run[key] for key in keep if run.get(key)} | {"exit_code": run["exit_code"]} for run in context.runs
    ]
    return claim


def build(case: Case, where: Path) -> dict[str, Any]:
    """Make repo/, ticket.json and claim.json below `where`; gives the facts of the case."""
    repo = where / "repo"
    repo.mkdir(parents=True)
    git(repo, "init", "-q", "-b", "main")
    minute = 0
    base = _commit(repo, Commit(f"{case.base} as it is", {**BASES[case.base]}), minute, "maintainer")
    if case.setup:
        minute += 1
        base = _commit(repo, Commit("Prepare the next round of work", case.setup), minute, "maintainer")
    git(repo, "checkout", "-q", "-b", "work")
    shas = []
    for commit in case.commits:
        minute += 2
        shas.append(_commit(repo, commit, minute, "agent"))
    head = shas[-1]
    git(repo, "checkout", "-q", "main")
    for commit in case.target:
        minute += 2
        _commit(repo, commit, minute, "maintainer")
    runs = run_suites(repo, head, case.ticket)
    for _ in range(8 if case.flaky else 0):
        if all(run["exit_code"] == 0 for run in runs):
            break
        runs = run_suites(repo, head, case.ticket)
    reports = [text for run in runs for text in run["reports"]]
    worst = max(run["exit_code"] for run in runs)
    context = Context(base, head, tuple(shas), case.ticket, reports[0] if reports else "", worst, tuple(runs))
    claim = truthful(case, context)
    if case.claim is not None:
        claim = case.claim(claim, context)
    (where / "ticket.json").write_text(json.dumps(case.ticket, ensure_ascii=False, indent=1))
    (where / "claim.json").write_text(json.dumps(claim, ensure_ascii=False, indent=1))
    return {"base": base, "head": head, "exit": worst, "log": "".join(run["log"] for run in runs), "repo": repo}


def main() -> int:
    """Build and check the cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path, help="keep what is built there")
    args = parser.parse_args()
    bad, seen = 0, {}
    for case in [each for each in CASES if args.only in each.id]:
        where = (args.out or Path(tempfile.mkdtemp(prefix="catalogue-"))) / case.id
        try:
            made = build(case, where)
            key = (
                case.base,
                json.dumps(case.ticket.get("verify")),
                repr(sorted(case.setup)) + case.id * bool(case.setup),
            )
            if key not in seen:
                seen[key] = max(run["exit_code"] for run in run_suites(made["repo"], made["base"], case.ticket))
            right = (bool(made["exit"]), bool(seen[key])) == (bool(case.head_exit), bool(case.base_exit)) or case.flaky
            tail = made["log"].strip().splitlines()[-1:]
            print("ok   " if right else "WRONG", case.id, f"base {seen[key]} head {made['exit']}", *tail, flush=True)
            if not right:
                print(made["log"][-1500:])
            bad += not right
        except (ValueError, OSError, subprocess.SubprocessError) as error:
            bad += 1
            print("WRONG", case.id, error, getattr(error, "stderr", ""), flush=True)
        if args.out is None:
            shutil.rmtree(where.parent, ignore_errors=True)
    print(f"{bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
