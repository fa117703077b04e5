"""From stored bundles to a proof: parse, verify the signature, check the binding. Pure and offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gatekeeper.domain import binding
from gatekeeper.domain.binding import Expected, Proven
from gatekeeper.domain.statement import BINDING
from gatekeeper.domain.trust import PublicKey, Trust
from gatekeeper.errors import VerificationRefused
from gatekeeper.formats.approval_proof import check_approvals
from gatekeeper.formats.approvals import looks_like_approval
from gatekeeper.formats.dsse import Envelope
from gatekeeper.formats.signatures import verified
from gatekeeper.formats.sigstore_bundle import parse_bundle

MAX_BUNDLES = 500
Signed = tuple[Envelope, PublicKey, dict[str, Any]]


def prove(bundles: Sequence[bytes], trust: Trust, expected: Expected, now: float) -> Proven:
    """The newest verdict that proves that the commit may land. Raises `VerificationRefused`.

    A newer refusal by the same standing (FAILED, needs a person) outweighs an older pass. Bundles that cannot be read
    or were made by others are passed over as long as another one proves the commit.
    """
    if not bundles:
        raise VerificationRefused("ATTESTATION_MISSING", f"The commit {expected.head} has no attestation.")
    if len(bundles) > MAX_BUNDLES:
        raise VerificationRefused("ATTESTATION_TOO_LARGE", f"More than {MAX_BUNDLES} attestations stand on one commit.")
    signed: list[Signed] = []
    approvals: list[bytes] = []
    refusals: list[VerificationRefused] = []
    for data in bundles:
        try:
            envelope = parse_bundle(data)
            key, statement = verified(envelope, [s.key for s in trust.signers])
            signed.append((envelope, key, statement))
        except VerificationRefused as error:
            if looks_like_approval(data):
                approvals.append(data)
            else:
                refusals.append(error)
    verdicts = [s for s in signed if binding.is_verdict(s[2])]
    verdicts.sort(key=_issued, reverse=True)
    ours: list[VerificationRefused] = []
    for envelope, key, statement in verdicts:
        by_key = {e.payload_sha256: s for e, k, s in signed if k.der == key.der}
        try:
            return _one(envelope, key, statement, by_key, approvals, trust, expected, now)
        except VerificationRefused as error:
            if error.code in ("ATTESTATION_FAILED", "ATTESTATION_UNDECIDED"):
                raise
            ours.append(error)
    if ours or refusals:
        raise (ours or refusals)[0]
    raise VerificationRefused("ATTESTATION_MISSING", f"The commit {expected.head} has no verdict.")


def _issued(signed: Signed) -> tuple[float, bool]:
    statement = signed[2]
    text = binding.field(statement, "predicate", BINDING, "issuedAt")
    # At the same second the refusal comes first.
    passed = binding.field(statement, "predicate", "verificationResult") == "PASSED"
    return binding.moment(text) or 0.0, not passed


def _one(
    envelope: Envelope,
    key: PublicKey,
    statement: dict[str, Any],
    by_key: Mapping[str, Mapping[str, Any]],
    approvals: Sequence[bytes],
    trust: Trust,
    expected: Expected,
    now: float,
) -> Proven:
    binding.check_context(statement, expected, trust)
    binding.check_authority(statement, [s for s in trust.signers if s.key.der == key.der], trust, now)
    binding.check_result(statement)
    binding.check_policy(statement, trust)
    binding.check_inputs(statement, by_key)
    approved = check_approvals(statement, approvals, trust, now)
    return replace(binding.proven(statement, envelope.payload_sha256, key.fingerprint), approvals=approved)
