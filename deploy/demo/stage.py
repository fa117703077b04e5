"""The demo's stage: the library as a protected repository with three branches, two of which have a bug to mend."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import edits
import library as lib
from story import say, title

GIT_ENV = {
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8",
}  # fmt: skip
TRIALS = 40
"""Bugs that are tried."""
MOST_FAILING = 12
"""Tests that may notice a bug."""
SETTINGS = '[[suite]]\nname = "tests"\nkind = "test"\nrunner = "pytest"\n'


def git(where: Path, *args: str, author: str = "maintainer", ok: bool = True) -> subprocess.CompletedProcess[str]:
    """Git with nobody's configuration, as somebody."""
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", author), ("EMAIL", f"{author}@agents.example"))
    }
    done = subprocess.run(
        ["git", "-C", str(where), *args], env={"PATH": os.environ["PATH"], **GIT_ENV, **who},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    if ok and done.returncode:
        raise lib.DemoError(f"git {' '.join(args)} failed: {done.stderr.strip()}")
    return done


@dataclass(frozen=True)
class Branch:
    """A protected branch: which bug it has, and which tests notice."""

    name: str
    bug: lib.Edit | None
    failing: tuple[str, ...] = ()

    @property
    def ref(self) -> str:
        """Full name."""
        return f"refs/heads/{self.name}"


@dataclass
class Stage:
    """The folders of the demo."""

    folder: Path
    work: Path
    protected: Path
    library: lib.Library
    branches: dict[str, Branch]
    passing: tuple[str, ...]
    """Ids of all tests; they pass where there is no bug."""

    @property
    def uri(self) -> str:
        """The protected repository as the gate names it."""
        return self.protected.as_uri()

    def fresh(self, branch: str) -> None:
        """The work tree as a protected branch has it."""
        git(self.work, "checkout", "-q", "--detach", f"origin/{branch}")

    def commit(self, name: str, agent: str, message: str) -> str:
        """Commit the work tree, push it to the agent's own (unprotected) branch, return the commit."""
        git(self.work, "add", "-A")
        git(self.work, "commit", "-q", "-m", message, author=agent)
        git(self.work, "push", "-q", "origin", f"HEAD:refs/heads/{agent}/{name}")
        return git(self.work, "rev-parse", "HEAD").stdout.strip()


def folders() -> tuple[Path, Path]:
    """A new folder for everything, and the gate's state directory in it.

    It lies in the machine's own state directory, since the sandbox user must reach the trees wherever the checkout is.
    """
    from gatekeeper.config import paths

    usual = paths().state
    usual.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="demo-", dir=usual))
    folder.chmod(0o755)
    state = folder / "state"
    state.mkdir()
    if (usual / "cache").is_dir():
        # Compiled scanner rules and downloaded packages: nothing in there depends on who uses it.
        shutil.copytree(usual / "cache", state / "cache", symlinks=True, copy_function=_linked)
    return folder, state


def _linked(source: str, target: str) -> str:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
    return target


def build(name: str, folder: Path, state: Path) -> Stage:
    """Fetch the library, find two bugs that its tests notice, make the protected repository."""
    title(f"A real library: {name}")
    download = folder / "download"
    download.mkdir()
    library = lib.download(name, download)
    say(f"   {library.name} {library.version}, package {library.package}, tests in {library.tests}/")
    _lock_environment(library)
    (library.root / ".gatekeeper.toml").write_text(SETTINGS, encoding="utf-8")
    (library.root / "AGENTS.md").write_text("# For agents\n\nRun the tests before you say that they pass.\n", "utf-8")
    bugs, passing = _find_bugs(library, folder, state)
    branches = {"next": Branch("next", None)}
    for branch, (bug, failing) in zip(("main", "release"), (bugs[0], bugs[-1]), strict=True):
        branches[branch] = Branch(branch, bug, failing)
        say(
            f"   a bug for the agents to mend on {branch}: {bug.path}:{bug.line}, in {bug.function}(): {bug.words}; "
            f"{len(failing)} test{'s' if len(failing) > 1 else ''} see it"
        )
    protected, work = folder / "protected.git", folder / "work"
    git(folder, "init", "-q", "--bare", "-b", "main", str(protected))
    git(folder, "init", "-q", "-b", "next", str(library.root))
    git(library.root, "add", "-A", "-f")
    git(library.root, "commit", "-q", "-m", f"Import {library.name} {library.version}")
    for branch in ("main", "release"):
        git(library.root, "checkout", "-q", "-b", branch, "next")
        if (fault := branches[branch].bug) is not None:
            lib.applied(library.root, fault)
            git(library.root, "commit", "-q", "-a", "-m", f"Simplify {fault.function}()")
    git(library.root, "push", "-q", str(protected), "main", "release", "next")
    git(folder, "clone", "-q", str(protected), str(work))
    return Stage(folder, work, protected, library, branches, passing)


def _lock_environment(library: lib.Library) -> None:
    """A hash-locked requirements-dev.txt for the library's tests, made by uv from its metadata."""
    wanted = "\n".join(lib.requirements(library))
    done = subprocess.run(
        [str(Path(sys.prefix) / "bin" / "uv"), "pip", "compile", "-q", "--generate-hashes", "--no-annotate", "--no-header",
         "--python", sys.executable, "-", "-o", str(library.root / "requirements-dev.txt")],
        input=wanted, capture_output=True, text=True, timeout=180,
    )  # fmt: skip
    if done.returncode:
        raise lib.DemoError(f"The requirements of {library.name} could not be locked:\n{done.stderr.strip()[-800:]}")


def _find_bugs(
    library: lib.Library, folder: Path, state: Path
) -> tuple[list[tuple[lib.Edit, tuple[str, ...]]], tuple[str, ...]]:
    """Up to two one-token bugs in different functions, each with the tests that notice it, and all ids."""
    from gatekeeper.config import Paths
    from gatekeeper.domain.ports import Limits, RunRequest
    from gatekeeper.domain.settings import EnvironmentSettings
    from gatekeeper.domain.testrun import RunRole
    from gatekeeper.domain.ticket import Suite
    from gatekeeper.domain.tree import MemoryTree
    from gatekeeper.wiring import engines

    where = Paths(state=state, config=folder / "config")
    files = {p.relative_to(library.root).as_posix(): p.read_bytes() for p in library.root.rglob("*") if p.is_file()}
    environment = engines.environment_builder(where).prepare(MemoryTree.of(files), EnvironmentSettings(), "auto")
    sandbox = engines.sandbox(where)
    trial = folder / "trial"
    shutil.copytree(library.root, trial, symlinks=True)

    def run(name: str) -> Any:
        _shareable(trial)
        # What breaks more tests than a demo can show need not run to its end.
        suite = Suite(name="tests", runner="pytest", source="settings", command=f"--maxfail={MOST_FAILING + 1}")
        return sandbox.run(
            RunRequest(f"demo-{name}", RunRole.MERGED, suite, "0" * 40, trial, environment, Limits(wall_s=120))
        )

    clean = run("clean")
    ids = tuple(c.id for c in clean.cases if c.outcome.value == "passed")
    if clean.exit_code != 0 or not ids:
        raise lib.DemoError(
            f"The library's own tests do not pass in the sandbox; take another with LIB=name.\n{clean.log[-1500:]}"
        )
    say(f"   its own suite passes in the sandbox: {len(ids)} tests in {clean.wall_s:.1f} s")
    found: list[tuple[lib.Edit, tuple[str, ...]]] = []
    number, noticed = 0, False
    for number, bug in enumerate(lib.bugs(library)):
        if number >= TRIALS or len(found) == 2:
            break
        if found and (found[0][0].path, found[0][0].function) == (bug.path, bug.function):
            continue
        lib.applied(trial, bug)
        seen = run(f"bug{number}")
        lib.applied(trial, bug, undo=True)
        failing = tuple(c.id for c in seen.cases if c.outcome.value == "failed")
        noticed = noticed or bool(failing)
        usable = seen.exit_code == 1 and 1 <= len(failing) <= MOST_FAILING and len(seen.cases) == len(clean.cases)
        if usable and {c.id for c in seen.cases} != {c.id for c in clean.cases}:
            raise lib.DemoError(
                f"The ids of {library.name}'s tests differ from run to run; take another with LIB=name."
            )
        if usable and all(_asserts(trial, i) for i in failing):
            found.append((bug, failing))
    say(f"   {number} one-token bugs tried on it")
    if not noticed:
        raise lib.DemoError(
            "No change of its code makes a test fail: its tests may use an installed copy. Take LIB=name."
        )
    if not found:
        raise lib.DemoError("No small bug was found that a few tests notice; take another library with LIB=name.")
    return found, ids


def _asserts(root: Path, test_id: str) -> bool:
    node = edits.test_node(root, test_id)
    return node is not None and bool(edits.assertions(node[1]))


def _shareable(root: Path) -> None:
    """Let the sandbox user read the tree (and own it, which the overlay's copies need)."""
    from gatekeeper.config import SANDBOX_ID

    for path in [root, *root.rglob("*")]:
        if os.geteuid() == 0:
            os.chown(path, SANDBOX_ID, SANDBOX_ID, follow_symlinks=False)
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
