"""An outcome as a SARIF 2.1.0 log, for code scanning of forges and for editors. Pure.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html

Upload services demand more than the standard: every result needs a file, or the whole log is refused. A finding that is
about no file is shown at the gate's settings file, and its location says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from gatekeeper.domain.decision import Outcome
from gatekeeper.domain.finding import Finding
from gatekeeper.domain.instruments import SETTINGS_FILE
from gatekeeper.domain.verdict import EXIT_STATUS, Effect, Verdict
from gatekeeper.errors import GatekeeperError, Reason, reason
from gatekeeper.formats.text_safety import harmless

VERSION = "2.1.0"
SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
FINGERPRINT = "gatekeeperFinding/v1"
MAX_RESULTS = 5_000
"""Results that code scanning shows of one run; those that block come first."""
MAX_MESSAGE = 4_000
LEVELS = {Effect.BLOCKS: "error", Effect.ASKS: "warning", Effect.ADVISES: "note"}
_DOCS = "docs/codes.md"
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_SEMANTIC = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")


def document(outcome: Outcome, *, version: str, docs: str = "", repository: str = "") -> dict[str, Any]:
    """The log. `version` is the gate's; `docs` the address under which its documentation is published, empty for none;
    `repository` stands for the outcome's own where head was not merged.
    """
    shown = outcome.findings[:MAX_RESULTS]
    run: dict[str, Any] = {
        "tool": {"driver": _driver(shown, version, docs)},
        "automationDetails": {"id": "gatekeeper/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
        "invocations": [_invocation(outcome)],
        "results": [_result(f, i) for f, i in zip(shown, _indices(shown), strict=True)],
        "properties": _properties(outcome, len(outcome.findings) - len(shown)),
    }
    provenance = _provenance(outcome, repository)
    if provenance:
        run["versionControlProvenance"] = [provenance]
    return _log(run)


def usage_error(error: GatekeeperError, *, version: str) -> dict[str, Any]:
    """The log of a call that could not be carried out: no result, and an invocation that failed."""
    note = {
        "level": "error",
        "message": {"text": _text(f"{error.message} {error.next_action}")},
        "descriptor": {"id": error.code},
    }
    invocation = {
        "executionSuccessful": False,
        "exitCode": 2,
        "exitCodeDescription": "usage",
        "toolConfigurationNotifications": [note],
    }
    return _log({"tool": {"driver": _driver((), version, "")}, "invocations": [invocation], "results": []})


def _log(run: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": SCHEMA_URI, "version": VERSION, "runs": [run]}


def _driver(found: Sequence[Finding], version: str, docs: str) -> dict[str, Any]:
    driver: dict[str, Any] = {
        "name": "Gatekeeper",
        "version": version,
        "rules": [_rule(c, docs) for c in _codes(found)],
    }
    if _SEMANTIC.fullmatch(version):
        driver["semanticVersion"] = version
    if _SCHEME.fullmatch(docs):
        driver["informationUri"] = docs
    return driver


def _codes(found: Iterable[Finding]) -> list[str]:
    return sorted({f.code for f in found})


def _indices(found: Sequence[Finding]) -> list[int]:
    place = {code: number for number, code in enumerate(_codes(found))}
    return [place[f.code] for f in found]


def _rule(code: str, docs: str) -> dict[str, Any]:
    """One reason code. Its texts are the gate's own; the standard wants whole sentences and absolute addresses."""
    entry: Reason = reason(code)
    rule: dict[str, Any] = {
        "id": code,
        "name": "".join(word.capitalize() for word in code.split("_")),
        "shortDescription": {"text": _sentence(entry.meaning)},
        "fullDescription": {"text": _sentence(f"{entry.meaning} {entry.next_action}")},
        "help": {"text": _sentence(f"{entry.next_action} See {code} in {_DOCS}.")},
        "defaultConfiguration": {"level": LEVELS[Effect(entry.effect)]},
        "properties": {"tags": [entry.category], "category": entry.category},
    }
    if _SCHEME.fullmatch(docs):
        rule["helpUri"] = f"{docs.rstrip('/')}/codes.md#:~:text={code}"
    return rule


def _result(found: Finding, index: int) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "category": found.category,
        "effect": found.effect.value,
        "blame": found.blame.value,
        "primary": found.primary,
        "nextAction": harmless(found.next_action),
    }
    if found.evidence:
        properties["evidence"] = harmless(found.evidence)
    if found.seen:
        properties["seen"] = [
            {"role": s.role, "suite": harmless(s.suite), "what": harmless(s.what)} for s in found.seen
        ]
    return {
        "ruleId": found.code,
        "ruleIndex": index,
        "level": LEVELS[found.effect],
        "message": {"text": _text(f"{found.message}\n{found.next_action}")},
        "locations": [_location(found)],
        "partialFingerprints": {FINGERPRINT: found.fingerprint},
        "properties": properties,
    }


def _location(found: Finding) -> dict[str, Any]:
    path = found.path or SETTINGS_FILE
    place: dict[str, Any] = {
        "artifactLocation": {"uri": relative_uri(path), "uriBaseId": ROOT},
        "region": {"startLine": max(found.line or 1, 1) if found.path else 1},
    }
    location: dict[str, Any] = {"physicalLocation": place}
    if not found.path:
        location["message"] = {
            "text": "About the submission as a whole; it is shown here because every result needs a file."
        }
    return location


def relative_uri(path: str) -> str:
    """A path of the repository as a relative reference: all but unreserved bytes percent-encoded, undecodable ones too."""
    data = path.encode("utf-8", "surrogateescape") if _encodable(path) else path.encode("utf-8", "surrogatepass")
    return "".join(chr(b) if b in _UNRESERVED else f"%{b:02X}" for b in data)


def _encodable(path: str) -> bool:
    try:
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _invocation(outcome: Outcome) -> dict[str, Any]:
    """A rejection is a success of the tool; only what could not be checked is none."""
    return {
        "executionSuccessful": outcome.verdict is not Verdict.UNDECIDED,
        "exitCode": EXIT_STATUS[outcome.verdict],
        "exitCodeDescription": outcome.verdict.value,
    }


def _properties(outcome: Outcome, omitted: int) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "verdict": outcome.verdict.value,
        "mode": outcome.mode.value,
        "runId": outcome.run_id,
        "base": outcome.base,
        "head": outcome.head,
        "mergeTree": outcome.merge_tree,
        "waived": list(outcome.waived),
    }
    if outcome.plan is not None:
        properties["tier"] = outcome.plan.tier.value
        properties["policy"] = {"revision": outcome.plan.bundle.revision, "digest": outcome.plan.bundle.digest}
    if outcome.ticket is not None:
        properties["ticket"] = {"id": harmless(outcome.ticket.id), "digest": outcome.ticket.digest}
    if omitted:
        properties["resultsOmitted"] = omitted
    return properties


def _provenance(outcome: Outcome, repository: str) -> dict[str, Any] | None:
    """The commit; the standard demands an absolute address of its repository, so a path becomes a file address."""
    where = outcome.repository or repository
    if not where or not outcome.head:
        return None
    if not _SCHEME.fullmatch(where):
        where = f"file://{relative_uri(where if where.startswith('/') else f'/{where}')}"
    row: dict[str, Any] = {
        "repositoryUri": harmless(where),
        "revisionId": outcome.head,
        "mappedTo": {"uriBaseId": ROOT},
    }
    if outcome.target_ref:
        row["branch"] = harmless(outcome.target_ref)
    return row


def _text(text: str) -> str:
    """Hostile text as a plain-text message: no control character, no placeholder (section 3.11.5), no embedded link
    (section 3.11.6).
    """
    shown = harmless(text[:MAX_MESSAGE]).replace("](", "] (")
    return shown.replace("{", "{{").replace("}", "}}") or "(no words)"


def _sentence(text: str) -> str:
    return text[:1000]
