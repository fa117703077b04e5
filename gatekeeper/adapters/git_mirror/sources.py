"""Where a repository is fetched from: a directory of this machine, or an address that the operator registered.

An address is spoken to with its own scheme alone, with nothing of this user's settings, and within limits of time and
bytes: what answers there may be slow, endless, or lead elsewhere.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from gatekeeper.adapters.git_mirror.runner import Caps
from gatekeeper.errors import CouldNotCheck, UsageError
from gatekeeper.records import dataclass, field

# The serving side reads the source's own configuration; what could run something there is ignored by git itself
# (uploadpack.packObjectsHook counts from protected configuration only) or overridden on its command
# line. On one machine no search for new deltas pays. The text is fixed: nothing of the caller's gets into this shell word.
UPLOAD_PACK = (
    "GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1 git -c 'safe.directory=*' -c uploadpack.allowAnySHA1InWant=true "
    "-c core.hooksPath=/dev/null -c core.fsmonitor=false -c pack.threads=1 -c pack.window=0 upload-pack"
)
WHOLE = "--depth=2147483647"
"""All of the history, said in a way that git asks of a server only. Git would otherwise walk a site that merely serves
files, object by object: nothing bounds how many, and none is checked for sense."""
_LIST_MEMORY = 1024**3
_FETCH_MEMORY = 4 * 1024**3
_WINDOWS = {"core.packedGitWindowSize": "32m", "core.packedGitLimit": "512m"}
"""Packs are mapped in pieces, so that the limit on address space is one on memory."""
_LOCAL = Caps(None, 8 * 1024**3)
"""A repository of this machine packs in the same process group, which may need what a large history needs."""


@dataclass(frozen=True, slots=True)
class Remotes:
    """The operator's settings for sources on other machines. Without them no address is fetched from at all."""

    credential_helper: str | None = None
    """As in git's `credential.helper`; None: https without credentials. No other helper is ever asked."""
    certificates: Path | None = None
    """Certificates (PEM) to trust for https in place of the system's."""
    proxy: str | None = None
    """As in git's `http.proxy`; None: none, whatever the environment says."""
    ssh_key: Path | None = None
    ssh_known_hosts: Path | None = None
    """Both are needed for ssh: a host whose key is not in the file is not spoken to."""
    max_bytes: int = 4 * 1024**3
    """Of one fetch, packed."""
    list_s: float = 60.0
    """Time in which the source must have said which branches it has."""
    fetch_s: float = 600.0
    """Time in which a fetch must have ended."""
    slow_bytes_s: int = 1000
    """A transfer over https that is slower than this for `slow_s` seconds is given up."""
    slow_s: int = 30
    loopback_http: bool = False
    """Unencrypted http to this machine itself, for trying things out."""


@dataclass(frozen=True)
class Source:
    """One repository to fetch from."""

    name: str
    """Under which the mirror is kept and the repository is named."""
    address: str
    """What git is told."""
    directory: str | None = None
    """The directory, for one of this machine."""
    options: tuple[str, ...] = ()
    """Options of git itself."""
    arguments: tuple[str, ...] = ()
    """Options of git's fetch and ls-remote."""
    environment: Mapping[str, str] = field(default_factory=dict)
    list_s: float = 120.0
    fetch_s: float = 120.0
    fetching: tuple[str, ...] = ()
    """Options of git's fetch alone."""
    list_caps: Caps | None = None
    fetch_caps: Caps | None = None

    @property
    def shown(self) -> str:
        """The name for messages."""
        return repr(self.name[:200])

    def unreachable(self, why: str) -> CouldNotCheck | UsageError:
        """The error where the source cannot be read: a path is the caller's, an address is the operator's."""
        if self.directory is not None:
            return UsageError("REPOSITORY_UNREADABLE", f"{self.shown} cannot be read as a git repository: {why}")
        return CouldNotCheck("SOURCE_UNREACHABLE", f"{self.shown} cannot be fetched from: {why}")


def find(source: str, remotes: Remotes | None) -> Source:
    """The source that `source` names. Raises `UsageError` (REPOSITORY_UNREADABLE)."""
    if "://" not in source:
        return _directory(os.path.abspath(source))
    try:
        parts = urlsplit(source)
        port = parts.port
    except ValueError as error:
        raise _refused(source, f"it cannot be parsed ({error})") from error
    if any(c.isspace() or not c.isprintable() for c in source):
        raise _refused(source, "it holds white space or a control character")
    if parts.scheme == "file":
        path = unquote(parts.path)
        if parts.netloc not in ("", "localhost") or not path.startswith("/"):
            raise _refused(source, "a file address has no host and an absolute path")
        return _directory(os.path.abspath(path))
    if remotes is None:
        raise _refused(source, "this gate fetches from directories of its own machine only")
    if not parts.hostname or parts.hostname.startswith("-") or parts.query or parts.fragment or port == 0:
        raise _refused(source, "it needs a host, and has neither query nor fragment")
    if parts.password is not None or (parts.username is not None and parts.scheme != "ssh"):
        raise _refused(source, "credentials do not belong in it; name a credential helper in the operator's settings")
    if parts.scheme == "https" or (parts.scheme == "http" and remotes.loopback_http and _loopback(parts)):
        return _web(source, parts.scheme, remotes)
    if parts.scheme == "ssh":
        return _ssh(source, parts, remotes)
    raise _refused(source, f"the scheme {parts.scheme!r} is not supported; use https, ssh, file or a path")


def _directory(path: str) -> Source:
    if "\x00" in path or not os.path.isdir(path):
        raise UsageError("REPOSITORY_UNREADABLE", f"There is no repository directory at {path[:200]!r}.")
    return Source(path, path, directory=path, arguments=(f"--upload-pack={UPLOAD_PACK}",), fetch_caps=_LOCAL)


def _web(address: str, scheme: str, remotes: Remotes) -> Source:
    settings = {
        "http.followRedirects": "false",
        "http.sslVerify": "true",
        "http.lowSpeedLimit": str(remotes.slow_bytes_s),
        "http.lowSpeedTime": str(remotes.slow_s),
        "http.maxRequests": "1",
        "http.proxy": remotes.proxy or "",
        "http.saveCookies": "false",
        "credential.interactive": "false",
        "credential.useHttpPath": "true",
    }
    if remotes.certificates is not None:
        settings["http.sslCAInfo"] = str(remotes.certificates)
    options = [*_set(settings), "-c", "credential.helper="]  # an empty one forgets whatever was named before
    if remotes.credential_helper:
        options += ["-c", f"credential.helper={remotes.credential_helper}"]
    return _remote(address, scheme, remotes, tuple(options), {})


def _ssh(address: str, parts: SplitResult, remotes: Remotes) -> Source:
    if remotes.ssh_key is None or remotes.ssh_known_hosts is None:
        raise _refused(address, "ssh needs the operator's key and known hosts")
    if (parts.username or "").startswith("-"):
        raise _refused(address, "its user begins with a dash")
    said = {
        "BatchMode": "yes",
        "IdentitiesOnly": "yes",
        "IdentityAgent": "none",
        "StrictHostKeyChecking": "yes",
        "UserKnownHostsFile": _quoted(remotes.ssh_known_hosts),
        "GlobalKnownHostsFile": "/dev/null",
        "UpdateHostKeys": "no",
        "ConnectTimeout": str(max(1, int(remotes.list_s / 2))),
        "ServerAliveInterval": "15",
        "ServerAliveCountMax": "2",
        "ClearAllForwardings": "yes",
        "PermitLocalCommand": "no",
    }
    words = ["ssh", "-F", "/dev/null", "-i", str(remotes.ssh_key)]
    for name, value in said.items():
        words += ["-o", f"{name}={value}"]
    environment = {"GIT_SSH_COMMAND": shlex.join(words), "GIT_SSH_VARIANT": "ssh"}
    return _remote(address, "ssh", remotes, (), environment)


def _remote(
    address: str, scheme: str, remotes: Remotes, options: tuple[str, ...], environment: Mapping[str, str]
) -> Source:
    return Source(
        address,
        address,
        # A pack as it came, in one file, which the limit on a file's size then bounds.
        options=(*options, *_set({"fetch.unpackLimit": "1", "pack.threads": "1", **_WINDOWS})),
        environment={**environment, "GIT_ALLOW_PROTOCOL": scheme},
        fetching=(WHOLE,),
        list_s=remotes.list_s,
        fetch_s=remotes.fetch_s,
        list_caps=Caps(_LIST_MEMORY, remotes.max_bytes),
        fetch_caps=Caps(_FETCH_MEMORY, remotes.max_bytes),
    )


def _set(settings: Mapping[str, str]) -> list[str]:
    return [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]


def _quoted(path: Path) -> str:
    return f'"{path}"'


def _loopback(parts: SplitResult) -> bool:
    import ipaddress

    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return parts.hostname == "localhost"


def _refused(source: str, why: str) -> UsageError:
    shown = source.rpartition("@")[2] if "@" in source else source  # never repeats a password
    return UsageError("REPOSITORY_UNREADABLE", f"{shown[:200]!r} cannot be a source: {why}.")
