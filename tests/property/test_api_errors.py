"""Whatever a server puts into an error, the client makes one typed, harmless error of it."""

from __future__ import annotations

import unicodedata

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import error_details_pb2, status_pb2
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.client.failure import MAX_METADATA, MAX_TEXT, from_rpc

CONTROL = ("Cc", "Cf", "Cs", "Zl", "Zp")


class Broken(grpc.RpcError):
    """An error as the library raises it."""

    def __init__(self, code: object, details: str | None, trailers: object) -> None:
        self._code, self._details, self._trailers = code, details, trailers

    def code(self) -> object:
        return self._code

    def details(self) -> str | None:
        return self._details

    def trailing_metadata(self) -> object:
        return self._trailers


def packed(reason: str, domain: str, metadata: dict[str, str], junk: bytes) -> bytes:
    detail = AnyMessage()
    detail.Pack(error_details_pb2.ErrorInfo(reason=reason, domain=domain, metadata=metadata))
    other = AnyMessage(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=junk)
    return bytes(status_pb2.Status(code=5, message="x", details=[other, detail]).SerializeToString())


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
codes = st.one_of(st.sampled_from(list(grpc.StatusCode)), st.none(), st.integers())
trailers = st.one_of(
    st.none(),
    st.lists(st.tuples(st.sampled_from(["grpc-status-details-bin", "other"]), st.one_of(st.binary(max_size=200), text)), max_size=4),
    st.builds(
        lambda *parts: [("grpc-status-details-bin", packed(*parts))],
        text, st.sampled_from(["gatekeeper", "other"]), st.dictionaries(text, text, max_size=5), st.binary(max_size=20),
    ),
)  # fmt: skip


@given(codes, st.one_of(st.none(), text), trailers)
def test_any_error_becomes_one_typed_harmless_error(code: object, details: str | None, metadata: object) -> None:
    error = from_rpc(Broken(code, details, metadata), "there:1")
    assert error.reason == error.code
    assert error.reason.isascii()
    assert 0 < len(error.reason) <= 63
    assert len(error.metadata) <= MAX_METADATA
    shown = [error.message, error.next_action, *error.metadata, *error.metadata.values()]
    assert not any(unicodedata.category(c) in CONTROL and c != "\t" for t in shown for c in t)
    assert all(len(t) <= 12 * MAX_TEXT for t in shown)
    if error.status in ("UNKNOWN", "INTERNAL", "UNAVAILABLE", "DEADLINE_EXCEEDED", "OK"):
        assert error.undecided


@given(st.from_regex(r"[A-Z][A-Z0-9_]{0,62}", fullmatch=True), st.dictionaries(text, text, max_size=3))
def test_the_gates_own_reason_is_always_found(reason: str, metadata: dict[str, str]) -> None:
    made = [("grpc-status-details-bin", packed(reason, "gatekeeper", metadata, b""))]
    assert from_rpc(Broken(grpc.StatusCode.NOT_FOUND, "d", made), "x:1").reason == reason
