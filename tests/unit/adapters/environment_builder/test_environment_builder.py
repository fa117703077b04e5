"""Environments made without a registry: host, locks with a local wheel, prepared ones; and what cannot be made."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from gatekeeper.adapters.environment_builder import UvEnvironmentBuilder, lock_lines, project
from gatekeeper.adapters.environment_builder.store import built, inventory
from gatekeeper.config import SANDBOX_ID, Paths
from gatekeeper.domain.settings import EnvironmentSettings
from gatekeeper.domain.tree import MemoryTree
from gatekeeper.errors import CouldNotCheck

RECORDER = {
    "recorder_x.py": b"",
    "recorder_x-1.dist-info/METADATA": b"Metadata-Version: 2.1\nName: recorder-x\nVersion: 1\n",
    "recorder_x-1.dist-info/entry_points.txt": b"[pytest11]\nrecorder_x = recorder_x\n",
}
NONE = EnvironmentSettings()


@pytest.fixture
def builder(gate_paths: Paths) -> UvEnvironmentBuilder:
    return UvEnvironmentBuilder(gate_paths, RECORDER, "/work/tree")


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A tiny wheel that uv finds without a registry; returns its sha256."""
    path = tmp_path / "wheels" / "tiny_thing-1.0-py3-none-any.whl"
    path.parent.mkdir()
    info = "tiny_thing-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("tiny_thing.py", "def main():\n    print('tiny')\n")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/entry_points.txt", "[console_scripts]\ntiny = tiny_thing:main\n")
        file.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("UV_FIND_LINKS", str(path.parent))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def ask(environment, code: str) -> str:
    done = subprocess.run([environment.python, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


POINTS = "import importlib.metadata as m; print([e.name for e in m.entry_points(group='pytest11')])"


def test_host_has_pytest_and_the_recorder_and_is_made_once(builder: UvEnvironmentBuilder) -> None:
    first = builder.prepare(MemoryTree.of({}), NONE, "host")
    assert first == builder.prepare(MemoryTree.of({}), NONE, "host")
    assert "recorder_x" in ask(first, POINTS)
    assert ask(first, "import pytest; print(pytest.__file__)").startswith(first.mounts[0][0])
    assert first.missing == ("base_lock",)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become the sandbox user")
def test_what_is_mounted_is_readable_for_the_sandbox_user(builder: UvEnvironmentBuilder) -> None:
    environment = builder.prepare(MemoryTree.of({}), NONE, "host")
    outside, _ = environment.mounts[-1]
    python = f"{outside}/bin/{Path(os.path.realpath(environment.python)).name}"
    site = next(Path(environment.mounts[0][0]).glob("lib/*/site-packages"))
    if len(environment.mounts) == 1:
        python = environment.python
    done = subprocess.run(
        [shutil.which("setpriv") or "setpriv", f"--reuid={SANDBOX_ID}", f"--regid={SANDBOX_ID}", "--clear-groups",
         python, "-c", "import pytest; print(pytest.__version__)"],
        env={"PYTHONPATH": str(site), "PYTHONHOME": outside if len(environment.mounts) > 1 else "/usr"},
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_hashed_lock_is_installed_and_its_scripts_start(builder: UvEnvironmentBuilder, wheel: str) -> None:
    lock = f"-e .\n--index-url https://elsewhere.example/simple\n-r requirements/more.txt\ntiny-thing==1.0 --hash=sha256:{wheel}\n"
    base = MemoryTree.of({
        "requirements-dev.txt": lock, "requirements/more.txt": "# nothing\n",
        "pyproject.toml": '[project]\nname = "my.project"\nversion = "2"\n[project.scripts]\nmine = "mine:main"\n',
    })  # fmt: skip
    environment = builder.prepare(base, NONE, "auto")
    assert environment.missing == ()
    place = Path(environment.mounts[0][0])
    for name, words in (("tiny", "tiny"), ("pytest", "pytest")):
        done = subprocess.run([place / "bin" / name, "--version"], capture_output=True, text=True, check=True)
        assert words in done.stdout
    assert "recorder_x" in ask(environment, POINTS)
    assert ask(environment, "import importlib.metadata as m; print(m.version('my-project'))") == "2"
    assert "/work/tree" in ask(
        environment, "import sys, site; print(open(site.getsitepackages()[0] + '/gatekeeper_tree.pth').read())"
    )


@pytest.mark.parametrize("line", ["tiny-thing==1.0 --hash=sha256:" + "1" * 64, "tiny-thing==9", "no such ! line"])
def test_a_lock_that_cannot_be_installed_leaves_nothing(
    builder: UvEnvironmentBuilder, wheel: str, gate_paths: Paths, line: str
) -> None:
    before = {e for e in os.listdir(gate_paths.environments) if not e.endswith(".lock")}
    with pytest.raises(CouldNotCheck) as refused:
        builder.prepare(MemoryTree.of({"requirements.txt": line + "\n"}), NONE, "auto")
    assert (refused.value.code, refused.value.blame) == ("ENVIRONMENT_FAILED", "environment")
    assert "requirements.txt" in refused.value.message
    assert {e for e in os.listdir(gate_paths.environments) if not e.endswith(".lock")} == before


@pytest.mark.parametrize(
    "line",
    ["-r /etc/passwd", "-r ../../etc/passwd", "-c https://elsewhere.example/c.txt", "--requirement=/etc/passwd", "-r none.txt",
     "x @ https://elsewhere.example/x.whl", "git+https://elsewhere.example/x", "https://elsewhere.example/x.whl",
     "x @ git+file:///srv/x", "git+file:///srv/x", "-e git+file:///srv/x#egg=x", "--editable=git+ssh://git@h.example/x",
     "x@git+file:///srv/x", "x[extra] @ git+file:///srv/x ; python_version > '3'", "x @ \\\n git+file:///srv/x",
     "x @ hg+file:///srv/x", "bzr+lp:x", "svn+file:///srv/x", "x @ ${HOME}/x", "git@h.example:x.git", "-e git@h.example:x.git",
     "x @ FILE+git:///srv/x", "file:git+file:///srv/x", "a==1 @ git+file:///srv/x", "a==1 --config-settings=x=y",
     "a==1 ; git+file:///srv/x", "--config-file /etc/x", "-r pyproject.toml", "--index https://elsewhere.example/simple",
     "a==1\x0bgit+file:///srv/x", "a @ " + "x" * 5000],
)  # fmt: skip
def test_a_lock_reaches_nothing_outside_the_repository(line: str) -> None:
    with pytest.raises(CouldNotCheck) as refused:
        project.requirements(MemoryTree.of({"requirements.txt": line + "\n"}), NONE)
    assert refused.value.code == "ENVIRONMENT_FAILED"


@pytest.mark.parametrize(
    "line",
    ["a==1", "a[b,c]>=1,<2 ; python_version >= '3.8' and sys_platform != 'win32'", "a", "a (>=1)", "a>=1.0.*", "a~=1.0 # words",
     "a==1 --hash=sha256:" + "0" * 64 + " --hash sha256:" + "1" * 64, "a==1 \\\n    --hash=sha256:" + "0" * 64, "zope.interface==5"],
)  # fmt: skip
def test_honest_lines_are_kept(line: str) -> None:
    kept = project.requirements(MemoryTree.of({"requirements.txt": line + "\n"}), NONE)
    (row,) = kept.files["requirements.txt"].splitlines()
    assert row.split() == line.replace("\\\n", "").replace(" # words", "").replace("--hash ", "--hash=").split()
    assert kept.hashed == ("hash" in line)


@pytest.mark.parametrize(
    "line",
    [".", "-e .", "-e .[dev,test]", "--editable=./sub", "./here", "../there/x.whl", "/srv/x", "b @ file:///srv/x", "file:///srv/x",
     "sub/dir", "x-1.0-py3-none-any.whl", "-e file:///srv/x", "# git+file:///srv/x", "a @ ./wheels/a.whl", "-i https://u:p@h.example/s"],
)  # fmt: skip
def test_what_lies_in_the_tree_or_chooses_an_index_is_left_out(line: str) -> None:
    kept = project.requirements(MemoryTree.of({"requirements.txt": f"{line}\nb==1\n"}), NONE)
    assert kept.files["requirements.txt"].split() == ["b==1"]


def test_a_repository_named_in_a_lock_is_not_cloned(
    builder: UvEnvironmentBuilder, make_repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repo, bait = make_repo("bait"), tmp_path / "bin"
    repo.commit({"pyproject.toml": '[project]\nname = "x"\nversion = "1"\n'})
    bait.mkdir()
    (bait / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    (bait / "git").chmod(0o755)
    monkeypatch.setattr(os, "defpath", f"{bait}:{os.defpath}")
    with pytest.raises(CouldNotCheck, match="version control"):
        builder.prepare(MemoryTree.of({"requirements.txt": f"x @ git+file://{repo.path}\n"}), NONE, "auto")
    assert not (tmp_path / "ran").exists()


def test_credentials_of_an_index_are_in_no_message(
    builder: UvEnvironmentBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://someone:hush-9x@127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    with pytest.raises(CouldNotCheck) as refused:
        builder.prepare(MemoryTree.of({"requirements.txt": "tiny-none==1\n"}), NONE, "auto")
    assert "hush-9x" not in refused.value.message
    assert "127.0.0.1:9" in refused.value.message
    with pytest.raises(CouldNotCheck) as refused:
        project.requirements(MemoryTree.of({"requirements.txt": "x @ https://tok-77@h.example/x.whl\n"}), NONE)
    assert "tok-77" not in refused.value.message
    assert lock_lines.redacted("see https://h.example/x@1 and a@b") == "see https://h.example/x@1 and a@b"


def test_the_description_says_what_was_used() -> None:
    for files, words in (
        ({}, "declares no requirements"),
        ({"pyproject.toml": "[project]\ndependencies = ['tiny-thing']\n"}, "not locked"),
        ({"requirements.txt": "tiny-thing==1.0\n"}, "from requirements.txt of the target branch"),
    ):
        described = project.requirements(MemoryTree.of(files), NONE).description
        assert words in described
        assert "declared.txt" not in described


def test_a_narrow_umask_locks_nobody_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("private")
    outside.chmod(0o600)

    def make(place: Path) -> None:
        (place / "lib").mkdir()
        (place / "lib" / "a.py").write_text("")
        (place / "run").write_text("")
        (place / "run").chmod(0o700)
        (place / "link").symlink_to(outside)

    old = os.umask(0o077)
    try:
        where = built(tmp_path / "state" / "environments", "x", make)
    finally:
        os.umask(old)
    modes = {n: (where / n).lstat().st_mode & 0o777 for n in (".", "..", "../..", "lib", "lib/a.py", "run")}
    assert modes == {".": 0o755, "..": 0o755, "../..": 0o755, "lib": 0o755, "lib/a.py": 0o644, "run": 0o755}
    assert outside.stat().st_mode & 0o777 == 0o600


def test_what_a_killed_build_left_is_removed_after_a_day(tmp_path: Path) -> None:
    old, fresh = tmp_path / ".host-abc-old", tmp_path / ".host-abc-fresh"
    for place in (old, fresh, tmp_path / "host-kept"):
        (place / "lib").mkdir(parents=True)
    for place in (old, tmp_path / "host-kept"):
        os.utime(place, (1, 1))
    built(tmp_path, "x", lambda _: None)
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_dir()) == [".host-abc-fresh", "host-kept", "x"]


def test_a_prepared_environment_is_told_by_its_files(tmp_path: Path) -> None:
    file = tmp_path / "lib" / "package" / "module.py"
    (file.parent / "__pycache__").mkdir(parents=True)
    file.write_text("a = 1\n")
    before = inventory(tmp_path)
    (file.parent / "__pycache__" / "module.pyc").write_bytes(b"x")
    assert inventory(tmp_path) == before
    file.write_text("a = 2\n")
    os.utime(file, ns=(1, 1))
    assert inventory(tmp_path) != before


def test_which_requirements_count() -> None:
    base = MemoryTree.of({
        "requirements.txt": "a==1\n", "requirements-dev.txt": "-r requirements.txt\n-c deps/limits.txt\n./here\nb @ file:///x\nb==1\n",
        "deps/limits.txt": "c<2\n",
    })  # fmt: skip
    wanted = project.requirements(base, NONE)
    assert (wanted.roots, wanted.hashed, wanted.locked) == (("requirements-dev.txt",), False, True)
    assert set(wanted.files) == set(base.entries)
    assert "here" not in wanted.files["requirements-dev.txt"]
    assert "file:" not in wanted.files["requirements-dev.txt"]
    assert "b==1" in wanted.files["requirements-dev.txt"]


@pytest.mark.parametrize(
    "value", ["5", '"abc"', "{a = 1}", "[1, {include-group = 'x'}, 'a @ https://x.example/a', 'b>1']"]
)
def test_odd_pyproject_tables_are_read_or_ignored(value: str) -> None:
    base = MemoryTree.of({"pyproject.toml": f"[project]\ndependencies = {value}\n[dependency-groups]\ndev = {value}\n"})
    assert set(project.declared(base)) <= {"b>1"}


def test_a_prepared_environment_is_copied_and_left_alone(builder: UvEnvironmentBuilder, tmp_path: Path) -> None:
    host = builder.prepare(MemoryTree.of({}), NONE, "host")
    mine = tmp_path / "mine"
    shutil.copytree(host.mounts[0][0], mine, symlinks=True)
    shutil.rmtree(next(mine.glob("lib/*/site-packages/recorder_x-1.dist-info")))
    before = sorted(str(p) for p in mine.rglob("*"))
    environment = builder.prepare(MemoryTree.of({}), NONE, str(mine))
    assert sorted(str(p) for p in mine.rglob("*")) == before
    assert environment.mounts[0][1] == str(mine)
    assert list(Path(environment.mounts[0][0]).glob("lib/*/site-packages/recorder_x-1.dist-info"))


@pytest.mark.parametrize("kind", ["absent", "empty", "broken"])
def test_a_prepared_environment_that_is_none(builder: UvEnvironmentBuilder, tmp_path: Path, kind: str) -> None:
    place = tmp_path / kind
    if kind != "absent":
        (place / "bin").mkdir(parents=True)
    if kind == "broken":
        (place / "bin" / "python").write_text("#!/bin/false\n")
        (place / "bin" / "python").chmod(0o755)
    with pytest.raises(CouldNotCheck) as refused:
        builder.prepare(MemoryTree.of({}), NONE, str(place))
    assert refused.value.code == "ENVIRONMENT_MISSING"
