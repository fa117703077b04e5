"""Control groups on made-up file systems: version 1, version 2 with and without delegation, and none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gatekeeper.adapters.bubblewrap_sandbox import cgroups
from gatekeeper.adapters.bubblewrap_sandbox.cgroups import Group, Hierarchy
from gatekeeper.errors import CouldNotCheck

MOUNT = "30 23 0:26 / {point} rw,nosuid shared:4 - {kind} {kind} rw,{options}\n"


def machine(root: Path, mounts: str, own: str) -> Path:
    """A file system with these mounts and this process's groups."""
    proc = root / "proc/self"
    proc.mkdir(parents=True)
    (proc / "mountinfo").write_text(mounts)
    (proc / "cgroup").write_text(own)
    return root


def two(root: Path, place: str, controllers: str = "cpu memory pids", handed: str = "memory pids") -> Path:
    """A directory of version 2."""
    made = root / "sys/fs/cgroup" / place
    made.mkdir(parents=True, exist_ok=True)
    (made / "cgroup.procs").write_text("")
    (made / "cgroup.controllers").write_text(controllers + "\n")
    (made / "cgroup.subtree_control").write_text(handed + "\n")
    return made


V2 = MOUNT.format(point="/sys/fs/cgroup", kind="cgroup2", options="nsdelegate")


def test_version_2_delegated_to_the_own_group(tmp_path: Path) -> None:
    root = machine(tmp_path, V2, "0::/user.slice/gate\n")
    own = two(root, "user.slice/gate")
    found = cgroups.find(root)
    assert found is not None
    assert (found.version, found.places) == (2, (own,))


def test_version_2_takes_what_the_parent_hands_down(tmp_path: Path) -> None:
    root = machine(tmp_path, V2, "0::/gate/main\n")
    parent = two(root, "gate")
    two(root, "gate/main", controllers="cpu", handed="")
    found = cgroups.find(root)
    assert found is not None
    assert found.places == (parent,)


def test_version_2_asks_for_the_controllers_where_they_are_to_be_had(tmp_path: Path) -> None:
    root = machine(tmp_path, V2, "0::/gate\n")
    own = two(root, "gate", handed="")
    found = cgroups.find(root)
    assert found is not None
    assert found.places == (own,)
    assert (own / "cgroup.subtree_control").read_text() == "+memory +pids"


@pytest.mark.parametrize("controllers", ["", "cpu", "memory", "pids cpu"])
def test_version_2_without_both_controllers_is_none(tmp_path: Path, controllers: str) -> None:
    root = machine(tmp_path, V2, "0::/gate\n")
    two(root, "gate", controllers, "")
    two(root, "", controllers, "")
    assert cgroups.find(root) is None


def test_the_search_ends_at_the_mount(tmp_path: Path) -> None:
    root = machine(tmp_path, V2, "0::/\n")
    two(root, "", "", "")
    outside = root / "sys/fs"
    for name, text in (("cgroup.procs", ""), ("cgroup.subtree_control", "memory pids")):
        (outside / name).write_text(text)
    assert cgroups.find(root) is None


def test_a_path_of_the_host_falls_back_to_the_mount(tmp_path: Path) -> None:
    root = machine(tmp_path, V2, "0::/kubepods/pod1/box\n")
    top = two(root, "")
    found = cgroups.find(root)
    assert found is not None
    assert found.places == (top,)


def test_version_1_needs_memory_and_pids(tmp_path: Path) -> None:
    lines = {
        n: MOUNT.format(point=f"/sys/fs/cgroup/{n}", kind="cgroup", options=n) for n in ("memory", "pids", "cpuacct")
    }
    for name in lines:
        (tmp_path / "sys/fs/cgroup" / name).mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/memory/box").mkdir()
    root = machine(tmp_path, "".join(lines.values()), "4:memory:/box\n3:pids:/\n2:cpuacct:/\n")
    found = cgroups.find(root)
    assert found is not None
    assert found.version == 1
    assert found.parents["memory"] == root / "sys/fs/cgroup/memory/box"
    (root / "proc/self/mountinfo").write_text(lines["memory"])
    assert cgroups.find(root) is None


@pytest.mark.parametrize("text", ["", "\n", "x", "a b c - d\n", " - \n", "1 2 3 4 /x - cgroup2\n", "- - -\n"])
def test_mounts_that_cannot_be_read_are_none(tmp_path: Path, text: str) -> None:
    assert cgroups.find(machine(tmp_path, text, "")) is None
    assert cgroups.find(tmp_path / "nothing") is None


class Kernel:
    """Directories that, like the kernel's, are born with their control files and vanish with them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, files: tuple[str, ...]) -> None:
        real_make, real_remove = Path.mkdir, Path.rmdir

        def mkdir(path: Path, *args: int, **kwargs: bool) -> None:
            real_make(path, *args, **kwargs)
            for name in files:
                (path / name).write_text("")

        def rmdir(path: Path) -> None:
            for name in files:
                (path / name).unlink()
            real_remove(path)

        monkeypatch.setattr(Path, "mkdir", mkdir)
        monkeypatch.setattr(Path, "rmdir", rmdir)


FILES2 = ("cgroup.procs", "cgroup.kill", "memory.max", "memory.swap.max", "memory.oom.group", "memory.events", "pids.max",
          "pids.events", "cpu.stat")  # fmt: skip


def test_a_group_of_version_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Kernel(monkeypatch, FILES2)
    with Group(
        Hierarchy(2, dict.fromkeys(("memory", "pids", "cpuacct"), tmp_path)), memory_bytes=4096, processes=7
    ) as g:
        (place,) = tmp_path.iterdir()
        assert place.name.startswith(f"gatekeeper-{os.getpid()}-")
        wanted = {"memory.max": "4096", "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "7"}
        assert {n: (place / n).read_text().strip() for n in wanted} == wanted
        assert (g.out_of_memory, g.out_of_processes, g.cpu_s) == (False, False, None)
        (place / "memory.events").write_text("low 0\noom 2\noom_kill 1\n")
        (place / "pids.events").write_text("max 3\n")
        (place / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
        assert (g.out_of_memory, g.out_of_processes, g.cpu_s) == (True, True, 2.5)
        g.join(4242)
        assert (place / "cgroup.procs").read_text().strip() == "4242"
        (place / "cgroup.procs").write_text("")
    assert list(tmp_path.iterdir()) == []


def test_version_2_kills_through_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Kernel(monkeypatch, FILES2)
    group = Group(Hierarchy(2, dict.fromkeys(("memory", "pids"), tmp_path)), memory_bytes=1, processes=1)
    (place,) = tmp_path.iterdir()
    (place / "cgroup.procs").write_text("1\n2\n")
    killed: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, _: killed.append(pid))
    monkeypatch.setattr(cgroups.time, "sleep", lambda _: (place / "cgroup.procs").write_text(""))
    group.kill()
    assert (place / "cgroup.kill").read_text().strip() == "1"
    assert killed == []


def test_a_limit_that_cannot_be_set_is_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Kernel(monkeypatch, FILES2)

    def refuse(path: Path, value: int) -> None:
        raise OSError(13, "Permission denied", str(path))

    monkeypatch.setattr(cgroups, "_write", refuse)
    with pytest.raises(CouldNotCheck) as caught:
        Group(Hierarchy(2, dict.fromkeys(("memory", "pids"), tmp_path)), memory_bytes=1, processes=1)
    assert caught.value.code == "SANDBOX_FAILED"
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_cannot_join_is_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Kernel(monkeypatch, FILES2)

    def refuse(path: Path, value: int) -> None:
        raise OSError(3, "No such process", str(path))

    with Group(Hierarchy(2, dict.fromkeys(("memory", "pids"), tmp_path)), memory_bytes=1, processes=1) as group:
        monkeypatch.setattr(cgroups, "_write", refuse)
        with pytest.raises(CouldNotCheck, match="cannot join"):
            group.join(1)


def test_sweep_takes_only_what_a_dead_gate_left(tmp_path: Path) -> None:
    dead, other = tmp_path / "gatekeeper-999999999-ab", tmp_path / "999999999-ab"
    mine = tmp_path / f"gatekeeper-{os.getpid()}-ab"
    for place in (dead, other, mine, tmp_path / "gatekeeper-x-1"):
        place.mkdir()
    cgroups.sweep(Hierarchy(2, {"memory": tmp_path}))
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([other.name, mine.name, "gatekeeper-x-1"])


@pytest.mark.parametrize(
    ("name", "pid"), [("12-ab", 12), ("12", None), ("-ab", None), ("x-ab", None), ("\u0661-a", None)]
)
def test_owner_of(name: str, pid: int | None) -> None:
    assert cgroups.owner_of(name) == pid
