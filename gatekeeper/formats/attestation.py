"""From stored bundles to a proof: parse, verify the signature, check the binding. Pure and offline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gatekeeper.domain import binding
from gatekeeper.domain.binding import Expected, Proven
from gatekeeper.domain.statement import BINDING
from gatekeeper.domain.trust import Identity, PublicKey, Trust
from gatekeeper.errors import VerificationRefused
from gatekeeper.formats.approval_proof import check_approvals
from gatekeeper.formats.approvals import looks_like_approval
from gatekeeper.formats.dsse import Envelope
from gatekeeper.formats.signatures import verified
from gatekeeper.formats.sigstore_bundle import MAX_BUNDLE, is_keyless, parse_bundle, strict

MAX_BUNDLES = 500
Party = PublicKey | Identity
Signed = tuple[Envelope, Party, dict[str, Any]]
Keyless = Callable[[bytes, Identity], bytes]
"""Verifies a bundle with a certificate against one pinned identity, offline, and returns the payload.

Raises `VerificationRefused`; `ConfigurationError` where the pinned root cannot be used."""


def prove(
    bundles: Sequence[bytes], trust: Trust, expected: Expected, now: float, keyless: Keyless | None = None
) -> Proven:
    """The newest verdict that proves that the commit may land. Raises `VerificationRefused`.

    A newer refusal by the same standing (FAILED, needs a person) outweighs an older pass. Bundles that cannot be read
    or were made by others are passed over as long as another one proves the commit. Without `keyless` no certificate counts.
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
            signed.append(_signed(data, trust, keyless))
        except VerificationRefused as error:
            if looks_like_approval(data):
                approvals.append(data)
            else:
                refusals.append(error)
    verdicts = [s for s in signed if binding.is_verdict(s[2])]
    verdicts.sort(key=_issued, reverse=True)
    ours: list[VerificationRefused] = []
    for envelope, key, statement in verdicts:
        by_key = {e.payload_sha256: s for e, k, s in signed if k == key}
        try:
            return _one(envelope, key, statement, by_key, approvals, trust, expected, now)
        except VerificationRefused as error:
            if error.code in ("ATTESTATION_FAILED", "ATTESTATION_UNDECIDED"):
                # What is wrong with a newer one says more than that an older one was no pass.
                raise (ours or [error])[0] from None
            ours.append(error)
    if ours or refusals:
        raise (ours or refusals)[0]
    raise VerificationRefused("ATTESTATION_MISSING", f"The commit {expected.head} has no verdict.")


def _signed(data: bytes, trust: Trust, keyless: Keyless | None) -> Signed:
    envelope = parse_bundle(data)
    if not is_keyless(data):
        key, statement = verified(envelope, [s.key for s in trust.signers if isinstance(s.key, PublicKey)])
        return envelope, key, statement
    refusals: list[VerificationRefused] = []
    for identity in dict.fromkeys(s.key for s in trust.signers if isinstance(s.key, Identity)):
        if keyless is None:
            break
        try:
            payload = keyless(data, identity)
        except VerificationRefused as error:
            refusals.append(error)
            continue
        if payload != envelope.payload:  # two readers of one text must have read the same
            raise VerificationRefused("ATTESTATION_MALFORMED", "The attestation can be read in two ways.")
        return envelope, identity, strict(payload, "statement", MAX_BUNDLE)
    if refusals:
        raise refusals[0]
    raise VerificationRefused("ATTESTATION_UNKNOWN_KEY", "No keyless identity of the trust file made this signature.")


def _issued(signed: Signed) -> tuple[float, bool]:
    statement = signed[2]
    text = binding.field(statement, "predicate", BINDING, "issuedAt")
    # At the same second the refusal comes first.
    passed = binding.field(statement, "predicate", "verificationResult") == "PASSED"
    return binding.moment(text) or 0.0, not passed


def _one(
    envelope: Envelope,
    key: Party,
    statement: dict[str, Any],
    by_key: Mapping[str, Mapping[str, Any]],
    approvals: Sequence[bytes],
    trust: Trust,
    expected: Expected,
    now: float,
) -> Proven:
    binding.check_context(statement, expected, trust)
    binding.check_authority(statement, [s for s in trust.signers if s.key == key], trust, now)
    binding.check_result(statement)
    binding.check_policy(statement, trust)
    binding.check_inputs(statement, by_key)
    approved = check_approvals(statement, approvals, trust, now)
    return replace(binding.proven(statement, envelope.payload_sha256, key.fingerprint), approvals=approved)
