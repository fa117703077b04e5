"""Repositories that try to run something, to be read as another branch, or to leave the tree; and honest look-alikes."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from gatekeeper.adapters.git_mirror import GitMirror, GitNotesStore, runner
from gatekeeper.adapters.git_mirror.enforcer import EnforcerRepository
from gatekeeper.config import SANDBOX_ID, Paths
from gatekeeper.errors import CouldNotCheck, GatekeeperError, InputError, UsageError

BLOB = "hello\n"


@pytest.fixture
def mirror(tmp_path: Path) -> GitMirror:
    return GitMirror(Paths(tmp_path / "state", tmp_path / "config"))


def two(repo):
    """A base on main and a head on work."""
    base = repo.commit({"a.txt": "one\n", "b.txt": "one\n"}, "base")
    repo.branch("work")
    return base, repo.commit({"a.txt": "two\n"}, "change")


def raw(repo, kind: str, content: bytes) -> str:
    """An object that git itself would not make."""
    done = subprocess.run(
        ["git", "-C", str(repo.path), "hash-object", "-t", kind, "--literally", "-w", "--stdin"],
        input=content, capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout.decode().strip()


def tree_of(*rows: tuple[bytes, bytes, str]) -> bytes:
    return b"".join(mode + b" " + name + b"\x00" + bytes.fromhex(oid) for mode, name, oid in rows)


def commit_of(repo, tree: str) -> str:
    """A commit of `tree` on top of main."""
    return repo.git("commit-tree", "-p", "main", "-m", "hostile", tree)


HOSTILE_CONFIG = """
[uploadpack]
    packObjectsHook = {run}
[core]
    fsmonitor = {run}
    hooksPath = {hooks}
    sshCommand = {run}
    alternateRefsCommand = {run}
    pager = {run}
    editor = {run}
    askPass = {run}
    attributesFile = {hooks}/attributes
[include]
    path = {hooks}/more
[filter "evil"]
    clean = {run}
    smudge = {run}
    process = {run}
    required = true
[merge "evil"]
    driver = {run}
[merge]
    default = evil
[diff "evil"]
    textconv = {run}
    command = {run}
[diff]
    external = {run}
[gpg]
    program = {run}
[commit]
    gpgSign = true
[protocol]
    allow = always
[protocol "ext"]
    allow = always
[extensions]
    partialClone = origin
[remote "origin"]
    url = ext::{run}
    promisor = true
    uploadpack = {run}
"""


class Trap:
    """A repository whose every switch runs one script that leaves a marker."""

    def __init__(self, repo, folder: Path) -> None:
        self.marker = folder / "marker"
        script = folder / "run.sh"
        script.write_text(f"#!/bin/sh\necho ran >> {self.marker}\nexit 0\n")
        script.chmod(0o755)
        hooks = folder / "hooks"
        hooks.mkdir()
        (hooks / "attributes").write_text("* filter=evil merge=evil diff=evil\n")
        (hooks / "more").write_text(f"[core]\n\tfsmonitor = {script}\n")
        git_dir = repo.path / ".git"
        (git_dir / "hooks").mkdir(exist_ok=True)
        for name in (
            "post-checkout", "pre-push", "reference-transaction", "post-update", "update", "pre-receive", "post-index-change",
            "pre-auto-gc", "post-commit", "post-merge", "fsmonitor-watchman", "post-rewrite", "prepare-commit-msg",
        ):  # fmt: skip
            for place in (hooks, git_dir / "hooks"):
                (place / name).write_bytes(script.read_bytes())
                (place / name).chmod(0o755)
        with (git_dir / "config").open("a") as file:
            file.write(HOSTILE_CONFIG.format(run=script, hooks=hooks))


def test_the_trap_itself_works(make_repo, tmp_path: Path) -> None:
    """Plain git falls into it: so a marker that is missing below means something."""
    repo = make_repo()
    two(repo)
    trap = Trap(repo, tmp_path)
    subprocess.run(["git", "-C", str(repo.path), "status"], capture_output=True, check=False)
    assert trap.marker.exists()


def test_nothing_of_the_source_runs(make_repo, tmp_path: Path, mirror: GitMirror) -> None:
    repo = make_repo()
    base, head = two(repo)
    trap = Trap(repo, tmp_path)
    got = mirror.fetch(str(repo.path), "main", "work")
    assert (got.base, got.head) == (base, head)
    change = mirror.describe(got)
    mirror.export(got, change.merge_tree)
    with pytest.raises(UsageError, match="does not exist") as missing:
        mirror.fetch(str(repo.path), "main", "1" * 40)
    assert missing.value.code == "HEAD_NOT_FOUND"
    assert not trap.marker.exists()


def test_nothing_runs_while_notes_and_enforcer_read_and_write(make_repo, tmp_path: Path) -> None:
    repo = make_repo()
    base, head = two(repo)
    trap = Trap(repo, tmp_path)
    store = GitNotesStore()
    store.put(str(repo.path), head, ["{}"])
    assert store.get(str(repo.path), head) == ("{}",)
    enforcer = EnforcerRepository(repo.path)
    assert enforcer.commit("work") == head
    assert enforcer.is_ancestor(base, head)
    assert enforcer.facts(head)[1] == (base,)
    assert enforcer.attestations(head, enforcer.ref("refs/notes/attestations")) == [b"{}"]
    assert not trap.marker.exists()


def test_a_missing_object_is_not_fetched_from_the_promisor(make_repo, tmp_path: Path, mirror: GitMirror) -> None:
    repo = make_repo()
    _, head = two(repo)
    trap = Trap(repo, tmp_path)
    repo_blob = repo.path / ".git" / "objects"
    oid = subprocess.run(
        ["git", "--git-dir", str(repo.path / ".git"), "ls-tree", "work", "a.txt"], capture_output=True, check=True, text=True,
        env={"PATH": os.environ["PATH"]},
    ).stdout.split()[2]  # fmt: skip
    trap.marker.unlink(missing_ok=True)
    (repo_blob / oid[:2] / oid[2:]).unlink()
    with pytest.raises(CouldNotCheck) as broken:
        mirror.fetch(str(repo.path), "main", head)
    assert broken.value.code == "GIT_FAILED"
    with pytest.raises(GatekeeperError):
        EnforcerRepository(repo.path).facts("1" * 40)
    assert GitNotesStore().get(str(repo.path), "1" * 40) == ()
    assert not trap.marker.exists()


def test_a_branch_with_a_line_separator_in_its_name_is_no_other_branch(make_repo, mirror: GitMirror) -> None:
    repo = make_repo()
    base, head = two(repo)
    for sign in ("\u2028", "\u0085", "\u2029"):
        repo.git("update-ref", f"refs/heads/main{sign}x", head)
    assert mirror.fetch(str(repo.path), "main", "work").base == base


@pytest.mark.parametrize(
    "name",
    [
        "--upload-pack=touch /tmp/x",
        "-x",
        "main\nx",
        "main\x00",
        "../main",
        "refs/tags/v1",
        "HEAD",
        "",
        "main^{}",
        "main~1",
    ],
)
def test_target_that_is_no_branch(make_repo, mirror: GitMirror, name: str) -> None:
    repo = make_repo()
    two(repo)
    repo.git("tag", "v1")
    with pytest.raises(UsageError) as refused:
        mirror.fetch(str(repo.path), name, "work")
    assert refused.value.code == "TARGET_NOT_FOUND"


@pytest.mark.parametrize(
    "name", ["--help", "-x", "work\n", "work\x00", "work^{tree}", "", "@{-1}", ":/change", "ffffffff"]
)
def test_head_that_is_no_commit(make_repo, mirror: GitMirror, name: str) -> None:
    repo = make_repo()
    two(repo)
    with pytest.raises(UsageError) as refused:
        mirror.fetch(str(repo.path), "main", name)
    assert refused.value.code == "HEAD_NOT_FOUND"


@pytest.mark.parametrize(
    ("mode", "name"),
    [
        (b"40000", b".git"), (b"40000", b".GIT"), (b"40000", b"git~1"), (b"40000", ".g\u200cit".encode()),
        (b"40000", ".git\u200c".encode()), (b"40000", b".git "), (b"40000", b".git::$INDEX_ALLOCATION"), (b"40000", b".."),
        (b"40000", b"."), (b"100644", b"/etc"), (b"100644", b"a\\..\\b"), (b"100644", b".git\\hooks"), (b"100644", b"a/../b"),
        (b"100644", b"x" * 256),
    ],
)  # fmt: skip
def test_hostile_tree_entries_are_refused(make_repo, mirror: GitMirror, mode: bytes, name: bytes) -> None:
    repo = make_repo()
    two(repo)
    blob = repo.git("rev-parse", "main:a.txt")
    child = repo.git("rev-parse", "main^{tree}") if mode == b"40000" else blob
    head = commit_of(repo, raw(repo, "tree", tree_of((mode, name, child))))
    with pytest.raises(InputError) as refused:
        mirror.describe(mirror.fetch(str(repo.path), "main", head))
    assert refused.value.code == "TREE_HOSTILE"


@pytest.mark.parametrize("mode", [b"100777", b"104755", b"100664"])
def test_odd_modes_become_plain_ones(make_repo, mirror: GitMirror, mode: bytes) -> None:
    repo = make_repo()
    two(repo)
    tree = raw(repo, "tree", tree_of((mode, b"tool", repo.git("rev-parse", "main:a.txt"))))
    got = mirror.fetch(str(repo.path), "main", commit_of(repo, tree))
    place = mirror.export(got, mirror.describe(got).merge_tree)
    assert (place / "tool").stat().st_mode & 0o7777 in (0o644, 0o755)


def test_a_name_that_stands_twice_is_refused(make_repo, mirror: GitMirror) -> None:
    repo = make_repo()
    two(repo)
    blob, tree = repo.git("rev-parse", "main:a.txt"), repo.git("rev-parse", "main^{tree}")
    for rows in (
        ((b"100644", b"x", blob), (b"100644", b"x", blob)),
        ((b"120000", b"x", blob), (b"40000", b"x", tree)),
    ):
        head = commit_of(repo, raw(repo, "tree", tree_of(*rows)))
        with pytest.raises(InputError) as refused:
            mirror.describe(mirror.fetch(str(repo.path), "main", head))
        assert refused.value.code == "TREE_HOSTILE"


def test_a_tree_too_deep_is_refused_and_a_deep_one_is_not(make_repo, mirror: GitMirror) -> None:
    repo = make_repo()
    two(repo)
    tree = repo.git("rev-parse", "main^{tree}")
    levels = [tree]
    for _ in range(120):
        content = tree_of((b"40000", b"d", levels[-1]))
        levels.append(hashlib.sha1(b"tree %d\x00" % len(content) + content).hexdigest())
    feed = "".join(f"040000 tree {oid}\td\n\n" for oid in levels[:-1])
    made = subprocess.run(
        ["git", "-C", str(repo.path), "mktree", "--batch", "--missing"], input=feed, capture_output=True, check=True, text=True
    ).stdout.split()  # fmt: skip
    assert made == levels[1:]
    mirror.describe(mirror.fetch(str(repo.path), "main", commit_of(repo, levels[60])))
    with pytest.raises(InputError, match="too deep"):
        mirror.describe(mirror.fetch(str(repo.path), "main", commit_of(repo, levels[120])))


@pytest.mark.parametrize("removed", [False, True])
def test_a_tree_bomb_is_refused_quickly(
    make_repo, mirror: GitMirror, monkeypatch: pytest.MonkeyPatch, removed: bool
) -> None:
    """Ten trees that list ten thousand million files; also where a later commit takes them away again."""
    monkeypatch.setattr(runner, "MAX_OUTPUT", 4 * 1024 * 1024)
    repo = make_repo()
    two(repo)
    oid = repo.git("rev-parse", "main:a.txt")
    mode = b"100644"
    for _ in range(10):
        oid = raw(repo, "tree", tree_of(*((mode, b"%d" % i, oid) for i in range(10))))
        mode = b"40000"
    head = commit_of(repo, oid)
    if removed:
        head = repo.git("commit-tree", "-p", head, "-m", "away", "work^{tree}")
    with pytest.raises(InputError) as refused:
        mirror.describe(mirror.fetch(str(repo.path), "main", head))
    assert refused.value.code == "TREE_HOSTILE"


def test_links_are_exported_as_links_and_never_followed(make_repo, mirror: GitMirror, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    repo = make_repo()
    two(repo)
    for name, target in (("etc", "/etc"), ("out", str(outside)), ("up", "../../../.."), ("dangling", "nowhere")):
        (repo.path / name).symlink_to(target)
    repo.commit({"dir/real": BLOB})
    got = mirror.fetch(str(repo.path), "main", "work")
    place = mirror.export(got, mirror.describe(got).merge_tree)
    assert os.readlink(place / "etc") == "/etc"
    assert os.readlink(place / "out") == str(outside)
    assert (place / "dangling").is_symlink()
    assert list(outside.iterdir()) == []
    if os.geteuid() == 0:
        assert os.stat("/etc").st_uid == 0
        assert os.lstat(place / "etc").st_uid == SANDBOX_ID


ATTRIBUTES = (
    "*.txt filter=evil ident text eol=crlf working-tree-encoding=UTF-16 export-subst merge=ours\n"
    "b.txt export-ignore\nunion.txt merge=union\nbinary.txt binary\n"
)


def test_attributes_change_neither_merge_nor_export(make_repo, mirror: GitMirror) -> None:
    repo = make_repo()
    (repo.path / ".git" / "info").mkdir(exist_ok=True)
    # The author's own git stores the bytes as they are; only the gate meets the attributes.
    (repo.path / ".git" / "info" / "attributes").write_text("* -filter -ident -text -working-tree-encoding -eol\n")
    content = "$Id$ $Format:%H$\n" + "line\n" * 20
    repo.commit({".gitattributes": ATTRIBUTES, "a.txt": content, "b.txt": "one\n", "binary.txt": content}, "base")
    repo.branch("work")
    repo.commit({"a.txt": content + "head\n", "binary.txt": content + "head\n", ".gitattributes": ATTRIBUTES + "# x\n"})
    repo.git("checkout", "-q", "main")
    repo.commit({"a.txt": "base\n" + content, "binary.txt": "base\n" + content})
    got = mirror.fetch(str(repo.path), "main", "work")
    change = mirror.describe(got)
    place = mirror.export(got, change.merge_tree)
    for name in ("a.txt", "binary.txt"):
        assert (place / name).read_bytes() == ("base\n" + content + "head\n").encode()
    assert (place / "b.txt").read_bytes() == b"one\n"


@pytest.mark.parametrize("side", ["base", "head"])
@pytest.mark.parametrize("driver", ["union", "ours", "evil"])
def test_a_merge_driver_hides_no_conflict(make_repo, mirror: GitMirror, side: str, driver: str) -> None:
    repo = make_repo()
    repo.commit({"a.txt": "one\n"}, "base")
    repo.branch("work")
    attributes = {".gitattributes": f"* merge={driver}\n"}
    repo.commit({"a.txt": "head\n", **(attributes if side == "head" else {})})
    repo.git("checkout", "-q", "main")
    repo.commit({"a.txt": "main\n", **(attributes if side == "base" else {})})
    with pytest.raises(GatekeeperError, match=r"a\.txt") as refused:
        mirror.describe(mirror.fetch(str(repo.path), "main", "work"))
    assert refused.value.code == "MERGE_CONFLICT"


def test_submodules_stay_empty(make_repo, mirror: GitMirror, tmp_path: Path) -> None:
    repo = make_repo()
    base, _ = two(repo)
    modules = f'[submodule "x"]\n\tpath = sub\n\turl = ext::sh -c "touch {tmp_path}/marker"\n\tupdate = !touch {tmp_path}/marker\n'
    (repo.path / ".gitmodules").write_text(modules)
    repo.git("add", ".gitmodules")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{base},sub")
    repo.git("commit", "-q", "-m", "submodule")
    got = mirror.fetch(str(repo.path), "main", "work")
    change = mirror.describe(got)
    assert list((mirror.export(got, change.merge_tree) / "sub").iterdir()) == []
    assert not (tmp_path / "marker").exists()


def test_replace_refs_and_grafts_change_nothing(make_repo, mirror: GitMirror) -> None:
    repo = make_repo()
    base, head = two(repo)
    evil = repo.commit({"a.txt": "evil\n"}, "evil")
    repo.git("replace", head, evil)
    (repo.path / ".git" / "info").mkdir(exist_ok=True)
    (repo.path / ".git" / "info" / "grafts").write_text(f"{head}\n")
    got = mirror.fetch(str(repo.path), "main", head)
    change = mirror.describe(got)
    assert [c.oid for c in change.commits] == [head]
    assert change.commits[0].parents == (base,)
    assert mirror.tree(got, change.merge_tree).read("a.txt") == b"two\n"
    enforcer = EnforcerRepository(repo.path)
    assert enforcer.facts(head) == (change.head_tree, (base,))


def test_a_parent_named_below_the_author_is_no_parent(make_repo, mirror: GitMirror) -> None:
    repo = make_repo()
    base, head = two(repo)
    text = subprocess.run(
        ["git", "-C", str(repo.path), "cat-file", "commit", head], capture_output=True, check=True
    ).stdout
    top, _, message = text.partition(b"\n\n")
    forged = raw(repo, "commit", top + b"\nparent " + b"1" * 40 + b"\n\n" + message)
    change = mirror.describe(mirror.fetch(str(repo.path), "main", forged))
    assert change.commits[-1].parents == (base,)


def test_hostile_names_and_messages_are_text(make_repo, mirror: GitMirror) -> None:
    repo = make_repo()
    two(repo)
    tree, base = repo.git("rev-parse", "work^{tree}"), repo.git("rev-parse", "main")
    body = (
        f"tree {tree}\nparent {base}\nauthor ".encode()
        + b"\xff\xfe\x1b[31m <a\xff@b> 1 +0000\ncommitter C <c> 1 +0000\n"
    )
    head = raw(repo, "commit", body + b"encoding UTF-7\n\n\xff\x1b]0;x\x07 +AGE-\n")
    (commit,) = mirror.describe(mirror.fetch(str(repo.path), "main", head)).commits
    assert commit.author.name.startswith("\ufffd\ufffd")
    assert "+AGE-" in commit.message


def test_what_was_removed_or_smuggled_into_a_merge_is_in_the_history(make_repo, mirror: GitMirror) -> None:
    repo = make_repo()
    two(repo)
    repo.commit({"secret.env": "token\n"})
    repo.commit({"secret.env": None})
    repo.git("checkout", "-q", "main")
    repo.commit({"c.txt": "main\n"})
    repo.git("checkout", "-q", "work")
    repo.git("merge", "-q", "--no-commit", "main")
    (repo.path / "evil.txt").write_text("evil\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "merge")
    repo.commit({"evil.txt": None})
    got = mirror.fetch(str(repo.path), "main", "work")
    change = mirror.describe(got)
    listed = {b.path: b.oid for b in change.history}
    assert mirror.blobs(got, [listed["secret.env"], listed["evil.txt"]]) == {
        listed["secret.env"]: b"token\n",
        listed["evil.txt"]: b"evil\n",
    }
    assert {p.path for p in change.paths} == {"a.txt"}


def test_hints_do_not_crowd_out_the_reason() -> None:
    words = b"hint: words of advice\n" * 60
    assert runner.complaint(b"fatal: the reason\n" + words) == "fatal: the reason"
    assert runner.complaint(words + b"fatal: hint: is kept inside a line\n") == "fatal: hint: is kept inside a line"
    assert runner.complaint(words) == "no message"


def test_git_gives_no_advice_about_the_grafts_that_are_switched_off(make_repo) -> None:
    repo = make_repo()
    two(repo)
    done = runner.run(repo.path / ".git", ["merge-base", "main", "work"])
    assert (len(done.stdout.strip()), done.stderr) == (40, b"")
