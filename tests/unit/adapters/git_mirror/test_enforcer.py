"""What an enforcer is pointed at is a repository, or is told to be none."""

from __future__ import annotations

import pytest

from gatekeeper.adapters.git_mirror.enforcer import EnforcerRepository
from gatekeeper.errors import UsageError


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_a_place_that_is_no_repository_is_named(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=name) as caught:
        EnforcerRepository(tmp_path / name)
    assert caught.value.code == "REPOSITORY_UNREADABLE"


def test_a_work_tree_and_its_bare_clone_are_repositories(make_repo, tmp_path):
    repo = make_repo()
    repo.commit({"a.py": "x = 1\n"}, "base")
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    assert EnforcerRepository(repo.path).git_dir == repo.path / ".git"
    assert EnforcerRepository(tmp_path / "bare.git").git_dir == tmp_path / "bare.git"
