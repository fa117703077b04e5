"""Lint and type suites with the real ruff and mypy, from an environment that the operator prepared."""

from __future__ import annotations

import shutil
import sys
import sysconfig
import venv
from importlib import metadata
from pathlib import Path

import pytest
from suite_cases import Judge, absent, junit, kept, reasons, runs

CODE = "def one() -> int:\n    return 2\n"
FIXED = "def one() -> int:\n    return 1\n"
TEST = "from app import one\n\n\ndef test_one() -> None:\n    assert one() == 1\n"
SETTINGS = """
[[suite]]
name = "unit"
runner = "pytest"

[[suite]]
name = "lint"
kind = "lint"
command = "ruff check --no-cache ."

[[suite]]
name = "types"
kind = "types"
command = "mypy --no-incremental --cache-dir /dev/null app.py"
"""
PROJECT = {
    "app.py": CODE,
    "test_app.py": TEST,
    "ruff.toml": '[lint]\nselect = ["F", "E"]\n',
    "mypy.ini": "[mypy]\nstrict = True\n",
    ".gatekeeper.toml": SETTINGS,
}
CLAIM = {
    "commands": [{"cmd": "pytest", "exit_code": 0}],
    "junit_xml": junit("test_app", ["test_one"]),
}


def _copied(name: str, site: Path, seen: set[str]) -> None:
    """A distribution of the gate's own environment, and what it requires, into another site-packages."""
    key = name.lower().replace("_", "-")
    if key in seen:
        return
    seen.add(key)
    try:
        files = metadata.files(name)
    except metadata.PackageNotFoundError:
        return
    for file in files or ():
        source = Path(str(file.locate()))
        target = (site.parents[2] / "bin" / source.name) if source.parent.name == "bin" else site / str(file)
        if source.is_file() and ".." not in file.parts[:1]:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
        elif source.is_file() and source.parent.name == "bin":
            text = source.read_bytes()
            if text.startswith(b"#!"):
                head, _, rest = text.partition(b"\n")
                text = f"#!{site.parents[2]}/bin/python".encode() + b"\n" + rest if b"python" in head else text
            target.write_bytes(text)
            target.chmod(0o755)
    for line in metadata.requires(name) or ():
        if "extra ==" not in line:
            _copied("".join(c if c.isalnum() or c in "-_." else " " for c in line).split()[0], site, seen)


@pytest.fixture(scope="module")
def prepared() -> Path:
    """An environment with pytest, ruff and mypy."""
    for tool in ("ruff", "mypy", "pytest"):
        try:
            metadata.version(tool)
        except metadata.PackageNotFoundError:
            absent(f"{tool} is not installed beside the gate")
    mark = "-".join(metadata.version(t) for t in ("ruff", "mypy", "pytest"))
    place = kept(f"checks-{mark}-{sys.version_info[0]}.{sys.version_info[1]}")
    if not (place / "done").exists():
        shutil.rmtree(place, ignore_errors=True)
        venv.create(place, with_pip=False, symlinks=True)
        site = Path(sysconfig.get_path("purelib", vars={"base": str(place)}))
        for tool in ("ruff", "mypy", "pytest"):
            _copied(tool, site, set())
        (place / "done").touch()
    return place


@pytest.fixture
def judge(make_repo, tmp_path, gate_env, prepared):
    """Judges a change of a project with a lint and a type suite."""
    repo = make_repo()
    repo.commit(PROJECT, "Import")
    made = Judge(repo, tmp_path)
    made.environment = str(prepared)
    return made


def test_clean_code_passes_all_three(judge):
    report = judge({"app.py": FIXED}, claim=CLAIM)
    assert report["verdict"] == "accepted", (report["reasons"], report["runs"])
    assert {r["suite"] for r in report["runs"]} == {"unit", "lint", "types"}


def test_new_complaints_have_their_place(judge):
    report = judge({"app.py": "import os\n" + FIXED + "\n\ndef two() -> int:\n    return 'x'\n"}, claim=CLAIM)
    assert report["verdict"] == "rejected"
    found = {(r["code"], r["path"], r["line"]) for r in report["reasons"]}
    assert found == {("CHECKS_FAILED", "app.py", 1), ("CHECKS_FAILED", "app.py", 7)}, report["reasons"]
    assert {r["category"] for r in report["reasons"]} == {"checks_failed"}


def test_settings_that_only_let_the_change_pass(judge):
    report = judge({"app.py": "import os\n" + FIXED, "ruff.toml": '[lint]\nselect = ["E"]\n'}, claim=CLAIM)
    assert "CHECKS_BENT" in reasons(report), report["reasons"]
    permit = {"kind": "change_instruments", "paths": ["ruff.toml"], "reason": "agreed"}
    report = judge({"app.py": "import os\n" + FIXED, "ruff.toml": '[lint]\nselect = ["E"]\n'}, claim=CLAIM, ticket={"permits": [permit]})  # fmt: skip
    assert report["verdict"] == "accepted", report["reasons"]


def test_what_the_target_complains_of_is_not_the_changes(judge):
    judge.repo.git("checkout", "-q", "main")
    judge.repo.commit({"app.py": "import os\n" + CODE}, "A complaint on main")
    report = judge({"app.py": "import os\n\n\n" + FIXED}, claim=CLAIM)
    assert (report["verdict"], reasons(report)) == ("undecided", {"CONTROL_FAILED"}), report["reasons"]
    report = judge({"app.py": FIXED}, claim=CLAIM)
    assert report["verdict"] == "accepted", report["reasons"]


def test_a_tool_that_is_not_there_is_nobodys_fault(judge):
    judge.repo.git("checkout", "-q", "main")
    judge.repo.commit({".gatekeeper.toml": SETTINGS.replace("ruff check", "no-such-linter check")}, "Another linter")
    report = judge({"app.py": FIXED}, claim=CLAIM)
    assert (report["verdict"], reasons(report)) == ("undecided", {"CHECK_TOOL_MISSING"}), report["reasons"]
    assert runs(report)["base"]["exit"] == 127
