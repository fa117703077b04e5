"""What an OPA bundle must be before it may judge: parsed strictly from its files, whatever engine evaluates it.

A bundle is `.manifest` (revision, roots, metadata.name), `capabilities.json`, and below the roots `*.rego` and
`data.json`. Nothing is guessed or skipped; every refusal is `CouldNotCheck` POLICY_UNUSABLE with the file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from gatekeeper.domain.decision import BundleId
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats.rego_text import foreign_call, functions_of, package_of, rules_of, unbound_name
from gatekeeper.records import dataclass

NAME = re.compile(r"[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*")
"""Paths of a bundle."""


@dataclass(frozen=True)
class LoadedBundle:
    """A bundle that was read and looks sound; whether it compiles and answers is for the worker to say."""

    id: BundleId
    modules: tuple[tuple[str, str], ...]
    """(path, source), tests left out."""
    tests: tuple[tuple[str, str], ...]
    data: dict[str, Any]


def refused(file: str, why: str) -> CouldNotCheck:
    """The refusal of a bundle, naming the file."""
    return CouldNotCheck("POLICY_UNUSABLE", f"The policy bundle is unusable: {file}: {why}.", file=file)


def bundle_digest(files: Mapping[str, bytes]) -> str:
    """sha256 in hex over the canonical JSON (RFC 8785) of `[{"path", "sha256"}]`, sorted by path.

    Every file of the bundle counts: rules, data, manifest, capabilities and tests.
    """
    rows = [{"path": path, "sha256": hashlib.sha256(files[path]).hexdigest()} for path in sorted(files)]
    # Paths are plain ASCII, so this is the canonical form without a further library.
    return hashlib.sha256(json.dumps(rows, separators=(",", ":"), sort_keys=True).encode()).hexdigest()


def parse_bundle_files(files: Mapping[str, bytes]) -> LoadedBundle:
    """Check and name a bundle given as its files by path. Raises `CouldNotCheck` POLICY_UNUSABLE."""
    texts = {path: _text(path, content) for path, content in files.items()}
    for needed in (".manifest", "capabilities.json"):
        if needed not in texts:
            raise refused(needed, "the file is missing")
    name, revision, roots = _manifest(_object(".manifest", texts[".manifest"]))
    allowed = _capabilities(_object("capabilities.json", texts["capabilities.json"]))
    data: dict[str, Any] = {}
    modules: list[tuple[str, str]] = []
    tests: list[tuple[str, str]] = []
    for path in sorted(texts):
        if path in (".manifest", "capabilities.json"):
            continue
        if not any(path.startswith(root + "/") for root in roots):
            raise refused(path, f"it lies outside the roots of the manifest, {list(roots)}")
        if path.endswith(".rego"):
            package = package_of(texts[path])
            if package is None or not any(f"{package.replace('.', '/')}/".startswith(r + "/") for r in roots):
                raise refused(path, "its package lies outside the roots of the manifest")
            (tests if path.endswith("_test.rego") else modules).append((path, texts[path]))
        elif path.rpartition("/")[2] == "data.json":
            _place(data, path, _object(path, texts[path]))
        else:
            raise refused(path, "a bundle holds .rego and data.json files only")
    if not modules:
        raise refused(".", "there is no rule")
    packages: dict[str | None, frozenset[str]] = {}
    for _, source in modules:
        packages[package_of(source)] = packages.get(package_of(source), frozenset()) | rules_of(source)
    functions = functions_of(source for _, source in modules)
    for path, source in modules:
        problem = foreign_call(source, allowed, functions)
        if problem is not None:
            raise refused(path, problem)
        unbound = unbound_name(source, packages[package_of(source)])
        if unbound is not None:
            raise refused(path, f"nothing declares `{unbound}`; local names stand after `some` or before `:=`")
    return LoadedBundle(BundleId(name, revision, bundle_digest(files)), tuple(modules), tuple(tests), data)


def _text(path: str, content: bytes) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise refused(path, "it is not UTF-8") from None
    if "\x00" in text or text.startswith("\ufeff"):
        raise refused(path, "it holds a NUL or a byte order mark")
    return text


def _object(path: str, text: str) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) != len(pairs):
            raise ValueError("a key stands twice in one object")
        return table

    def constant(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    try:
        document = json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise refused(path, f"it is not readable JSON, {str(error)[:200]}") from None
    if not isinstance(document, dict):
        raise refused(path, "it is not a JSON object")
    return document


def _manifest(document: dict[str, Any]) -> tuple[str, str, tuple[str, ...]]:
    revision, roots, metadata = document.get("revision"), document.get("roots"), document.get("metadata", {})
    if not isinstance(revision, str) or not revision:
        raise refused(".manifest", "`revision` must be a text that is not empty")
    if not isinstance(roots, list) or not roots or not all(isinstance(r, str) and NAME.fullmatch(r) for r in roots):
        raise refused(".manifest", "`roots` must be a list of paths that is not empty")
    if document.get("rego_version", 1) != 1:
        raise refused(".manifest", "`rego_version` must be 1")
    name = metadata.get("name", "gatekeeper") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or not name:
        raise refused(".manifest", "`metadata.name` must be a text")
    return name, revision, tuple(roots)


def _capabilities(document: dict[str, Any]) -> frozenset[str]:
    builtins = document.get("builtins")
    if not isinstance(builtins, list) or not all(
        isinstance(b, dict) and isinstance(b.get("name"), str) for b in builtins
    ):
        raise refused("capabilities.json", "`builtins` must be a list of objects with a name")
    return frozenset(b["name"] for b in builtins)


def _place(data: dict[str, Any], path: str, document: dict[str, Any]) -> None:
    """Put a data.json where its directory says, as OPA does; two files that claim one place are refused."""
    place = data
    for part in path.split("/")[:-1]:
        place = place.setdefault(part, {})
        if not isinstance(place, dict):
            raise refused(path, "another data file already holds this place")
    for key, value in document.items():
        if key in place:
            raise refused(path, f"{key!r} is already there from another data file")
        place[key] = value
