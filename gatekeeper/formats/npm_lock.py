"""A project's package.json and package-lock.json, reduced to what an installation from the registry needs.

Nothing of them reaches npm but names, exact versions, integrity digests and how packages depend on each other: no
script, no address, no setting. A package is then fetched by name and version from the registry that the operator
configured, and is refused by npm where its content does not have the digest of the lock. A package from anywhere else
(git, a file, an address of its own) cannot be expressed in this form, and is refused here.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any

from gatekeeper.errors import InputError
from gatekeeper.formats import strict_json
from gatekeeper.formats.fields import Fields
from gatekeeper.records import dataclass

CODE = "INPUT_MALFORMED"
MAX_MANIFEST = 1024 * 1024
MAX_LOCK = 32 * 1024 * 1024
MAX_PACKAGES = 20_000

_DEPENDS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_KEPT = (*_DEPENDS, "peerDependenciesMeta", "bin", "engines", "os", "cpu", "libc", "bundleDependencies")
_FLAGS = ("dev", "optional", "devOptional", "peer", "inBundle")
_NAME = r"(?:@[A-Za-z0-9~_-][\w.~-]*/)?[A-Za-z0-9~_-][\w.~-]*"
_PACKAGE = re.compile(rf"(?P<owner>.*?)(?:^|/)node_modules/(?P<name>{_NAME})", re.ASCII)
_PLACE = re.compile(
    r"(?:(?!\.{1,2}(?:/|$)|node_modules(?:/|$))[\w.@+~ -]+)(?:/(?!\.{1,2}(?:/|$))[\w.@+~ -]+)*", re.ASCII
)
_VERSION = re.compile(r"\d[0-9A-Za-z.+-]{0,200}", re.ASCII)
_DIGEST = re.compile(r"sha(?:256|384|512)-[A-Za-z0-9+/]{20,200}={0,2}")


@dataclass(frozen=True)
class NpmProject:
    """What npm is given."""

    manifests: Mapping[str, Mapping[str, Any]]
    """package.json by folder relative to the lock: the root is the empty text, the others are workspaces."""
    lock: Mapping[str, Any]
    packages: frozenset[str]
    """Names of all packages that will be there."""


def depends(manifest: bytes) -> bool:
    """True where a package.json names any package that an installation would bring. Raises `InputError`."""
    fields = _manifest(manifest, "package.json")
    return any(fields.object(key).table for key in _DEPENDS[:3]) or bool(fields.table.get("workspaces"))


def workspaces(lock: bytes) -> tuple[str, ...]:
    """Folders of the repository that the lock names as packages, relative to it. Raises `InputError`."""
    return tuple(k for k in _packages(lock) if k and _PACKAGE.fullmatch(k) is None)


def npm_project(manifests: Mapping[str, bytes], lock: bytes) -> NpmProject:
    """Reduce a lock and its package.json files (by folder relative to the lock, the root as the empty text).

    Raises `InputError` (INPUT_MALFORMED) for what cannot be installed from a registry alone; the message says which
    entry and why.
    """
    reduced = {folder: _reduced(data, folder) for folder, data in manifests.items()}
    packages: dict[str, dict[str, Any]] = {}
    names = set()
    for key, entry in _packages(lock).items():
        match = _PACKAGE.fullmatch(key)
        if match is None:
            if key and _PLACE.fullmatch(key) is None:
                raise _refused(key, "is no path of a package")
            if key not in reduced:
                raise _refused(key, "names a folder without a package.json")
            packages[key] = _only(entry)
        else:
            owner = match["owner"]
            if owner and _PACKAGE.fullmatch(owner) is None and owner not in reduced:
                raise _refused(key, "lies in a folder without a package.json")
            packages[key] = _entry(key, match["name"], entry, reduced)
            names.add(match["name"])
    if "" not in packages:
        raise InputError(CODE, "package-lock.json does not describe the project itself; write it with npm 7 or newer.")
    root = reduced[""]
    table: dict[str, Any] = {k: root[k] for k in ("name", "version") if k in root}
    return NpmProject(
        reduced, {**table, "lockfileVersion": 3, "requires": True, "packages": packages}, frozenset(names)
    )


def _packages(lock: bytes) -> dict[str, Fields]:
    parsed = strict_json.loads(lock, what="package-lock.json", code=CODE, max_bytes=MAX_LOCK)
    fields = Fields(parsed, what="package-lock.json", code=CODE)
    version = fields.integer("lockfileVersion", high=100)
    if version not in (2, 3):
        raise InputError(
            CODE, f"package-lock.json has lockfileVersion {version}; 2 or 3 is read: write it with npm 7 or newer."
        )
    table = fields.object("packages").table
    if len(table) > MAX_PACKAGES:
        raise InputError(CODE, f"package-lock.json names more than {MAX_PACKAGES} packages.")
    return {str(k): Fields(v, what=f"package-lock.json's entry {str(k)[:120]!r}", code=CODE) for k, v in table.items()}


def _entry(key: str, name: str, entry: Fields, manifests: Iterable[str]) -> dict[str, Any]:
    resolved = entry.text("resolved", limit=4096)
    if entry.flag("link"):
        place = posixpath.normpath(resolved)
        if place not in manifests or _PLACE.fullmatch(place) is None:
            raise _refused(key, "is a link to what is no package of this repository")
        return {"resolved": place, "link": True}
    version = entry.text("version", limit=300, required=True)
    if _VERSION.fullmatch(version) is None:
        raise _refused(key, f"has the version {version[:80]!r}; an exact version is expected")
    alias = entry.text("name", limit=300)
    if alias and re.fullmatch(_NAME, alias, re.ASCII) is None:
        raise _refused(key, f"has the name {alias[:80]!r}")
    table: dict[str, Any] = {**({"name": alias} if alias else {}), "version": version, **_only(entry)}
    if entry.flag("inBundle"):
        return table  # comes inside another package, whose digest covers it
    if resolved and not _of_registry(resolved, alias or name, version):
        raise _refused(key, "comes from an address that is no registry's (git, a file, an archive elsewhere)")
    digests = entry.text("integrity", limit=2000).split()
    strong = [d for d in digests if _DIGEST.fullmatch(d)]
    if not strong:
        raise _refused(key, "has no sha256, sha384 or sha512 integrity")
    return {**table, "integrity": " ".join(strong)}


def _of_registry(resolved: str, name: str, version: str) -> bool:
    """Whether an address has the form that every registry gives a package's archive; its host is never asked."""
    base = name.rsplit("/", 1)[-1]
    path = resolved.replace("%2f", "/").replace("%2F", "/")
    wanted = f"/{name}/-/{base}-{version.split('+', 1)[0]}.tgz"
    return re.match(r"https?://[^/\s]+/", path) is not None and path.endswith(wanted)


def _only(entry: Fields) -> dict[str, Any]:
    """The parts of an entry that say how packages depend on each other: texts and flags, nothing else."""
    kept: dict[str, Any] = {}
    for key in _KEPT:
        value = entry.table.get(key)
        if value is None:
            continue
        kept[key] = _texts(entry, key, value)
    kept.update({flag: True for flag in _FLAGS if entry.flag(flag)})
    return kept


def _texts(entry: Fields, key: str, value: Any) -> Any:
    if key in _DEPENDS:
        for name, wanted in entry.object(key).table.items():
            if not isinstance(wanted, str) or len(wanted) > 1000 or re.fullmatch(_NAME, str(name), re.ASCII) is None:
                raise entry.refuse(key, "names of packages with versions", wanted)
        return dict(value)
    if isinstance(value, str):
        return value[:1000]
    if isinstance(value, bool):
        return value
    if isinstance(value, list):
        return list(entry.texts(key))
    table = entry.object(key).table
    plain = (str, bool)
    return {
        k: v if isinstance(v, plain) else {n: w for n, w in v.items() if isinstance(w, plain)}
        for k, v in table.items()
        if isinstance(v, (*plain, dict))
    }


def _manifest(data: bytes, what: str) -> Fields:
    return Fields(strict_json.loads(data, what=what, code=CODE, max_bytes=MAX_MANIFEST), what=what, code=CODE)


def _reduced(data: bytes, folder: str) -> dict[str, Any]:
    what = posixpath.join(folder, "package.json")
    fields = _manifest(data, what)
    kept: dict[str, Any] = {k: v for k in ("name", "version") if isinstance(v := fields.table.get(k), str)}
    kept |= {k: v for k, v in _only(fields).items() if k in (*_DEPENDS, "peerDependenciesMeta")}
    if not folder:
        listed = fields.table.get("workspaces")
        if isinstance(listed, Mapping):
            listed = listed.get("packages")
        if listed is not None:
            kept["workspaces"] = list(Fields({"workspaces": listed}, what=what, code=CODE).texts("workspaces"))
        if isinstance(overrides := fields.table.get("overrides"), dict):
            kept["overrides"] = overrides
    return kept


def _refused(key: str, why: str) -> InputError:
    return InputError(CODE, f"package-lock.json's entry {key[:120]!r} {why}.")
