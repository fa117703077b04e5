"""`doctor` tells what is missing, with what to do, and the settings choose engine and signer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from local_sigstore import LocalSigstore
from opa_program import opa_program

from gatekeeper.adapters.local_key_signer import new_key
from gatekeeper.adapters.opa_policy import OpaPolicy
from gatekeeper.adapters.rego_policy.engine import RegoPolicy
from gatekeeper.adapters.sigstore_signer import SigstoreSigner
from gatekeeper.cli.main import main
from gatekeeper.config import Paths, gate_settings_file
from gatekeeper.diagnose import diagnoses
from gatekeeper.errors import ConfigurationError
from gatekeeper.wiring import engines, machine, signers


@pytest.fixture
def gate(gate_env: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write settings of the gate; the environment points to them."""

    def write(text: str, mode: int = 0o600) -> Path:
        path = tmp_path / "gatekeeper.toml"
        path.write_text(text)
        path.chmod(mode)
        monkeypatch.setenv("GATEKEEPER_CONFIG", str(path))
        return path

    monkeypatch.delenv("GATEKEEPER_CONFIG", raising=False)
    return write


def found(where: Paths) -> dict[str, tuple[str, str]]:
    return {d.name: (d.state, f"{d.message} {d.todo}") for d in diagnoses(where)}


def test_defaults_need_nothing_of_the_settings(gate, gate_env):
    keys = [*gate_env.keys.glob("*")]
    lines = found(gate_env)
    assert lines["settings"][0] == "note"
    assert lines["python"][0] == lines["git"][0] == lines["policy"][0] == "ok"
    assert "engine embedded" in lines["policy"][1]
    assert [*gate_env.keys.glob("*")] == keys  # looking makes no key


def test_unusable_settings_are_told_and_end_in_status_one(gate, gate_env, capsys, monkeypatch):
    gate('[policy]\nengin = "opa"\n')
    monkeypatch.setattr("sys.argv", ["gatekeeper", "doctor", "--format", "json"])
    assert main() == 1
    told = json.loads(capsys.readouterr().out)
    assert told["well"] is False
    row = next(r for r in told["checks"] if r["name"] == "settings")
    assert row["state"] == "missing"
    assert "did you mean 'engine'" in row["message"]
    assert row["todo"]


def test_option_config_comes_first(gate, gate_env, tmp_path, monkeypatch, capsys):
    gate("")
    other = tmp_path / "other.toml"
    other.write_text("[polic]\n")
    monkeypatch.setattr("sys.argv", ["gatekeeper", "--config", str(other), "doctor"])
    assert main() == 1
    assert "'polic'" in capsys.readouterr().out


def test_settings_that_others_can_write_are_refused(gate, gate_env):
    gate("", 0o666)
    with pytest.raises(ConfigurationError, match="written by others"):
        machine.gate_settings(gate_env)
    gate("", 0o644)
    assert machine.gate_settings(gate_env)


def test_named_file_must_be_there_and_the_usual_one_may_be(gate, gate_env, monkeypatch, tmp_path):
    where = Paths(tmp_path / "state", tmp_path / "config")
    assert gate_settings_file(where) is None
    where.state.mkdir()
    (where.state / "gatekeeper.toml").write_text("")
    assert gate_settings_file(where) == where.state / "gatekeeper.toml"
    monkeypatch.setenv("GATEKEEPER_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(ConfigurationError):
        machine.gate_settings(where)


def test_engine_by_settings(gate, gate_env):
    embedded = engines.policy_engine()
    assert isinstance(embedded, RegoPolicy)
    embedded.close()
    gate('[policy]\nengine = "opa"\nurl = "http://127.0.0.1:9"\n')
    engine = engines.policy_engine()
    assert isinstance(engine, OpaPolicy)
    engine.close()
    state, words = found(gate_env)["policy"]
    assert state == "missing"
    assert "OPA server cannot be used" in words


def test_started_opa_is_told_as_usable(gate, gate_env):
    program = opa_program()
    gate('[policy]\nengine = "opa"\n')
    lines = found(gate_env)
    assert lines["policy"][0] == lines["opa program"][0] == "ok"
    assert str(program) in lines["policy"][1]


def test_missing_opa_says_what_to_do(gate, gate_env, monkeypatch, tmp_path):
    gate('[policy]\nengine = "opa"\n')
    monkeypatch.setenv("GATEKEEPER_LIBEXEC_DIR", str(tmp_path))
    monkeypatch.setattr("gatekeeper.adapters.opa_policy.server.shutil.which", lambda _name: None)
    lines = found(gate_env)
    assert lines["opa program"][0] == lines["policy"][0] == "missing"
    assert "make opa" in lines["opa program"][1]


def test_signer_by_settings(gate, gate_env, tmp_path):
    key = tmp_path / "own.pem"
    gate(f'[signing]\nkey = "{key}"\nverifier_id = "urn:own"\n')
    assert found(gate_env)["signer"][0] == "missing"  # a key that is named is never made
    new_key(key)
    state, words = found(gate_env)["signer"]
    assert state == "ok"
    signer = signers.check_signer(gate_env)
    assert signer.public.fingerprint in words
    assert signer.verifier_id == "urn:own"


def test_keyless_signer_by_settings(gate, gate_env, tmp_path):
    instance = LocalSigstore()
    config, _ = instance.write(tmp_path)
    text = (
        f'[signing]\nkind = "keyless"\ntrust_config = "{config}"\nidentity = "https://ci.example/gate"\n'
        f'issuer = "{instance.issuer}"\ntoken_file = "{tmp_path}/token"\n'
    )
    gate(text)
    assert found(gate_env)["signer"][0] == "missing"
    (tmp_path / "token").write_text(instance.token("https://ci.example/gate"))
    assert found(gate_env)["signer"][0] == "ok"
    signer = signers.check_signer(gate_env)
    assert isinstance(signer, SigstoreSigner)
    assert signer.sign({"a": 1}).keyid == ""
    assert signer.verifier_id.startswith("urn:gatekeeper:verifier:keyless:")
    instance.close()


def test_the_keys_of_the_server_are_told_too(gate, gate_env):
    lines = found(gate_env)
    assert {lines["signer of the server"][0], lines["review desk"][0]} <= {"note", "ok"}
    signers.gate_signer(gate_env, None)
    (gate_env.keys / "desk.pem").unlink(missing_ok=True)
    lines = found(gate_env)
    assert lines["signer of the server"][0] == "ok"
    assert "gate.pem, SHA256:" in lines["signer of the server"][1]
    assert lines["review desk"][0] == "note"
    assert not (gate_env.keys / "desk.pem").exists()
