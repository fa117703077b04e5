"""Git, hardened: bare mirrors of the gate's own, read and merged by plumbing, exported blob by blob; notes."""

from gatekeeper.adapters.git_mirror.mirror import GitMirror
from gatekeeper.adapters.git_mirror.notes import GitNotesStore
from gatekeeper.adapters.git_mirror.sources import Remotes

__all__ = ["GitMirror", "GitNotesStore", "Remotes"]
