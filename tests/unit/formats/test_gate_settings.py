"""The gate's settings: every key is known or an error, and nothing is left to guess."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.domain.gate_settings import GateSettings, PolicyKind, SigningKind
from gatekeeper.errors import ConfigurationError
from gatekeeper.formats.gate_settings import MAX_SETTINGS, parse_gate_settings

KEYLESS = """
[signing]
kind = "keyless"
trust_config = "/etc/gatekeeper/sigstore.json"
identity = "https://ci.example/gate"
issuer = "https://id.example"
token_file = "/run/secrets/token"
"""


def refusal(text: str | bytes) -> str:
    with pytest.raises(ConfigurationError) as caught:
        parse_gate_settings(text.encode() if isinstance(text, str) else text)
    assert caught.value.code == "GATE_SETTINGS_MALFORMED"
    return caught.value.message


def test_empty_file_is_the_defaults():
    assert parse_gate_settings(b"") == GateSettings()


def test_whole_file():
    text = '[policy]\nengine = "opa"\nurl = "http://127.0.0.1:8181"\nbundle = "/srv/policies"\n' + KEYLESS
    text += '[sources]\nproxy = "http://p:1"\nmax_mib = 7\n'
    text += '[server]\nlisten = "unix:/run/gate"\nreflection = true\nworkers = 4\ngrace_s = 2.5\n'
    settings = parse_gate_settings(text.encode())
    assert settings.policy.engine is PolicyKind.OPA
    assert settings.policy.bundle == Path("/srv/policies")
    assert settings.signing.kind is SigningKind.KEYLESS
    assert settings.signing.token_file == Path("/run/secrets/token")
    assert (settings.sources.proxy, settings.sources.max_mib) == ("http://p:1", 7)
    server = settings.server
    assert (server.listen, server.reflection, server.workers, server.grace_s) == ("unix:/run/gate", True, 4, 2.5)
    assert (server.retries, server.publish) == (1, False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[policy]\nengin = "opa"\n', "'engin' in [policy]; did you mean 'engine'"),
        ('[signing]\nkeys = "/k"\n', "did you mean 'key'"),
        ('[polici]\nengine = "opa"\n', "did you mean 'policy'"),
        ("[policy]\nxyzzy = 1\n", "known are engine, bundle"),
        ('policy = "opa"\n', "must be a table"),
        ("[[policy]]\n", "must be a table"),
        ('[policy]\nengine = "opa2"\n', "expected one of embedded, opa"),
        ("[policy]\nengine = true\n", "expected one of"),
        ('[policy]\nurl = "http://127.0.0.1:1"\n', "url has no meaning"),
        ('[policy]\nengine = "opa"\ntoken_file = "/t"\n', "token_file has no meaning in [policy] without url"),
        ('[policy]\nbundle = "policies"\n', "absolute path"),
        ('[policy]\nbundle = ""\n', "not empty"),
        ("[policy]\nbundle = 1\n", "must be a text"),
        ('[signing]\nidentity = "x"\n', "identity has no meaning"),
        ("[signing]\nambient = 1\n", "true or false"),
        (KEYLESS + 'key = "/k"\n', "key has no meaning"),
        (KEYLESS + "ambient = true\n", "exactly one"),
        (KEYLESS.replace("token_file", "# "), "exactly one"),
        (KEYLESS.replace("issuer", "# "), "issuer is missing"),
        (KEYLESS.replace('token_file = "/run/secrets/token"', 'token_env = "A B"'), "name of an environment variable"),
        ("[server]\nlisten = 1\n", "listen in [server] must be a text"),
        ("[server]\nlisen = 1\n", "did you mean 'listen'"),
        ("[server]\nreflection = 1\n", "true or false"),
        ("[server]\nretries = true\n", "whole number from 0 to 10"),
        ("[server]\nworkers = 0\n", "whole number from 1"),
        ("[server]\ntimeout_s = nan\n", "number from 1"),
        ("[sources]\nmax_mib = 1.5\n", "whole number"),
        ('[sources]\nssh_key = "/k"\n', "go together"),
        ("[policy\n", "not TOML"),
        (b"\xff", "not TOML"),
        (b"#" * (MAX_SETTINGS + 1), "larger than"),
    ],
)
def test_refused_with_the_place(text, words):
    assert words in refusal(text)


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda t: t.encode("utf-8", "replace")))
def test_any_bytes_give_settings_or_the_typed_error(data):
    with contextlib.suppress(ConfigurationError):
        assert isinstance(parse_gate_settings(data), GateSettings)
