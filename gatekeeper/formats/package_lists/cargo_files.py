"""Cargo.toml, Cargo.lock and Cargo's settings."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from gatekeeper.formats.python_requirements.manifest import MAX_TEXT, Dependency, Manifest, as_dict, as_list

_TABLES = ("dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies", "build_dependencies")
_COMMON = ("registry+https://github.com/rust-lang/crates" + ".io-index", "sparse+https://index.crates" + ".io/")


def cargo_toml(text: str) -> Manifest | None:
    """Dependencies of all kinds, of a package, its targets and its workspace, and what is patched."""
    table = _toml(text)
    if table is None:
        return None
    holders = [table, as_dict(table.get("workspace")), *(as_dict(t) for t in as_dict(table.get("target")).values())]
    found = [one for holder in holders for key in _TABLES for one in _rows(as_dict(holder.get(key)), key)]
    for origin, rows in as_dict(table.get("patch")).items():
        found += _rows(as_dict(rows), f"patch.{origin}"[:200])
    found += _rows({k.partition(":")[0]: v for k, v in as_dict(table.get("replace")).items()}, "replace")
    package = as_dict(table.get("package"))
    build = package.get("build")
    scripts = {"build": build} if isinstance(build, str) else {}
    return Manifest(tuple(found), build={"scripts": scripts}, own_name=str(package.get("name") or ""))


def cargo_lock(text: str) -> Manifest | None:
    """Packages with their checksum; one without a source is a part of the project."""
    table = _toml(text)
    if table is None:
        return None
    # The first format kept the checksums apart from the packages.
    apart = {
        tuple(k.split(" ")[1:3]): str(v) for k, v in as_dict(table.get("metadata")).items() if k.startswith("checksum ")
    }
    found = []
    for row in as_list(table.get("package")):
        if isinstance(row, dict) and isinstance(row.get("name"), str) and row.get("source"):
            version, source = str(row.get("version") or ""), str(row["source"])
            checksum = str(row.get("checksum") or apart.get((row["name"], version), ""))
            outside = "" if source in _COMMON else source
            found.append(
                Dependency(row["name"], version, frozenset([checksum] if checksum else []), outside[:300], 1, "lock")
            )
    return Manifest(tuple(found))


def cargo_settings(text: str) -> Manifest | None:
    """.cargo/config.toml: other sources and registries, and programs that Cargo starts in place of its own."""
    table = _toml(text)
    if table is None:
        return None
    options = []
    for name, value in as_dict(table.get("source")).items():
        options.append((f"source.{name} {as_dict(value)}"[:300], 1))
    for key in ("registries", "registry", "patch", "net", "http"):
        kept = {
            k: v
            for k, v in as_dict(table.get(key)).items()
            if k not in ("git-fetch-with-cli", "retry", "timeout", "multiplexing")
        }
        options += [(f"{key} {kept}"[:300], 1)] if kept else []
    build = as_dict(table.get("build"))
    scripts = {
        f"build.{k}": build[k] for k in ("rustc", "rustc-wrapper", "rustc-workspace-wrapper", "rustdoc") if k in build
    }
    for name, target in as_dict(table.get("target")).items():
        scripts |= {f"target.{name}.{k}"[:100]: v for k, v in as_dict(target).items() if k == "runner"}
    return Manifest(options=tuple(options), build={"scripts": scripts})


def _rows(table: dict[str, Any], section: str) -> Iterator[Dependency]:
    for name, value in table.items():
        row = value if isinstance(value, dict) else {"version": value}
        source = next((f"{k}: {row[k]}"[:300] for k in ("git", "path", "registry", "registry-index") if k in row), "")
        said = str(row.get("version") or "")
        pinned = re.fullmatch(r"=\s*(\d[\w.+-]*)", said)
        yield Dependency(str(row.get("package") or name), pinned[1] if pinned else "", source=source, section=section)


def _toml(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text[:MAX_TEXT])
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
