"""Rules that a signed verdict must meet before an enforcer lets a commit land. Pure; every refusal has its own code.

The enforcer supplies every expected value. Nothing here is taken from the attestation as an expectation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from gatekeeper.domain.statement import BINDING, RUN, STATEMENT, TEST_RESULT, VERDICT
from gatekeeper.domain.trust import Trust, TrustedSigner, same_repository
from gatekeeper.errors import VerificationRefused
from gatekeeper.records import dataclass

PURPOSES = ("PRE_MERGE", "MERGE_GROUP")
NOTES_REF = "refs/notes/attestations"
"""Where bundles stand: a note on the judged commit, one bundle a line."""
OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def is_null(oid: str) -> bool:
    """True for the id that git writes for "no object"."""
    return set(oid) == {"0"}


@dataclass(frozen=True, slots=True)
class Expected:
    """What the enforcer knows of itself: values from its own git and command line, never from the attestation."""

    target_ref: str
    head: str
    """The commit whose verdict is looked for."""
    base: str
    """The tip of the target before the push."""
    landing_tree: str
    """The tree that the target would have after the push."""


class Repository(Protocol):
    """What an enforcer reads of its own git, hardened and offline."""

    @property
    def git_dir(self) -> Path:
        """The git directory."""

    def commit(self, name: str) -> str:
        """The commit that a full id or a ref names. Raises `UsageError` (HEAD_NOT_FOUND)."""

    def ref(self, name: str) -> str | None:
        """The object that a fully qualified ref points to, or None."""

    def is_ancestor(self, old: str, new: str) -> bool:
        """True where `new` contains `old`."""

    def attestations(self, commit: str, notes: str | None) -> list[bytes]:
        """Bundles for `commit` in the notes tree at `notes`, unverified."""

    def landing(self, old: str, new: str) -> list[Expected]:
        """What must be proven for a target to move from `old` to `new`; proof of any one entry is enough."""

    def old_tip(self, commit: str, ref: str) -> str:
        """The base to demand where the caller names none."""


@dataclass(frozen=True, slots=True)
class Proven:
    """A verdict that proves what was demanded."""

    payload_sha256: str
    keyid: str
    verifier_id: str
    mode: str
    head: str
    base: str
    issued_at: str
    expires_at: str
    ticket_digest: str
    approvals: tuple[str, ...] = ()
    """Reviewers whose own statements were verified; empty where the trust file pins none."""


def field(value: Any, *names: str) -> Any:
    """The member down that path, or None wherever the path ends early."""
    for name in names:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def moment(text: Any) -> float | None:
    """Seconds since the epoch of `2026-01-02T03:04:05Z`; None for anything else."""
    if not isinstance(text, str) or len(text) != 20 or not text.endswith("Z"):
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return None


def _refuse(code: str, message: str) -> VerificationRefused:
    return VerificationRefused(code, message)


def is_verdict(statement: Mapping[str, Any]) -> bool:
    """True for a statement of the verdict's type; whether it proves anything is another question."""
    return statement.get("predicateType") == VERDICT


def check_context(statement: Mapping[str, Any], expected: Expected, trust: Trust) -> None:
    """The verdict is about this commit, base, branch, repository and tree. Raises `VerificationRefused`."""
    if statement.get("_type") != STATEMENT or not is_verdict(statement):
        raise _refuse("ATTESTATION_MALFORMED", "The statement is not an in-toto v1 verdict.")
    binding = field(statement, "predicate", BINDING)
    if not isinstance(binding, Mapping):
        raise _refuse("ATTESTATION_MALFORMED", "The verdict has no binding.")
    subjects = statement.get("subject")
    digests = [field(s, "digest") for s in subjects] if isinstance(subjects, list) else []
    if digests != [{"gitCommit": expected.head}] or field(binding, "head", "gitCommit") != expected.head:
        raise _refuse("ATTESTATION_HEAD_MOVED", f"The verdict is not about the commit {expected.head}.")
    uris = (field(binding, "repository", "uri"), field(statement, "predicate", "resourceUri"))
    for uri in uris:
        if not isinstance(uri, str) or not any(same_repository(uri, own) for own in trust.repositories):
            raise _refuse(
                "ATTESTATION_OTHER_REPOSITORY",
                f"The verdict is for the repository {str(uri)[:200]!r}; trusted here: {', '.join(trust.repositories)}.",
            )
    if field(binding, "targetRef") != expected.target_ref:
        raise _refuse("ATTESTATION_OTHER_BRANCH", f"The verdict is not for {expected.target_ref}.")
    if field(binding, "purpose") not in PURPOSES:
        raise _refuse("ATTESTATION_PURPOSE", "The verdict was not made for a merge.")
    if field(binding, "base", "gitCommit") != expected.base:
        raise _refuse("ATTESTATION_BASE_MOVED", f"The verdict was not made on the target's tip {expected.base}.")
    if field(binding, "mergeResult", "gitTree") != expected.landing_tree:
        raise _refuse("ATTESTATION_TREE", "What would land is not the tree that was tested.")


def check_authority(statement: Mapping[str, Any], signers: Sequence[TrustedSigner], trust: Trust, now: float) -> None:
    """The key may speak as this verifier, in this mode, at this time. `signers` are the pins of the key that signed."""
    binding = field(statement, "predicate", BINDING)
    verifier = field(statement, "predicate", "verifier", "id")
    own = [s for s in signers if s.verifier_id == verifier]
    if not own:
        raise _refuse(
            "ATTESTATION_VERIFIER_ID", "The key is not trusted to speak as the verifier that the verdict names."
        )
    mode = field(binding, "mode")
    if not any(mode in s.modes for s in own):
        allowed = ", ".join(sorted({m for s in own for m in s.modes}))
        raise _refuse("ATTESTATION_MODE", f"The verdict's mode is {str(mode)[:40]!r}; this key may sign: {allowed}.")
    issued, expires = moment(field(binding, "issuedAt")), moment(field(binding, "expiresAt"))
    if issued is None or expires is None:
        raise _refuse("ATTESTATION_MALFORMED", "The verdict lacks its times.")
    if issued > now + trust.clock_skew_s:
        raise _refuse("ATTESTATION_FROM_FUTURE", "The verdict was signed in the future; a clock is wrong.")
    if expires <= now:
        raise _refuse("ATTESTATION_EXPIRED", "The verdict has expired.")
    if issued + trust.max_age_s <= now:
        raise _refuse("ATTESTATION_EXPIRED", f"The verdict is older than {int(trust.max_age_s)} seconds.")


def check_result(statement: Mapping[str, Any]) -> None:
    """The verdict is accepted and passed; both words must say so."""
    verdict = field(statement, "predicate", BINDING, "verdict")
    if verdict in ("undecided", "needs_human"):
        raise _refuse("ATTESTATION_UNDECIDED", f"The verdict is {verdict}: nobody has accepted the change.")
    if verdict != "accepted" or field(statement, "predicate", "verificationResult") != "PASSED":
        raise _refuse("ATTESTATION_FAILED", "The gate rejected this change.")


def check_policy(statement: Mapping[str, Any], trust: Trust) -> None:
    """Every policy bundle is one that counts, and every waiver is allowed."""
    binding = field(statement, "predicate", BINDING)
    policies = field(binding, "policies")
    if not isinstance(policies, list) or not policies:
        raise _refuse("ATTESTATION_POLICY_UNKNOWN", "The verdict names no policy.")
    for policy in policies:
        _check_policy(policy, trust)
    pinned = {field(p, "digest", "sha256") for p in policies}
    if field(statement, "predicate", "policy", "digest", "sha256") not in pinned:
        raise _refuse("ATTESTATION_POLICY_UNKNOWN", "The verdict's policy is not among the policies it binds.")
    waivers = field(binding, "waivers")
    if not isinstance(waivers, list) or any(w not in trust.waivers for w in waivers):
        raise _refuse("ATTESTATION_WAIVED", "The verdict rests on a waiver that the trust file does not allow.")


def _check_policy(policy: Any, trust: Trust) -> None:
    name, digest, revision = field(policy, "name"), field(policy, "digest", "sha256"), field(policy, "revision")
    rows = [t for t in trust.policies if t.name == name]
    fitting = [t for t in rows if not t.digests or digest in t.digests]
    if not fitting:
        raise _refuse("ATTESTATION_POLICY_UNKNOWN", f"The policy {str(name)[:80]!r} with this digest is not trusted.")
    for row in fitting:
        if row.minimum_revision is None or (
            isinstance(revision, str) and revision_key(revision) >= revision_key(row.minimum_revision)
        ):
            return
    raise _refuse("ATTESTATION_POLICY_OLD", f"The policy's revision {str(revision)[:40]!r} is older than allowed.")


def revision_key(text: str) -> tuple[int, ...]:
    """`1.10.2` as (1, 10, 2); anything else sorts before every revision, so that it never counts as new enough."""
    parts = text.removeprefix("v").split(".")
    # str.isdigit() is true for digits that int() refuses, hence the ASCII test; the length bounds the work.
    if not all(p.isascii() and p.isdigit() and len(p) <= 18 for p in parts):
        return ()
    numbers = [int(p) for p in parts]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def check_inputs(statement: Mapping[str, Any], available: Mapping[str, Mapping[str, Any]]) -> None:
    """The test results that the verdict names are here and PASSED.

    `available` holds statements by payload digest, all signed by the key that signed the verdict. Every suite that the
    verdict binds on the merge result needs its own passed result; a verdict without one proves no test.
    """
    binding = field(statement, "predicate", BINDING)
    inputs = field(statement, "predicate", "inputAttestations")
    suites = field(binding, "suites")
    if not isinstance(inputs, list) or not isinstance(suites, list):
        raise _refuse("ATTESTATION_INPUTS", "The verdict does not name what it rests on.")
    wanted = {field(s, "name") for s in suites if field(s, "role") == "merged"}
    passed: set[Any] = set()
    for item in inputs:
        name = field(item, "name")
        if isinstance(name, str) and name.startswith("approval:"):
            continue
        result = available.get(str(field(item, "digest", "sha256")))
        if result is None:
            raise _refuse(
                "ATTESTATION_INPUTS", f"The statement {str(name)[:120]!r} that the verdict rests on is missing."
            )
        passed.add(_check_input(result, binding))
    if not wanted or not wanted <= passed:
        raise _refuse("ATTESTATION_INPUTS", "The verdict lacks the signed test result of a suite.")


def _check_input(result: Mapping[str, Any], binding: Any) -> Any:
    run = field(result, "predicate", RUN)
    same = (
        result.get("_type") == STATEMENT
        and result.get("predicateType") == TEST_RESULT
        and [field(s, "digest") for s in result.get("subject") or []]
        == [field(binding, "head") and {"gitCommit": field(binding, "head", "gitCommit")}]
        and field(run, "tree") == field(binding, "mergeResult", "gitTree")
        and field(run, "targetRef") == field(binding, "targetRef")
    )
    if not same:
        raise _refuse("ATTESTATION_INPUTS", "A test result is not about the commit and tree of the verdict.")
    if field(result, "predicate", "result") != "PASSED" or field(run, "result") != "PASSED":
        raise _refuse("ATTESTATION_INPUTS", "A test result that the verdict rests on did not pass.")
    return field(run, "name")


def proven(statement: Mapping[str, Any], payload_sha256: str, keyid: str) -> Proven:
    """What to tell about a verdict after all checks passed."""
    binding = field(statement, "predicate", BINDING)
    return Proven(
        payload_sha256=payload_sha256,
        keyid=keyid,
        verifier_id=str(field(statement, "predicate", "verifier", "id")),
        mode=str(field(binding, "mode")),
        head=str(field(binding, "head", "gitCommit")),
        base=str(field(binding, "base", "gitCommit")),
        issued_at=str(field(binding, "issuedAt")),
        expires_at=str(field(binding, "expiresAt")),
        ticket_digest=str(field(binding, "ticket", "digest", "sha256")),
    )
