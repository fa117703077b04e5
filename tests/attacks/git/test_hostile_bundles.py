"""Git bundles that lie about their size, their names or what they build on; and honest ones."""

from __future__ import annotations

import hashlib
import os
import subprocess
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from gatekeeper.adapters.git_mirror import GitMirror
from gatekeeper.adapters.git_mirror import bundle as bundles
from gatekeeper.config import Paths
from gatekeeper.errors import CouldNotCheck, GatekeeperError, InputError, UsageError


@pytest.fixture
def gate(tmp_path: Path) -> GitMirror:
    return GitMirror(Paths(tmp_path / "state", tmp_path / "config"))


class Sent:
    """A registered repository, an agent's clone of it with one commit more, and that commit in a bundle."""

    def __init__(self, make_repo, tmp_path: Path) -> None:
        self.source = make_repo("source")
        self.base = self.source.commit({"a.txt": "one\n" * 200, "b.txt": "one\n"}, "base")
        self.agent = make_repo("agent")
        self.agent.git("fetch", "-q", str(self.source.path), "main:refs/heads/upstream")
        self.agent.branch("work", "upstream")
        self.head = self.agent.commit({"a.txt": "one\n" * 199 + "two\n"}, "change")
        self.file = tmp_path / "sent.bundle"

    def bundle(self, *revisions: str, options: Sequence[str] = ()) -> Path:
        self.agent.git("bundle", "create", "-q", *options, str(self.file), *(revisions or ("upstream..work",)))
        return self.file

    def fetch(self, gate: GitMirror, head: str | None = None):
        return gate.fetch(str(self.source.path), "main", head or self.head, str(self.file))


@pytest.fixture
def sent(make_repo, tmp_path: Path) -> Sent:
    return Sent(make_repo, tmp_path)


def refused(gate: GitMirror, sent: Sent, code: str, kind: type[GatekeeperError] = InputError) -> None:
    """The bundle is refused, and neither head nor anything else of it is in the mirror."""
    with pytest.raises(kind) as error:
        sent.fetch(gate)
    assert error.value.code == code, error.value
    with pytest.raises(UsageError) as absent:
        gate.fetch(str(sent.source.path), "main", sent.head)
    assert absent.value.code == "HEAD_NOT_FOUND"
    mirrors = list(gate._paths.mirrors.glob(".quarantine-*"))
    assert mirrors == []


def packed(count: int, body: bytes) -> bytes:
    content = b"PACK" + (2).to_bytes(4, "big") + count.to_bytes(4, "big") + body
    return content + hashlib.sha1(content, usedforsecurity=False).digest()


def entry(kind: int, size: int, stream: bytes, between: bytes = b"") -> bytes:
    """A pack's entry that claims `size`."""
    low, size = size & 15, size >> 4
    head = bytearray([kind << 4 | low | (0x80 if size else 0)])
    while size:
        low, size = size & 0x7F, size >> 7
        head.append(low | (0x80 if size else 0))
    return bytes(head) + between + stream


def number(value: int) -> bytes:
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def write(sent: Sent, pack: bytes, head: str = "", magic: bytes = b"# v2 git bundle\n") -> None:
    tip = (head or sent.head).encode()
    sent.file.write_bytes(magic + b"-" + sent.base.encode() + b" \n" + tip + b" refs/heads/work\n\n" + pack)


# --- honest ones ---


def test_an_honest_bundle_brings_head_and_base_stays_the_gates(sent: Sent, gate: GitMirror) -> None:
    sent.bundle()
    got = sent.fetch(gate)
    assert (got.base, got.head) == (sent.base, sent.head)
    change = gate.describe(got)
    assert [p.path for p in change.paths] == ["a.txt"]
    assert (gate.export(got, change.merge_tree) / "a.txt").read_text().endswith("two\n")


def test_a_bundle_of_the_whole_history_and_one_of_version_3(sent: Sent, gate: GitMirror) -> None:
    sent.bundle("work", options=("--version=3",))
    assert sent.file.read_bytes().startswith(b"# v3")
    assert sent.fetch(gate).head == sent.head


def test_a_thin_bundle_with_a_delta_against_the_base(sent: Sent, gate: GitMirror) -> None:
    """`git bundle` deltas against what the receiver has, which is then not in the pack."""
    noise = os.urandom(20_000).hex()
    sent.base = sent.source.commit({"big.txt": noise}, "big")
    sent.agent.git("fetch", "-q", str(sent.source.path), "main:refs/heads/upstream")
    sent.agent.branch("work", "upstream")
    sent.head = sent.agent.commit({"big.txt": noise + "!"}, "change")
    sent.bundle()
    assert sent.file.stat().st_size < 5000
    assert sent.fetch(gate).head == sent.head


def test_a_bundle_on_another_branch_of_the_source(sent: Sent, gate: GitMirror) -> None:
    sent.source.branch("feature")
    feature = sent.source.commit({"f.txt": "f\n"}, "feature")
    sent.agent.git("fetch", "-q", str(sent.source.path), "feature:refs/heads/upstream-feature")
    sent.agent.branch("work", "upstream-feature")
    sent.head = sent.agent.commit({"f.txt": "g\n"}, "stacked")
    sent.bundle("upstream-feature..work")
    assert feature.encode() in sent.file.read_bytes()
    assert sent.fetch(gate).head == sent.head


def test_a_head_that_is_there_needs_no_bundle(sent: Sent, gate: GitMirror) -> None:
    sent.bundle()
    sent.fetch(gate)
    sent.file.unlink()
    assert sent.fetch(gate).head == sent.head
    sent.source.git("fetch", "-q", str(sent.agent.path), "work:refs/heads/pushed")
    pushed = sent.agent.commit({"c.txt": "c"}, "more")
    sent.source.git("fetch", "-q", str(sent.agent.path), "work:refs/heads/pushed")
    assert sent.fetch(gate, pushed).head == pushed


# --- names ---


def test_names_in_the_bundle_move_nothing(sent: Sent, gate: GitMirror) -> None:
    """A bundle that says main is elsewhere, in every spelling, does not say so to the gate."""
    for name in ("refs/heads/main", f"refs/gatekeeper/{sent.base}", "HEAD", "refs/heads/refs/heads/main"):
        sent.agent.git("update-ref", name, sent.head)
    sent.bundle("work", "refs/heads/main", "HEAD", f"refs/gatekeeper/{sent.base}", "refs/heads/refs/heads/main")
    got = sent.fetch(gate)
    assert got.base == sent.base
    again = gate.fetch(str(sent.source.path), "main", sent.head)
    assert again.base == sent.base
    listed = subprocess.run(
        ["git", f"--git-dir={got.path}", "for-each-ref", "--format=%(refname) %(objectname)"],
        capture_output=True, text=True, check=True,
    ).stdout.split("\n")  # fmt: skip
    assert sorted(filter(None, listed)) == sorted(f"refs/gatekeeper/{o} {o}" for o in (sent.base, sent.head))


def test_what_head_does_not_reach_is_not_kept(sent: Sent, gate: GitMirror) -> None:
    sent.agent.git("checkout", "-q", "-b", "other", "upstream")
    other = sent.agent.commit({"other.txt": "smuggled\n"}, "other")
    sent.bundle("upstream..work", "other")
    got = sent.fetch(gate)
    done = subprocess.run(["git", f"--git-dir={got.path}", "cat-file", "-e", other], check=False, capture_output=True)
    assert done.returncode != 0
    with pytest.raises(UsageError):
        gate.fetch(str(sent.source.path), "main", other)


def test_head_that_the_bundle_lacks(sent: Sent, gate: GitMirror) -> None:
    sent.bundle()
    sent.head = "1" * 40
    refused(gate, sent, "HEAD_NOT_FOUND", UsageError)


def test_head_that_is_no_commit(sent: Sent, gate: GitMirror) -> None:
    sent.bundle()
    sent.head = sent.agent.git("rev-parse", "work:a.txt")
    with pytest.raises(UsageError) as error:
        sent.fetch(gate)
    assert error.value.code == "HEAD_NOT_FOUND"


# --- headers ---


@pytest.mark.parametrize("keep", [0, 1, 15, 16, 40, 60, 100, -1, -20, -21, -60])
def test_cut_short(sent: Sent, gate: GitMirror, keep: int) -> None:
    content = sent.bundle().read_bytes()
    sent.file.write_bytes(content[:keep])
    refused(gate, sent, "BUNDLE_MALFORMED")


@pytest.mark.parametrize(
    "magic",
    [
        b"# v1 git bundle\n", b"# v4 git bundle\n", b"#v2 git bundle\n", b"# v2 git bundle\r\n", b"PACK", b"", b"\x00" * 40,
        b"# v3 git bundle\n@filter=blob:none\n", b"# v3 git bundle\n@object-format=sha256\n", b"# v3 git bundle\n@x\n",
        b"# v2 git bundle\n@object-format=sha1\n", b"# v2 git bundle\n--upload-pack=x\n", b"# v2 git bundle\n" + b"y" * 9000,
        b"# v2 git bundle\n-" + b"a" * 39 + b" \n", b"# v2 git bundle\n\n",
    ],
)  # fmt: skip
def test_headers_that_are_none(sent: Sent, gate: GitMirror, magic: bytes) -> None:
    content = sent.bundle().read_bytes()
    sent.file.write_bytes(magic + content.partition(b"\n")[2])
    refused(gate, sent, "BUNDLE_MALFORMED")


def test_a_real_filtered_bundle(sent: Sent, gate: GitMirror) -> None:
    sent.agent.git("config", "uploadpack.allowFilter", "true")
    sent.bundle("--filter=blob:none", "work", options=("--version=3",))
    assert b"@filter=blob:none" in sent.file.read_bytes()
    refused(gate, sent, "BUNDLE_MALFORMED")


def test_objects_left_out_without_saying_so(sent: Sent, gate: GitMirror) -> None:
    """The filtered pack under a header that claims to be whole: head would have no blobs."""
    sent.agent.git("config", "uploadpack.allowFilter", "true")
    content = sent.bundle("--filter=blob:none", "work", options=("--version=3",)).read_bytes()
    sent.file.write_bytes(content.replace(b"@filter=blob:none\n", b""))
    refused(gate, sent, "BUNDLE_MALFORMED")


def test_prerequisites_that_the_source_lacks(sent: Sent, gate: GitMirror) -> None:
    between = sent.head
    sent.head = sent.agent.commit({"c.txt": "c\n"}, "second")
    sent.bundle(f"{between}..work")
    refused(gate, sent, "BUNDLE_PREREQUISITE_MISSING")


def test_a_prerequisite_that_is_not_declared(sent: Sent, gate: GitMirror) -> None:
    between = sent.head
    sent.head = sent.agent.commit({"c.txt": "c\n"}, "second")
    content = sent.bundle(f"{between}..work").read_bytes()
    lines = content.partition(b"\n\n")
    head = b"\n".join(x for x in lines[0].split(b"\n") if not x.startswith(b"-"))
    sent.file.write_bytes(head + b"\n\n" + lines[2])
    refused(gate, sent, "BUNDLE_MALFORMED")


def test_too_many_prerequisites(sent: Sent, gate: GitMirror) -> None:
    rows = b"".join(b"-%040x \n" % n for n in range(bundles.MAX_PREREQUISITES + 1))
    sent.file.write_bytes(b"# v2 git bundle\n" + rows + sent.head.encode() + b" refs/heads/x\n\nPACK")
    refused(gate, sent, "BUNDLE_TOO_LARGE")


# --- packs ---


def test_a_corrupted_object(sent: Sent, gate: GitMirror) -> None:
    content = bytearray(sent.bundle().read_bytes())
    content[-40] ^= 0xFF
    sent.file.write_bytes(content)
    refused(gate, sent, "BUNDLE_MALFORMED")


def test_another_object_under_right_checksums(sent: Sent, gate: GitMirror) -> None:
    """One blob swapped for another: the pack is sound, and head's file is not in it."""
    blob = b"evil\n"
    write(sent, packed(1, entry(3, len(blob), zlib.compress(blob))))
    refused(gate, sent, "HEAD_NOT_FOUND", UsageError)
    commit = subprocess.run(
        ["git", "-C", str(sent.agent.path), "cat-file", "commit", "work"], capture_output=True, check=True
    ).stdout
    body = entry(3, len(blob), zlib.compress(blob)) + entry(1, len(commit), zlib.compress(commit))
    write(sent, packed(2, body))
    refused(gate, sent, "BUNDLE_MALFORMED")


def test_objects_are_checked_as_those_of_a_fetch(sent: Sent, gate: GitMirror) -> None:
    """A tree with a .git directory in it comes in a sound pack."""
    blob = sent.agent.git("rev-parse", "work:b.txt")
    inner = b"100644 config\x00" + bytes.fromhex(blob)
    inner_oid = hashlib.sha1(b"tree %d\x00" % len(inner) + inner, usedforsecurity=False).digest()
    tree = b"40000 .git\x00" + inner_oid
    tree_oid = hashlib.sha1(b"tree %d\x00" % len(tree) + tree, usedforsecurity=False).hexdigest()
    commit = (f"tree {tree_oid}\nparent {sent.base}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n").encode()
    sent.head = hashlib.sha1(b"commit %d\x00" % len(commit) + commit, usedforsecurity=False).hexdigest()
    rows = [(1, commit), (2, tree), (2, inner)]
    write(sent, packed(3, b"".join(entry(k, len(c), zlib.compress(c)) for k, c in rows)))
    refused(gate, sent, "TREE_HOSTILE")


@pytest.mark.parametrize(
    ("pack", "code"),
    [
        (b"PACK" + (2).to_bytes(4, "big") + (0xFFFFFFFF).to_bytes(4, "big"), "BUNDLE_TOO_LARGE"),
        (b"PACK" + (9).to_bytes(4, "big") + (1).to_bytes(4, "big"), "BUNDLE_MALFORMED"),
        (packed(1, entry(3, 1 << 50, zlib.compress(b"x"))), "BUNDLE_TOO_LARGE"),
        (packed(1, b"\xff" * 30), "BUNDLE_MALFORMED"),
        (packed(1, entry(3, 5, zlib.compress(b"x" * 50_000_000))), "BUNDLE_MALFORMED"),
        (packed(1, entry(3, 50, zlib.compress(b"x"))), "BUNDLE_MALFORMED"),
        (packed(1, entry(5, 1, zlib.compress(b"x"))), "BUNDLE_MALFORMED"),
        (packed(1, entry(0, 1, zlib.compress(b"x"))), "BUNDLE_MALFORMED"),
        (packed(2, entry(3, 1, zlib.compress(b"x"))), "BUNDLE_MALFORMED"),
        (packed(1, entry(3, 1, zlib.compress(b"x"))) + b"more", "BUNDLE_MALFORMED"),
        (packed(1, entry(6, 2, zlib.compress(b"xx"), b"\xff" * 12)), "BUNDLE_MALFORMED"),
        (packed(1, entry(7, 0, zlib.compress(b""), b"\x01" * 20)), "BUNDLE_MALFORMED"),
        (packed(1, entry(7, 30, zlib.compress(b"\xff" * 30), b"\x01" * 20)), "BUNDLE_MALFORMED"),
        (packed(1, entry(3, 4, b"not zlib")), "BUNDLE_MALFORMED"),
    ],
)  # fmt: skip
def test_packs_that_lie(sent: Sent, gate: GitMirror, pack: bytes, code: str) -> None:
    write(sent, pack)
    refused(gate, sent, code)


def test_a_delta_bomb_is_weighed_before_git_unpacks_it(
    sent: Sent, gate: GitMirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few kB whose deltas copy a blob over and over: each one is allowed, all of them are gigabytes."""
    seed = b"x" * 65536
    oid = hashlib.sha1(b"blob %d\x00" % len(seed) + seed, usedforsecurity=False).digest()
    times = bundles.MAX_OBJECT // len(seed)
    made = number(len(seed)) + number(len(seed) * times) + b"\x80" * times  # 0x80: copy 64 KiB from the start
    bomb = entry(7, len(made), zlib.compress(made), oid)
    copies = bundles.MAX_UNPACKED // bundles.MAX_OBJECT + 1
    write(sent, packed(1 + copies, entry(3, len(seed), zlib.compress(seed)) + bomb * copies))
    assert sent.file.stat().st_size < 100_000
    refused(gate, sent, "BUNDLE_TOO_LARGE")


def test_the_caps_bite_and_let_through(sent: Sent, gate: GitMirror, monkeypatch: pytest.MonkeyPatch) -> None:
    sent.bundle()
    size = sent.file.stat().st_size
    monkeypatch.setattr(bundles, "MAX_BUNDLE", size - 1)
    refused(gate, sent, "BUNDLE_TOO_LARGE")
    monkeypatch.setattr(bundles, "MAX_BUNDLE", size)
    monkeypatch.setattr(bundles, "MAX_OBJECTS", 2)
    refused(gate, sent, "BUNDLE_TOO_LARGE")
    monkeypatch.setattr(bundles, "MAX_OBJECTS", 3)
    assert sent.fetch(gate).head == sent.head


def test_a_link_a_pipe_and_nothing_are_no_bundle(sent: Sent, gate: GitMirror, tmp_path: Path) -> None:
    real = sent.bundle().rename(tmp_path / "real.bundle")
    refused(gate, sent, "GIT_FAILED", CouldNotCheck)
    sent.file.symlink_to(real)
    refused(gate, sent, "GIT_FAILED", CouldNotCheck)
    sent.file.unlink()
    os.mkfifo(sent.file)
    refused(gate, sent, "GIT_FAILED", CouldNotCheck)
