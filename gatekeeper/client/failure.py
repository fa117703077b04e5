"""What goes wrong with a call, as one typed error. Everything the server says is hostile until it was made harmless."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gatekeeper.errors import GatekeeperError, reasons
from gatekeeper.formats.text_safety import harmless

if TYPE_CHECKING:
    import grpc

DOMAIN = "gatekeeper"
MAX_TEXT = 4096
"""Characters kept of a message or of a value of the metadata."""
MAX_METADATA = 64
"""Entries kept of the metadata."""
_REASON = re.compile(r"[A-Z][A-Z0-9_]{0,62}")

_TRY_AGAIN = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED"})
_TRY_AGAIN_REASONS = frozenset({"RATE_LIMITED", "QUEUE_FULL", "UPLOADS_EXHAUSTED", "WATCHES_EXHAUSTED"})
_LIBRARY = {
    "UNAVAILABLE": ("SERVER_UNREACHABLE", "The server cannot be reached"),
    "DEADLINE_EXCEEDED": ("DEADLINE_PASSED", "No answer came in time"),
    "RESOURCE_EXHAUSTED": ("ANSWER_TOO_LARGE", "A message is larger than the client takes"),
    "CANCELLED": ("DEADLINE_PASSED", "The call was cancelled"),
}
"""Errors without the gate's own details are made by the gRPC library or by something that is no gate."""


class ApiError(GatekeeperError):
    """A call that did not succeed. Program against `reason`, which is stable (docs/codes.md); `message` is for people.

    `status` is the name of the gRPC status ("NOT_FOUND"), `metadata` what the server added ("field", "limit", ...).
    `next_action` says what to do. `retryable` is true where the same call with the same request id can succeed later.
    """

    def __init__(self, reason: str, message: str, metadata: Mapping[str, str] | None = None, *, status: str) -> None:
        known = reasons().get(reason)
        action = (metadata or {}).get("next_action") or (
            known.next_action if known else "Look the reason up in docs/codes.md of the gate's version."
        )
        super().__init__(reason, message, next_action=action)
        self.reason = reason
        self.metadata: dict[str, str] = dict(metadata or {})
        self.status = status

    @property
    def retryable(self) -> bool:
        """True where the same call can succeed later, unchanged."""
        return self.status in _TRY_AGAIN or self.reason in _TRY_AGAIN_REASONS

    @property
    def undecided(self) -> bool:
        """True where nobody can say whether the request would be accepted: the server was not reached, or broke."""
        return self.status not in _REFUSALS


_REFUSALS = frozenset({
    "INVALID_ARGUMENT", "UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION",
    "ABORTED", "OUT_OF_RANGE",
})  # fmt: skip


def from_rpc(error: grpc.RpcError | grpc.aio.AioRpcError, target: str) -> ApiError:
    """The `ApiError` for what the gRPC library raised. Never raises: garbage in the details counts as no details."""
    status = _status(error)
    text = _text(getattr(error, "details", lambda: "")() or "")
    info = _error_info(error)
    if info is not None:
        reason, metadata = info
        return ApiError(reason, text or reason, metadata, status=status)
    reason, words = _LIBRARY.get(status, ("SERVER_ANSWER", "The server's answer is none of a gate"))
    return ApiError(reason, f"{words} ({target}, {status}{f': {text}' if text else ''}).", status=status)


def malformed(message: str) -> ApiError:
    """An answer that no gate would give."""
    return ApiError("SERVER_ANSWER", message, status="INTERNAL")


def _status(error: object) -> str:
    code = getattr(error, "code", None)
    name = getattr(code() if callable(code) else None, "name", None)
    return name if isinstance(name, str) else "UNKNOWN"


def _error_info(error: object) -> tuple[str, dict[str, str]] | None:
    from google.protobuf.message import DecodeError
    from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

    trailers = getattr(error, "trailing_metadata", None)
    for key, value in (trailers() if callable(trailers) else None) or ():
        if key != "grpc-status-details-bin" or not isinstance(value, bytes):
            continue
        try:
            for detail in status_pb2.Status.FromString(value).details:
                if detail.Is(error_details_pb2.ErrorInfo.DESCRIPTOR):
                    info = error_details_pb2.ErrorInfo.FromString(detail.value)
                    if info.domain == DOMAIN and _REASON.fullmatch(info.reason):
                        rows = sorted(info.metadata.items())[:MAX_METADATA]
                        return str(info.reason), {_text(k): _text(v) for k, v in rows}
        except (DecodeError, ValueError):
            continue
    return None


def _text(text: str) -> str:
    return harmless(text[:MAX_TEXT], newlines=False)
