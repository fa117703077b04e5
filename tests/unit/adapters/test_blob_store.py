"""Blobs: whole, checked and durable, or not there at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.adapters.blob_store import BlobStore
from gatekeeper.errors import CouldNotCheck, InputError

DATA = b"0123456789" * 1000
NAME = sha256(DATA).hexdigest()


def pieces(data: bytes = DATA, size: int = 777) -> Iterator[bytes]:
    for i in range(0, len(data), size):
        yield data[i : i + size]


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "blobs", floor_bytes=0)


def left(tmp_path: Path) -> list[Path]:
    return [p for p in tmp_path.rglob("*") if p.is_file()]


def test_content_comes_back(blobs: BlobStore, tmp_path: Path) -> None:
    assert blobs.path(NAME) is None
    assert blobs.read(NAME, 10) is None
    path = blobs.write(NAME, pieces(), len(DATA))
    assert blobs.path(NAME) == path
    assert blobs.read(NAME, len(DATA)) == DATA
    assert b"".join(blobs.chunks(NAME, 100)) == DATA
    assert max(len(c) for c in blobs.chunks(NAME, 100)) == 100
    assert left(tmp_path) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "blobs").stat().st_mode) == 0o700


def test_nothing_at_all_can_be_content(blobs: BlobStore) -> None:
    empty = sha256(b"").hexdigest()
    blobs.write(empty, [], 0)
    assert blobs.read(empty, 0) == b""


@pytest.mark.parametrize(
    ("data", "size", "code"),
    [
        (DATA[:-1], len(DATA), "ARTIFACT_SIZE"),
        (DATA + b"x", len(DATA), "ARTIFACT_SIZE"),
        (DATA[:-1] + b"x", len(DATA), "ARTIFACT_DIGEST"),
        (b"", len(DATA), "ARTIFACT_SIZE"),
        (DATA, -1, "ARTIFACT_SIZE"),
    ],
)
def test_nothing_is_left_of_other_content(blobs: BlobStore, tmp_path: Path, data: bytes, size: int, code: str) -> None:
    with pytest.raises(InputError) as caught:
        blobs.write(NAME, pieces(data), size)
    assert caught.value.code == code
    assert left(tmp_path) == []


def test_a_stream_that_breaks_leaves_nothing(blobs: BlobStore, tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield DATA[:500]
        raise ConnectionResetError("the client went away")

    with pytest.raises(ConnectionResetError):
        blobs.write(NAME, broken(), len(DATA))
    assert left(tmp_path) == []


def test_no_more_is_taken_than_announced(blobs: BlobStore) -> None:
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b"x" * 1000

    with pytest.raises(InputError):
        blobs.write(NAME, endless(), 2500)
    assert taken == 3


def test_more_than_the_cap_is_refused_unread(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        BlobStore(tmp_path, max_bytes=10, floor_bytes=0).write(NAME, pieces(), len(DATA))
    assert caught.value.code == "ARTIFACT_SIZE"


def test_the_floor_of_the_disk_is_kept(tmp_path: Path) -> None:
    disk = os.statvfs(tmp_path)
    store = BlobStore(tmp_path / "blobs", floor_bytes=disk.f_blocks * disk.f_frsize)
    with pytest.raises(CouldNotCheck) as caught:
        store.write(NAME, pieces(), len(DATA))
    assert (caught.value.code, caught.value.blame) == ("STORAGE_FULL", "gate")
    assert left(tmp_path) == []


def test_a_full_disk_leaves_nothing(blobs: BlobStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(CouldNotCheck) as caught:
        blobs.write(NAME, pieces(), len(DATA))
    monkeypatch.undo()
    assert caught.value.code == "STORAGE_FULL"
    assert left(tmp_path) == []


def test_a_failing_disk_is_a_fault_of_the_store(
    blobs: BlobStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(handle: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(CouldNotCheck) as caught:
        blobs.write(NAME, pieces(), len(DATA))
    monkeypatch.undo()
    assert caught.value.code == "STORE_FAILED"
    assert left(tmp_path) == []


def test_content_that_changed_on_the_disk_is_never_an_answer(blobs: BlobStore) -> None:
    path = blobs.write(NAME, pieces(), len(DATA))
    path.write_bytes(b"x" + DATA[1:])
    with pytest.raises(CouldNotCheck):
        blobs.read(NAME, len(DATA))
    with pytest.raises(CouldNotCheck):
        list(blobs.chunks(NAME, 100))
    blobs.write(NAME, pieces(), len(DATA))  # another upload mends it
    assert blobs.read(NAME, len(DATA)) == DATA


def test_large_content_is_not_read_whole(blobs: BlobStore) -> None:
    blobs.write(NAME, pieces(), len(DATA))
    with pytest.raises(InputError) as caught:
        blobs.read(NAME, len(DATA) - 1)
    assert caught.value.code == "INPUT_TOO_LARGE"


def test_a_link_in_the_place_of_content_is_not_followed(blobs: BlobStore, tmp_path: Path) -> None:
    path = blobs.write(NAME, pieces(), len(DATA))
    path.unlink()
    (tmp_path / "secret").write_bytes(DATA)
    path.symlink_to(tmp_path / "secret")
    assert blobs.path(NAME) is None
    assert blobs.read(NAME, len(DATA)) is None


def test_chunks_of_what_is_not_there_raise_at_once(blobs: BlobStore) -> None:
    for name in (NAME, "../secret"):
        with pytest.raises(CouldNotCheck):
            blobs.chunks(name, 10)


def test_drafts_of_the_dead_are_swept_and_those_of_the_living_stay(blobs: BlobStore, tmp_path: Path) -> None:
    child = (
        "import os, sys; from pathlib import Path; from gatekeeper.adapters.blob_store import BlobStore\n"
        "def pieces():\n    yield b'x' * 10\n    os._exit(9)\n"
        "BlobStore(Path(sys.argv[1]), floor_bytes=0).write('a' * 64, pieces(), 100)"
    )
    done = subprocess.run(
        [sys.executable, "-c", child, str(tmp_path / "blobs")], check=False, timeout=60,
        env={"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )  # fmt: skip
    assert done.returncode == 9
    assert len(left(tmp_path)) == 1

    def sweeping() -> Iterator[bytes]:
        yield DATA[:10]
        assert blobs.sweep() == 1
        yield DATA[10:]

    path = blobs.write(NAME, sweeping(), len(DATA))
    assert left(tmp_path) == [path]
    assert blobs.sweep() == 0


def test_a_sweep_of_nothing_does_nothing(tmp_path: Path) -> None:
    assert BlobStore(tmp_path / "none").sweep() == 0
    assert left(tmp_path) == []


@given(st.one_of(st.text(max_size=80), st.from_regex(r"[0-9a-fA-F./\x00\n]{60,70}", fullmatch=True)))
def test_only_digests_are_names(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    root = tmp_path_factory.getbasetemp() / "fuzzed"
    store = BlobStore(root / "blobs", floor_bytes=0)
    before = left(root.parent) if root.exists() else []
    assert store.path(name) is None
    assert store.read(name, 10) is None
    with pytest.raises(InputError):
        store.write(name, [b"x"], 1)
    assert (left(root.parent) if root.exists() else []) == before
