"""The register excuses only what its own entry is about, for as long as it lasts; a broken one excuses nothing."""

from __future__ import annotations

import pytest
from fake_ports import TEST_ID

from gatekeeper.domain.verdict import Verdict
from gatekeeper.formats.flake_record import dump

NOW = 1_800_000_000.0
KNOWN = {"merged": "F", "again": "P", "again_on_base": "P"}


def codes(outcome):
    return {f.code for f in outcome.findings}


def test_a_known_flake_is_excused_and_its_entry_is_told(gate):
    record = gate.record()
    gate.register.own(record.__class__(**{**record.__dict__, "owner": "ada\u202e", "note": "issue 7"}), None, NOW)  # type: ignore[arg-type]
    outcome = gate.judge(**KNOWN)
    assert outcome.verdict is Verdict.ACCEPTED
    (told,) = outcome.findings
    assert "until 2027-01-" in told.message
    assert "owner ada" in told.message
    assert "\u202e" not in told.message
    assert "issue 7" in told.evidence


@pytest.mark.parametrize(
    "over",
    [
        {"repository": "another"},
        {"suite": "another"},
        {"test": TEST_ID + "x"},
        {"expires_at": NOW},
        {"first_seen": NOW + 60, "last_seen": NOW + 60},
    ],
    ids=["repository", "suite", "test", "expired", "from the future"],
)
def test_an_entry_about_something_else_excuses_nothing(gate, over):
    gate.record(**over)
    outcome = gate.judge(**KNOWN)
    assert outcome.verdict is Verdict.REJECTED
    assert codes(outcome) == {"TEST_MADE_UNSTABLE"}


@pytest.mark.parametrize(
    "damage",
    [
        lambda good: good[:-20],
        lambda good: good.replace(b'"failed": 2', b'"failed": 9'),
        lambda good: good.replace(b'"failed": 2', b'"failed": 2, "excused": true'),
        lambda good: good + good,
        lambda good: good + b"\n\n",
        lambda good: b"\xff" + good,
        lambda good: good * 60_000,
    ],
    ids=["cut", "never passed", "a field more", "twice", "empty line", "bytes", "flood"],
)
def test_a_forged_or_broken_register_excuses_nothing_and_is_told(gate, damage, tmp_path):
    gate.record()
    path = tmp_path / "flakes" / "register.jsonl"
    path.write_bytes(damage(path.read_bytes()))
    outcome = gate.judge(**KNOWN)
    assert outcome.verdict is Verdict.REJECTED
    assert codes(outcome) == {"TEST_MADE_UNSTABLE", "FLAKE_REGISTER_UNREADABLE"}


@pytest.mark.parametrize("mode", [0o622, 0o660])
def test_a_register_that_others_can_write_excuses_nothing(gate, tmp_path, mode):
    gate.record()
    (tmp_path / "flakes" / "register.jsonl").chmod(mode)
    assert "FLAKE_REGISTER_UNREADABLE" in codes(gate.judge(**KNOWN))


def test_a_register_behind_a_link_excuses_nothing(gate, tmp_path):
    record = gate.record()
    path = tmp_path / "flakes" / "register.jsonl"
    path.unlink()
    (tmp_path / "elsewhere").write_text(dump(record) + "\n")
    path.symlink_to(tmp_path / "elsewhere")
    assert "FLAKE_REGISTER_UNREADABLE" in codes(gate.judge(**KNOWN))


def test_a_broken_register_blocks_no_change_that_needs_none(gate, tmp_path):
    (tmp_path / "flakes").mkdir()
    (tmp_path / "flakes" / "register.jsonl").write_text("{")
    assert gate.judge(merged="P").verdict is Verdict.ACCEPTED


def test_a_broken_register_is_not_written_over(gate, tmp_path):
    (tmp_path / "flakes").mkdir()
    path = tmp_path / "flakes" / "register.jsonl"
    path.write_text("{")
    gate.judge(merged="F", again="P", again_on_base="PF")
    assert path.read_text() == "{"
