"""Ordinary work with real repositories: names, sources, merges, exports, composed trees, notes."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gatekeeper.adapters.git_mirror import GitMirror, GitNotesStore, export, history, notes, runner
from gatekeeper.adapters.git_mirror.reader import GitTree
from gatekeeper.config import Paths
from gatekeeper.domain.ports import Mirror
from gatekeeper.errors import CouldNotCheck, GatekeeperError, NotMergeable, UsageError


@pytest.fixture
def mirror(tmp_path: Path) -> GitMirror:
    return GitMirror(Paths(tmp_path / "state", tmp_path / "config"))


@pytest.fixture
def repo(make_repo):
    repo = make_repo()
    repo.commit({"a.txt": "one\n", "b.txt": "one\n"}, "base")
    repo.branch("work")
    repo.commit({"a.txt": "two\n"}, "first")
    repo.commit({"a.txt": "three\n"}, "second")
    return repo


def described(mirror: GitMirror, repo, head: str = "work"):
    got = mirror.fetch(str(repo.path), "main", head)
    return got, mirror.describe(got)


@pytest.mark.parametrize("name", ["work", "refs/heads/work", "v1", "light", "refs/tags/v1", "SHORT", "FULL"])
def test_names_of_a_head(repo, mirror: GitMirror, name: str) -> None:
    head = repo.git("rev-parse", "work")
    repo.git("tag", "-a", "-m", "release", "v1", "work")
    repo.git("tag", "light", "work")
    name = {"SHORT": head[:8], "FULL": head}.get(name, name)
    assert mirror.fetch(str(repo.path), "main", name).head == head


def test_short_id_of_a_commit_under_the_tip(repo, mirror: GitMirror) -> None:
    middle = repo.git("rev-parse", "work~1")
    assert mirror.fetch(str(repo.path), "main", middle[:9]).head == middle


def test_bare_foreign_and_alternate_sources(repo, mirror: GitMirror, tmp_path: Path) -> None:
    head = repo.git("rev-parse", "work")
    repo.git("clone", "-q", "--bare", str(repo.path), str(tmp_path / "bare.git"))
    repo.git("clone", "-q", "--shared", "--bare", str(repo.path), str(tmp_path / "shared.git"))
    if os.geteuid() == 0:
        for folder, _, files in os.walk(tmp_path / "bare.git"):
            for name in (".", *files):
                os.chown(Path(folder, name), 12345, 12345)
    for name in ("bare.git", "shared.git"):
        assert mirror.fetch(str(tmp_path / name), "main", "work").head == head


def test_a_shallow_source_says_what_to_do(repo, mirror: GitMirror, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{repo.path}", str(tmp_path / "shallow"))
    repo.git("-C", str(tmp_path / "shallow"), "branch", "main", "origin/main")
    with pytest.raises(CouldNotCheck, match="shallow") as refused:
        mirror.fetch(str(tmp_path / "shallow"), "main", repo.git("rev-parse", "work"))
    assert "unshallow" in refused.value.next_action


@pytest.mark.parametrize("bare", [False, True])
def test_a_repository_of_another_object_format_is_named(mirror: GitMirror, tmp_path: Path, bare: bool) -> None:
    place = tmp_path / "other"
    runner.run(None, ["init", "-q", "--object-format=sha256", *(["--bare"] if bare else []), str(place)])
    with pytest.raises(UsageError, match="SHA256") as refused:
        mirror.fetch(str(place), "main", "main")
    assert refused.value.code == "REPOSITORY_UNREADABLE"
    assert "sha1" in refused.value.next_action


def test_a_narrow_umask_locks_nobody_out_of_a_tree(repo, tmp_path: Path) -> None:
    repo.commit({"deep/er/x": "x"})
    mirror = GitMirror(Paths(tmp_path / "fresh" / "state", tmp_path / "config"))
    old = os.umask(0o077)
    try:
        got, change = described(mirror, repo)
        place = mirror.export(got, change.merge_tree)
    finally:
        os.umask(old)
    for name in ("..", "../..", "../../..", ".", "deep", "deep/er"):
        assert (place / name).stat().st_mode & 0o777 == 0o755, name
    assert (place / "deep/er/x").stat().st_mode & 0o777 == 0o644
    assert got.path.parent.stat().st_mode & 0o777 == 0o700


def test_what_a_kill_left_is_removed_after_a_day(repo, mirror: GitMirror, tmp_path: Path) -> None:
    trees = tmp_path / "state" / "trees"
    got, change = described(mirror, repo)
    for name in (".new-old", ".new-fresh", "1" * 40):
        (trees / name / "x").mkdir(parents=True)
    for left in (trees / ".new-old", trees / ("1" * 40), got.path / "index-old"):
        left.mkdir(exist_ok=True)
        os.utime(left, (1, 1))
    mirror.export(got, change.merge_tree)
    assert sorted(os.listdir(trees)) == sorted([".new-fresh", "1" * 40, change.merge_tree])
    repo.commit({"later": "x"})
    mirror.fetch(str(repo.path), "main", "work")
    assert not (got.path / "index-old").exists()


def test_one_commit_on_the_tip_is_described_as_the_walk_describes_it(repo, mirror: GitMirror) -> None:
    head, base = repo.git("rev-parse", "work~1"), repo.git("rev-parse", "main")
    got, change = described(mirror, repo, head)
    assert (change.merge_base, [c.oid for c in change.commits]) == (base, [head])
    assert history.commits(got.path, base, head) == change.commits
    assert mirror._merge_base(got.path, base, head) == base


def test_listings_are_remembered_and_bounded(repo, mirror: GitMirror, monkeypatch: pytest.MonkeyPatch) -> None:
    got, change = described(mirror, repo)
    assert mirror.tree(got, change.merge_tree) is mirror.tree(got, change.merge_tree)
    for number in range(300):
        mirror.tree(got, f"{number:040x}")
    assert len(mirror._trees) == 240
    assert mirror.tree(got, change.merge_tree).read("a.txt") == b"three\n"
    monkeypatch.setattr("gatekeeper.adapters.git_mirror.mirror.KEPT_ENTRIES", 0)
    for number in range(20):
        mirror.tree(got, f"{number:040x}")
    assert len(mirror._trees) > 6  # what was not listed takes no room
    for oid in (change.base_tree, change.head_tree, change.merge_tree):
        _ = mirror.tree(got, oid).entries
    mirror.tree(got, "f" * 40)
    assert len(mirror._trees) == 6


def test_many_sizes_and_few_sizes_are_the_same(repo, mirror: GitMirror, monkeypatch: pytest.MonkeyPatch) -> None:
    got, change = described(mirror, repo)
    monkeypatch.setattr("gatekeeper.adapters.git_mirror.history.FEW", -1)
    assert mirror.describe(got) == change
    assert {b.size for b in change.history} == {4, 6}


@pytest.mark.parametrize("kind", ["nothing", "empty", "unborn", "file", "nul"])
def test_sources_that_are_none(make_repo, mirror: GitMirror, tmp_path: Path, kind: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    source = str(make_repo("unborn").path) if kind == "unborn" else "a\x00b" if kind == "nul" else str(tmp_path / kind)
    with pytest.raises(UsageError) as refused:
        mirror.fetch(source, "main", "main")
    assert refused.value.code == ("TARGET_NOT_FOUND" if kind == "unborn" else "REPOSITORY_UNREADABLE")


def test_a_second_fetch_uses_the_mirror_and_sees_a_moved_target(repo, mirror: GitMirror) -> None:
    first = mirror.fetch(str(repo.path), "main", "work")
    (first.path / "refs" / "gatekeeper" / "left.lock").write_text("")
    (first.path / "packed-refs.lock").write_text("")
    repo.git("checkout", "-q", "main")
    moved = repo.commit({"c.txt": "new\n"})
    second = mirror.fetch(str(repo.path), "main", "work")
    assert (second.path, second.base, second.head) == (first.path, moved, first.head)
    assert [p.path for p in mirror.describe(second).paths] == ["a.txt"]


def test_what_cannot_be_merged(repo, mirror: GitMirror) -> None:
    repo.git("checkout", "-q", "main")
    repo.commit({"a.txt": "other\n"})
    for head, code in (("work", "MERGE_CONFLICT"), ("main", "NOTHING_TO_MERGE"), ("lone", "UNRELATED_HISTORIES")):
        if head == "lone":
            repo.git("checkout", "-q", "--orphan", "lone")
            repo.commit({"x": "x"})
        with pytest.raises(NotMergeable) as refused:
            described(mirror, repo, head)
        assert refused.value.code == code


def test_names_and_bytes_are_kept(repo, mirror: GitMirror) -> None:
    files = {
        "Read": b"1",
        "read": b"2",
        "crlf.txt": b"a\r\nb\r\n",
        "a b\nc": b"3",
        "\u00fcn\u00ef": b"4",
        "x/\u2028": b"\x00\xff",
    }
    (repo.path / "tool").write_text("#!/bin/sh\n")
    (repo.path / "tool").chmod(0o755)
    repo.commit(files)
    got, change = described(mirror, repo)
    place = mirror.export(got, change.merge_tree)
    assert {n: (place / n).read_bytes() for n in files} == files
    assert (place / "tool").stat().st_mode & 0o777 == 0o755
    assert (place / "Read").stat().st_mode & 0o777 == 0o644


def test_caps_on_blobs_and_commits(repo, mirror: GitMirror, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit({"big": b"x" * 5000})
    got, change = described(mirror, repo)
    tree = mirror.tree(got, change.merge_tree)
    assert isinstance(tree, GitTree)
    with pytest.raises(CouldNotCheck) as refused:
        tree.read("big", limit=4999)
    assert refused.value.code == "BLOB_TOO_LARGE"
    assert tree.read("a.txt") == b"three\n"
    monkeypatch.setattr("gatekeeper.adapters.git_mirror.history.MAX_COMMITS", 2)
    with pytest.raises(GatekeeperError, match="more than 2 commits"):
        mirror.describe(got)


def _export(paths: Paths, got: Mirror, tree: str) -> str:
    return str(GitMirror(paths).export(got, tree))


def test_processes_exporting_the_same_tree_share_one(repo, mirror: GitMirror, tmp_path: Path) -> None:
    got, change = described(mirror, repo)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        places = pool.starmap(_export, [(mirror._paths, got, change.merge_tree)] * 4)
    assert len(set(places)) == 1
    assert os.listdir(tmp_path / "state" / "trees") == [change.merge_tree]


def test_a_full_disk_leaves_no_half_tree(
    repo, mirror: GitMirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got, change = described(mirror, repo)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(export.os, "fchmod", full)
        with pytest.raises(CouldNotCheck, match="No space"):
            mirror.export(got, change.merge_tree)
    assert os.listdir(tmp_path / "state" / "trees") == []
    assert (mirror.export(got, change.merge_tree) / "a.txt").read_bytes() == b"three\n"


def test_compose_puts_back_files_over_folders_and_folders_over_files(repo, mirror: GitMirror) -> None:
    repo.commit({"d/x": "x", "f": "f"})
    got, change = described(mirror, repo)
    entry = mirror.tree(got, change.merge_tree).entries["a.txt"]
    row = (entry.mode, entry.oid)
    made = mirror.compose(got, change.merge_tree, {"d": row, "f/y": row, "b.txt": None, "none": None})
    assert sorted(mirror.tree(got, made).entries) == ["a.txt", "d", "f/y"]
    assert mirror.compose(got, change.merge_tree, {}) == change.merge_tree


def test_notes_of_many_writers_are_all_kept(repo) -> None:
    head, store = repo.git("rev-parse", "work"), GitNotesStore()
    repo.git("notes", "--ref=attestations", "add", "-m", "from elsewhere", head)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: store.put(str(repo.path), head, [f'{{"n":{i}}}']), range(8)))
    store.put(str(repo.path), head, ['{"n":1}'])
    kept = store.get(str(repo.path), head)
    assert kept[0] == "from elsewhere"
    assert sorted(kept[1:]) == [f'{{"n":{i}}}' for i in range(8)]


def test_notes_that_cannot_be_stored(repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    head, store = repo.git("rev-parse", "work"), GitNotesStore()
    store.put(str(repo.path), head, ["{}"])
    monkeypatch.setattr(notes, "MAX_NOTE", 100)
    for where, commit, bundle in (
        (repo.path, head, "x" * 200), (repo.path, head, "a\nb"), (repo.path, head, ""), (repo.path, "--help", "{}"),
        (tmp_path / "none", head, "{}"),
    ):  # fmt: skip
        with pytest.raises(CouldNotCheck) as refused:
            store.put(str(where), commit, [bundle])
        assert refused.value.code == "STORE_FAILED"
    assert store.get(str(repo.path), head) == ("{}",)
    monkeypatch.setattr(notes, "MAX_NOTE", 1)
    with pytest.raises(CouldNotCheck, match="larger than"):
        store.get(str(repo.path), head)


def test_a_corrupt_source_is_not_the_authors_fault(repo, mirror: GitMirror) -> None:
    shutil.rmtree(repo.path / ".git" / "objects" / repo.git("rev-parse", "work^{tree}")[:2])
    with pytest.raises(CouldNotCheck) as refused:
        mirror.fetch(str(repo.path), "main", "work")
    assert refused.value.code == "GIT_FAILED"
