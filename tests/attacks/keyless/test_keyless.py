"""Keyless verdicts: who else may sign, what else may be in the bundle, and none of it counts; the honest one does."""

from __future__ import annotations

import base64
import copy
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import attested
import pytest
from local_sigstore import LocalSigstore

from gatekeeper.adapters.local_key_signer import LocalKeySigner, public_pem
from gatekeeper.adapters.sigstore_signer import KeylessSettings, SigstoreSigner, verify_keyless
from gatekeeper.domain.trust import Identity
from gatekeeper.errors import ConfigurationError, CouldNotCheck, VerificationRefused
from gatekeeper.formats.attestation import prove
from gatekeeper.formats.canonical_json import canonical
from gatekeeper.formats.trust import parse_trust

GATE = "https://ci.example/gate/production"
VERIFIER = "urn:example:gate"


@pytest.fixture
def instance():
    instance = LocalSigstore()
    yield instance
    instance.close()


@pytest.fixture
def files(instance, tmp_path) -> tuple[Path, Path]:
    return instance.write(tmp_path)


def signer(
    instance, files, tmp_path, subject: str = GATE, issuer: str | None = None, name: str = "token"
) -> SigstoreSigner:
    token = tmp_path / name
    token.write_text(instance.token(subject, issuer))
    settings = KeylessSettings(files[0], subject, issuer or instance.issuer, VERIFIER, token_file=token)
    return SigstoreSigner(settings)


def statements(by) -> tuple[Any, list[dict[str, Any]]]:
    c = attested.change()
    return c, attested.verdict(c, attested.outcome(c), by)


def trust(instance, files, subject: str = GATE, issuer: str | None = None, extra: str = ""):
    return parse_trust(
        (
            f'repositories = ["{attested.REPO}"]\n[[signer]]\nverifier_id = "{VERIFIER}"\nsubject = "{subject}"\n'
            f'issuer = "{issuer or instance.issuer}"\ntrusted_root = "{files[1]}"\n{extra}'
            f'[[policy]]\nname = "base"\ndigests = ["{attested.DIGEST}"]\n'
        ).encode()
    )


class _Same:
    """Signs each statement once; a keyless signature differs each time, but its payload does not."""

    def __init__(self, by: SigstoreSigner) -> None:
        self.verifier_id, self._by = by.verifier_id, by

    def sign(self, statement):
        return self._by.sign(statement)


def signed(by) -> tuple[Any, list[bytes]]:
    c, made = statements(_Same(by))
    return c, attested.bundles(made, by)


def refusal(bundles, pinned, c) -> str:
    with pytest.raises(VerificationRefused) as caught:
        prove(bundles, pinned, attested.expected(c), attested.NOW + 1, verify_keyless)
    return caught.value.code


def test_honest_verdict_is_proven_without_a_connection(instance, files, tmp_path):
    c, bundles = signed(signer(instance, files, tmp_path))
    instance.close()
    done = prove(bundles, trust(instance, files), attested.expected(c), attested.NOW + 1, verify_keyless)
    assert (done.head, done.verifier_id, done.keyid) == (c.head, VERIFIER, f"{GATE} ({instance.issuer})")


def test_librarys_own_verifier_accepts_the_bundle_with_a_git_commit_as_subject(instance, files, tmp_path):
    from sigstore.models import Bundle, TrustedRoot
    from sigstore.verify import Verifier, policy

    made = signer(instance, files, tmp_path).sign({"subject": [{"digest": {"gitCommit": "a" * 40}}]})
    verifier = Verifier(trusted_root=TrustedRoot.from_file(str(files[1])))
    who = policy.Identity(identity=GATE, issuer=instance.issuer)
    kind, payload = verifier.verify_dsse(Bundle.from_json(made.bundle), who)
    assert kind == "application/vnd.in-toto+json"
    assert payload == canonical({"subject": [{"digest": {"gitCommit": "a" * 40}}]})


def test_wrong_subject_and_wrong_issuer(instance, files, tmp_path):
    c, bundles = signed(signer(instance, files, tmp_path, "https://ci.example/gate/production-2", name="t2"))
    assert refusal(bundles, trust(instance, files), c) == "ATTESTATION_IDENTITY"
    c, bundles = signed(signer(instance, files, tmp_path, issuer="https://other.example", name="t3"))
    assert refusal(bundles, trust(instance, files), c) == "ATTESTATION_IDENTITY"
    assert prove(
        bundles,
        trust(instance, files, issuer="https://other.example"),
        attested.expected(c),
        attested.NOW,
        verify_keyless,
    )


def test_other_root(instance, files, tmp_path):
    other = LocalSigstore()
    (tmp_path / "other").mkdir()
    theirs = other.write(tmp_path / "other")
    by = signer(other, theirs, tmp_path, issuer=instance.issuer)
    c, bundles = signed(by)
    other.close()
    assert refusal(bundles, trust(instance, files), c) == "ATTESTATION_CERTIFICATE"


def test_certificate_that_had_expired_when_the_log_saw_it(instance, files, tmp_path):
    c, made = statements(signer(instance, files, tmp_path))
    instance.certificate_age = timedelta(minutes=30)
    by = signer(instance, files, tmp_path, name="late")
    # The library itself refuses to sign with an expired certificate, so the clock of the check is what is tested here.
    document = json.loads(_forced(by, made[-1]))
    assert refusal([json.dumps(document).encode()], trust(instance, files), c) == "ATTESTATION_CERTIFICATE"
    instance.certificate_age = timedelta(minutes=5)
    young = signer(instance, files, tmp_path, name="young")
    both = attested.bundles(made, young)
    assert prove(both, trust(instance, files), attested.expected(c), attested.NOW, verify_keyless)


def _forced(by: SigstoreSigner, statement: dict[str, Any]) -> str:
    """A signature by a client that ignores that its certificate has expired."""
    from sigstore import dsse

    key = by._certified()
    inner = dsse.Statement.__new__(dsse.Statement)
    inner._contents = canonical(statement)
    certificate = key._Signer__cached_signing_certificate
    content = dsse._sign(key._private_key, inner)
    entry = key._signing_ctx._rekor._build_dsse_request(envelope=content, certificate=certificate)
    return key._finalize_sign(certificate, content, entry).to_json()


def _payload(document):
    raw = base64.b64decode(document["dsseEnvelope"]["payload"])
    document["dsseEnvelope"]["payload"] = base64.b64encode(raw + b" ").decode()


def _no_proof(document):
    del document["verificationMaterial"]["tlogEntries"][0]["inclusionProof"]


def _other_proof(document):
    proof = document["verificationMaterial"]["tlogEntries"][0]["inclusionProof"]
    proof["rootHash"] = base64.b64encode(b"\1" * 32).decode()


def _no_entry(document):
    document["verificationMaterial"]["tlogEntries"] = []


def _other_time(document):
    document["verificationMaterial"]["tlogEntries"][0]["integratedTime"] = "1700000000"


def _no_promise(document):
    del document["verificationMaterial"]["tlogEntries"][0]["inclusionPromise"]


def _no_certificate(document):
    del document["verificationMaterial"]["certificate"]


def _payload_type(document):
    document["dsseEnvelope"]["payloadType"] = "text/plain"


@pytest.mark.parametrize(
    ("bend", "code"),
    [
        (_payload, "ATTESTATION_SIGNATURE_INVALID"),
        (_no_proof, "ATTESTATION_CERTIFICATE"),
        (_other_proof, "ATTESTATION_CERTIFICATE"),
        (_no_entry, "ATTESTATION_CERTIFICATE"),
        (_other_time, "ATTESTATION_CERTIFICATE"),
        (_no_promise, "ATTESTATION_CERTIFICATE"),
        (_no_certificate, "ATTESTATION_CERTIFICATE"),
        (_payload_type, "ATTESTATION_PAYLOAD_TYPE"),
    ],
)
def test_bent_bundles(instance, files, tmp_path, bend, code):
    c, bundles = signed(signer(instance, files, tmp_path))
    document = json.loads(bundles[-1])
    bend(document)
    assert refusal([bundles[0], json.dumps(document).encode()], trust(instance, files), c) == code


def test_entry_of_another_signature(instance, files, tmp_path):
    c, bundles = signed(signer(instance, files, tmp_path))
    one, two = json.loads(bundles[0]), json.loads(bundles[1])
    two["verificationMaterial"]["tlogEntries"] = one["verificationMaterial"]["tlogEntries"]
    assert refusal([bundles[0], json.dumps(two).encode()], trust(instance, files), c) == "ATTESTATION_CERTIFICATE"


def test_keyless_counts_only_where_it_is_pinned_and_keys_beside_it_still_count(instance, files, tmp_path):
    local = LocalKeySigner(tmp_path / "keys" / "gate.pem")
    c, bundles = signed(signer(instance, files, tmp_path))
    only_keys = attested.trust(local, tmp_path / "keys" / "gate.pem") if local.public else None
    assert refusal(bundles, only_keys, c) == "ATTESTATION_UNKNOWN_KEY"
    with pytest.raises(VerificationRefused):
        prove(bundles, trust(instance, files), attested.expected(c), attested.NOW)  # no verifier given: nothing counts
    row = f'[[signer]]\nverifier_id = "{local.verifier_id}"\npublic_key = {json.dumps(public_pem(tmp_path / "keys" / "gate.pem"))}\n'
    both = trust(instance, files, extra=row)
    own = attested.bundles(attested.verdict(c, attested.outcome(c), local), local)
    assert prove(own, both, attested.expected(c), attested.NOW, verify_keyless).keyid == local.public.fingerprint
    assert prove(bundles, both, attested.expected(c), attested.NOW, verify_keyless).verifier_id == VERIFIER
    # A key may not lend its test results to another's verdict.
    assert refusal([own[0], bundles[1]], both, c) == "ATTESTATION_INPUTS"


def test_pinned_key_over_a_keyless_envelope_needs_no_certificate_to_be_refused(instance, files, tmp_path):
    """A bundle that brings a certificate is judged by it, also where a pinned key made the signature."""
    local = LocalKeySigner(tmp_path / "keys" / "gate.pem")
    c, bundles = signed(signer(instance, files, tmp_path))
    document = json.loads(bundles[-1])
    own = json.loads(local.sign(json.loads(base64.b64decode(document["dsseEnvelope"]["payload"]))).bundle)
    document["dsseEnvelope"] = own["dsseEnvelope"]
    code = refusal([bundles[0], json.dumps(document).encode()], trust(instance, files), c)
    assert code in ("ATTESTATION_SIGNATURE_INVALID", "ATTESTATION_CERTIFICATE")


@pytest.mark.parametrize("content", [None, b"", b"{}", b"[]", b"\xff"])
def test_root_that_cannot_be_used_is_the_operators_fault(instance, files, tmp_path, content):
    made = signer(instance, files, tmp_path).sign({"a": 1})
    path = tmp_path / "bad-root.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises((ConfigurationError, VerificationRefused)) as caught:
        verify_keyless(made.bundle.encode(), Identity(instance.issuer, GATE, str(path)))
    assert caught.value.code in ("KEYLESS_UNUSABLE", "ATTESTATION_CERTIFICATE")


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.pop("issuer"),
        lambda r: r.pop("subject"),
        lambda r: r.update(trusted_root="relative.json"),
        lambda r: r.update(public_key="x"),
        lambda r: r.update(subject=" "),
    ],
)
def test_pin_that_leaves_something_open_is_refused(change):
    row = {"verifier_id": "v", "issuer": "i", "subject": "s", "trusted_root": "/r"}
    whole = 'repositories = ["r"]\n[[policy]]\nname = "p"\nminimum_revision = "1"\n[[signer]]\n'
    assert parse_trust((whole + "".join(f'{k} = "{v}"\n' for k, v in row.items())).encode())
    bent = copy.deepcopy(row)
    change(bent)
    with pytest.raises(ConfigurationError):
        parse_trust((whole + "".join(f'{k} = "{v}"\n' for k, v in bent.items())).encode())


@pytest.mark.parametrize("fault", ["/api/v2/signingCert", "/api/v1/log/entries"])
def test_services_out_of_order_sign_nothing_and_the_next_try_works(instance, files, tmp_path, fault):
    by = signer(instance, files, tmp_path)
    instance.fault = fault
    with pytest.raises(CouldNotCheck) as caught:
        by.sign({"a": 1})
    assert caught.value.code == "SIGNING_FAILED"
    instance.fault = None
    assert by.sign({"a": 1}).payload_sha256


def test_signer_that_is_not_who_the_settings_say_signs_nothing(instance, files, tmp_path):
    (tmp_path / "token").write_text(instance.token("https://ci.example/somebody-else"))
    settings = KeylessSettings(files[0], GATE, instance.issuer, VERIFIER, token_file=tmp_path / "token")
    with pytest.raises(CouldNotCheck, match="somebody-else") as caught:
        SigstoreSigner(settings).sign({"a": 1})
    assert caught.value.code == "SIGNING_FAILED"


def test_token_from_the_environment_and_none(instance, files, monkeypatch):
    monkeypatch.setenv("GATE_TOKEN", instance.token(GATE))
    settings = KeylessSettings(files[0], GATE, instance.issuer, VERIFIER, token_env="GATE_TOKEN")
    assert SigstoreSigner(settings).sign({"a": 1}).keyid == ""
    monkeypatch.delenv("GATE_TOKEN")
    with pytest.raises(CouldNotCheck, match="no identity token"):
        SigstoreSigner(settings).sign({"a": 1})


@pytest.mark.parametrize("more", [{}, {"ambient": True, "token_env": "X"}])
def test_settings_that_leave_something_to_guess_are_refused(more):
    with pytest.raises(ConfigurationError):
        KeylessSettings(Path("/x"), GATE, "https://i", VERIFIER, **more)
