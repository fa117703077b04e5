"""Every way to bend a verdict is refused with its own code; the unbent one beside it is accepted."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import attested
import pytest

from gatekeeper.adapters.local_key_signer import LocalKeySigner, new_key
from gatekeeper.domain.statement import BINDING
from gatekeeper.domain.verdict import Mode, Verdict
from gatekeeper.errors import VerificationRefused
from gatekeeper.formats.attestation import prove

NOW = attested.NOW


@pytest.fixture
def key(tmp_path: Path) -> Path:
    new_key(tmp_path / "keys" / "gate.pem")
    return tmp_path / "keys" / "gate.pem"


def refusal(*args: Any) -> str:
    with pytest.raises(VerificationRefused) as caught:
        prove(*args)
    return caught.value.code


def parts(key: Path, **kinds: Any) -> tuple[LocalKeySigner, Any, list[dict[str, Any]], list[bytes]]:
    signer, c = LocalKeySigner(key, create=False), attested.change()
    statements = attested.verdict(c, attested.outcome(c, **kinds), signer)
    return signer, c, statements, attested.bundles(statements, signer)


def test_honest_verdict_is_proven(key: Path) -> None:
    signer, c, _, signed = parts(key)
    done = prove(signed, attested.trust(signer, key), attested.expected(c), NOW + 1)
    assert (done.head, done.base, done.mode) == (c.head, c.base, "enforced")


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("head", "9" * 40, "ATTESTATION_HEAD_MOVED"),
        ("base", "9" * 40, "ATTESTATION_BASE_MOVED"),
        ("target_ref", "refs/heads/release", "ATTESTATION_OTHER_BRANCH"),
        ("landing_tree", "9" * 40, "ATTESTATION_TREE"),
    ],
)
def test_enforcers_own_values_decide(key: Path, field: str, value: str, code: str) -> None:
    signer, c, _, signed = parts(key)
    wanted = replace(attested.expected(c), **{field: value})
    assert refusal(signed, attested.trust(signer, key), wanted, NOW + 1) == code


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"repository": "/srv/other.git"}, "ATTESTATION_OTHER_REPOSITORY"),
        ({"verifier_id": '"urn:other"'}, "ATTESTATION_VERIFIER_ID"),
        ({"modes": '["local"]'}, "ATTESTATION_MODE"),
        ({"policy": f'name = "base"\ndigests = ["{"0" * 64}"]'}, "ATTESTATION_POLICY_UNKNOWN"),
        ({"policy": 'name = "base"\nminimum_revision = "1.11"'}, "ATTESTATION_POLICY_OLD"),
    ],
)
def test_trust_file_decides(key: Path, changes: dict[str, str], code: str) -> None:
    signer, c, _, signed = parts(key)
    assert refusal(signed, attested.trust(signer, key, **changes), attested.expected(c), NOW + 1) == code
    other = attested.trust(signer, key, policy='name = "base"\nminimum_revision = "1.9"')
    assert prove(signed, other, attested.expected(c), NOW + 1)


@pytest.mark.parametrize(
    ("kinds", "code"),
    [
        ({"verdict": Verdict.REJECTED}, "ATTESTATION_FAILED"),
        ({"verdict": Verdict.NEEDS_HUMAN}, "ATTESTATION_UNDECIDED"),
        ({"verdict": Verdict.UNDECIDED}, "ATTESTATION_UNDECIDED"),
        ({"mode": Mode.SHADOW}, "ATTESTATION_MODE"),
        ({"mode": Mode.LOCAL}, "ATTESTATION_MODE"),
        ({"exit_code": 1}, "ATTESTATION_INPUTS"),
    ],
)
def test_only_an_accepted_enforced_verdict_counts(key: Path, kinds: dict[str, Any], code: str) -> None:
    signer, c, _, signed = parts(key, **kinds)
    assert refusal(signed, attested.trust(signer, key), attested.expected(c), NOW + 1) == code


@pytest.mark.parametrize(("now", "code"), [(NOW + 3600, "ATTESTATION_EXPIRED"), (NOW - 120, "ATTESTATION_FROM_FUTURE")])
def test_time(key: Path, now: float, code: str) -> None:
    signer, c, _, signed = parts(key)
    assert refusal(signed, attested.trust(signer, key), attested.expected(c), now) == code
    assert prove(signed, attested.trust(signer, key), attested.expected(c), NOW - 30)


def test_waiver_needs_the_enforcers_leave(key: Path) -> None:
    signer, c, statements, _ = parts(key)
    statements[-1]["predicate"][BINDING]["waivers"] = ["TESTS_FAILED"]
    signed = attested.bundles(statements, signer)
    trust = attested.trust(signer, key)
    assert refusal(signed, trust, attested.expected(c), NOW) == "ATTESTATION_WAIVED"
    assert prove(signed, replace(trust, waivers=("TESTS_FAILED",)), attested.expected(c), NOW)


def test_extra_subject_digest_is_refused(key: Path) -> None:
    signer, c, statements, _ = parts(key)
    statements[-1]["subject"][0]["digest"]["gitTree"] = c.head_tree
    signed = attested.bundles(statements, signer)
    assert refusal(signed, attested.trust(signer, key), attested.expected(c), NOW) == "ATTESTATION_HEAD_MOVED"


def test_purpose(key: Path) -> None:
    signer, c, statements, _ = parts(key)
    statements[-1]["predicate"][BINDING]["purpose"] = "LANDED"
    signed = attested.bundles(statements, signer)
    assert refusal(signed, attested.trust(signer, key), attested.expected(c), NOW) == "ATTESTATION_PURPOSE"


def test_inputs_must_be_present_and_by_the_same_key(key: Path, tmp_path: Path) -> None:
    signer, c, statements, signed = parts(key)
    trust = attested.trust(signer, key)
    assert refusal(signed[-1:], trust, attested.expected(c), NOW) == "ATTESTATION_INPUTS"
    other = LocalKeySigner(tmp_path / "other" / "key.pem")
    foreign = [other.sign(statements[0]).bundle.encode(), signed[-1]]
    assert refusal(foreign, trust, attested.expected(c), NOW) == "ATTESTATION_INPUTS"


def test_newer_refusal_outweighs_an_older_pass(key: Path) -> None:
    signer, c, _, signed = parts(key)
    failed = attested.verdict(c, attested.outcome(c, Verdict.REJECTED), signer, NOW + 5)
    both = signed + attested.bundles(failed, signer)
    assert refusal(both, attested.trust(signer, key), attested.expected(c), NOW + 9) == "ATTESTATION_FAILED"


def test_foreign_key_and_missing(key: Path, tmp_path: Path) -> None:
    signer, c, _, signed = parts(key)
    other = LocalKeySigner(tmp_path / "other" / "key.pem")
    trust = attested.trust(other, tmp_path / "other" / "key.pem") if other.public else None
    assert refusal(signed, trust, attested.expected(c), NOW) == "ATTESTATION_UNKNOWN_KEY"
    assert refusal([], attested.trust(signer, key), attested.expected(c), NOW) == "ATTESTATION_MISSING"


def _payload(doc: dict[str, Any]) -> None:
    raw = base64.b64decode(doc["dsseEnvelope"]["payload"]).replace(b'"rejected"', b'"accepted"')
    doc["dsseEnvelope"]["payload"] = base64.b64encode(raw + b" ").decode()


@pytest.mark.parametrize(
    ("bend", "code"),
    [
        (_payload, "ATTESTATION_SIGNATURE_INVALID"),
        (lambda d: d["dsseEnvelope"]["signatures"].append({"sig": ""}), "ATTESTATION_SIGNATURE_COUNT"),
        (lambda d: d["dsseEnvelope"]["signatures"].clear(), "ATTESTATION_SIGNATURE_COUNT"),
        (lambda d: d["dsseEnvelope"].update(payloadType="text/plain"), "ATTESTATION_PAYLOAD_TYPE"),
        (lambda d: d["dsseEnvelope"].update(payload="A" * 2_000_000), "ATTESTATION_TOO_LARGE"),
        (lambda d: d.update(mediaType="x"), "ATTESTATION_MALFORMED"),
    ],
)
def test_bent_envelopes(key: Path, bend: Callable[[dict[str, Any]], Any], code: str) -> None:
    signer, c, _, signed = parts(key)
    doc = json.loads(signed[-1])
    bend(doc)
    bent = [json.dumps(doc).encode()]
    assert refusal(bent, attested.trust(signer, key), attested.expected(c), NOW) == code
    # The keyid is a hint alone: a wrong one changes nothing.
    doc = json.loads(signed[-1])
    doc["dsseEnvelope"]["signatures"][0]["keyid"] = "SHA256:wrong"
    assert prove([signed[0], json.dumps(doc).encode()], attested.trust(signer, key), attested.expected(c), NOW)


def test_duplicate_keys(key: Path) -> None:
    signer, c, _, signed = parts(key)
    bent = [signed[-1].replace(b"{", b'{"mediaType":"x",', 1)]
    assert refusal(bent, attested.trust(signer, key), attested.expected(c), NOW) == "ATTESTATION_DUPLICATE_KEY"
