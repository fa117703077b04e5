"""The one place where errors become gRPC statuses: a code of the registry is the reason of a `google.rpc.ErrorInfo`."""

from __future__ import annotations

import logging
from typing import Any

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from gatekeeper.errors import GatekeeperError, RequestRefused
from gatekeeper.formats.text_safety import harmless

DOMAIN = "gatekeeper"
MAX_MESSAGE = 600
"""Characters: the message travels in a header, twice, and clients refuse headers above 8 KiB."""
MAX_VALUE = 300
MAX_ENTRIES = 12
_LOG = logging.getLogger("gatekeeper.api")

_S = grpc.StatusCode
STATUS: dict[str, grpc.StatusCode] = {
    **dict.fromkeys(
        (
            "INPUT_MALFORMED", "INPUT_TOO_LARGE", "PAGE_TOKEN_INVALID", "TICKET_MALFORMED", "ARTIFACT_SEQUENCE",
            "ARTIFACT_SIZE", "ARTIFACT_DIGEST", "APPROVAL_MALFORMED", "APPROVAL_UNKNOWN_KEY", "APPROVAL_OTHER_DIFF",
            "APPROVAL_OTHER_TICKET", "APPROVAL_OTHER_REPOSITORY", "APPROVAL_OTHER_BRANCH", "APPROVAL_EXPIRED",
            "APPROVAL_FROM_FUTURE",
        ),
        _S.INVALID_ARGUMENT,
    ),
    **dict.fromkeys(("CREDENTIAL_MISSING", "CREDENTIAL_INVALID"), _S.UNAUTHENTICATED),
    **dict.fromkeys(
        ("ROLE_REQUIRED", "HUMAN_REQUIRED", "APPROVAL_SELF", "CHANGE_FOREIGN", "DELEGATION_REFUSED", "WAIVER_REFUSED"),
        _S.PERMISSION_DENIED,
    ),
    **dict.fromkeys(
        (
            "REPOSITORY_UNKNOWN", "TICKET_UNKNOWN", "CHANGE_UNKNOWN", "VERIFICATION_UNKNOWN", "FINDING_UNKNOWN",
            "ATTESTATION_UNKNOWN", "ARTIFACT_UNKNOWN",
        ),
        _S.NOT_FOUND,
    ),
    **dict.fromkeys(
        ("REPOSITORY_EXISTS", "TICKET_EXISTS", "VERIFICATION_ACTIVE", "REQUEST_ID_REUSED"), _S.ALREADY_EXISTS
    ),
    **dict.fromkeys(
        (
            "TARGET_NOT_ALLOWED", "TICKET_NOT_APPROVED", "TICKET_CHANGED", "TICKET_OTHER", "TICKET_STATE",
            "ARTIFACT_KIND", "BUNDLE_NOT_ACCEPTED", "CHANGE_FINAL", "ATTEMPTS_EXHAUSTED", "VERIFICATION_FINAL",
            "VERIFICATION_NOT_CURRENT", "DIFF_CHANGED", "REVIEW_NOT_POSSIBLE", "STATEMENT_REQUIRED",
        ),
        _S.FAILED_PRECONDITION,
    ),
    "ETAG_MISMATCH": _S.ABORTED,
    **dict.fromkeys(
        (
            "RATE_LIMITED", "QUEUE_FULL", "QUESTIONS_EXHAUSTED", "UPLOADS_EXHAUSTED", "STORAGE_FULL",
            "WATCHES_EXHAUSTED",
        ),
        _S.RESOURCE_EXHAUSTED,
    ),
    "DEADLINE_PASSED": _S.DEADLINE_EXCEEDED,
    "GATE_STOPPING": _S.UNAVAILABLE,
    "GATE_CRASHED": _S.INTERNAL,
}  # fmt: skip
"""Status by reason: the whole contract of docs/api.md. Whatever is not listed is a fault of the gate."""


def status_of(error: Exception, fault_id: str) -> grpc.Status:
    """The status to end a call with.

    What is no refusal of the contract is logged under `fault_id` and told to the client by that id alone: its text may
    hold paths, statements of the database or pieces of somebody's input.
    """
    if not isinstance(error, GatekeeperError) or error.code not in STATUS or error.code == "GATE_CRASHED":
        _LOG.error("fault %s: %s", fault_id, type(error).__name__, exc_info=error)
        error = RequestRefused("GATE_CRASHED", "A fault of the gate; its log has more under this id.", id=fault_id)
    return _status(error)


def _status(error: GatekeeperError) -> grpc.Status:
    metadata = {"next_action": error.next_action, **error.details}
    info = error_details_pb2.ErrorInfo(
        reason=error.code,
        domain=DOMAIN,
        metadata={k: _value(v) for k, v in list(metadata.items())[:MAX_ENTRIES] if v not in (None, "")},
    )
    detail = any_pb2.Any()
    detail.Pack(info)
    message = harmless(error.message, newlines=False)[:MAX_MESSAGE]
    status = status_pb2.Status(code=STATUS[error.code].value[0], message=message, details=[detail])
    return rpc_status.to_status(status)


def _value(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple | set | frozenset) else str(value)
    return harmless(text, newlines=False)[:MAX_VALUE]
