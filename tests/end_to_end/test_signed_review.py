"""What a server takes from outside beside a commit it can fetch: a reviewer's own signature, and a git bundle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from served_gate import FIXED, TICKET, Served, Work, git, prepared, served_gate

from gatekeeper.adapters.local_key_signer import new_key, public_pem
from gatekeeper.client import ApiError, Client, Verdict, verdict_of


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the keys of a reviewer, of a stranger and of some gate, and a trust file that names the reviewer."""
    folder = tmp_path_factory.mktemp("keys")
    for name, address in (("rita", "rita@example.org"), ("stranger", "rita@example.org"), ("gate", "")):
        new_key(folder / f"{name}.pem")
        (folder / f"{name}.pem.name").write_text(address + "\n")
    (folder / "trust.toml").write_text(
        'repositories = ["*"]\n[[signer]]\nverifier_id = "urn:test"\nmodes = ["enforced"]\n'
        f"public_key = {json.dumps(public_pem(folder / 'gate.pem'))}\n"
        f'[[policy]]\nname = "gatekeeper"\ndigests = ["{"0" * 64}"]\n'
        f'[[reviewer]]\nprincipal = "rita@example.org"\npublic_key = {json.dumps(public_pem(folder / "rita.pem"))}\n'
    )
    return folder


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory, state_dir: Path, keys: Path) -> Iterator[Served]:
    options = ("--environment", "host", "--trust", str(keys / "trust.toml"))
    with served_gate(tmp_path_factory.mktemp("signed"), state_dir / "signed", *options) as made:
        yield made


@pytest.fixture(scope="module")
def work(gate: Served, tmp_path_factory: pytest.TempPathFactory) -> Work:
    return prepared(gate, tmp_path_factory.mktemp("work"))


def test_a_reviewer_signs_what_the_own_clone_says(gate: Served, work: Work, keys: Path, tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps({**TICKET, "id": "T-3", "risk": "high"}))
    shown = gate.cli("ticket", "create", str(file), "-R", "acme/shop", "--format", "json", as_="agent")
    digest = json.loads(shown.stdout)["digest"]
    assert gate.cli("ticket", "approve", "acme/shop#T-3", "--digest", digest, as_="reviewer").returncode == 0
    asked = gate.cli(
        "submit", "-R", "acme/shop", "--change", "risky", "--head", work.head, "--ticket", "T-3", "--claim",
        str(work.claim), "--watch", "--timeout", "100", as_="agent",
    )  # fmt: skip
    assert asked.returncode == 4, asked.stdout + asked.stderr
    with Client(gate.address, token=gate.tokens["agent"]) as api:
        name = api.get_change("acme/shop#risky").latest_verification

    words = ("review", name, "--approve", "--repo", str(work.repository))
    other = gate.cli(*words, "--key", str(keys / "stranger.pem"), as_="reviewer")
    assert other.returncode == 2, other.stdout + other.stderr
    assert "APPROVAL_UNKNOWN_KEY" in other.stderr
    alone = gate.cli("review", name, "--approve", "--key", str(keys / "rita.pem"), as_="reviewer")
    assert alone.returncode == 2
    assert "--repo" in alone.stderr

    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(work.repository), str(clone))
    git(clone, "branch", "-f", "main", "origin/main")
    git(clone, "checkout", "-q", "main")
    (clone / "src/one.py").write_text("# elsewhere\n" + FIXED)
    git(clone, "commit", "-q", "-am", "Another main")
    git(clone, "fetch", "-q", "origin", "fix")
    differs = gate.cli(
        "review", name, "--approve", "--repo", str(clone), "--key", str(keys / "rita.pem"), as_="reviewer"
    )
    assert differs.returncode == 2, differs.stdout + differs.stderr
    assert "ACCEPTED" not in differs.stdout

    done = gate.cli(*words, "--key", str(keys / "rita.pem"), "--format", "json", as_="reviewer")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["statement_bundle"]
    with Client(gate.address, token=gate.tokens["agent"]) as api:
        latest = api.get_change("acme/shop#risky").latest_verification
        assert verdict_of(api.wait(latest, timeout=100)) is Verdict.ACCEPTED


def test_a_head_that_only_a_bundle_brings_is_judged(gate: Served, work: Work, tmp_path: Path) -> None:
    done = gate.cli(
        "repo", "register", "acme/away", "--source", f"file://{work.repository}", "--accept-bundles", as_="operator"
    )
    assert done.returncode == 0, done.stderr
    file = tmp_path / "t.json"
    file.write_text(json.dumps(TICKET))
    shown = gate.cli("ticket", "create", str(file), "-R", "acme/away", "--format", "json", as_="agent")
    digest = json.loads(shown.stdout)["digest"]
    assert gate.cli("ticket", "approve", "acme/away#T-1", "--digest", digest, as_="reviewer").returncode == 0
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "-b", "main", str(work.repository), str(clone))
    (clone / "src/one.py").write_text(FIXED + "# away\n")
    git(clone, "commit", "-q", "-am", "Mend away")
    head = git(clone, "rev-parse", "HEAD")
    bundle, claimed = tmp_path / "work.bundle", tmp_path / "claim.json"
    git(clone, "bundle", "create", "-q", str(bundle), "origin/main..HEAD")
    claimed.write_text(json.dumps({**json.loads(work.claim.read_text()), "head_sha": head}))
    words = ("submit", "-R", "acme/away", "--change", "1", "--head", head, "--ticket", "T-1", "--claim", str(claimed),
             "--watch", "--timeout", "100")  # fmt: skip
    judged = gate.cli(*words, "--bundle", str(bundle), as_="agent")
    assert judged.returncode == 0, judged.stdout + judged.stderr
    refused = gate.cli(*words[:2], "acme/shop", *words[3:], "--bundle", str(bundle), as_="agent")
    assert refused.returncode == 2
    assert "BUNDLE_NOT_ACCEPTED" in refused.stderr
    with Client(gate.address, token=gate.tokens["agent"]) as api, pytest.raises(ApiError, match="ARTIFACT_UNKNOWN"):
        api.download("artifacts/" + "0" * 64)
