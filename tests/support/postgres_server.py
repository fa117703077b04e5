"""A Postgres server of the test session, where its programs are installed; it listens on a socket file alone."""

from __future__ import annotations

import contextlib
import glob
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path


def programs() -> Path | None:
    """Directory of `initdb` and `pg_ctl`, None where there is none."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    places = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    return Path(places[-1]).parent if places else None


def usable() -> str:
    """Empty where a server can be started, else why not."""
    if programs() is None:
        return "Postgres is not installed"
    if os.geteuid() == 0:
        try:
            pwd.getpwnam("postgres")
        except KeyError:
            return "root cannot start Postgres and there is no user postgres"
    return ""


@contextlib.contextmanager
def server() -> Iterator[str]:
    """The directory of the server's socket; the superuser `postgres` is trusted there."""
    binaries = programs()
    assert binaries is not None
    directory = Path(tempfile.mkdtemp(prefix="gatekeeper-pg-"))
    user = "postgres" if os.geteuid() == 0 else None
    if user:
        shutil.chown(directory, user)

    def run(*command: str) -> None:
        subprocess.run(
            command, user=user, cwd=directory, check=True, timeout=60, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
        )  # fmt: skip

    data = directory / "data"
    try:
        run(str(binaries / "initdb"), "-D", str(data), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")
        options = f"-c listen_addresses= -k {directory} -c fsync=off"
        run(str(binaries / "pg_ctl"), "-D", str(data), "-o", options, "-l", str(directory / "log"), "-w", "start")
        try:
            yield str(directory)
        finally:
            run(str(binaries / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
