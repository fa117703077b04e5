"""Locks of Yarn and pnpm: which package, which version, which digest, from where."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gatekeeper.formats.package_lists import yaml_lock
from gatekeeper.formats.python_requirements.json_files import registry_name
from gatekeeper.formats.python_requirements.manifest import MAX_TEXT, Dependency, Manifest, as_dict

_VERSION = re.compile(r"\d[0-9A-Za-z.+-]{0,200}")


def yarn_lock(text: str) -> Manifest | None:
    """yarn.lock of any version; None where it is broken."""
    if re.search(r"^__metadata:", text[:5000], re.MULTILINE):
        return _berry(text)
    found: list[Dependency] = []
    faults: list[tuple[str, int]] = []
    heads, rows, start = list[str](), dict[str, str](), 1
    for number, raw in enumerate([*text[:MAX_TEXT].splitlines(), "end:"], 1):
        line = raw.rstrip()
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            found += _classic(heads, rows, start)
            heads, rows, start = [h.strip().strip('"') for h in line.rstrip(":").split(",")], {}, number
            if not line.endswith(":"):
                faults.append((line[:200], number))
        elif not line.startswith("   "):
            key, _, value = line.strip().partition(" ")
            if key in rows:
                faults.append((line.strip()[:200], number))
            rows[key.rstrip(":")] = value.strip().strip('"')
    return Manifest(tuple(found), faults=tuple(faults))


def _classic(heads: list[str], rows: dict[str, str], line: int) -> Iterator[Dependency]:
    if not rows:
        return
    name, asked = _split(heads[0])
    if asked.startswith("npm:"):
        name = _split(asked[4:])[0]
    resolved = rows.get("resolved", "")
    address, _, digest = resolved.partition("#")
    real = registry_name(address)
    hashes = frozenset([*rows.get("integrity", "").split(), *([f"sha1:{digest}"] if digest and real else [])])
    outside = resolved if resolved and not real else ""
    yield Dependency(real or name, rows.get("version", ""), hashes, outside[:300], line, "lock")


def _berry(text: str) -> Manifest | None:
    table = yaml_lock.load(text)
    if table is None:
        return None
    found = []
    for key, row in table.items():
        if key == "__metadata" or not isinstance(row, dict):
            continue
        name, where = _split(str(row.get("resolution") or key))
        if where.startswith("workspace:"):
            continue  # a part of the project
        if where.startswith("patch:"):
            name, where = _patched(where)
        outside = "" if re.match(r"(?:npm|virtual):", where) and "__archiveUrl" not in where else where
        checksum = str(row.get("checksum") or "")
        found.append(
            Dependency(
                name, str(row.get("version") or ""), frozenset([checksum] if checksum else []), outside[:300], 1, "lock"
            )
        )
    return Manifest(tuple(found))


def _patched(where: str) -> tuple[str, str]:
    """`patch:name@npm%3A1.0#patch`: the package that is patched; the patch itself lies in the project or in Yarn."""
    return _split(where.removeprefix("patch:").partition("#")[0].replace("%3A", ":").replace("%40", "@"))


def pnpm_lock(text: str) -> Manifest | None:
    """pnpm-lock.yaml of any version; None where it is broken."""
    table = yaml_lock.load(text)
    if table is None:
        return None
    found: list[Dependency] = []
    for key, value in as_dict(table.get("packages")).items():
        row = as_dict(value)
        resolution = as_dict(row.get("resolution"))
        name, version = _pnpm_key(key)
        origin = next((str(resolution[k]) for k in ("tarball", "repo", "directory") if k in resolution), "")
        real = registry_name(origin)
        outside = origin if origin and not real else ""
        if not outside and not _VERSION.fullmatch(version):
            outside = key
        integrity = str(resolution.get("integrity") or "")
        found.append(
            Dependency(
                real or str(row.get("name") or name), version, frozenset(integrity.split()), outside[:300], 1, "lock"
            )
        )
    return Manifest(tuple(found))


def _pnpm_key(key: str) -> tuple[str, str]:
    """`/name/1.0`, `/name@1.0(peer@2)` and `name@1.0`: what the versions of pnpm have written."""
    plain = key.partition("(")[0].removeprefix("/")
    name, version = _split(plain)
    if not version:
        name, _, version = plain.rpartition("/")
    return name, version.partition("_")[0]


def _split(spec: str) -> tuple[str, str]:
    """Name and the rest of `name@rest`; the name may begin with an @ of its own."""
    name, _, rest = spec[1:].partition("@")
    return spec[:1] + name, rest
