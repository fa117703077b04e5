"""Credentials that the change brings into files, into its history, or into commit messages."""

from __future__ import annotations

import re

from gatekeeper.domain.evidence import Evidence, ScanHit
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.verdict import Effect

_EXAMPLES = re.compile(
    r"(?:^|/)(?:tests?|testing|testdata|fixtures?|docs?|examples?|samples?)(?:/|$)|(?:^|/)(?:test_|conftest)[^/]*$|\.md$|\.rst$"
)


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """One finding a secret, however often it appears. A secret that is on the target already is not the change's."""
    found = _incomplete(evidence)
    before = evidence.secrets_before
    known = {h.digest for h in before.hits} if before is not None else set()
    groups: dict[str, list[ScanHit]] = {}
    # A hit without a digest cannot be compared, so it is never "known".
    for number, hit in enumerate(_told([h for h in evidence.secrets.hits if not h.digest or h.digest not in known])):
        groups.setdefault(hit.digest or f"#{number}", []).append(hit)
    landed = _landed(evidence)
    for digest, hits in groups.items():
        found.append(_finding(digest, hits, landed))
    return tuple(found)


def _told(hits: list[ScanHit]) -> list[ScanHit]:
    """One of those on the same line of the same text, in their order: a person looks at the line."""
    best: dict[tuple[object, ...], ScanHit] = {}
    for hit in hits:
        place = (hit.commit, hit.path, hit.line, hit.metadata.get("where"))
        kept = best.get(place)
        if kept is None or _weight(hit) > _weight(kept):
            best[place] = hit
    return list(best.values())


def _weight(hit: ScanHit) -> tuple[bool, bool]:
    return hit.confidence == "high", not _generic(hit.rule)


def _incomplete(evidence: Evidence) -> list[Finding]:
    report = evidence.secrets
    if report.verified:
        return []
    missed = sorted(set(report.targets) - set(report.scanned))
    what = "; ".join([*report.errors[:3], *(f"not scanned: {m!r}" for m in missed[:3])])
    return [finding("SECRET_SCAN_FAILED", f"The secret scan is not complete: {what}.", key="secrets")]


def _landed(evidence: Evidence) -> set[tuple[str | None, str | None]]:
    """(commit, path) of the history's blobs that the merge result still holds."""
    entries = evidence.merged.entries
    return {(h.commit, h.path) for h in evidence.change.history if h.path in entries and entries[h.path].oid == h.oid}


def _finding(digest: str, hits: list[ScanHit], landed: set[tuple[str | None, str | None]]) -> Finding:
    first = hits[0]
    in_tree = [h for h in hits if h.path is not None and (h.commit is None or (h.commit, h.path) in landed)]
    named = [h for h in hits if h.metadata.get("where") == "name"]
    in_files = [h for h in hits if h.path is not None]
    commit = f" of commit {first.commit[:12]}" if first.commit else ""
    if in_tree:
        hit = in_tree[0]
        code, text, path, line = (
            "SECRET_IN_FILE",
            f"{hit.path!r}, line {hit.line}, holds a secret: {_what(hit)}",
            hit.path,
            hit.line,
        )
    elif named:
        hit, path, line = named[0], None, None
        code, text = "SECRET_IN_FILE", f"The name of a file{commit} holds a secret: {_what(hit)}"
    elif in_files:
        hit, line = in_files[0], None
        path = hit.path
        code = "SECRET_IN_HISTORY"
        text = f"{path!r}{commit} holds a secret, and the branch still carries it although a later commit removed it: {_what(hit)}"
    else:
        hit, path, line = first, None, None
        code, text = "SECRET_IN_MESSAGE", f"The message{commit} holds a secret: {_what(hit)}"
    # A value that only its context makes suspicious, in a test or a manual, may be made up: a person tells.
    weak = all(h.confidence == "low" or (h.confidence == "medium" and _generic(h.rule)) for h in hits)
    asks = weak and in_files and all(_EXAMPLES.search(h.path or "") for h in in_files)
    return finding(
        code, f"{text}.", path=path, line=line, evidence=hit.excerpt, key=digest, effect=Effect.ASKS if asks else None
    )


def _what(hit: ScanHit) -> str:
    """The rule's description without the closing stop that the sentence brings itself."""
    return hit.message.strip().rstrip(".")


def _generic(rule: str) -> bool:
    return rule.rsplit(".", 1)[-1] in ("assigned", "settings-line", "connection-string", "generic-credential-uri")
