"""Hostile bytes end in typed errors alone."""

from __future__ import annotations

import contextlib
import json
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.errors import ConfigurationError, VerificationRefused
from gatekeeper.formats.sigstore_bundle import MEDIA_TYPE, parse_bundle
from gatekeeper.formats.trust import parse_trust

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["payload", "payloadType", "signatures", "sig", "keyid", "x"]), inner, max_size=4
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.binary(max_size=400))
def test_any_bytes(data: bytes) -> None:
    with contextlib.suppress(VerificationRefused):
        raise AssertionError(f"random bytes made a bundle: {parse_bundle(data)}")
    with contextlib.suppress(ConfigurationError):
        raise AssertionError(f"random bytes made a trust file: {parse_trust(data)}")


@given(JSON)
def test_any_envelope(value: object) -> None:
    document = {"mediaType": MEDIA_TYPE, "verificationMaterial": {}, "dsseEnvelope": value}
    with contextlib.suppress(VerificationRefused):
        parse_bundle(json.dumps(document).encode())


@cache
def _names() -> list[str]:
    return ["repositories", "protected", "waivers", "max_age_s", "clock_skew_s", "signer", "policy", "reviewer"]


@given(
    st.dictionaries(st.sampled_from(_names()), st.sampled_from(["1", "[]", '""', '["refs/x"]', "[{}]", "-1", "nan"]))
)
def test_any_trust_table(table: dict[str, str]) -> None:
    with contextlib.suppress(ConfigurationError):
        text = "\n".join(f"{k} = {v}" for k, v in table.items())
        raise AssertionError(f"an empty signer was trusted: {parse_trust(text.encode())}")
