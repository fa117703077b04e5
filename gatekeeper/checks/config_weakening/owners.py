"""Who must review what: the places and the order in which owners are looked up, applied to the files that there are."""

from __future__ import annotations

import re

from gatekeeper.checks.config_weakening.limits import permitted
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.tree import Tree, text
from gatekeeper.domain.verdict import Effect

_PLACES = (
    (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"),
    ("CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"),
)
"""Where GitHub and GitLab look, in this order; the first that is there counts alone."""
_ROWS, _STARS, _PATHS = 300, 6, 3000
_Rows = list[tuple[re.Pattern[str], frozenset[str]]]


def lost_owners(evidence: Evidence) -> tuple[Finding, ...]:
    """One finding for a file of owners that counts now, where files of the change lose all owners they had by another order or place."""
    touched = {c.path for c in evidence.change.paths}
    found: dict[str, Finding] = {}
    for places in _PLACES:
        was, now = (next((p for p in places if p in t.entries), None) for t in (evidence.base, evidence.merged))
        if was is None or not touched & set(places):
            continue
        path = now or was
        if path in found or permitted(evidence, path):
            continue
        before, after = _rows(evidence.base, was), _rows(evidence.merged, now)
        if before is None or after is None:
            said = f"{path} has more rows, or rows of more wildcards, than can be compared; a person looks at who must review."
            found[path] = finding("OWNERS_WEAKENED", said, path=path, effect=Effect.ASKS)
            continue
        files = sorted({*evidence.merged.entries, *touched})[:_PATHS]
        lost = [p for p in files if (had := _owners(before, p)) and not had & _owners(after, p)]
        if lost:
            how = (
                f"{path} counts in place of {was}, and"
                if now != was
                else f"The rows of {path}, of which the last that fits counts,"
            )
            said = f"{how} takes the owners from {', '.join(lost[:5])}."
            # Other owners may be meant; none at all, or those of a file that was put in front, are not.
            asks = now == was and all(_owners(after, p) for p in lost)
            found[path] = finding(
                "OWNERS_WEAKENED", said, path=path, evidence="\n".join(lost[:20]), effect=Effect.ASKS if asks else None
            )
    return tuple(found.values())


def _owners(rows: _Rows, path: str) -> frozenset[str]:
    return next((who for wanted, who in reversed(rows) if wanted.fullmatch(path)), frozenset())


def _rows(tree: Tree, path: str | None) -> _Rows | None:
    """Rows in their order; sections of GitLab are passed over. None where they cannot be applied safely."""
    out: _Rows = []
    for row in (text(tree, path) or "").splitlines() if path else ():
        words = row.split("#")[0].split()
        if not words or words[0].startswith(("[", "^[")):
            continue
        if len(out) >= _ROWS or words[0].count("*") > _STARS or len(words[0]) > 300:
            return None
        out.append((re.compile(_expression(words[0])), frozenset(words[1:])))
    return out


def _expression(pattern: str) -> str:
    """As for ignored files: a slash inside binds to the root, a name fits everywhere, a folder stands for what is in it."""
    plain = pattern.strip("/")
    anchored = pattern.startswith("/") or "/" in plain
    told = "".join(
        {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part))
        for part in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", plain)
    )
    below = "/.*" if pattern.endswith("/") else "" if plain.endswith("/*") else "(?:/.*)?"
    return f"{'' if anchored else '(?:.*/)?'}{told}{below}"
