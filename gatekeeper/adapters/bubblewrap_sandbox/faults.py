"""Why bubblewrap did not reach the command, from its own words."""

from __future__ import annotations

from pathlib import Path

from gatekeeper.errors import CouldNotCheck

_WORDS = 400


def not_started(log: str, program: Path, state: Path) -> CouldNotCheck:
    """The error for a start that failed: SANDBOX_UNAVAILABLE where this machine cannot do it at all.

    `log` is bubblewrap's output, `state` the gate's state directory.
    """
    words = log.strip()[-_WORDS:] or "it gave no message"
    low = words.lower()
    code, advice = "SANDBOX_FAILED", None
    if "max_user_namespaces" in low or ("no space left on device" in low and "namespace" in low):
        code = "SANDBOX_UNAVAILABLE"
        advice = "User namespaces are off on this machine: `sudo sysctl -w user.max_user_namespaces=15000`."
    elif "unprivileged_userns_clone" in low:
        code = "SANDBOX_UNAVAILABLE"
        advice = "User namespaces are off on this machine: `sudo sysctl -w kernel.unprivileged_userns_clone=1`."
    elif "uid map" in low or "namespace" in low or "loopback" in low:
        code = "SANDBOX_UNAVAILABLE"
        advice = (
            "This kernel refuses user namespaces to ordinary programs. On Ubuntu 23.10 and later: "
            "`sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, or an AppArmor profile with `userns,` for "
            f"{program}. In a container: allow the system calls unshare, mount and pivot_root."
        )
    elif "overlay" in low:
        code = "SANDBOX_UNAVAILABLE"
        advice = (
            "This kernel cannot mount an overlay inside a user namespace: Linux 5.11 or newer with the module overlay is "
            f"needed, and {state} must lie on a file system that can be a lower layer (not on an overlay of a container: "
            "put it on a volume)."
        )
    elif "permission denied" in low:
        advice = f"The sandbox user must be able to reach the tree, the environment and {state}."
    elif "no such file" in low or "not found" in low:
        advice = "A file of the environment or the state directory vanished; run the check again."
    return CouldNotCheck(code, f"bubblewrap ended before the command started: {words}", next_action=advice)
