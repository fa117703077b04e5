"""Rules of the public API that no linter knows: what the comments promise, paging, idempotency."""

from __future__ import annotations

import re
from collections import defaultdict

import api_descriptors as api
import grpc
import pytest
from google.protobuf import descriptor_pb2 as d

from gatekeeper.errors import reasons

RPCS = {r.name: r for r in api.rpcs()}
ROLES = {"agent", "reviewer", "operator", "enforcer"}
COMMON = {
    "INVALID_ARGUMENT": {"INPUT_MALFORMED", "INPUT_TOO_LARGE"},
    "UNAUTHENTICATED": {"CREDENTIAL_MISSING", "CREDENTIAL_INVALID"},
    "PERMISSION_DENIED": {"ROLE_REQUIRED"},
    "RESOURCE_EXHAUSTED": {"RATE_LIMITED"},
    "DEADLINE_EXCEEDED": {"DEADLINE_PASSED"},
    "UNAVAILABLE": {"GATE_STOPPING"},
    "INTERNAL": {"GATE_CRASHED"},
}
READS = ("Get", "List", "Watch")
CONTENT_ADDRESSED = {"ArtifactService.UploadArtifact"}
"""Idempotent by the digest in the request."""


def request_of(rpc: api.Rpc) -> d.DescriptorProto:
    return api.messages()[rpc.method.input_type.rpartition(".")[2]]


def field_names(message: d.DescriptorProto) -> set[str]:
    return {f.name for f in message.field}


def is_read(name: str) -> bool:
    return name.partition(".")[2].startswith(READS)


@pytest.mark.parametrize("name", RPCS)
def test_every_rpc_says_role_errors_and_limits(name):
    rpc = RPCS[name]
    roles = set(re.split(r", | or ", rpc.line("Role").rstrip(".")))
    assert roles
    assert roles <= ROLES, rpc.line("Role")
    assert re.search(r"\d+(\.\d+)? [KM]iB", rpc.line("Limits")), rpc.line("Limits")
    for status, listed in rpc.errors.items():
        assert status in grpc.StatusCode.__members__
        assert len(listed) == len(set(listed))
    for status, common in COMMON.items():
        assert common <= set(rpc.errors.get(status, ())), status


def test_the_errors_line_has_nothing_else():
    for rpc in RPCS.values():
        built = ", ".join(f"{s} ({', '.join(r)})" for s, r in rpc.errors.items()) + "."
        assert rpc.line("Errors") == built, rpc.name


def test_a_reason_has_one_status_everywhere():
    seen = defaultdict(set)
    for rpc in RPCS.values():
        for status, listed in rpc.errors.items():
            for reason in listed:
                seen[reason].add(status)
    assert {r: s for r, s in seen.items() if len(s) != 1} == {}


def test_the_page_lists_every_reason_with_its_status():
    page = (api.ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = set()
    for status, cell in re.findall(r"^\| `([A-Z_]+)` \| (.*?) \|", page, re.MULTILINE):
        listed |= {(reason, status) for reason in re.findall(r"`([A-Z_]+)`", cell)}
    promised = {(r, s) for rpc in RPCS.values() for s, rs in rpc.errors.items() for r in rs}
    assert listed == promised


def test_every_reason_is_registered():
    promised = {r for rpc in RPCS.values() for rs in rpc.errors.values() for r in rs}
    assert promised - set(reasons()) == set()


def test_what_changes_state_carries_a_request_id():
    for name, rpc in RPCS.items():
        expected = not is_read(name) and name not in CONTENT_ADDRESSED
        assert ("request_id" in field_names(request_of(rpc))) is expected, name


def test_request_id_reuse_is_an_error_where_there_is_one():
    for name, rpc in RPCS.items():
        has = "request_id" in field_names(request_of(rpc))
        assert ("REQUEST_ID_REUSED" in rpc.errors.get("ALREADY_EXISTS", ())) is has, name


def test_lists_are_paged_and_never_count():
    lists = {n: r for n, r in RPCS.items() if n.partition(".")[2].startswith("List")}
    assert len(lists) >= 7
    for name, rpc in lists.items():
        assert {"page_size", "page_token"} <= field_names(request_of(rpc)), name
        answer = api.messages()[rpc.method.output_type.rpartition(".")[2]]
        assert "next_page_token" in field_names(answer), name
        assert not {f for f in field_names(answer) if "total" in f or "count" in f}, name
        assert "PAGE_TOKEN_INVALID" in rpc.errors["INVALID_ARGUMENT"], name


def test_only_what_streams_is_a_stream():
    streams = {n: (r.method.client_streaming, r.method.server_streaming) for n, r in RPCS.items()}
    assert {n: s for n, s in streams.items() if any(s)} == {
        "VerificationService.WatchVerification": (False, True),
        "ArtifactService.UploadArtifact": (True, False),
        "ArtifactService.GetArtifact": (False, True),
    }


def test_no_client_chooses_the_mode_or_the_base():
    names = field_names(api.messages()["SubmitRequest"])
    assert not names & {"mode", "base", "base_commit", "environment"}


def test_only_the_well_known_types_are_imported():
    for file in api.files():
        for name in file.dependency:
            assert name.startswith(("google/protobuf/", "gatekeeper/api/v1/")), f"{file.name} imports {name}"


def test_agents_decide_nothing():
    for name in ("TicketService.ApproveTicket", "TicketService.RejectTicket", "ReviewService.CreateReview"):
        assert RPCS[name].line("Role") == "reviewer."
        assert {"HUMAN_REQUIRED", "APPROVAL_SELF"} <= set(RPCS[name].errors["PERMISSION_DENIED"])
