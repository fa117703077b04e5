"""Before the first run: start the real sandbox around nothing and have the kernel say what holds inside.

A bubblewrap that starts is not yet a sandbox: a wrapper in its place, a kernel without seccomp or a container that shares
its network would run tests all the same. The proof costs one start; a mark on disk says that this very bubblewrap on this
kernel, with these options, has given it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from gatekeeper.domain.ports import Limits, RunRequest, TestEnvironment
from gatekeeper.domain.testrun import RunRole, SuiteRun, Termination
from gatekeeper.domain.ticket import Suite
from gatekeeper.errors import CouldNotCheck

GATE_ONLY = "/run/gate-only"
"""Where a file that only the gate's own user may read is shown inside."""

# Builtins of the shell alone: nothing but /bin/sh is needed, and /proc/self is the shell.
_SCRIPT = f"""
while read -r line; do printf '%s\\n' "$line"; done < /proc/self/status
while read -r line; do printf 'net %s\\n' "$line"; done < /proc/net/dev
if (: > /gatekeeper-write) 2> /dev/null; then echo 'root writable'; else echo 'root closed'; fi
if (: < {GATE_ONLY}) 2> /dev/null; then echo 'gate readable'; else echo 'gate closed'; fi
echo 'all said'
"""
_INTERFACE = re.compile(r"net +([^ :|]+):", re.ASCII)


def request(tree: Path, gate_only: Path) -> RunRequest:
    """The run that asks. `tree` is any directory the sandbox user can read; `gate_only` a file that it must not read."""
    mounts = ((str(gate_only), GATE_ONLY),)
    environment = TestEnvironment(mounts, "/bin/sh", (), "", "self-check", has_recorder=False)
    suite = Suite("self-check", command=_SCRIPT.strip())
    limits = Limits(wall_s=20, memory_mib=128, processes=16, file_size_mib=1, output_mib=1, tmp_mib=1)
    return RunRequest("self-check", RunRole.MERGED, suite, "", tree, environment, limits)


def faults(run: SuiteRun, *, dedicated_user: bool, filtered: bool) -> list[str]:
    """What does not hold inside, in words; empty where everything does."""
    if run.termination is not Termination.EXITED or run.exit_code != 0 or "all said" not in run.log.splitlines():
        return [
            f"the first start ended early ({run.termination.value}, status {run.exit_code}): {run.log[-200:].strip()!r}"
        ]
    rows = dict(line.split(":", 1) for line in run.log.splitlines() if ":" in line and not line.startswith("net "))
    state = {name: value.split() for name, value in rows.items()}
    said = set(run.log.splitlines())
    interfaces = {found[1] for line in said if (found := _INTERFACE.match(line))}
    capabilities = [set("".join(state.get(name, ["missing"]))) for name in ("CapPrm", "CapEff", "CapBnd")]
    checks = [
        (
            state.get("Uid") == ["1000"] * 4 and state.get("Gid") == ["1000"] * 4,
            "it does not run as the sandbox's user",
        ),
        (not dedicated_user or "gate closed" in said, "it can read files of the gate's own user"),
        (interfaces == {"lo"}, f"it has network interfaces beside its own loopback ({', '.join(sorted(interfaces))})"),
        ("root closed" in said, "its root is not read-only"),
        (all(c == {"0"} for c in capabilities), "it holds capabilities"),
        (state.get("NoNewPrivs") == ["1"], "it can gain privileges"),
        (not filtered or state.get("Seccomp") == ["2"], "the filter of system calls is not in force"),
    ]
    return [words for holds, words in checks if not holds]


def prove(
    run: Callable[[RunRequest], SuiteRun],
    *,
    program: Path,
    options: Sequence[str],
    tree: Path,
    marks: Path,
    dedicated_user: bool,
    filtered: bool,
) -> None:
    """Prove the sandbox once for this program, kernel, user and options. Raises `CouldNotCheck` (SANDBOX_UNPROVEN).

    `marks` is a directory that only the gate can write. A mark that cannot be read or written costs another start.
    """
    mark = marks / f"proven-{_key(program, options)}"
    if mark.is_file():
        return
    gate_only = marks / "gate-only"
    try:
        gate_only.touch(mode=0o600)
        gate_only.chmod(0o600)
    except OSError as error:
        raise CouldNotCheck("SANDBOX_UNPROVEN", f"{gate_only} cannot be made: {error.strerror}.") from error
    found = faults(run(request(tree, gate_only)), dedicated_user=dedicated_user, filtered=filtered)
    if found:
        raise CouldNotCheck(
            "SANDBOX_UNPROVEN",
            f"A sandbox was started with {program}, but it is none: {'; '.join(found)}. No tested code was run.",
        )
    with contextlib.suppress(OSError):
        mark.touch(mode=0o600)


def _key(program: Path, options: Sequence[str]) -> str:
    """Names everything that the proof depends on."""
    with contextlib.suppress(OSError):
        kernel = os.uname()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        parts = [hashlib.sha256(program.read_bytes()).hexdigest(), kernel.release, kernel.version, boot]
        return hashlib.sha256(json.dumps([*parts, os.geteuid(), *options]).encode()).hexdigest()[:32]
    return os.urandom(16).hex()
