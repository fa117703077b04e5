"""Which Go this machine has, and how its commands are run outside the sandbox: nothing of a repository is executed."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from gatekeeper.errors import CouldNotCheck
from gatekeeper.records import dataclass, field

TIMEOUT_S = 900.0
_ADVICE = "Install Go on the gate's machine, or name its program with GATEKEEPER_GO."
# What an operator says about the way to modules; every other setting of Go is the gate's.
_OPERATORS = ("GOPROXY", "GONOPROXY", "GOPRIVATE", "GOINSECURE", "GOVCS", "GOAUTH")
_ASKED = ("GOROOT", "GOVERSION", "GOOS", "GOARCH", "CC", "CGO_ENABLED")
_PASSED_ON = re.compile(
    r"(?:HTTPS?_PROXY|NO_PROXY|SSL_CERT_FILE|SSL_CERT_DIR|NETRC|HOME|GIT_CONFIG_GLOBAL|SSH_AUTH_SOCK)", re.IGNORECASE
)


@dataclass(frozen=True)
class Go:
    """One Go."""

    root: Path
    """GOROOT: its path on the host, and inside the sandbox."""
    version: str
    """As it says itself, with the machine it builds for."""
    operator: Mapping[str, str] = field(default_factory=dict)
    """The operator's settings for the download of modules, as Go itself reads them."""

    @property
    def everywhere(self) -> bool:
        """True under /usr, which every sandbox shows."""
        return Path("/usr") in Path(os.path.realpath(self.root)).parents and Path("/usr") in self.root.parents

    @property
    def reachable(self) -> bool:
        """True where any user may start it."""
        program = Path(os.path.realpath(self.root / "bin" / "go"))
        try:
            return all(p.stat().st_mode & stat.S_IXOTH for p in (program, *program.parents))
        except OSError:
            return False


def find_go() -> Go:
    """GATEKEEPER_GO, else the one on PATH. Raises `CouldNotCheck` (ENVIRONMENT_MISSING)."""
    named = os.environ.get("GATEKEEPER_GO") or shutil.which("go")
    if not named:
        raise CouldNotCheck("ENVIRONMENT_MISSING", "No Go was found.", next_action=_ADVICE)
    return _asked(named)


@functools.cache
def _asked(named: str) -> Go:
    try:
        done = subprocess.run(
            [named, "env", "-json", *_ASKED, *_OPERATORS],
            capture_output=True, text=True, timeout=60, check=True, stdin=subprocess.DEVNULL, cwd="/",
            env={**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": ""},
        )  # fmt: skip
        said = {k: str(v) for k, v in json.loads(done.stdout).items()}
        root = (Path(said["GOROOT"]) / "bin" / "go").resolve(strict=True).parent.parent
    except (OSError, ValueError, KeyError, AttributeError, subprocess.SubprocessError) as error:
        raise CouldNotCheck(
            "ENVIRONMENT_MISSING", f"{named!r} does not start: {error}.", next_action=_ADVICE
        ) from error
    root = Path(said["GOROOT"]) if Path(said["GOROOT"]).is_absolute() else root
    version = " ".join(said.get(k, "") for k in ("GOVERSION", "GOOS", "GOARCH", "CC", "CGO_ENABLED"))
    return Go(root, version, {k: said[k] for k in _OPERATORS if said.get(k)})


def run(go: Go, arguments: Sequence[str], *, cwd: Path, variables: Mapping[str, str], what: str) -> str:
    """Run one command of Go and return what it prints. Raises `CouldNotCheck` (ENVIRONMENT_FAILED)."""
    env = {
        "PATH": f"{go.root}/bin:/usr/bin:/bin",
        "GOTOOLCHAIN": "local",
        "GOENV": "off",
        "GOTELEMETRY": "off",
        "GOWORK": "",
        **variables,
    }
    try:
        done = subprocess.run(
            [*_held(), str(go.root / "bin" / "go"), *arguments], cwd=cwd, env=env, capture_output=True, text=True,
            errors="replace", timeout=TIMEOUT_S, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise CouldNotCheck("ENVIRONMENT_FAILED", f"{what} took longer than {TIMEOUT_S:g} s.") from None
    except OSError as error:
        raise CouldNotCheck("ENVIRONMENT_FAILED", f"Go cannot be started: {error}.", blame="gate") from error
    if done.returncode:
        words = "".join(c if c.isprintable() or c == "\n" else "?" for c in (done.stderr + done.stdout)[-20_000:])
        raise CouldNotCheck(
            "ENVIRONMENT_FAILED",
            f"{what} failed: {redacted(words.strip())[-1500:]}",
            next_action="Make `go mod download` work on the target branch, and the modules reachable for the gate.",
        )
    return done.stdout


def passed_on() -> dict[str, str]:
    """What of the gate's environment a download needs."""
    return {k: v for k, v in os.environ.items() if _PASSED_ON.fullmatch(k)}


def redacted(words: str) -> str:
    """Go's words without credentials: those in addresses, and those of the gate's own environment."""
    for name, value in os.environ.items():
        if re.search("PASSWORD|TOKEN|AUTH|SECRET", name, re.IGNORECASE) and len(value) >= 6:
            words = words.replace(value, "***")
    return re.sub(r"//[^/\s@]+@", "//***@", words)


@functools.cache
def _held() -> tuple[str, ...]:
    """Ends with the gate."""
    setpriv = shutil.which("setpriv", path=os.defpath)
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()
