"""Bytes of a keyless bundle changed at random: refused with a code, or the same payload; never another error."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from local_sigstore import LocalSigstore

from gatekeeper.adapters.sigstore_signer import KeylessSettings, SigstoreSigner, verify_keyless
from gatekeeper.domain.trust import Identity
from gatekeeper.errors import VerificationRefused
from gatekeeper.formats.canonical_json import canonical

GATE = "https://ci.example/gate"


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keyless")
    instance = LocalSigstore()
    config, root = instance.write(folder)
    (folder / "token").write_text(instance.token(GATE))
    signer = SigstoreSigner(KeylessSettings(config, GATE, instance.issuer, "v", token_file=folder / "token"))
    bundle = signer.sign({"a": 1}).bundle.encode()
    instance.close()
    return bundle, Identity(instance.issuer, GATE, str(root))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1), new=st.binary(max_size=3), drop=st.integers(0, 40))
def test_changed_bytes_prove_nothing_else(signed, at, new, drop):
    bundle, identity = signed
    place = int(at * len(bundle))
    bent = bundle[:place] + new + bundle[place + drop :]
    try:
        assert verify_keyless(bent, identity) == canonical({"a": 1})
    except VerificationRefused as error:
        assert error.code.startswith("ATTESTATION_")  # noqa: PT017


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=400) | st.sampled_from([b"{}", b"[]", b"null", b"[" * 3000, b'{"mediaType": 1}']))
def test_any_bytes_are_refused(signed, data):
    with pytest.raises(VerificationRefused):
        verify_keyless(data, signed[1])
