"""When CI runs: the triggers of a definition, compared in the direction of fewer occasions."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Any

from gatekeeper.checks.config_weakening.ci_commands import CARRIES, CHECKING, COMMANDS, Row, command_lines
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import workflow_yaml

_TRIGGERS = ("pull_request", "push", "merge_group", "schedule")
_PRIVILEGED = ("pull_request_target", "workflow_run", "issue_comment")
_SENDS = re.compile(r"^(?!\.)[^@]*(?:wheel|publish|release|deploy|pages|lock-threads|stale|labeler)")
"""Actions of others that make or send what is made."""
_BUILDS = re.compile(
    r"(?:(?:python3? -m )?pip install|python3? -m build|(?:python3? -m )?twine|uv (?:build|publish|sync|pip install)"
    r"|git (?:config|add|commit|push|tag|fetch|checkout|clone)|echo)\b[^;&|`$()<]*"
)
"""Commands that build, send or tell, and do nothing else."""


NO_CODE = (
    r"docs?(?:/\*{0,2})?|docs?/(?:\*\*/)?\*\.(?:md|rst|txt)|(?:\*\*/?)?\*?\.(?:md|rst)|(?:\*\*/)?(?:README|CHANGES|CHANGELOG|HISTORY|NEWS|LICENSE|LICENCE|AUTHORS"
    r"|CONTRIBUTING|CODE_OF_CONDUCT|SECURITY)(?:[\w-]*\.?\*?|\.(?:md|rst|txt))|\.github/(?:ISSUE_TEMPLATE(?:/\*{0,2})?|FUNDING\.yml)|\.(?:gitignore|editorconfig)"
)
"""Patterns of files that hold no code, and that no check but one of documents reads."""
_KINDS = frozenset({"opened", "synchronize", "reopened"})
"""Changes of a request for which CI starts where nothing is said."""
_READS = re.compile(r"\b(?:docs?|sphinx\S*|mkdocs|doctest\S*|README\S*|markdown\S*|mdformat|vale|\S+\.(?:md|rst)|linkcheck|lychee\S*|codespell|typos|pre-commit)\b", re.IGNORECASE)  # fmt: skip


def _reads(doc: dict[str, Any]) -> bool:
    """Whether a definition looks at documents."""
    told = [
        *command_lines(doc),
        *(str(v) for at, v in workflow_yaml.walk(doc) if at and at[-1] in ("uses", "working-directory")),
    ]
    return any(map(_READS.search, told))


def checks_nothing(doc: dict[str, Any]) -> bool:
    """Every step is an action known to carry, build, label or send, or a command that does only that; nothing speaks of tests.

    What a command or an action of unknown meaning does nobody can tell from here: it may be the check.
    """
    told = [(at, str(v)) for at, v in workflow_yaml.walk(doc) if {*COMMANDS, "uses", "env", "with"} & set(at)]
    uses = [v for at, v in told if at[-1] == "uses"]
    known = all(CARRIES.match(u) or _SENDS.search(u) for u in uses) and all(map(_BUILDS.fullmatch, command_lines(doc)))
    return bool(told) and known and not any(CHECKING.search(v) or "test" in "/".join(at).lower() for at, v in told)


def events(doc: dict[str, Any]) -> dict[str, Any]:
    """The triggers of a definition by name, whichever way it is spelled."""
    on = doc.get("on")
    if isinstance(on, str):
        return {on: {}}
    if isinstance(on, list):
        return {str(o): {} for o in on}
    return on if isinstance(on, dict) else {}


def _other_branches(shrunk: set[str], grown: set[str], target: str) -> bool:
    """Lines of maintenance called otherwise: as many come as go, and the branch that this lands on is none of them."""
    mains = {"main", "master", "trunk", "develop", "dev", target}
    return len(grown) >= len(shrunk) and not shrunk & mains


def _by_request(old: dict[str, Any], new: dict[str, Any], pushed: Any, target: str) -> bool:
    """Pushes to the branch that this lands on still count, and what is pushed elsewhere counts when it is to be merged there."""
    asked = new.get("pull_request", False)
    if asked is False or target not in list(map(str, pushed or [])):
        return False
    kinds = asked.get("types") if isinstance(asked, dict) else None
    if kinds is not None and not (isinstance(kinds, list) and {"opened", "synchronize"} <= set(map(str, kinds))):
        return False
    if not isinstance(asked, dict):
        return True
    pushed_before = old.get("push")
    had = pushed_before if isinstance(pushed_before, dict) else {}
    if any(asked[k] != had.get(k) for k in set(asked) - {"branches", "types"}):
        return False  # what pushes elsewhere started for, and requests do not
    return asked.get("branches") is None or target in list(map(str, asked["branches"] or ()))


_WILD = 8
"""Signs with a meaning in one pattern of branches; people write one or two."""


def _reaches(patterns: Any, name: str) -> bool:
    """Whether a list of patterns lets a branch in: the last one that fits decides, and `!` turns it round."""
    reached = False
    for pattern in map(str, patterns if isinstance(patterns, list) else [patterns]):
        if _fits(pattern.removeprefix("!"), name):
            reached = not pattern.startswith("!")
    return reached


def _fits(pattern: str, name: str) -> bool:
    """A pattern of branches as it is written for GitHub: `*` stops at a slash, `**` does not."""
    parts = re.split(r"(\*\*/?|[*?+]|\[[^\]]*\])", pattern[:500])
    if len(parts) > 2 * _WILD + 1 or len(name) > 200:
        return pattern == name  # made to take long
    known = {"**": ".*", "**/": "(?:.*/)?", "*": "[^/]*", "?": "?", "+": "+"}
    try:
        return re.fullmatch("".join(known.get(p) or (p if p.startswith("[") else re.escape(p)) for p in parts), name) is not None  # fmt: skip
    except re.error:
        return pattern == name


def _shut_out(key: str, before: Any, after: Any, target: str) -> list[str]:
    """What a list of patterns no longer lets in for the branch that this lands on, whatever its words look like."""
    if key == "branches" and (before is None or _reaches(before, target)) and not _reaches(after, target):
        return [target]
    if key == "branches-ignore" and not (before is not None and _reaches(before, target)) and _reaches(after, target):
        return [target]
    if key == "paths" and isinstance(after, list):
        had = set(map(str, before)) if isinstance(before, list) else set()
        return [p for p in map(str, after) if p.startswith("!") and p not in had]
    return []


def _whole(shut: list[str], after: list[Any]) -> bool:
    """A pattern takes back all that another one gives."""
    return any(p[1:] in map(str, after) or p[1:] in ("**", "*") for p in shut)


def narrowed_triggers(old: dict[str, Any], new: dict[str, Any], target: str, *, fresh: bool) -> list[Row]:
    """What no longer starts CI, and what starts it with the rights of the target; of a `fresh` definition only the latter."""
    a, b = events(old), events(new)
    rows: list[Row] = [
        ("CI_TRIGGER_PRIVILEGED", f"{e} runs with the target's rights on others' code.", None)
        for e in _PRIVILEGED
        if e in b and e not in a
    ]
    if fresh:
        return rows
    if "workflow_call" in a and "workflow_call" not in b:
        # Whoever calls it is outside this file, and may be outside of the repository.
        rows.append(("CI_TRIGGER_NARROWED", "other workflows can no longer call it.", Effect.ASKS))
    for event in _TRIGGERS:
        if event in a and event not in b:
            rows.append(("CI_TRIGGER_NARROWED", f"no longer runs on {event}.", None))
        elif event in a and isinstance(b.get(event), dict):
            was = a[event] if isinstance(a[event], dict) else {}
            for key in ("paths", "paths-ignore", "branches", "branches-ignore", "tags", "types"):
                before, after = was.get(key), b[event].get(key)
                if before == after or after is None:
                    continue
                if (
                    key == "types"
                    and event == "pull_request"
                    and _KINDS.union(map(str, before or ())) <= set(map(str, after))
                ):
                    continue
                shut = _shut_out(key, before, after, target)
                if shut:
                    less = f"{event} runs for less: {key} {before or 'none'} -> {after}."
                    rows.append(
                        (
                            "CI_TRIGGER_NARROWED",
                            less,
                            Effect.ASKS if key == "paths" and before is not None and not _whole(shut, after) else None,
                        )
                    )
                    continue
                lax = key.endswith("ignore")
                grown = set(map(str, after)) - set(map(str, before or []))
                # `README.md` beside, or in place of, `*.md` ignores nothing that was not ignored.
                grown = {g for g in grown if not (lax and any(fnmatchcase(g, str(b)) for b in before or []))}
                if (
                    lax
                    and grown
                    and key == "paths-ignore"
                    and all(re.fullmatch(NO_CODE, g) for g in grown)
                    and not _reads(new)
                ):
                    continue
                shrunk = set(map(str, before or [])) - set(map(str, after))
                if key == "branches" and shrunk and before is not None and _other_branches(shrunk, grown, target):
                    continue
                if event == "push" and key == "branches" and before is None and _by_request(a, b, after, target):
                    continue
                if (lax and grown) or (not lax and (before is None or shrunk)):
                    rows.append(
                        ("CI_TRIGGER_NARROWED", f"{event} runs for less: {key} {before or 'none'} -> {after}.", None)
                    )
    return rows
