"""The one way git is run on hostile objects: empty environment, no user or system configuration, nothing executable."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from gatekeeper.errors import CouldNotCheck

TIMEOUT_S = 120.0
MAX_OUTPUT = 256 * 1024 * 1024
"""Bytes read from one git command; a listing of 200,000 files has about 20 MB."""

ATTRIBUTES = "* -filter -export-ignore -export-subst -ident -text -working-tree-encoding -eol !merge !diff\n"
"""For info/attributes of a mirror, which outranks every .gitattributes of a tree."""

_OPTIONS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "protocol.allow": "never",
    "protocol.file.allow": "always",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "transfer.fsckObjects": "true",
    "merge.renames": "true",
    # Old but harmless faults of real histories; what an attack needs (dot-git names, NUL, bad modes) stays an error.
    **{
        f"fetch.fsck.{name}": "ignore"
        for name in (
            "badDate", "badDateOverflow", "badEmail", "badName", "badTimezone", "missingEmail", "missingNameBeforeEmail",
            "missingSpaceBeforeDate", "missingSpaceBeforeEmail", "zeroPaddedDate", "zeroPaddedFilemode", "missingTaggerEntry",
            "gitmodulesParse", "gitmodulesUrl", "gitmodulesName", "gitmodulesPath", "gitmodulesUpdate", "gitmodulesMissing",
            "gitmodulesBlob", "gitmodulesLarge", "gitmodulesSymlink", "gitattributesSymlink", "gitattributesLarge",
            "gitattributesLineLength", "gitattributesBlob", "gitattributesMissing",
        )
    },
}  # fmt: skip


def environment() -> dict[str, str]:
    """The whole environment of a git process."""
    return {
        "PATH": os.defpath if shutil.which("git", path=os.defpath) else os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "GIT_SSH_COMMAND": "/bin/false",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_PROTOCOL_FROM_USER": "0",
        "GIT_AUTHOR_NAME": "gatekeeper",
        "GIT_AUTHOR_EMAIL": "gatekeeper@localhost",
        "GIT_COMMITTER_NAME": "gatekeeper",
        "GIT_COMMITTER_EMAIL": "gatekeeper@localhost",
    }


def command(git_dir: Path | None, *args: str) -> list[str]:
    """The argument vector of a hardened git command."""
    options = [x for k, v in _OPTIONS.items() for x in ("-c", f"{k}={v}")]
    where = [f"--git-dir={git_dir}"] if git_dir is not None else []
    return ["git", "--no-pager", "--literal-pathspecs", *options, *where, *args]


def run(
    git_dir: Path | None,
    args: Sequence[str],
    *,
    stdin: bytes = b"",
    ok: Sequence[int] = (0,),
    extra: dict[str, str] | None = None,
    timeout_s: float = TIMEOUT_S,
) -> subprocess.CompletedProcess[bytes]:
    """Run git to its end. Raises `CouldNotCheck` (GIT_FAILED) for another status than `ok`, a time-out, too much output."""
    try:
        done = subprocess.run(
            command(git_dir, *args),
            input=stdin,
            capture_output=True,
            env={**environment(), **(extra or {})},
            cwd="/",
            timeout=timeout_s,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise CouldNotCheck("GIT_FAILED", f"git {args[0]} did not end within {timeout_s:g} s.") from None
    except OSError as error:
        raise CouldNotCheck("GIT_FAILED", f"git cannot be started: {error}.") from error
    if len(done.stdout) > MAX_OUTPUT:
        raise CouldNotCheck("GIT_FAILED", f"git {args[0]} wrote more than {MAX_OUTPUT} bytes.", blame="change")
    if done.returncode not in ok:
        raise CouldNotCheck("GIT_FAILED", f"git {args[0]} failed ({done.returncode}): {complaint(done.stderr)}")
    return done


def complaint(stderr: bytes) -> str:
    """The useful end of git's words, printable."""
    text = "".join(c if c.isprintable() or c == "\n" else "?" for c in stderr.decode("utf-8", "replace"))
    return " ".join(text.split())[-500:] or "no message"
