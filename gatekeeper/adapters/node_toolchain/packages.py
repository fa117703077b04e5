"""`npm ci` on a reduced project: outside any sandbox, so nothing of what it installs may run."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from gatekeeper.adapters.node_toolchain.program import Node
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats.npm_lock import NpmProject

TIMEOUT_S = 900.0
MAX_FILE_MIB = 1024
MAX_MIB = 6 * 1024
MAX_FILES = 400_000

WRITABLE = (".cache", ".vite", ".vite-temp", ".vitest")
"""Folders of node_modules in which tools keep caches: there, and empty in every run."""

# What an operator says about the way to a registry; everything else of npm's settings is the gate's.
_PASSED_ON = re.compile(
    r"(?:HTTPS?_PROXY|NO_PROXY|SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS"
    r"|NPM_CONFIG_(?:REGISTRY|USERCONFIG|CAFILE|CA|PROXY|HTTPS_PROXY|NOPROXY|STRICT_SSL|FETCH_TIMEOUT|FETCH_RETRIES))",
    re.IGNORECASE,
)


def install(project: NpmProject, place: Path, *, node: Node, npm: Path, cache: Path, legacy_peers: bool) -> None:
    """Install into `place`. Raises `CouldNotCheck` (ENVIRONMENT_FAILED)."""
    for folder, manifest in project.manifests.items():
        (place / folder).mkdir(parents=True, exist_ok=True)
        (place / folder / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
    (place / "package-lock.json").write_text(json.dumps(project.lock), encoding="utf-8")
    arguments = [
        *_held(), str(node.executable), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress",
        "--no-update-notifier", "--loglevel=error", "--include=dev", "--include=optional", "--install-strategy=hoisted",
        "--prefer-offline", "--no-engine-strict", "--color=false", *(["--legacy-peer-deps"] if legacy_peers else []),
    ]  # fmt: skip
    try:
        done = subprocess.run(
            arguments, cwd=place, env=_environment(node, cache), capture_output=True, text=True, timeout=TIMEOUT_S,
            check=False, stdin=subprocess.DEVNULL, errors="replace",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise CouldNotCheck("ENVIRONMENT_FAILED", f"npm took longer than {TIMEOUT_S:g} s.") from None
    except OSError as error:
        raise CouldNotCheck("ENVIRONMENT_FAILED", f"npm cannot be started: {error}.", blame="gate") from error
    if done.returncode:
        words = "".join(c if c.isprintable() or c == "\n" else "?" for c in done.stderr[:20_000]).strip()
        raise CouldNotCheck(
            "ENVIRONMENT_FAILED",
            f"The packages of package-lock.json cannot be installed: {redacted(words)[:1500]}",
            next_action="Make `npm ci --ignore-scripts` work on the target branch, and the registry reachable for the gate.",
        )
    modules = place / "node_modules"
    modules.mkdir(exist_ok=True)
    for name in WRITABLE:
        (modules / name).mkdir(exist_ok=True)
    _bounded(place)


def redacted(words: str) -> str:
    """Npm's words without credentials: those in addresses, and those of the gate's own environment."""
    for name, value in os.environ.items():
        if re.search("PASSWORD|TOKEN|AUTH|SECRET", name, re.IGNORECASE) and len(value) >= 6:
            words = words.replace(value, "***")
    return re.sub(r"//[^/\s@]+@", "//***@", words)


@functools.cache
def _held() -> tuple[str, ...]:
    """Ends with the gate, and writes no giant file."""
    held: list[str] = []
    if setpriv := shutil.which("setpriv", path=os.defpath):
        held += [setpriv, "--pdeathsig", "KILL", "--"]
    if prlimit := shutil.which("prlimit", path=os.defpath):
        held += [prlimit, f"--fsize={MAX_FILE_MIB * 1024 * 1024}", "--core=0", "--"]
    return tuple(held)


def _environment(node: Node, cache: Path) -> dict[str, str]:
    home = cache / "npm" / "home"
    home.mkdir(parents=True, exist_ok=True)
    passed = {k: v for k, v in os.environ.items() if _PASSED_ON.fullmatch(k)}
    return {
        "PATH": f"{node.executable.parent}:{os.defpath}",
        "HOME": str(home),
        "npm_config_cache": str(cache / "npm" / "cache"),
        **passed,
    }


def _bounded(place: Path) -> None:
    """Raises `CouldNotCheck` where the packages are more than a sandbox should be shown."""
    count = size = 0
    for folder, folders, files in os.walk(place):
        count += len(folders) + len(files)
        size += sum(os.lstat(os.path.join(folder, name)).st_size for name in files)
        if count > MAX_FILES or size > MAX_MIB * 1024 * 1024:
            raise CouldNotCheck(
                "ENVIRONMENT_FAILED", f"The packages have more than {MAX_FILES} files or {MAX_MIB} MiB."
            )
