"""Input documents of the policy: what counts as a sensitive word or line, and what looks like one and is none."""

from __future__ import annotations

import pytest

from gatekeeper.domain.change import Change, ChangedPath
from gatekeeper.domain.tree import MemoryTree
from gatekeeper.formats.policy_input import plain_name, words_of
from gatekeeper.formats.policy_signals import count_signals


def seen(path, before, after):
    base, merged = MemoryTree.of({path: before}), MemoryTree.of({path: after})
    paths = (ChangedPath(path, base.entries[path], merged.entries[path]),)
    change = Change("r", "refs/heads/main", "b", "t", "m", "h", "t", "t", paths, (), ())
    return {name for name, count in count_signals(change, base, merged).counts.items() if count}


@pytest.mark.parametrize(
    "path, word",
    [("src/OAuthLogin.py", "login"), ("app/auth/views.py", "auth"), ("a/rbac_rules.go", "rbac"), ("x/main.tf", ".tf")],
)
def test_words_of_sensitive_paths(path, word):
    assert word in words_of(path)


@pytest.mark.parametrize(
    "path, word",
    [("src/author.py", "auth"), ("src/tokenizer.py", "token"), ("src/loginfo.py", "login"), ("src/oracle.py", "acl")],
)
def test_parts_of_words_are_no_words(path, word):
    assert word not in words_of(path)


@pytest.mark.parametrize(
    "line, name",
    [
        ("cur.execute('DELETE FROM users')", "sql_destroy"),
        ("jwt.decode(raw, key)", "token_verify"),
        ("import stripe", "payment_client"),
        ("os.setuid(0)", "privilege_gain"),
    ],
)
def test_sensitive_lines_count(line, name):
    assert name in seen("src/a.py", "x = 1\n", f"x = 1\n{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "token = next(tokens)",
        "items.delete(0)",
        "session.get(url)",
        "# DROP TABLE users",
        "author = 1",
        "raise PermissionError(path)",
    ],
)
def test_look_alikes_do_not(line):
    assert seen("src/a.py", "x = 1\n", f"x = 1\n{line}\n") == set()


@pytest.mark.parametrize("path", ["tests/test_a.py", "docs/auth.md", "src/a_test.go"])
def test_tests_and_documents_do_not(path):
    assert seen(path, "x\n", "DELETE FROM users\n") == set()


def test_moved_lines_are_neither_added_nor_removed():
    assert seen("src/a.py", "import stripe\nx = 1\n", "x = 1\nimport stripe\n") == set()


def test_names_are_plain():
    assert plain_name('a"b\\c\n\u202e') == "a_b_c__"


HEADER = "def check_password(self, given):\n    return self.hash == digest(given)\n"


@pytest.mark.parametrize(
    "after, names",
    [
        (HEADER.replace("(self, given):", "(self, given: str | None) -> bool:"), set()),
        (HEADER.replace("(self, given):", "(self, given, strict=False):"), {"password_hash"}),
        (HEADER.replace("(self, given):", "(self, given='x'):"), {"password_hash"}),
        (HEADER + "ok = check_password(1, 2)\n", {"password_hash"}),
        ("x = 1\n", {"password_hash"}),
    ],
)
def test_other_types_in_the_header_of_a_function_are_no_other_code(after, names):
    assert seen("src/a.py", HEADER, after) == names


@pytest.mark.parametrize(
    "header, names",
    [
        ("(folder, word: pathlib.Path | None) -> dict[str, 'list[int]']:", set()),
        ("(folder, word) -> Literal[-1, 'a b', ...]:", set()),
        ("(folder, word) -> shutil.rmtree('/tmp/nothing', True):", {"tree_remove"}),
        ("(folder, word: 'shutil.rmtree(folder)'):", {"tree_remove"}),
        ("(folder, word: [shutil.rmtree(f) for f in folders]):", {"tree_remove"}),
        ("(folder, word: (x := shutil.rmtree(folder))):", {"tree_remove"}),
    ],
)
def test_an_annotation_that_calls_something_is_code(header, names):
    before = "def tidy(folder, word):\n    return word\n"
    assert seen("src/a.py", before, before.replace("(folder, word):", header)) == names
