"""Other registries: in the settings of installers, and in the addresses that a lock takes its files from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.verdict import Effect

_SETTINGS = frozenset({".npmrc", "pip.conf", ".yarnrc", ".yarnrc.yml", ".pypirc", "pip.ini", "bunfig.toml", ".condarc"})
_LOCKS = frozenset({"uv.lock", "poetry.lock", "pdm.lock", "pylock.toml"})
_COMMON = ("https://pypi" + ".org", "https://pypi" + ".org/simple", "https://files.pythonhosted" + ".org")
_MOST = 8_000_000


def changed_registries(path: str, before: str, after: str) -> Iterable[Finding]:
    """At most one finding about the places that one file of an installer names and the target's did not."""
    name = path.rsplit("/", 1)[-1].lower()
    if name in _SETTINGS:
        had = {r.strip() for r in before.splitlines()}
        rows = [
            r
            for r in after.splitlines()
            if r.strip() not in had and _options().search(r) and not r.lstrip().startswith(("#", ";"))
        ]
        if rows:
            yield finding("DEPENDENCY_INDEX_ADDED", f"{path} makes installers fetch from another place.", path=path, evidence="\n".join(rows[:5])[:500])  # fmt: skip
    elif name == "uv.toml" or name in _LOCKS:
        old, new = _named(name, before), _named(name, after)
        fresh = [a for a in new if a not in old and a not in _COMMON]
        if fresh:
            yield finding(
                "DEPENDENCY_INDEX_ADDED", f"{path} takes packages from {fresh[0][:200]}.", path=path, line=_line(after, fresh[0]), effect=Effect.ASKS
            )  # fmt: skip


def _named(name: str, content: str) -> list[str]:
    """Addresses of indexes, and in a lock also the hosts of its files."""
    content = content[:_MOST]
    if name == "uv.toml":
        return [a.rstrip("/") for a in _of_uv().findall(content)]
    return list(dict.fromkeys([*(a.rstrip("/") for a in _indexes().findall(content)), *_hosts().findall(content)]))


def _line(content: str, needle: str) -> int:
    return next((i for i, row in enumerate(content.splitlines(), 1) if needle in row), 1)


@cache
def _options() -> re.Pattern[str]:
    return re.compile(
        r"index-url|find-links|trusted-host|registry|strict-ssl|npmRegistryServer|(?:https?-)?proxy\s*=|cafile|channel_alias|- https?://"
    )


@cache
def _of_uv() -> re.Pattern[str]:
    return re.compile(
        r"""(?:registry|(?:extra-|default-)?index-url|(?<![\w-])url|find-links|index)\s*=\s*\[?\s*["'](https?://[^"']+)["']"""
    )


@cache
def _indexes() -> re.Pattern[str]:
    # Poetry names an index in a table of its own: type, then url.
    return re.compile(
        r"""(?:(?:registry|index_url|index)\s*=\s*|type\s*=\s*"legacy"\s*\n\s*url\s*=\s*)["'](https?://[^"']+)["']"""
    )


@cache
def _hosts() -> re.Pattern[str]:
    return re.compile(
        r"""url\s*=\s*["'](https?://[^/"']{1,200})/[^"']{0,1000}\.(?:whl|tar\.gz|tgz|zip|tar\.bz2|tar\.xz)(?:#[^"']{0,300})?["']"""
    )
