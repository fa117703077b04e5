"""Statuses are those of the public contract, and a fault of the gate tells nothing."""

from __future__ import annotations

import ast
from pathlib import Path

import api_descriptors as api
import pytest
from google.rpc import error_details_pb2, status_pb2

from gatekeeper.api.status_mapping import STATUS, status_of
from gatekeeper.errors import CouldNotCheck, RequestRefused, reasons

ROOT = Path(__file__).resolve().parents[3]
PROMISED = {(s, r) for rpc in api.rpcs() for s, rs in rpc.errors.items() for r in rs}


def detail(error: Exception):
    status = status_of(error, "id1")
    key, value = status.trailing_metadata[0]
    assert key == "grpc-status-details-bin"
    info = error_details_pb2.ErrorInfo()
    assert status_pb2.Status.FromString(value).details[0].Unpack(info)
    return status, info


def test_every_promised_reason_has_the_promised_status_and_no_other_exists():
    assert {(status.name, reason) for reason, status in STATUS.items()} == PROMISED


@pytest.mark.parametrize("code", sorted(STATUS))
def test_every_reason_is_registered(code: str):
    assert code in reasons()


@pytest.mark.parametrize(
    "error",
    [
        ValueError("/etc/gatekeeper/keys/gate.pem"),
        CouldNotCheck("STORE_FAILED", "/etc/gatekeeper/keys/gate.pem", blame="gate"),
        RequestRefused("GATE_CRASHED", "/etc/gatekeeper/keys/gate.pem", path="/etc/gatekeeper/keys/gate.pem"),
    ],
)
def test_a_fault_is_internal_and_tells_its_id_alone(error: Exception):
    status, info = detail(error)
    assert (status.code.name, info.reason) == ("INTERNAL", "GATE_CRASHED")
    assert "gate.pem" not in f"{status.details}{info}"
    assert info.metadata["id"] == "id1"


def test_texts_are_short_and_harmless():
    status, info = detail(
        RequestRefused(
            "CHANGE_UNKNOWN",
            "\x1b[31m" + "ä" * 10_000,
            name="\x00" * 10_000,
            **{f"more{i}": "x" * 1000 for i in range(100)},
        )
    )
    assert len(status.details) <= 600
    assert "\x1b" not in status.details
    assert sum(len(k) + len(v.encode()) for k, v in info.metadata.items()) < 6000
    assert info.domain == "gatekeeper"


def raised(*folders: str) -> set[str]:
    """Codes that the code raises as refusals, wherever a literal names one."""
    found = set()
    for folder in folders:
        for path in (ROOT / "gatekeeper" / folder).rglob("*.py"):
            if "v1" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in reasons():
                    found.add(node.value)
    return found


def test_use_cases_refuse_with_promised_reasons_alone():
    calls = set()
    for path in [*(ROOT / "gatekeeper/workflow/service").glob("*.py"), *(ROOT / "gatekeeper/api").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                code = node.args[0]
                if node.func.id in ("RequestRefused", "InputError") and isinstance(code, ast.Constant):
                    calls.add(code.value)
    assert calls
    assert calls <= set(STATUS)


def test_every_promised_reason_is_given_somewhere():
    given = raised("workflow", "adapters", "formats", "api/servicers")
    for path in (ROOT / "gatekeeper" / "api").glob("*.py"):
        if path.name != "status_mapping.py":
            given |= {c for c in STATUS if f'"{c}"' in path.read_text(encoding="utf-8")}
    # A fault is a fault wherever it comes from; the mapping names it.
    assert set(STATUS) - given <= {"GATE_CRASHED"}
