"""The interpreter as the suite would have it, with what every run imports already there."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import importlib.util
import os
import sys
import time
import types
from typing import Any

from .processes import kill_quietly

RECORDER = "gatekeeper_pytest_recorder"


def prepare(job: dict[str, Any]) -> None:
    """The interpreter as the suite would have it: path, variables, no recorder."""
    here = os.path.dirname(os.path.abspath(sys.argv[0]))
    sys.path[:] = [p for p in sys.path if p and os.path.abspath(p) != here]
    added = [os.path.normpath(os.path.join(os.getcwd(), p)) for p in job["pythonpath"]]
    sys.path[:0] = added
    if added:
        os.environ["PYTHONPATH"] = os.pathsep.join(added)
    if job["cwd_on_path"] == "first":
        sys.path.insert(0, os.getcwd())
    elif job["cwd_on_path"] == "last":
        sys.path.append(os.getcwd())
    # The gate's recorder would report each of these runs as one of the suite's.
    silent = types.ModuleType(RECORDER)
    silent.__doc__ = "PYTEST_DONT_REWRITE"
    sys.modules[RECORDER] = silent
    words = os.environ.get("PYTEST_ADDOPTS", "").replace(f"-p {RECORDER}", "").strip()
    os.environ["PYTEST_ADDOPTS"] = words
    os.makedirs(job["scratch"], exist_ok=True)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def preload_pytest() -> str:
    """Load pytest with its own plug-ins; returns its version."""
    import pytest
    from _pytest.config import default_plugins

    for name in default_plugins:
        try:
            importlib.import_module(f"_pytest.{name}")
        except ImportError:
            continue
    return str(pytest.__version__)


def preload(names: list[str], root: str) -> None:
    """Import here what every run would import, unless that brings anything of the tree with it: a child tries it first."""
    pid = os.fork()
    if pid == 0:
        clean = False
        try:
            _import_all(names)
            places = [getattr(m, "__file__", None) or "" for m in list(sys.modules.values())]
            clean = not any(os.path.realpath(p).startswith(root + os.sep) for p in places if p)
        finally:
            os._exit(0 if clean else 1)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            if status == 0:
                _import_all(names)
            return
        time.sleep(0.005)
    kill_quietly(pid)
    os.waitpid(pid, 0)


def _import_all(names: list[str]) -> None:
    for name in names:
        if name not in sys.modules:
            with contextlib.suppress(BaseException):
                importlib.import_module(name)


def more_arguments(scratch: str) -> list[str]:
    """Arguments of pytest that keep its plug-ins quiet, and its runs alike."""
    found = ["-q", "--tb=no", "--assert=plain", "-p", "no:randomly", "-o", f"cache_dir={scratch}/cache"]
    table = (
        ("xdist", ["-n0"]), ("pytest_cov", ["--no-cov"]), ("pytest_rerunfailures", ["--reruns=0"]),
        ("pytest_benchmark", ["--benchmark-disable"]), ("_hypothesis_pytestplugin", ["--hypothesis-seed=0"]),
    )  # fmt: skip
    for module, arguments in table:
        try:
            if importlib.util.find_spec(module) is not None:
                found += arguments
        except (ImportError, ValueError):
            continue
    return found
