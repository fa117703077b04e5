"""Checkout: fetch, merge head into the current tip inside the bare mirror, read the base's settings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gatekeeper.domain.change import Change
from gatekeeper.domain.instruments import SETTINGS_FILE
from gatekeeper.domain.ports import GitRepositories, Mirror
from gatekeeper.domain.settings import Settings
from gatekeeper.domain.submission import Submission
from gatekeeper.domain.tree import EXECUTABLE, REGULAR
from gatekeeper.errors import CouldNotCheck, InputError
from gatekeeper.formats.settings import parse_settings
from gatekeeper.records import dataclass, replace


@dataclass(frozen=True)
class Fetched:
    """What was fetched, before anything of it was judged."""

    mirror: Mirror
    uri: str = ""
    """Identity under which statements name the repository; empty for the source itself."""


@dataclass(frozen=True)
class Checkout:
    """What would land, and the settings of the branch it would land on."""

    mirror: Mirror
    change: Change
    settings: Settings


def steps(git: GitRepositories) -> dict[str, Callable[..., Any]]:
    """Both steps by name: they need no other tool, so that a caller may begin them before it has one."""
    return {"fetch": partial(fetch, git), "checkout": partial(run, git)}


def fetch(git: GitRepositories, submission: Submission) -> Fetched:
    """Bring the commits into the gate's own mirror."""
    mirror = git.fetch(submission.repository, submission.target_ref, submission.head, submission.bundle)
    return Fetched(mirror, submission.repository_uri)


def run(git: GitRepositories, fetched: Fetched) -> Checkout:
    """Describe the merge and read the settings from the target tip, never from head.

    Raises `NotMergeable`, `InputError` (TREE_HOSTILE) and `CouldNotCheck` (SETTINGS_MALFORMED, blame environment).
    """
    change = git.describe(fetched.mirror)
    if fetched.uri:
        change = replace(change, repository=fetched.uri)
    base = git.tree(fetched.mirror, change.base_tree)
    entry = base.entries.get(SETTINGS_FILE)
    settings = Settings()
    if entry is not None:
        if entry.mode not in (REGULAR, EXECUTABLE):
            raise CouldNotCheck("SETTINGS_MALFORMED", f"{SETTINGS_FILE} on the target branch is not a regular file.")
        try:
            settings = parse_settings(base.read(SETTINGS_FILE))
        except InputError as error:
            # It is the protected branch's file, so it is not this change's fault.
            raise CouldNotCheck(error.code, error.message, next_action=error.next_action) from error
    return Checkout(fetched.mirror, change, settings)
