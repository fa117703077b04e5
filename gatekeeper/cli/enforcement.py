"""What `verify` and the hook share: from one move of a branch to a proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gatekeeper.errors import VerificationRefused

if TYPE_CHECKING:
    from gatekeeper.domain.binding import Proven, Repository
    from gatekeeper.domain.trust import Trust


def prove_move(
    repository: Repository,
    trust: Trust,
    *,
    ref: str,
    old: str,
    new: str,
    notes: str | None,
    now: float,
    bundles: Sequence[bytes] | None = None,
) -> Proven:
    """Prove that `ref` may move from `old` to `new`. Raises `VerificationRefused` and `CouldNotCheck`."""
    from gatekeeper.formats.attestation import prove
    from gatekeeper.wiring import signers

    refusals: list[VerificationRefused] = []
    for expected in repository.landing(old, new):
        here = list(bundles) if bundles is not None else repository.attestations(expected.head, notes)
        try:
            return prove(here, trust, replace(expected, target_ref=ref), now, signers.keyless_verifier(trust))
        except VerificationRefused as error:
            refusals.append(error)
    # A merge commit has no note of its own as a rule: the refusal of the merged head says more.
    told = [r for r in refusals if r.code not in ("ATTESTATION_MISSING", "ATTESTATION_HEAD_MOVED")] or refusals
    raise told[0]
