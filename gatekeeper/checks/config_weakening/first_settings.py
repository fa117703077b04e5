"""The first settings of a tool that CI runs already, and settings in a folder of their own: they are compared with what it does by itself."""

from __future__ import annotations

import re
from typing import Any

from gatekeeper.checks.config_weakening.gutted import tools_of
from gatekeeper.checks.config_weakening.keys import WHOSE, plain_key, plain_tool
from gatekeeper.checks.config_weakening.limits import permitted, settings_elsewhere, style_only, weaker
from gatekeeper.checks.config_weakening.reach import left_out
from gatekeeper.checks.config_weakening.reached import reached
from gatekeeper.checks.config_weakening.type_checkers import of_strangers
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.tool_settings import is_settings, read

_FILES = {**WHOSE, ".bandit": "bandit", ".yamllint": "yamllint", ".yamllint.yml": "yamllint"}
_NAMES = {"tsc": "tsc", "golangci": "golangci-lint"}
_EXAMPLES = re.compile(
    r"(?:^|/)(?:examples?|docs?|tests?|testing|fixtures?|templates?|benchmarks?|vendor|_vendor|node_modules)/"
)


def first_limits(evidence: Evidence) -> tuple[Finding, ...]:
    """One question for each settings file that is new and tells a tool, which CI runs and nothing told before, to find less."""
    fresh = [
        c.path
        for c in evidence.change.paths
        if c.old is None and is_settings(c.path) and not _EXAMPLES.search(c.path) and not permitted(evidence, c.path)
    ]
    if not fresh:
        return ()
    used = _used(evidence)
    known = _told(evidence)
    out = []
    for path in fresh:
        name, folder = path.rsplit("/", 1)[-1], path.rpartition("/")[0]
        after = read(path, text(evidence.merged, path) or "") or {}
        earlier = settings_elsewhere(evidence, path, base=True)
        whose = _FILES.get(name)
        lost = []
        for given, value in sorted(after.items()):
            key = given if whose is None or given.startswith(whose) else f"{whose}.{given}"
            tool = whose or plain_tool(given)
            if _NAMES.get(tool, tool) not in used or (not folder and tool in known):
                continue  # what another file of the root told it is compared where the files are
            said = weaker(key, None, value)
            if (
                said is None
                or plain_key(given) in earlier
                or plain_key(key) in earlier
                or of_strangers(evidence, given)
            ):
                continue
            if style_only(key, None, value) or (key.endswith("exclude") and left_out(evidence, key, tool, {}, {key: value}) in (None, Effect.ADVISES)):  # fmt: skip
                continue
            lost.append(said)
        if lost:
            message = f"{path} is new, and makes what CI runs find less: {'; '.join(lost[:5])}."
            out.append(finding("LIMIT_LOWERED", message, path=path, evidence="\n".join(lost[:20]), key="; ".join(lost), effect=Effect.ASKS))  # fmt: skip
    return tuple(out)


def _used(evidence: Evidence) -> set[str]:
    """Tools that CI of the base, a suite or the ticket's own commands run."""
    lines = [r.line for r in reached(evidence.base)]
    lines += [*evidence.ticket.verify, *(s.command or "" for s in evidence.suites)]
    used = {name.split(maxsplit=1)[0] for line in lines for name in tools_of(line)}
    return used | ({"coverage"} if any("--cov" in line for line in lines) else set())


def _told(evidence: Evidence) -> set[str]:
    """Tools that have settings of their own at the root of the base."""
    told: set[str] = set()
    for path in evidence.base.entries:
        if "/" not in path and is_settings(path):
            table: dict[str, Any] = read(path, text(evidence.base, path) or "") or {}
            told |= {_FILES[path]} if path in _FILES else {plain_tool(k) for k in table}
    return told
