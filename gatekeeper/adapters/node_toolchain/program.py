"""Which Node.js and npm this machine has."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

from gatekeeper.errors import CouldNotCheck
from gatekeeper.records import dataclass

_ASK = "console.log(JSON.stringify([process.execPath, process.version, process.platform, process.arch]))"
_ADVICE = "Install Node.js 20 or newer on the gate's machine, or name it with GATEKEEPER_NODE."


@dataclass(frozen=True, slots=True)
class Node:
    """One Node.js."""

    executable: Path
    version: str
    """As it says itself, and for which machine."""

    @property
    def everywhere(self) -> bool:
        """True under /usr, which every sandbox shows."""
        return Path("/usr") in self.executable.parents

    @property
    def reachable(self) -> bool:
        """True where any user may start it."""
        try:
            return all(f.stat().st_mode & stat.S_IXOTH for f in (self.executable, *self.executable.parents))
        except OSError:
            return False


def find_node() -> Node:
    """GATEKEEPER_NODE, else the one on PATH; asked from itself, because what stands on PATH can be a script.

    Raises `CouldNotCheck` (ENVIRONMENT_MISSING).
    """
    named = os.environ.get("GATEKEEPER_NODE") or shutil.which("node")
    if not named:
        raise CouldNotCheck("ENVIRONMENT_MISSING", "No Node.js was found.", next_action=_ADVICE)
    try:
        done = subprocess.run(
            [named, "-e", _ASK], capture_output=True, text=True, timeout=30, check=True, stdin=subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", os.defpath), "HOME": os.path.expanduser("~")}, cwd="/",
        )  # fmt: skip
        where, *words = (str(w) for w in json.loads(done.stdout))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise CouldNotCheck(
            "ENVIRONMENT_MISSING", f"{named!r} does not start: {error}.", next_action=_ADVICE
        ) from error
    if int(words[0].lstrip("v").split(".")[0]) < 20:
        raise CouldNotCheck(
            "ENVIRONMENT_MISSING", f"Node.js is {words[0]}; 20 or newer is needed.", next_action=_ADVICE
        )
    return Node(Path(os.path.realpath(where)), " ".join(words))


def find_npm(node: Node) -> Path:
    """Npm's own program, beside that Node.js or on PATH. Raises `CouldNotCheck` (ENVIRONMENT_MISSING)."""
    prefix = node.executable.parent.parent
    candidates = [prefix / "lib/node_modules/npm/bin/npm-cli.js", prefix / "share/nodejs/npm/bin/npm-cli.js"]
    if found := shutil.which("npm"):
        candidates.append(Path(os.path.realpath(found)))
    for path in candidates:
        if path.name == "npm-cli.js" and path.is_file():
            return path
    raise CouldNotCheck(
        "ENVIRONMENT_MISSING",
        "npm was not found beside Node.js.",
        next_action="Install npm on the gate's machine: it installs the packages of the project's lock.",
    )
