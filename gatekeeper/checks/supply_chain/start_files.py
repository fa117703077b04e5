"""Files that other build tools, package managers and editors run by their mere name: what they newly start is told."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect

_MOST = 400_000
_BUILDS = {
    "build.rs": "rust", "meson.build": "meson", "cmakelists.txt": "cmake", "binding.gyp": "gyp", "build.gradle": "gradle",
    "build.gradle.kts": "gradle", "settings.gradle": "gradle", "settings.gradle.kts": "gradle",
}  # fmt: skip
_HOOKS = frozenset({".pnpmfile.cjs", ".pnpmfile.mjs", "pnpmfile.js", "pnpmfile.cjs"})
OPENED = (
    ".envrc",
    ".gitpod.yml",
    ".readthedocs.yml",
    ".readthedocs.yaml",
    "devcontainer.json",
    "tasks.json",
    "devbox.json",
)
"""Names of files whose lines run when a folder is opened or documentation is built."""


def changed_start_files(evidence: Evidence) -> tuple[Finding, ...]:
    """At most one finding for each file that newly starts something."""
    out: list[Finding] = []
    installs = _install_scripts(evidence)
    for changed in evidence.change.paths:
        path = changed.path
        if changed.new is None or changed.new.mode[:3] != "100":
            continue
        name = path.rsplit("/", 1)[-1].lower()
        kind = _BUILDS.get(name, "cmake" if name.endswith(".cmake") else "")
        if not (
            kind
            or name in _HOOKS
            or name in (".yarnrc.yml", ".npmrc", "tasks.json")
            or path in installs
            or path.startswith(".yarn/")
        ):
            continue
        before, after = (text(evidence.base, path) or "")[:_MOST], (text(evidence.merged, path) or "")[:_MOST]
        if kind:
            out += _build(path, kind, before, after, new=changed.old is None)
        elif name in _HOOKS:
            out.append(
                _told(
                    path,
                    f"{path} runs at every installation, and may change what is installed.",
                    "INSTALL_SCRIPT_ADDED",
                )
            )
        elif path in installs:
            fresh = _fresh(_of_node(), before, after)
            if fresh:
                out.append(_told(path, f"{path} runs on install, and does {fresh} now.", "INSTALL_SCRIPT_ADDED"))
        else:
            out += _settings(path, name, before, after, known=changed.old is not None)
    return tuple(out)


def _build(path: str, kind: str, before: str, after: str, *, new: bool) -> Iterable[Finding]:
    fresh = _fresh(_starts(kind), before, after)
    if fresh:
        yield _told(path, f"{path} does {fresh} now, whenever the project is built.", "BUILD_HOOK_ADDED")
    elif new and kind == "gyp" and "/" not in path:
        yield _told(path, f"{path} makes npm build the project on every installation.", "INSTALL_SCRIPT_ADDED")


def _settings(path: str, name: str, before: str, after: str, *, known: bool) -> Iterable[Finding]:
    had = {row.strip() for row in before.splitlines()}
    rows = [r.strip() for r in after.splitlines() if r.strip() not in had]
    if name == ".npmrc":
        bad = [
            r
            for r in rows
            if re.match(r"(?:script-shell|node-options|shell|git|init-module)\s*=|ignore-scripts\s*=\s*false", r)
        ]
    elif name == ".yarnrc.yml":
        # Yarn keeps its releases in one folder under names that say the version: another of them is an update.
        release = r"yarnPath:\s*[\"']?\.yarn/releases/yarn-\d[\w.-]*\.cjs[\"']?"
        bad = [
            r for r in rows
            if (re.match(r"yarnPath:", r) and not (re.fullmatch(release, r) and re.search(release, before)))
            or re.match(r"(?:-\s*)?(?:path|spec):", r) or re.match(r"enableScripts:\s*true|checksumBehavior:|enableHardenedMode:\s*false", r)
        ]  # fmt: skip
    elif name == "tasks.json":
        bad = [r for r in rows if re.search(r"\"runOn\"\s*:\s*\"folderOpen\"", r)]
    else:
        # What lies below .yarn and was there: another text under the same name is another program.
        bad = [path] if known and path.startswith((".yarn/releases/", ".yarn/plugins/")) and before != after else []
    if bad:
        code = "START_HOOK_ADDED" if name == "tasks.json" else "INSTALL_SCRIPT_ADDED"
        yield _told(path, f"{path} decides what runs on install or start: {bad[0][:200]}", code)


def _told(path: str, said: str, code: str) -> Finding:
    return finding(code, said, path=path, effect=Effect.ASKS, key="starts")


def _fresh(pattern: re.Pattern[str], before: str, after: str) -> str:
    """What the pattern finds more often than before, where the line was not there."""
    had = {row.strip() for row in before.splitlines()}
    for row in after.splitlines():
        found = pattern.search(row) if row.strip() not in had else None
        if found:
            return found[0].strip()[:80]
    return ""


def _install_scripts(evidence: Evidence) -> set[str]:
    """Files that the scripts of a package.json at the root start on install."""
    try:
        table = json.loads((text(evidence.merged, "package.json") or "{}")[:_MOST])
        scripts = table.get("scripts", {})
        lines = [
            scripts.get(k, "") for k in ("preinstall", "install", "postinstall", "prepare", "preprepare", "postprepare")
        ]
    except (ValueError, RecursionError, AttributeError):
        return set()
    said = " ".join(str(line) for line in lines)[:5000]
    return {w.removeprefix("./") for w in re.findall(r"[\w./@-]+", said)} & set(evidence.merged.entries)


@cache
def _starts(kind: str) -> re.Pattern[str]:
    return re.compile({
        "rust": r"\bCommand\s*::\s*new\b|\bprocess\s*::\s*Command\b|\b(?:TcpStream|UdpSocket|reqwest|ureq|curl|minreq|hyper)\s*::|\bstd\s*::\s*net\b|\blibloading\b",
        "meson": r"\brun_command\s*\(|\badd_(?:postconf|install|dist)_script\s*\(|\bsubproject\s*\(",
        "cmake": r"(?i)\b(?:execute_process|exec_program|externalproject_add|fetchcontent_declare)\s*\(|\bfile\s*\(\s*(?:DOWNLOAD|GENERATE)\b|\bCOMMAND\s+\S*(?:sh|curl|wget|python[0-9.]*)\b",
        "gyp": r"<!@?\(",
        "gradle": r"\.execute\(\)|\bProcessBuilder\b|\bRuntime\.getRuntime\(\)|\bnew\s+URL\(|\bapply\s+from\s*:\s*[\"']https?:|\bcommandLine\b|\bevaluate\s*\(",
    }[kind])  # fmt: skip


@cache
def _of_node() -> re.Pattern[str]:
    return re.compile(
        r"child_process|\bhttps?\.(?:get|request)\b|require\(\s*['\"](?:node:)?https?['\"]|\bfetch\(|\beval\(|\bnew\s+Function\b|\bvm\.run|\bcurl\b|\bwget\b"
    )
