"""Files of a tree that are otherwise than they were."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from gatekeeper.adapters.bubblewrap_sandbox import tree_watch
from gatekeeper.adapters.bubblewrap_sandbox.tree_watch import differences


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path]:
    """A tree, and the same inodes seen elsewhere, as an overlay shows them."""
    tree, seen = tmp_path / "tree", tmp_path / "seen"
    (tree / "tests").mkdir(parents=True)
    for name in ("a.py", "tests/golden.txt", "tests/b.py"):
        (tree / name).write_text(name)
    shutil.copytree(tree, seen, copy_function=os.link)
    later(tmp_path)
    return tree, seen


def later(folder: Path) -> None:
    """Come back when the file system's clock, which goes in steps, has gone on: a tree is made long before it is run."""
    first = folder / "clock"
    first.write_text("")
    while (second := folder / "clock2").write_text("") or second.stat().st_ctime_ns <= first.stat().st_ctime_ns:
        second.unlink()


def replaced(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(text)


def test_what_nobody_wrote_is_the_same(trees: tuple[Path, Path]) -> None:
    tree, seen = trees
    (seen / "new.py").write_text("")
    (seen / "__pycache__").mkdir()
    assert differences(tree, str(seen)) == ()


def test_other_content_and_the_same_content_again(trees: tuple[Path, Path]) -> None:
    tree, seen = trees
    before = (tree / "tests/b.py").stat()
    replaced(seen / "a.py", "b.py")
    replaced(seen / "tests/golden.txt", "longer than before")
    replaced(seen / "tests/b.py", "tests/b.py")
    os.utime(seen / "tests/b.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    expected = {("a.py", "content"), ("tests/golden.txt", "content"), ("tests/b.py", "touched")}
    assert set(differences(tree, str(seen)) or ()) == expected


def test_what_is_gone_or_something_else(trees: tuple[Path, Path]) -> None:
    tree, seen = trees
    (seen / "a.py").unlink()
    (seen / "tests/b.py").unlink()
    os.mkfifo(seen / "tests/b.py")
    assert set(differences(tree, str(seen)) or ()) == {("a.py", "gone"), ("tests/b.py", "content")}


def test_no_link_is_followed_to_content(trees: tuple[Path, Path], tmp_path: Path) -> None:
    tree, seen = trees
    shutil.rmtree(seen / "tests")  # which changes the links of what is in the tree, too
    (seen / "a.py").unlink()
    later(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "golden.txt").write_text("tests/golden.txt")
    (elsewhere / "b.py").write_text("tests/b.py")
    (seen / "tests").symlink_to(elsewhere)
    (seen / "a.py").symlink_to(tree / "a.py")
    rows = dict(differences(tree, str(seen)) or ())
    assert rows == {"a.py": "content", "tests/golden.txt": "content", "tests/b.py": "content"}


def test_links_are_compared_by_where_they_lead(trees: tuple[Path, Path]) -> None:
    tree, seen = trees
    (tree / "link").symlink_to("a.py")
    later(tree.parent)
    (seen / "link").symlink_to("b.py")
    assert differences(tree, str(seen)) == (("link", "content"),)


def test_a_tree_of_too_many_files_is_not_looked_at(trees: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    tree, seen = trees
    monkeypatch.setattr(tree_watch, "MAX_FILES", 2)
    assert differences(tree, str(seen)) is None


def test_a_place_that_is_gone_is_an_error(trees: tuple[Path, Path]) -> None:
    with pytest.raises(OSError, match="No such file"):
        differences(trees[0], str(trees[1] / "nowhere"))
