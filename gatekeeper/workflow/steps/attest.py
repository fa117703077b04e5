"""Attest: sign what was seen of each run and the verdict over it. FAILED verdicts are signed too; undecided never."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatekeeper.domain.decision import Approval, Outcome
from gatekeeper.domain.statement import test_result_statement, verdict_statement
from gatekeeper.domain.submission import Submission
from gatekeeper.domain.testrun import RunRole
from gatekeeper.domain.verdict import Verdict
from gatekeeper.records import dataclass
from gatekeeper.workflow.steps.checkout import Checkout
from gatekeeper.workflow.tools import Tools


@dataclass(frozen=True)
class Attested:
    """Where the signed statements are."""

    attestation: Mapping[str, Any]


def run(
    tools: Tools,
    outcome: Outcome,
    checkout: Checkout,
    approvals: tuple[Approval, ...],
    submission: Submission,
    started: float,
) -> Attested | None:
    """Sign; store with the repository where the operator asked for it. None for an undecided outcome.

    `started` is when the verification began: the verdict's lifetime counts from what it saw, not from when it signed.
    It ends with the first of the approvals. Their own statements go with it, so that an enforcer need not believe that
    the gate looked at them.
    """
    if outcome.verdict is Verdict.UNDECIDED or outcome.plan is None:
        return None
    change = checkout.change
    signed = []
    inputs: list[tuple[str, str]] = []
    for suite_run in outcome.runs:
        if suite_run.role is not RunRole.MERGED:
            continue
        result = tools.signer.sign(test_result_statement(suite_run, change))
        signed.append(result)
        inputs.append((f"test-result:{suite_run.suite}", result.payload_sha256))
    inputs += [(f"approval:{a.reviewer}", a.payload_sha256) for a in approvals]
    issued = tools.clock.now()
    # The first of all ends counts.
    ends = [a.expires_at for a in approvals if a.expires_at is not None]
    expires = min([started + outcome.plan.expiry_s, *ends])
    verdict = tools.signer.sign(
        verdict_statement(
            outcome=outcome,
            change=change,
            verifier_id=tools.signer.verifier_id,
            gate_version=tools.gate_version,
            issued_at=issued,
            expires_at=expires,
            purpose=submission.purpose,
            settings_digest=checkout.settings.digest,
            approvals=approvals,
            inputs=inputs,
            attempt=submission.attempt,
            merge_group=submission.merge_group,
            change_name=submission.change,
            submitter=submission.submitter,
            on_behalf_of=submission.on_behalf_of,
            nonce=tools.new_id(),
        )
    )
    bundles = [*(a.bundle for a in approvals if a.bundle), *(s.bundle for s in [*signed, verdict])]
    where = tools.store.put(submission.repository, change.head, bundles) if tools.publish else None
    return Attested(
        {
            "payload_sha256": verdict.payload_sha256,
            "keyid": verdict.keyid,
            "verifier_id": tools.signer.verifier_id,
            "stored": where,
            "bundles": bundles,
            "expires_at": expires,
        }
    )
