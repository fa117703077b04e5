"""pom.xml, Gradle's scripts, its table of versions and its wrapper: as far as names are written out."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from typing import TYPE_CHECKING

from gatekeeper.formats.python_requirements.manifest import Dependency, Manifest, as_dict

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_TEXT = 2_000_000
_MAX_ELEMENTS = 100_000


def pom(text: str) -> Manifest | None:
    """Dependencies, plugins and their own dependencies, parents and repositories; None for broken or hostile XML."""
    if len(text) > MAX_TEXT:
        return None
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root = fromstring(text, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, RecursionError):
        return None
    found, options = [], []
    own = f"{_text(root, 'groupId')}:{_text(root, 'artifactId')}"
    for number, node in enumerate(root.iter()):
        if number > _MAX_ELEMENTS:
            return None
        kind = _tag(node)
        if kind in ("dependency", "plugin", "extension", "parent"):
            group = _text(node, "groupId") or ("org.apache.maven.plugins" if kind == "plugin" else "")
            version = _text(node, "version")
            outside = _text(node, "systemPath")
            found.append(
                Dependency(
                    f"{group}:{_text(node, 'artifactId')}",
                    version if re.match(r"\d", version) else "",
                    source=outside,
                    section=kind,
                )
            )
        elif kind in ("repository", "pluginRepository", "snapshotRepository") and _text(node, "url"):
            address = _text(node, "url").rstrip("/")
            if not _common(address):
                options.append((f"repository {address}"[:300], 1))
    return Manifest(tuple(found), tuple(options), own_name=own)


def gradle(text: str) -> Manifest:
    """Coordinates and plugins of a build script; what is put together there is not followed."""
    if len(text) > MAX_TEXT:
        return Manifest(faults=(("too long", 1),))
    plain = re.sub(r"(?m)^\s*(?://.*|\*.*|/\*.*)$", "", text)
    found = [
        Dependency(f"{g}:{a}", v if re.match(r"\d", v) else "", section="gradle")
        for g, a, v in _coordinates().findall(plain)
    ]
    found += [Dependency(f"{g}:{a}", section="gradle") for g, a in _named().findall(plain)]
    found += [Dependency(f"plugin {p}", section="plugins") for p in _plugin().findall(plain) if "." in p]
    options = [(f"repository {a.rstrip('/')}"[:300], 1) for a in _repository().findall(plain) if not _common(a)]
    return Manifest(tuple(found), tuple(options))


def gradle_versions(text: str) -> Manifest | None:
    """libs.versions.toml."""
    try:
        table = tomllib.loads(text[:MAX_TEXT])
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    found = []
    for row in as_dict(table.get("libraries")).values():
        name = (
            row
            if isinstance(row, str)
            else str(as_dict(row).get("module") or f"{as_dict(row).get('group')}:{as_dict(row).get('name')}")
        )
        found.append(Dependency(":".join(name.split(":")[:2])[:300], section="libraries"))
    for row in as_dict(table.get("plugins")).values():
        name = row if isinstance(row, str) else str(as_dict(row).get("id"))
        found.append(Dependency(f"plugin {name.partition(':')[0]}"[:300], section="plugins"))
    return Manifest(tuple(found))


def gradle_wrapper(text: str) -> Manifest:
    """gradle-wrapper.properties: where the build tool itself comes from, and its digest."""
    rows = dict(r.partition("=")[::2] for r in text[:20_000].replace("\\:", ":").splitlines() if "=" in r)
    address, digest = rows.get("distributionUrl", "").strip(), rows.get("distributionSha256Sum", "").strip()
    official = re.fullmatch(r"https://services\.gradle\.org/distributions/gradle-([\w.-]+)-(?:bin|all)\.zip", address)
    options = [(f"distribution {address}"[:300], 1)] if address and not official else []
    version = official[1] if official else ""
    return Manifest(
        (Dependency("gradle", version, frozenset([digest] if digest else []), section="wrapper"),), tuple(options)
    )


def _tag(node: Element) -> str:
    return str(node.tag).rsplit("}", 1)[-1]


def _text(node: Element, name: str) -> str:
    return next(((child.text or "").strip()[:300] for child in node if _tag(child) == name), "")


def _common(address: str) -> bool:
    return re.match(r"https://(?:repo1?\.maven\.(?:apache\.)?org|plugins\.gradle\.org|maven\.google\.com|dl\.google\.com|repo\.maven\.apache\.org)(?:/|$)", address) is not None  # fmt: skip


@cache
def _coordinates() -> re.Pattern[str]:
    return re.compile(
        r"[\"']([A-Za-z][\w.-]{1,120}):([A-Za-z][\w.-]{0,120})(?::([\w.$+{}-]{1,80}))?(?::[\w-]{1,40})?(?:@\w{1,10})?[\"']"
    )


@cache
def _named() -> re.Pattern[str]:
    return re.compile(
        r"group\s{0,9}[:=]\s{0,9}[\"']([\w.-]{1,120})[\"']\s{0,9},\s{0,9}name\s{0,9}[:=]\s{0,9}[\"']([\w.-]{1,120})[\"']"
    )


@cache
def _plugin() -> re.Pattern[str]:
    return re.compile(r"(?:\bid|apply plugin)\s{0,9}[(:]?\s{0,9}[\"']([\w.-]{1,120})[\"']")


@cache
def _repository() -> re.Pattern[str]:
    return re.compile(r"\b(?:url|setUrl|maven)\s{0,9}[=(]?\s{0,9}(?:uri\()?\s{0,9}[\"'](https?://[^\"'\s]{1,300})[\"']")
