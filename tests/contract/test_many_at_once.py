"""Twenty verifications at once, with real git and real environments: the same as one after another, and nothing half-made."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from git_http import GitServer
from living import until

from gatekeeper.adapters.environment_builder import UvEnvironmentBuilder
from gatekeeper.adapters.environment_builder.store import built
from gatekeeper.adapters.git_mirror import GitMirror
from gatekeeper.adapters.git_mirror import export as exporting
from gatekeeper.adapters.git_mirror.sources import Remotes
from gatekeeper.config import Paths
from gatekeeper.domain.settings import EnvironmentSettings
from gatekeeper.domain.tree import MemoryTree

MANY = 20


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """All calls in threads of their own, let loose together."""
    gate = threading.Barrier(len(calls))

    def one(call: Callable[[], Any]) -> Any:
        gate.wait(60)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [f.result(300) for f in [pool.submit(one, call) for call in calls]]


def contents(place: Path) -> dict[str, bytes]:
    return {str(p.relative_to(place)): p.read_bytes() for p in sorted(place.rglob("*")) if p.is_file()}


def verify(mirror: GitMirror, source: Path, head: str) -> Any:
    """What a verification asks of git, in its order; everything that must be the same whoever else is at work."""
    got = mirror.fetch(str(source), "main", head)
    change = mirror.describe(got)
    blob = mirror.tree(got, change.merge_tree).entries["shared.txt"].oid
    composed = mirror.compose(got, change.merge_tree, {"shared.txt": None, "again.txt": ("100644", blob)})
    place = mirror.export(got, change.merge_tree)
    base = mirror.export(got, change.base_tree)
    return got.base, got.head, change, composed, contents(place), contents(base), mirror.blobs(got, [blob])


def branches(repo) -> list[str]:
    repo.commit({"shared.txt": "shared\n" * 100, **{f"d{n}/f{n}.txt": f"{n}\n" for n in range(30)}}, "base")
    heads = []
    for number in range(MANY):
        repo.branch(f"work{number}", "main")
        heads.append(repo.commit({f"d{number}/f{number}.txt": f"changed {number}\n", f"n{number}": "x"}, f"c{number}"))
    repo.branch("main", "main")
    repo.commit({"tip.txt": "moved on\n"}, "tip")
    return heads


def test_twenty_verifications_on_one_mirror(make_repo, tmp_path: Path) -> None:
    repo = make_repo()
    heads = branches(repo)
    serial = GitMirror(Paths(tmp_path / "serial", tmp_path / "config"))
    expected = [verify(serial, repo.path, head) for head in heads]
    together = GitMirror(Paths(tmp_path / "together", tmp_path / "config"))
    assert at_once([lambda head=head: verify(together, repo.path, head) for head in heads]) == expected
    assert sorted(os.listdir(tmp_path / "together" / "trees")) == sorted(os.listdir(tmp_path / "serial" / "trees"))


def test_twenty_verifications_on_twenty_mirrors(make_repo, tmp_path: Path) -> None:
    repos = [make_repo(f"repo{n}") for n in range(MANY)]
    heads = []
    for number, repo in enumerate(repos):
        repo.commit({"shared.txt": f"{number}\n"}, "base")
        repo.branch("work")
        heads.append(repo.commit({"more.txt": f"{number}\n"}, "change"))
    serial = GitMirror(Paths(tmp_path / "serial", tmp_path / "config"))
    expected = [verify(serial, repo.path, head) for repo, head in zip(repos, heads, strict=True)]
    together = GitMirror(Paths(tmp_path / "together", tmp_path / "config"))
    calls = [lambda r=r, h=h: verify(together, r.path, h) for r, h in zip(repos, heads, strict=True)]
    assert at_once(calls) == expected


def test_twenty_bundles_at_once(make_repo, tmp_path: Path) -> None:
    source, agent = make_repo("source"), make_repo("agent")
    base = source.commit({"shared.txt": "shared\n"}, "base")
    agent.git("fetch", "-q", str(source.path), "main:refs/heads/upstream")
    sent = []
    for number in range(MANY):
        agent.branch(f"work{number}", "upstream")
        head = agent.commit({"shared.txt": f"{number}\n"}, "change")
        agent.git("bundle", "create", "-q", str(tmp_path / f"{number}.bundle"), f"upstream..work{number}")
        sent.append((head, str(tmp_path / f"{number}.bundle")))
    mirror = GitMirror(Paths(tmp_path / "state", tmp_path / "config"))
    got = at_once([lambda h=h, f=f: mirror.fetch(str(source.path), "main", h, f) for h, f in sent])
    assert [(m.base, m.head) for m in got] == [(base, head) for head, _ in sent]
    assert [mirror.describe(m).commits[0].oid for m in got] == [head for head, _ in sent]


def test_one_tree_is_written_once_whoever_asks(make_repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = make_repo()
    repo.commit({f"f{n}": "x" for n in range(200)}, "base")
    repo.branch("work")
    head = repo.commit({"g": "y"}, "change")
    mirror = GitMirror(Paths(tmp_path / "state", tmp_path / "config"))
    got = mirror.fetch(str(repo.path), "main", head)
    tree = mirror.describe(got).merge_tree
    written = []
    write = exporting._write
    monkeypatch.setattr(exporting, "_write", lambda tree, root: (written.append(tree.oid), write(tree, root)))
    places = at_once([lambda: mirror.export(got, tree)] * MANY)
    assert len(set(places)) == 1
    assert written == [tree]
    assert len(contents(places[0])) == 201


def test_sweeping_spares_what_is_held_or_was_just_asked_for(
    make_repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    repo = make_repo()
    repo.commit({"f": "x"}, "base")
    repo.branch("work")
    head = repo.commit({"g": "y"}, "change")
    mirror = GitMirror(Paths(tmp_path / "state", tmp_path / "config"))
    got = mirror.fetch(str(repo.path), "main", head)
    change = mirror.describe(got)
    trees = tmp_path / "state" / "trees"
    trees.mkdir()
    held, asked, old = (trees / (c * 40) for c in "123")
    for place in (held, asked, old):
        place.mkdir()
        os.utime(place, (1, 1))
    monkeypatch.setattr(exporting, "KEEP", 0)
    handle = os.open(held, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_SH)
    # Asked for again between the sweep's first look and its removal.
    remove = exporting._remove
    monkeypatch.setattr(
        exporting, "_remove", lambda cache, name: (os.utime(asked) if name[0] == "2" else None, remove(cache, name))
    )
    mirror.export(got, change.merge_tree)
    assert sorted(os.listdir(trees)) == sorted([held.name, asked.name, change.merge_tree])
    os.close(handle)
    mirror.export(got, change.base_tree)
    assert sorted(os.listdir(trees)) == sorted([asked.name, change.merge_tree, change.base_tree])


# --- environments ---


def test_twenty_asks_for_one_environment_build_it_once(
    gate_paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gatekeeper.adapters.environment_builder import packages

    made = []
    copy = packages.copy_distributions
    monkeypatch.setattr(packages, "copy_distributions", lambda *args: (made.append(1), copy(*args)))
    builder = UvEnvironmentBuilder(gate_paths, {"once.py": b"1\n"}, "/tree/many")
    prepared = at_once([lambda: builder.prepare(MemoryTree.of({}), EnvironmentSettings(), "host")] * MANY)
    assert made == [1]
    assert all(p == prepared[0] for p in prepared)
    subprocess.run([prepared[0].python, "-c", "import pytest, once"], check=True, timeout=60)


# --- killed in the middle ---


def killed_half_way(code: str, work: tuple[Any, ...], tmp_path: Path) -> None:
    """Run `code` in a process of its own and kill it as soon as it says that it is half-way."""
    (tmp_path / "work").write_bytes(pickle.dumps(work))
    mark = tmp_path / "half-way"
    head = (
        "import pickle, sys, threading, pathlib\n"
        "work = pickle.load(open(sys.argv[1], 'rb'))\n"
        "def half_way():\n    pathlib.Path(sys.argv[2]).touch()\n    threading.Event().wait()\n"
    )
    with subprocess.Popen([sys.executable, "-c", head + code, str(tmp_path / "work"), str(mark)]) as process:
        try:
            until(mark.exists, 60)
        finally:
            process.kill()


def test_an_environment_killed_half_way_is_not_taken_for_whole(tmp_path: Path) -> None:
    code = """
from gatekeeper.adapters.environment_builder.store import built
def make(place):
    (place / "first").write_text("1")
    half_way()
built(work[0], "thing-1", make)
"""
    killed_half_way(code, (tmp_path / "environments",), tmp_path)
    assert not (tmp_path / "environments" / "thing-1").exists()

    def make(place: Path) -> None:
        assert not any(place.iterdir())
        (place / "first").write_text("1", encoding="utf-8")
        (place / "second").write_text("2", encoding="utf-8")

    assert sorted(os.listdir(built(tmp_path / "environments", "thing-1", make))) == ["first", "second"]


def test_a_tree_killed_half_way_is_not_taken_for_whole(make_repo, tmp_path: Path) -> None:
    repo = make_repo()
    repo.commit({f"f{n}": "x" for n in range(20)}, "base")
    repo.branch("work")
    head = repo.commit({"g": "y"}, "change")
    paths = Paths(tmp_path / "state", tmp_path / "config")
    mirror = GitMirror(paths)
    got = mirror.fetch(str(repo.path), "main", head)
    tree = mirror.describe(got).merge_tree
    code = """
from gatekeeper.adapters.git_mirror import GitMirror
from gatekeeper.adapters.git_mirror.reader import GitTree
read, seen = GitTree.read, []
def slow(self, path, **kw):
    seen.append(path)
    if len(seen) == 10:
        half_way()
    return read(self, path, **kw)
GitTree.read = slow
paths, got, tree = work
GitMirror(paths).export(got, tree)
"""
    killed_half_way(code, (paths, got, tree), tmp_path)
    assert tree not in os.listdir(paths.trees)
    assert len(contents(mirror.export(got, tree))) == 21


def test_a_fetch_killed_half_way_is_done_anew(make_repo, tmp_path: Path) -> None:
    repo = make_repo("served")
    base = repo.commit({"a": "x"}, "base")
    repo.branch("work")
    head = repo.commit({"a": "y"}, "change")
    paths = Paths(tmp_path / "state", tmp_path / "config")
    mark = tmp_path / "half-way"
    code = """
from gatekeeper.adapters.git_mirror import GitMirror
from gatekeeper.adapters.git_mirror.sources import Remotes
paths, url, head = work
GitMirror(paths, Remotes(loopback_http=True)).fetch(url, "main", head)
"""
    with GitServer(tmp_path) as server:

        def hold(handler: Any) -> bool:
            posts = len([1 for path, _ in server.seen if path.endswith("git-upload-pack")])
            if handler.command == "POST" and posts > 1:
                mark.touch()
                server.released.wait(60)
                return True
            return False

        server.bend = hold
        url = f"{server.url}/served/.git"
        killed_half_way(code, (paths, url, head), tmp_path)
        server.bend = lambda _handler: False
        got = GitMirror(paths, Remotes(loopback_http=True)).fetch(url, "main", head)
        assert (got.base, got.head) == (base, head)
        assert GitMirror(paths).describe(got).merge_base == base
