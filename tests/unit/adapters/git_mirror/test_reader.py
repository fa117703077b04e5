"""The open reader of a mirror: never one object's bytes under another's name, and back after its process is gone."""

from __future__ import annotations

import os
import pickle
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from gatekeeper.adapters.git_mirror import reader as module
from gatekeeper.adapters.git_mirror.reader import GitTree, ObjectReader, reader
from gatekeeper.errors import CouldNotCheck


@pytest.fixture
def kept(make_repo):
    repo = make_repo()
    repo.commit({f"f{n}": f"content {n}\n" * (n + 1) for n in range(30)}, "base")
    made = ObjectReader(repo.path / ".git")
    yield repo, made, {n: repo.git("rev-parse", f"main:f{n}") for n in range(30)}
    made.close()


@pytest.mark.parametrize("keep", [0, module.KEPT_BLOB])
def test_many_threads_get_what_they_asked_for(kept, keep: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_BLOB", keep)
    _, made, oids = kept
    with ThreadPoolExecutor(12) as pool:
        for number, found in pool.map(lambda n: (n, made.read(oids[n])), list(range(30)) * 10):
            assert found == ("blob", (f"content {number}\n" * (number + 1)).encode())


def test_it_is_started_again_after_its_process_was_killed(kept) -> None:
    _, made, oids = kept
    assert made.read(oids[1]) is not None
    assert made._process is not None
    os.kill(made._process.pid, signal.SIGKILL)
    made._process.wait()
    assert made.read(oids[2]) == ("blob", b"content 2\n" * 3)
    made.close()
    assert made.info(oids[2]) == (oids[2], "blob", 30)


def test_an_interrupted_answer_is_not_the_next_ones(kept, monkeypatch: pytest.MonkeyPatch) -> None:
    _, made, oids = kept

    def interrupted(*_: object) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "_exactly", interrupted)
        with pytest.raises(KeyboardInterrupt):
            made.read(oids[5])
    assert made.read(oids[6]) == ("blob", b"content 6\n" * 7)
    with pytest.raises(CouldNotCheck, match="at most 3 are read"):
        made.read(oids[7], limit=3)
    assert made.read(oids[8]) == ("blob", b"content 8\n" * 9)


@pytest.mark.parametrize("name", ["", "a b", "a\nb", "\u0661", "main:f1"])
def test_names_that_are_none_do_not_confuse_it(kept, name: str) -> None:
    _, made, oids = kept
    with pytest.raises(CouldNotCheck) as error:
        made.read(name)
    assert error.value.code == "GIT_FAILED"
    assert made.read(oids[1]) is not None


def test_readers_are_bounded_and_one_that_was_ended_still_serves(
    kept, make_repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, _, oids = kept
    monkeypatch.setattr(module, "MAX_READERS", 2)
    first = reader(repo.path / ".git")
    assert first.read(oids[1]) is not None
    for name in ("one", "two"):
        other = make_repo(name)
        other.commit({"x": name}, "x")
        assert reader(other.path / ".git").info("refs/heads/main") is not None
    assert repo.path / ".git" not in module._readers
    assert first._process is None
    assert first.read(oids[1]) is not None
    first.close()
    module.close_readers()


def test_a_tree_travels_and_is_listed_once_for_all_threads(kept, monkeypatch: pytest.MonkeyPatch) -> None:
    repo, _, _ = kept
    calls = []
    run = module.run
    monkeypatch.setattr(module, "run", lambda *args, **kw: (calls.append(args), run(*args, **kw))[1])
    tree = pickle.loads(pickle.dumps(GitTree(repo.path / ".git", repo.git("rev-parse", "main^{tree}"))))
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(lambda _: len(tree.entries), range(16)))
    assert counts == [30] * 16
    assert len(calls) == 1
    assert tree.listed == 30
    module.close_readers()


def test_what_was_read_is_not_asked_for_again_and_its_limit_still_holds(kept, monkeypatch: pytest.MonkeyPatch) -> None:
    _, made, oids = kept
    first = made.read(oids[4])
    asked: list[str] = []
    ask = made._ask
    monkeypatch.setattr(made, "_ask", lambda what, name: asked.append(name) or ask(what, name))
    assert made.read(oids[4]) == first == ("blob", b"content 4\n" * 5)
    assert asked == []
    with pytest.raises(CouldNotCheck, match="at most 3 are read"):
        made.read(oids[4], limit=3)


def test_what_is_kept_is_bounded(kept, monkeypatch: pytest.MonkeyPatch) -> None:
    _, made, oids = kept
    monkeypatch.setattr(module, "KEPT_BLOB", 200)
    monkeypatch.setattr(module, "KEPT_BYTES", 400)
    for number in (*range(30), *range(30)):
        assert made.read(oids[number]) == ("blob", f"content {number}\n".encode() * (number + 1))
        assert made._kept_bytes == sum(len(content) for _, content in made._kept.values()) <= 400
    assert made._kept
    assert all(len(content) <= 200 for _, content in made._kept.values())
