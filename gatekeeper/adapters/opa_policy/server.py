"""An OPA server of the gate's own: started on a unix socket in a private directory, ended with the gate."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from gatekeeper.adapters.opa_policy.client import Client, OpaError
from gatekeeper.formats.rego_bundle import LoadedBundle

START_S = 15.0
"""A server that is not ready by then is not used; it takes a tenth of a second as a rule."""

POLL_S = 0.02

MAX_LOG = 64 * 1024

_SCRIPT = """\
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ read -r line <&3; kill -9 0; } &
exec 3<&-
wait "$child"
"""
"""Ends OPA when the gate is gone: the pipe on standard input closes with the gate, however it ended, and then the whole
process group is killed (by group, so that no number of a dead process is ever used)."""


def find_opa(libexec: Path) -> Path | None:
    """The OPA program: the pinned one in `libexec`, else the one on the PATH."""
    pinned = libexec / "opa" / "opa"
    if os.access(pinned, os.X_OK) and pinned.is_file():
        return pinned
    found = shutil.which("opa")
    return Path(found) if found else None


def write_bundle(bundle: LoadedBundle, place: Path) -> None:
    """Exactly what was read and checked; its revision is the digest, so that every answer names what it was made with."""
    roots = sorted({*bundle.data, *(path.partition("/")[0] for path, _ in bundle.modules)})
    manifest = {"revision": bundle.id.digest, "roots": roots, "rego_version": 1}
    (place / ".manifest").write_text(json.dumps(manifest), encoding="utf-8")
    (place / "data.json").write_text(json.dumps(bundle.data), encoding="utf-8")
    for path, source in bundle.modules:
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")


class StartedServer:
    """One OPA process and its directory (bundle, socket, log)."""

    def __init__(self, program: Path, bundle: LoadedBundle, wall_s: float) -> None:
        """Start it and wait until it is ready. Raises `OpaError`; nothing is left behind then."""
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._place = Path(tempfile.mkdtemp(prefix="gatekeeper-opa-"))  # mode 0700
        except OSError as error:
            raise OpaError(f"no directory can be made for the server: {error.strerror}") from error
        self.socket = self._place / "s"
        try:
            (self._place / "bundle").mkdir()
            write_bundle(bundle, self._place / "bundle")
            self._start(program)
            self._wait(wall_s)
        except OSError as error:
            self.stop()
            raise OpaError(f"{str(program)!r} cannot be started: {error.strerror}") from error
        except BaseException:
            self.stop()
            raise

    def _start(self, program: Path) -> None:
        command = [
            str(program), "run", "--server", f"--addr=unix://{self.socket}", "--disable-telemetry", "--log-level=error",
            "--shutdown-grace-period=1", "--bundle", str(self._place / "bundle"),
        ]  # fmt: skip
        with (self._place / "log").open("wb") as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT, "gatekeeper-opa", *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                # No configuration, proxy or credential of the gate reaches the server.
                env={"HOME": str(self._place), "GOMEMLIMIT": "512MiB"},
                cwd=self._place,
                close_fds=True,
                start_new_session=True,
            )

    def _wait(self, wall_s: float) -> None:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if not self.alive:
                raise OpaError(f"the server ended at once: {self._log()}")
            if self.socket.exists():
                client = Client(self.socket, wall_s)
                with contextlib.suppress(OpaError):
                    if client.healthy():
                        client.close()
                        return
                client.close()
            time.sleep(POLL_S)
        raise OpaError(f"the server was not ready within {START_S:g} s")

    def _log(self) -> str:
        try:
            with (self._place / "log").open("rb") as log:
                text = log.read(MAX_LOG).decode("utf-8", "replace")
        except OSError:
            return "no log"
        lines = [line for line in text.splitlines() if "deprecated" not in line and "uid or gid 0" not in line]
        return " ".join(lines)[:500].encode("ascii", "replace").decode() or "it said nothing"

    @property
    def pid(self) -> int | None:
        """Process id of the group's first process."""
        return self._process.pid if self._process else None

    @property
    def alive(self) -> bool:
        """True while it runs and belongs to this process (not to one it was forked from)."""
        return self._owner == os.getpid() and self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Kill the process group and remove the directory. A forked copy only lets go."""
        if self._owner != os.getpid():
            return
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process = None
        shutil.rmtree(self._place, ignore_errors=True)
