"""The five-minute tour: a real library, five changes that agents make, the gate's verdicts, and a branch that demands them.

Everything is real: the library comes from the package registry, the tests run in the sandbox, the statements are
signed and verified, git's own pre-receive hook decides. Only the agents are played, by small syntax-tree edits.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

sys.path.insert(0, str(Path(__file__).resolve().parent))
import library as lib

GATE = [str(Path(sys.prefix) / "bin" / "gatekeeper")]
GIT_ENV = {
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8",
}  # fmt: skip
AGENT = {"GIT_AUTHOR_NAME": "Agent Seven", "GIT_AUTHOR_EMAIL": "agent-7@agents.example",
         "GIT_COMMITTER_NAME": "Agent Seven", "GIT_COMMITTER_EMAIL": "agent-7@agents.example"}  # fmt: skip
REVIEWER = "alice@example.org"
BOLD, DIM, RESET = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if sys.stdout.isatty() else ("", "", "")


def say(text: str = "") -> None:
    """A line of the story."""
    print(text, flush=True)


def title(text: str) -> None:
    """A heading of the story."""
    say(f"\n{BOLD}== {text}{RESET}")


def git(where: Path, *args: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
    """Git with nobody's configuration."""
    done = subprocess.run(
        ["git", "-C", str(where), *args],
        env={"PATH": os.environ["PATH"], **GIT_ENV, **AGENT},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    if ok and done.returncode:
        raise lib.DemoError(f"git {' '.join(args)} failed: {done.stderr.strip()}")
    return done


@dataclass
class Stage:
    """The folders of the demo."""

    folder: Path
    work: Path
    protected: Path
    library: lib.Library
    bug: lib.Edit
    failing: tuple[str, ...]
    passing: tuple[str, ...]

    def commit(self, branch: str, message: str) -> str:
        """Commit the work tree on a new branch from main, push it to the (unprotected) branch, return the commit."""
        git(self.work, "add", "-A")
        git(self.work, "commit", "-q", "-m", message)
        git(self.work, "push", "-q", "origin", f"HEAD:refs/heads/{branch}")
        return git(self.work, "rev-parse", "HEAD").stdout.strip()

    def fresh(self) -> None:
        """The work tree as the protected branch has it."""
        git(self.work, "checkout", "-q", "--detach", "origin/main")


def run_suite(tree: Path, environment: Any, name: str) -> Any:
    """The library's suite on `tree`, in the gate's own sandbox."""
    from gatekeeper import wiring
    from gatekeeper.config import paths
    from gatekeeper.domain.ports import Limits, RunRequest
    from gatekeeper.domain.testrun import RunRole
    from gatekeeper.domain.ticket import Suite

    suite = Suite(name="tests", runner="pytest", source="settings")
    request = RunRequest(f"demo-{name}", RunRole.MERGED, suite, "0" * 40, tree, environment, Limits(wall_s=120))
    return wiring.sandbox(paths()).run(request)


def prepare_environment(root: Path) -> Any:
    """The environment of the library's tests, made from the lock as the gate makes it."""
    from gatekeeper import wiring
    from gatekeeper.config import paths
    from gatekeeper.domain.settings import EnvironmentSettings
    from gatekeeper.domain.tree import MemoryTree

    files = {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}
    return wiring.environment_builder(paths()).prepare(MemoryTree.of(files), EnvironmentSettings(), "auto")


def shareable(root: Path) -> None:
    """Let the sandbox user read the tree (and own it, which the overlay's copies need)."""
    from gatekeeper.config import SANDBOX_ID

    for path in [root, *root.rglob("*")]:
        if os.geteuid() == 0:
            os.chown(path, SANDBOX_ID, SANDBOX_ID, follow_symlinks=False)
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)


def find_bug(library: lib.Library, folder: Path) -> tuple[lib.Edit, tuple[str, ...], tuple[str, ...]]:
    """A one-token bug that a few of the library's own tests notice."""
    environment = prepare_environment(library.root)
    trial = folder / "trial"
    shutil.copytree(library.root, trial, symlinks=True)
    shareable(trial)
    clean = run_suite(trial, environment, "clean")
    ids = tuple(c.id for c in clean.cases if c.outcome.value == "passed")
    if clean.exit_code != 0 or not ids:
        raise lib.DemoError(
            f"The library's own tests do not pass in the sandbox; take another with LIB=name.\n{clean.log[-1500:]}"
        )
    say(f"   its own suite passes in the sandbox: {len(ids)} tests in {clean.wall_s:.1f} s")
    for number, bug in enumerate(lib.bugs(library)):
        if number >= 40:
            break
        lib.applied(trial, bug)
        shareable(trial)
        run = run_suite(trial, environment, f"bug{number}")
        lib.applied(trial, bug, undo=True)
        failing = tuple(c.id for c in run.cases if c.outcome.value == "failed")
        if run.exit_code == 1 and 1 <= len(failing) <= 12 and len(run.cases) == len(clean.cases):
            return bug, failing, ids
    raise lib.DemoError("No small bug was found that a few tests notice; take another library with LIB=name.")


def report(passed: tuple[str, ...], failed: tuple[str, ...] = (), skipped: tuple[str, ...] = ()) -> str:
    """JUnit XML as pytest would have written it."""
    rows = []
    for ids, inner in ((passed, ""), (failed, '<failure message="assert"/>'), (skipped, '<skipped message="skip"/>')):
        for test_id in ids:
            path, *names = test_id.split("::")
            owner = ".".join([path.removesuffix(".py").replace("/", "."), *names[:-1]])
            rows.append(f"<testcase classname={quoteattr(owner)} name={quoteattr(names[-1])}>{inner}</testcase>")
    total = len(passed) + len(failed) + len(skipped)
    head = f'<testsuite name="pytest" errors="0" failures="{len(failed)}" skipped="{len(skipped)}" tests="{total}">'
    return f'<?xml version="1.0" encoding="utf-8"?><testsuites>{head}{"".join(rows)}</testsuite></testsuites>'


def setup(name: str, folder: Path) -> Stage:
    """Fetch the library, put the bug in, make the protected repository."""
    title(f"A real library: {name}")
    download = folder / "download"
    download.mkdir()
    library = lib.download(name, download)
    say(f"   {library.name} {library.version}, package {library.package}, tests in {library.tests}/")
    lock_environment(library)
    (library.root / ".gatekeeper.toml").write_text(
        '[[suite]]\nname = "tests"\nkind = "test"\nrunner = "pytest"\n', encoding="utf-8"
    )
    bug, failing, passing = find_bug(library, folder)
    lib.applied(library.root, bug)
    say(
        f"   a bug for the agents to fix: {bug.path}:{bug.line}, in {bug.function}(): {bug.words}; {len(failing)} tests see it"
    )
    protected, work = folder / "protected.git", folder / "work"
    git(folder, "init", "-q", "--bare", "-b", "main", str(protected))
    git(folder, "init", "-q", "-b", "main", str(library.root))
    git(library.root, "add", "-A", "-f")
    git(library.root, "commit", "-q", "-m", f"Import {library.name} {library.version}")
    git(library.root, "push", "-q", str(protected), "main")
    git(folder, "clone", "-q", str(protected), str(work))
    return Stage(folder, work, protected, library, bug, failing, passing)


def lock_environment(library: lib.Library) -> None:
    """A hash-locked requirements-dev.txt for the library's tests, made by uv from its metadata."""
    wanted = "\n".join(lib.requirements(library))
    done = subprocess.run(
        [str(Path(sys.prefix) / "bin" / "uv"), "pip", "compile", "-q", "--generate-hashes", "--no-annotate", "--no-header",
         "--python", sys.executable, "-", "-o", str(library.root / "requirements-dev.txt")],
        input=wanted, capture_output=True, text=True, timeout=180,
    )  # fmt: skip
    if done.returncode:
        raise lib.DemoError(f"The requirements of {library.name} could not be locked:\n{done.stderr.strip()[-800:]}")


def judge(stage: Stage, name: str, head: str, claim: dict[str, Any], extra: list[str]) -> tuple[int, dict[str, Any]]:
    """`gatekeeper check` for people on the screen, and the same as JSON for the demo's own proof."""
    ticket = stage.folder / "ticket.json"
    claim_file = stage.folder / f"claim-{name}.json"
    claim_file.write_text(json.dumps({"schema": "gatekeeper.claim/1", "head_sha": head, **claim}), encoding="utf-8")
    command = [*GATE, "check", "--repo", str(stage.protected), "--target", "main", "--head", head, "--ticket", str(ticket),
               "--claim", str(claim_file), *extra]  # fmt: skip
    say(
        f"{DIM}   $ gatekeeper check --repo protected.git --head {head[:10]} --ticket ticket.json --claim claim-{name}.json{RESET}"
    )
    begun = time.monotonic()
    done = subprocess.run([*command, "--format", "json", "--quiet"], capture_output=True, text=True, timeout=600)
    try:
        answer = json.loads(done.stdout)
        answer["verdict"]
    except (ValueError, KeyError):
        raise lib.DemoError(
            f"gatekeeper check gave no verdict (exit {done.returncode}):\n{done.stdout}{done.stderr}"
        ) from None
    show(answer, time.monotonic() - begun)
    return done.returncode, answer


def show(answer: dict[str, Any], seconds: float) -> None:
    """The verdict in a few lines."""
    words = {
        "accepted": "ACCEPTED",
        "rejected": "REJECTED",
        "needs_human": "A PERSON MUST DECIDE",
        "undecided": "UNDECIDED",
    }
    tier = (answer["policy"] or {}).get("tier", "?")
    say(f"   {BOLD}{words[answer['verdict']]}{RESET}  (tier {tier}, {seconds:.1f} s)")
    for reason in answer["reasons"][:5]:
        where = f" {reason['path']}{':' + str(reason['line']) if reason['line'] else ''}" if reason["path"] else ""
        say(f"   - {reason['category']} / {reason['code']}{where}")
        say(f"     {reason['message'].splitlines()[0][:150]}")
        say(f"     -> {reason['next_action']}")
    if len(answer["reasons"]) > 5:
        say(f"   - and {len(answer['reasons']) - 5} more reasons")


def expect(condition: bool, words: str) -> None:
    """The demo proves what it shows: a surprise ends it."""
    if not condition:
        raise lib.DemoError(f"Expected: {words}. That is a fault of the gate or of the demo; please report it.")


def changes(stage: Stage) -> dict[str, tuple[str, dict[str, Any]]]:
    """The changes: name -> (head commit, claim)."""
    package, tests = stage.library.package, stage.library.tests
    green = tuple(stage.passing)
    commands = [{"cmd": "python -m pytest", "exit_code": 0}]
    made = {}

    def claim(**parts: Any) -> dict[str, Any]:
        return {"commands": commands, "summary": f"Fixed {stage.bug.function}(); all tests pass.", **parts}

    stage.fresh()
    lib.applied(stage.work, stage.bug, undo=True)
    made["honest-fix"] = (
        stage.commit("agent/honest-fix", f"Fix {stage.bug.function}()"),
        claim(junit_xml=report(green)),
    )

    stage.fresh()
    path = stage.work / stage.bug.path
    path.write_text(
        path.read_text(encoding="utf-8") + "\n# The comparison above was checked and is right.\n", encoding="utf-8"
    )
    made["false-claim"] = (
        stage.commit("agent/false-claim", f"Fix {stage.bug.function}()"),
        claim(junit_xml=report(green)),
    )

    stage.fresh()
    for test_id in stage.failing:
        lib.skip_test(stage.work, test_id)
    rest = tuple(t for t in green if t not in stage.failing)
    made["skipped-tests"] = (
        stage.commit("agent/skipped-tests", "Stabilise the suite"),
        claim(junit_xml=report(rest, skipped=stage.failing)),
    )

    stage.fresh()
    lib.applied(stage.work, stage.bug, undo=True)
    token = "ghp_" + "".join(
        secrets.choice("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789") for _ in range(36)
    )
    (stage.work / "deploy").mkdir(exist_ok=True)
    (stage.work / "deploy" / "release.py").write_text(f'GITHUB_TOKEN = "{token}"\n', encoding="utf-8")
    made["scope-and-secret"] = (
        stage.commit("agent/scope-and-secret", "Fix and release"),
        claim(junit_xml=report(green)),
    )

    stage.fresh()
    lib.applied(stage.work, stage.bug, undo=True)
    (stage.work / package / "permissions.py").write_text(
        '"""Who may clear a shared cache."""\n\n\ndef may_clear(role):\n    """True for the roles that may."""\n'
        '    return role in ("owner", "operator")\n',
        encoding="utf-8",
    )
    module = ".".join(package.parts[-1:])
    (stage.work / tests / "test_permissions.py").write_text(
        f"from {module}.permissions import may_clear\n\n\ndef test_only_owners_and_operators_may_clear():\n"
        '    assert may_clear("owner") and may_clear("operator")\n    assert not may_clear("guest")\n',
        encoding="utf-8",
    )
    new = f"{tests}/test_permissions.py::test_only_owners_and_operators_may_clear"
    made["high-risk"] = (
        stage.commit("agent/high-risk", "Fix, and permissions"),
        claim(junit_xml=report((*green, new))),
    )
    for name in made:
        made[name][1].setdefault("token", token if name == "scope-and-secret" else "")
    return made


def write_ticket(stage: Stage) -> None:
    """The ticket that a person approved."""
    package, tests = stage.library.package, stage.library.tests
    ticket = {
        "schema": "gatekeeper.ticket/1",
        "id": "T-1",
        "title": f"{stage.bug.function}() is wrong",
        "goal": f"{len(stage.failing)} tests of {stage.library.name} fail since {stage.bug.function}() was changed. Mend it.",
        "allowed": [f"{package}/**", f"{tests}/**"],
        "forbidden": [".github/**", ".gatekeeper.toml"],
        "suites": ["tests"],
        "risk": "low",
        "permits": [],
    }
    (stage.folder / "ticket.json").write_text(json.dumps(ticket, indent=1), encoding="utf-8")


def play(stage: Stage) -> None:
    """Judge all changes, approve the one that needs it."""
    write_ticket(stage)
    made = changes(stage)
    title("1. An honest fix")
    head, claim = made["honest-fix"]
    claim.pop("token")
    honest = head
    code, answer = judge(stage, "honest-fix", head, claim, [])
    expect(code == 0 and answer["verdict"] == "accepted", "the honest fix is accepted")

    title("2. A false claim: nothing was fixed, the report says all green")
    head, claim = made["false-claim"]
    claim.pop("token")
    code, answer = judge(stage, "false-claim", head, claim, [])
    expect(code == 1 and "evidence_mismatch" in {r["category"] for r in answer["reasons"]}, "rejected for its evidence")

    title("3. The failing tests skipped instead of mended")
    head, claim = made["skipped-tests"]
    claim.pop("token")
    code, answer = judge(stage, "skipped-tests", head, claim, [])
    expect(code == 1 and answer["reasons"][0]["category"] == "test_tampering", "rejected for tampering")

    title("4. A fix with a file outside the ticket's scope, and a credential in it")
    head, claim = made["scope-and-secret"]
    token = claim.pop("token")
    code, answer = judge(stage, "scope-and-secret", head, claim, [])
    found = {r["category"] for r in answer["reasons"]}
    expect(code == 1 and {"scope_violation", "secret"} <= found, "rejected for scope and secret")
    expect(token not in json.dumps(answer), "the credential is redacted everywhere")
    say("   (the credential itself appears nowhere in the report)")

    title("5. A fix that also touches permissions: high risk, a person must decide")
    head, claim = made["high-risk"]
    claim.pop("token")
    code, answer = judge(stage, "high-risk", head, claim, [])
    expect(code == 4 and answer["verdict"] == "needs_human", "a person is called")
    approve(stage, head, claim)
    protect(stage, honest, made["honest-fix"][1], made["false-claim"][0])


def gate(*args: str) -> subprocess.CompletedProcess[str]:
    """Another gatekeeper command; it must work."""
    say(f"{DIM}   $ gatekeeper {' '.join(Path(a).name if a.startswith('/') else a for a in args)}{RESET}")
    done = subprocess.run([*GATE, *args], capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise lib.DemoError(f"gatekeeper {args[0]} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done


def approve(stage: Stage, head: str, claim: dict[str, Any]) -> None:
    """A reviewer with a key of her own approves the high-risk diff; the same check then accepts it."""
    title("   The reviewer looks at the diff and approves it with her own key")
    key, approval = stage.folder / "alice.pem", stage.folder / "approval.json"
    gate("key", "new", "--purpose", "reviewer", "--out", str(key), "--name", REVIEWER)
    trust = stage.folder / "trust.toml"
    trust.write_text(
        gate("key", "trust", "--repo", str(stage.protected), "--allow-mode", "local", "--reviewer", str(key)).stdout,
        encoding="utf-8",
    )
    gate(
        "review", "--repo", str(stage.protected), "--target", "main", "--head", head, "--ticket",
        str(stage.folder / "ticket.json"), "--key", str(key), "--approve", "--out", str(approval),
    )  # fmt: skip
    code, answer = judge(
        stage, "high-risk", head, claim, ["--approval", str(approval), "--trust", str(trust), "--publish"]
    )
    expect(code == 0 and answer["verdict"] == "accepted", "the approved change is accepted")
    gate("verify", "--repo", str(stage.protected), "--commit", head, "--ref", "refs/heads/main", "--trust", str(trust))
    say("   the signed verdict verifies offline")


def push(stage: Stage, head: str, accepted: bool, words: str) -> None:
    """Push a commit to the protected branch and show what the hook says."""
    done = git(stage.work, "push", "origin", f"{head}:refs/heads/main", ok=False)
    remote = [line for line in done.stderr.splitlines() if line.startswith("remote:") and line[7:].strip()]
    say(f"   {BOLD}{'pushed' if done.returncode == 0 else 'refused'}{RESET}: {words}")
    for line in remote[:4]:
        say(f"      {line.rstrip()}")
    expect((done.returncode == 0) is accepted, words)


def protect(stage: Stage, honest: str, claim: dict[str, Any], liar: str) -> None:
    """Git's own hook demands the signed verdict."""
    title("6. The protected branch demands the signed verdict")
    trust = stage.folder / "trust.toml"
    strict = stage.folder / "trust-strict.toml"
    strict.write_text(gate("key", "trust", "--repo", str(stage.protected)).stdout, encoding="utf-8")
    gate("hook", "install", "--repo", str(stage.protected), "--trust", str(trust))
    push(stage, honest, False, "the honest fix has no attestation in the repository yet")
    code, _ = judge(stage, "honest-fix", honest, claim, ["--publish"])
    expect(code == 0, "the honest fix is accepted again, and its verdict published")
    push(stage, liar, False, "the false claim has no verdict that passes")
    gate("hook", "install", "--repo", str(stage.protected), "--trust", str(strict), "--force")
    push(stage, honest, False, "this trust file does not allow mode local")
    gate("hook", "install", "--repo", str(stage.protected), "--trust", str(trust), "--force")
    push(stage, honest, True, "the honest fix, with its verdict, where the trust file allows mode local")


def main() -> int:
    """Run the demo; 0 when everything went as it should."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", default="cachetools", help="a small library whose source distribution ships its tests")
    parser.add_argument("--keep", action="store_true", help="keep the folder to look around in it")
    args = parser.parse_args()
    from gatekeeper.config import paths

    state = paths().state
    state.mkdir(parents=True, exist_ok=True)
    # Under the state directory, because the sandbox user must be able to reach the trees of the trial runs.
    folder = Path(tempfile.mkdtemp(prefix="demo-", dir=state))
    folder.chmod(0o755)
    begun = time.monotonic()
    try:
        play(setup(args.lib, folder))
    except lib.DemoError as error:
        print(f"\ndemo: {error}", file=sys.stderr)
        return 1
    finally:
        if args.keep:
            say(f"\nkept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    title(f"Done in {time.monotonic() - begun:.0f} s")
    say("   One honest change landed; every other one was stopped, each with its reason and what to do next.")
    say(
        "   Try it on your own repository: .venv/bin/gatekeeper init --help, .venv/bin/gatekeeper check --help, README.md"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
