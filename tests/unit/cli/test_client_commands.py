"""The commands that speak to a server, run whole in this process against a gate in memory."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from fake_api import DIGEST, HEAD, REPOSITORY, FakeGate, Fault, life, serving, snapshot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatekeeper.api.v1.attestation_pb2 import Attestation
from gatekeeper.api.v1.change_pb2 import Change
from gatekeeper.api.v1.event_pb2 import Event
from gatekeeper.api.v1.finding_pb2 import Finding
from gatekeeper.api.v1.repository_pb2 import Repository
from gatekeeper.api.v1.review_pb2 import Review
from gatekeeper.api.v1.run_pb2 import Run
from gatekeeper.api.v1.ticket_pb2 import Ticket
from gatekeeper.api.v1.verdict_pb2 import (
    TIER_HIGH,
    VERDICT_ACCEPTED,
    VERDICT_NEEDS_HUMAN,
    VERDICT_REJECTED,
    VERDICT_UNDECIDED,
)
from gatekeeper.api.v1.verification_pb2 import Verification
from gatekeeper.cli import main as entry
from gatekeeper.cli.decision_text import diff_command
from gatekeeper.cli.verification_text import report

NAME = f"{REPOSITORY}/changes/42/verifications/v1"


class Shell:
    """The command line with a server in its environment."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._patch, self._capsys = monkeypatch, capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        self._patch.setattr(sys, "argv", ["gatekeeper", *words])
        self._capsys.readouterr()
        status = entry.main()
        out, err = self._capsys.readouterr()
        return status, out, err

    def json(self, *words: str) -> Any:
        status, out, err = self(*words, "--format", "json")
        assert status == 0, (out, err)
        return json.loads(out)


@pytest.fixture
def shell(monkeypatch, capsys, tmp_path) -> Shell:
    for name in list(os.environ):
        if name.startswith("GATEKEEPER_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr("gatekeeper.cli.connection.RETRY_S", 0.3)
    return Shell(monkeypatch, capsys)


@pytest.fixture
def gate(shell: Shell, monkeypatch) -> Iterator[FakeGate]:
    made = FakeGate()
    with serving(made) as address:
        monkeypatch.setenv("GATEKEEPER_SERVER", address)
        monkeypatch.setenv("GATEKEEPER_TOKEN", "gk_token")
        yield made


SUBMIT = ("submit", "-R", "acme/shop", "--change", "42", "--head", HEAD, "--ticket", "T-1")


def test_submit_prints_the_name_and_sends_what_was_said(shell: Shell, gate: FakeGate, tmp_path: Path) -> None:
    claim = tmp_path / "claim.json"
    claim.write_text('{"summary": "x"}')
    status, out, _ = shell(*SUBMIT, "--claim", str(claim), "--target", "release")
    assert (status, out) == (0, NAME + "\n")
    request = gate.requests_of("Submit")[0]
    assert (request.target_ref, request.claim_document) == ("refs/heads/release", b'{"summary": "x"}')
    assert gate.calls[0][2]["authorization"] == "Bearer gk_token"


@pytest.mark.parametrize(
    ("verdict", "status"),
    [(VERDICT_ACCEPTED, 0), (VERDICT_REJECTED, 1), (VERDICT_UNDECIDED, 3), (VERDICT_NEEDS_HUMAN, 4), (77, 3)],
)
def test_watch_and_show_end_with_the_verdicts_status(shell, gate, verdict: int, status: int) -> None:
    gate.verdicts["42"] = verdict
    assert shell(*SUBMIT, "--watch")[0] == status
    assert shell("watch", NAME)[0] == status
    assert shell("show", NAME)[0] == status
    assert shell("show", "acme/shop#42")[0] == status


@pytest.mark.parametrize("verdict", [VERDICT_ACCEPTED, VERDICT_NEEDS_HUMAN])
@pytest.mark.parametrize(
    ("state", "newest", "status", "words"),
    [
        (Change.STATE_VERIFICATION_FAILED, NAME, 1, "Answer the reviewer's words"),
        (Change.STATE_HUMAN_DECISION_NEEDED, NAME, 3, "gatekeeper change show 'acme/shop#42'"),
        (Change.STATE_MERGEABLE, NAME.replace("v1", "v2"), 3, f"gatekeeper show {NAME.replace('v1', 'v2')}"),
        (Change.STATE_VERIFICATION_FAILED, NAME.replace("v1", "v2"), 3, f"gatekeeper show {NAME.replace('v1', 'v2')}"),
    ],
)
def test_a_verdict_that_counts_no_more_is_no_pass(shell, gate, verdict, state, newest, status, words) -> None:
    gate.verdicts["42"] = verdict
    shell(*SUBMIT)
    made = gate.lives[NAME][-1]
    made.current, made.repair_brief = False, "rita asks for changes:\nname it better"
    change = gate.changes[f"{REPOSITORY}/changes/42"]
    change.state, change.latest_verification = state, newest
    for command in (("show", NAME), ("watch", NAME, "--full")):
        found, out, _ = shell(*command)
        assert found == status, command
        assert "no longer current" in out
        assert "It may land" not in out
        assert "gatekeeper review" not in out
        assert words in out
        assert "name it better" in out
    assert shell("watch", NAME)[0] == status
    assert shell("watch", NAME, "--format", "json")[0] == status
    gate.faults["GetChange"] = [Fault(grpc.StatusCode.NOT_FOUND, "CHANGE_UNKNOWN")]
    assert shell("watch", NAME)[0] == 2


def test_a_rejection_that_is_watched_tells_each_finding_once(shell: Shell, gate: FakeGate) -> None:
    gate.verdicts["42"] = VERDICT_REJECTED
    status, out, _ = shell(*SUBMIT, "--watch")
    assert (status, out.count("2 tests fail."), out.count("shop/cart.py")) == (1, 1, 1)
    assert f"\n         gatekeeper show {NAME}" in out
    assert "For the agent:" not in out


def test_a_rejection_is_shown_with_reasons_and_what_to_do(shell: Shell, gate: FakeGate) -> None:
    gate.verdicts["42"] = VERDICT_REJECTED
    shell(*SUBMIT)
    status, out, _ = shell("show", NAME)
    assert status == 1
    for words in (
        "REJECTED", "1. tests_failed / TESTS_FAILED shop/cart.py:7", "2 tests fail.", "| E  assert 1 == 2", "-> Mend them.",
        "For the agent:", "Mend shop/cart.py and run pytest.", "next     Mend what the reasons name",
    ):  # fmt: skip
        assert words in out


def test_a_refusal_is_told_with_what_the_server_added(shell: Shell, gate: FakeGate) -> None:
    gate.faults["Submit"] = [
        Fault(grpc.StatusCode.ALREADY_EXISTS, "VERIFICATION_ACTIVE", "It is being verified.", {"verification": NAME})
    ]
    status, out, err = shell(*SUBMIT, "--watch")
    assert (status, out) == (2, "")
    assert f"verification: {NAME}" in err


def test_watch_tells_one_line_a_state_on_a_pipe(shell: Shell, gate: FakeGate) -> None:
    gate.verdicts["2"] = VERDICT_REJECTED
    for key in ("1", "2"):
        shell("submit", "-R", "acme/shop", "--change", key, "--head", HEAD, "--ticket", "T-1")
    rows = life(f"{REPOSITORY}/changes/1/verifications/v1")
    rows.insert(2, snapshot(rows[0].name, 3, Verification.STATE_RUNNING, progress={"step": "scan"}))
    gate.lives[rows[0].name] = rows
    status, out, err = shell("watch", "acme/shop#1", f"{REPOSITORY}/changes/2/verifications/v2")
    assert (status, err) == (1, "")
    assert [line for line in out.splitlines() if line.startswith("acme/shop#1")] == [
        "acme/shop#1  QUEUED", "acme/shop#1  RUNNING  rerun 0/2 runs", "acme/shop#1  DECIDED  accepted",
    ]  # fmt: skip
    assert "acme/shop#2  DECIDED  rejected  TESTS_FAILED" in out


def test_watch_writes_json_lines(shell: Shell, gate: FakeGate) -> None:
    shell(*SUBMIT)
    status, out, _ = shell("watch", NAME, "--format", "json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert [r["state"] for r in rows] == ["STATE_QUEUED", "STATE_RUNNING", "STATE_DECIDED"]
    assert rows[-1]["verdict"] == "VERDICT_ACCEPTED"


@pytest.mark.parametrize("state", [Verification.STATE_CANCELLED, Verification.STATE_SUPERSEDED])
def test_a_verification_without_a_verdict_is_no_pass(shell: Shell, gate: FakeGate, state: int) -> None:
    gate.lives[NAME] = [snapshot(NAME, 2, state, VERDICT_ACCEPTED)]
    assert shell("watch", NAME)[0] == 3
    assert shell("show", NAME)[0] == 3


def test_the_worst_of_several_is_told(shell: Shell, gate: FakeGate) -> None:
    gate.verdicts |= {"2": VERDICT_NEEDS_HUMAN}
    for key in ("1", "2"):
        shell("submit", "-R", "acme/shop", "--change", key, "--head", HEAD, "--ticket", "T-1")
    assert shell("watch", "acme/shop#1", "acme/shop#2")[0] == 4
    status, _, err = shell("watch", "acme/shop#1", f"{REPOSITORY}/changes/9/verifications/none")
    assert status == 2
    assert "VERIFICATION_UNKNOWN" in err


def test_a_watch_ends_with_its_time(shell: Shell, gate: FakeGate) -> None:
    gate.watcher = lambda request, context: (gate.stopping.wait(20), iter(()))[1]
    status, _, err = shell("watch", NAME, "--timeout", "0.2")
    gate.stopping.set()
    assert status == 3
    assert "DEADLINE_PASSED" in err


def test_lists_are_tables_or_json_lines_and_say_when_empty(shell: Shell, gate: FakeGate) -> None:
    assert shell("list") == (0, "", "nothing found\n")
    for key in "12345":
        shell("submit", "-R", "acme/shop", "--change", key, "--head", HEAD, "--ticket", "T-1")
    out = shell("list")[1]
    assert out.splitlines()[0].split() == ["CHANGE", "STATE", "VERDICT", "TICKET", "HEAD", "ATTEMPTS", "SINCE"]
    assert len(out.splitlines()) == 6
    assert len(shell("list", "--limit", "3", "--format", "json")[1].splitlines()) == 3
    assert len(shell("list", "verifications", "--change", "acme/shop#3")[1].splitlines()) == 2
    assert shell("list", "--state", "mergeable")[2] == "nothing found\n"
    assert gate.requests_of("ListChanges")[-1].states == [Change.STATE_MERGEABLE]
    status, _, err = shell("list", "--state", "green")
    assert status == 2
    assert "mergeable" in err


def test_tickets_from_proposal_to_amendment(shell: Shell, gate: FakeGate, tmp_path: Path) -> None:
    file = tmp_path / "ticket.json"
    file.write_text('{"id": "T-1"}')
    made = shell.json("ticket", "create", str(file), "-R", "acme/shop")
    assert made["state"] == "STATE_PROPOSED"
    status, _, err = shell("ticket", "approve", "acme/shop#T-1")
    assert (status, gate.requests_of("ApproveTicket")) == (2, [])
    assert "--digest" in err
    assert shell("ticket", "approve", "acme/shop#T-1", "--digest", "0" * 64)[0] == 2
    assert shell("ticket", "approve", "T-1", "-R", "acme/shop", "--digest", made["digest"])[0] == 0
    assert gate.tickets[made["name"]].state == Ticket.STATE_APPROVED
    out = shell("ticket", "show", "acme/shop#T-1")[1]
    assert '{"id": "T-1"}' in out
    assert made["digest"] in out
    assert shell("ticket", "reject", "acme/shop#T-1", "--digest", made["digest"], "--comment", "no")[0] == 0
    assert shell("ticket", "amend", "acme/shop#T-1", str(file))[0] == 0
    assert "revision 2" in shell("ticket", "show", "acme/shop#T-1")[1]
    assert len(shell("ticket", "list", "-R", "acme/shop")[1].splitlines()) == 2


def test_changes_repositories_usage_and_events(shell: Shell, gate: FakeGate) -> None:
    shell(*SUBMIT)
    assert "#42  RUNNING" in shell("change", "show", "acme/shop#42")[1]
    assert shell("change", "question", "acme/shop#42", "which?")[0] == 0
    assert "which?" in shell("change", "show", "42", "-R", "acme/shop")[1]
    assert shell("change", "abandon", "acme/shop#42", "--comment", "no")[0] == 0
    assert gate.changes[f"{REPOSITORY}/changes/42"].state == Change.STATE_ABANDONED
    assert shell("cancel", NAME)[0] == 0
    assert (
        shell("repo", "register", "acme/shop", "--source", "file:///r.git", "--target", "main", "--accept-bundles")[0]
        == 0
    )
    assert shell.json("repo", "show", "acme/shop")["accept_bundles"] is True
    assert "file:///r.git" in shell("repo", "list")[1]
    assert shell("repo", "show", "acme/none")[0] == 2
    assert shell("usage", "report", "acme/shop#42", "--model", "m", "--input-tokens", "0", "--cost", "1.5")[0] == 0
    entry_ = gate.requests_of("ReportUsage")[0].usage_report.entries[0]
    assert (entry_.HasField("input_tokens"), entry_.HasField("output_tokens"), entry_.cost_micros) == (
        True,
        False,
        1_500_000,
    )
    gate.events = [Event(sequence=n, type="gatekeeper.x.v1", subject=NAME) for n in (1, 2, 3)]
    assert len(shell("events", "--after", "1")[1].splitlines()) == 3
    assert shell("events", "--since", "yesterday")[0] == 2


def test_a_review_goes_to_the_server_with_the_digests_that_were_shown(shell: Shell, gate: FakeGate) -> None:
    gate.verdicts["42"] = VERDICT_NEEDS_HUMAN
    shell(*SUBMIT)
    status, _, err = shell("review", "acme/shop#42", "--approve")
    assert status == 2
    assert "verification that you looked at" in err
    status, out, err = shell("review", NAME, "--approve", "--reason", "fine")
    assert status == 0
    assert "A PERSON MUST DECIDE" in err
    review = gate.requests_of("CreateReview")[0].review
    assert (review.kind, review.verification, review.comment) == (Review.KIND_APPROVE, NAME, "fine")
    assert (review.ticket_digest, review.diff_digest) == ("d" * 64, "e" * 64)
    assert "mergeable" in out
    assert shell("review", "acme/shop#42")[0] == 2
    assert shell("review", NAME, "--approve", "--retry")[0] == 2
    assert shell("review", "acme/shop#42", "--retry")[0] == 0
    assert shell("review", "--approve")[0] == 2
    assert len(gate.requests_of("CreateReview")) == 2


BASE = "b" * 40


def asked(gate: FakeGate, shell: Shell) -> Verification:
    """A verification that waits for a person, with what a reviewer is told."""
    gate.verdicts["42"] = VERDICT_NEEDS_HUMAN
    shell(*SUBMIT)
    made = gate.lives[NAME][-1]
    made.base_commit, made.submitter.subject, made.submitter.on_behalf_of = BASE, "agent-7", "ann"
    made.policy.tier = TIER_HIGH
    made.policy.tier_reasons.add(message="The ticket says high.")
    made.needs.add(cause="tier_high", role="reviewer", count=1)
    gate.tickets[made.ticket] = Ticket(
        name=made.ticket, digest=DIGEST, title="Mend the cart", goal="The total is right. " * 12
    )
    return made


def test_a_reviewer_is_shown_the_plan_the_reasons_and_how_to_read_the_diff(shell: Shell, gate: FakeGate) -> None:
    made = asked(gate, shell)
    status, out, err = shell("review", "acme/shop#42")
    assert (status, out) == (2, "")
    for words in (
        "acme/shop#42, running", "T-1: Mend the cart", "The total is right.", f"refs/heads/main at {BASE}", f"head     {HEAD}",
        "agent-7 for ann", "tier high (The ticket says high.)", "1 x reviewer: tier_high", "A PERSON MUST DECIDE",
        f"\n  git fetch origin refs/heads/main {HEAD} && git diff {BASE}...{HEAD}\n", "There is no terminal to ask on",
    ):  # fmt: skip
        assert words in err, words
    assert "gatekeeper review" not in err
    assert "THE TICKET WAS CHANGED" not in err
    gate.tickets[made.ticket].digest = "0" * 64
    assert "THE TICKET WAS CHANGED" in shell("review", NAME)[2]
    del gate.tickets[made.ticket]
    assert "the server does not show it" in shell("review", NAME)[2]


def test_a_refused_review_prints_the_refusal_alone(shell: Shell, gate: FakeGate) -> None:
    asked(gate, shell)
    words = "The credential names no address."
    gate.faults["CreateReview"] = [Fault(grpc.StatusCode.FAILED_PRECONDITION, "REVIEW_NOT_POSSIBLE", words)]
    status, out, err = shell("review", NAME, "--approve")
    assert (status, out) == (2, "")
    assert err.startswith(f"gatekeeper: {words} [REVIEW_NOT_POSSIBLE]\n")
    for option in ("--waive", "--amend", "--request-changes"):
        assert option in err
    assert "tier" not in err
    told = {"next_action": "Have the operator make a token with --email ADDRESS."}
    gate.faults["CreateReview"] = [Fault(grpc.StatusCode.FAILED_PRECONDITION, "REVIEW_NOT_POSSIBLE", words, told)]
    err = shell("review", NAME, "--approve")[2]
    assert "--email ADDRESS" in err
    assert "--waive" not in err


@pytest.mark.parametrize(
    ("head", "target"),
    [
        ("$(id)", "refs/heads/main"),
        ("-x", "refs/heads/main"),
        (HEAD, "--upload-pack=id"),
        (HEAD, "refs/heads/a\x1b[2J"),
    ],
)
def test_what_git_would_not_take_becomes_no_command(head: str, target: str) -> None:
    assert diff_command(Verification(head_commit=head, target_ref=target, base_commit=BASE)) == ""


def test_the_command_for_the_diff_works_and_runs_nothing_else(make_repo, tmp_path: Path) -> None:
    repo = make_repo()
    repo.commit({"a": "1\n"})
    branch = "x;touch${IFS}owned"
    repo.git("checkout", "-q", "-b", branch)
    base = repo.commit({"a": "2\n"})
    repo.git("checkout", "-q", "-b", "work")
    head = repo.commit({"a": "3\n"})
    clone = tmp_path / "clone"
    subprocess.run(
        ["git", "clone", "-q", "--single-branch", "-b", branch, repo.path.as_uri(), clone], check=True, timeout=60
    )
    for known in (base, ""):
        made = Verification(head_commit=head, target_ref=f"refs/heads/{branch}", base_commit=known)
        done = subprocess.run(
            ["bash", "-c", diff_command(made)], cwd=clone, capture_output=True, text=True, timeout=60, check=True
        )
        assert "-2\n+3\n" in done.stdout
    assert not (clone / "owned").exists()


def test_a_waiver_names_findings_and_ends(shell: Shell, gate: FakeGate) -> None:
    gate.verdicts["42"] = VERDICT_REJECTED
    shell(*SUBMIT)
    assert shell("review", NAME, "--waive", "NO_SUCH", "--reason", "x")[0] == 2
    assert shell("review", NAME, "--waive", "TESTS_FAILED", "--reason", "known", "--days", "1")[0] == 0
    review = gate.requests_of("CreateReview")[0].review
    assert (list(review.waived_fingerprints), review.HasField("expire_time")) == (["f" * 64], True)


def test_bundles_are_fetched_to_where_the_hook_looks(shell: Shell, gate: FakeGate, make_repo) -> None:
    repo = make_repo()
    head = repo.commit({"a": "1"})
    bundles = [b'{"mediaType": "x", "n": 1}', b'{\n  "mediaType": "x",\n  "n": 2\n}\n']
    gate.attestations = [
        Attestation(name=f"{REPOSITORY}/attestations/{n * 64}", bundle=b, subject_commit=head)
        for n, b in zip("12", bundles, strict=True)
    ]
    words = ("attestation", "fetch", "-R", "acme/shop", "--commit", head, "--git", str(repo.path))
    assert shell(*words)[0] == 0
    assert shell(*words)[0] == 0
    notes = repo.git("notes", "--ref=refs/notes/attestations", "show", head).splitlines()
    assert sorted(json.loads(n)["n"] for n in notes) == [1, 2]
    assert notes[1] == bundles[0].decode()
    assert shell(*words[:5], "0" * 40, *words[6:])[0] == 3
    assert shell(*words[:5], "main", *words[6:])[0] == 2
    gate.attestations[0].bundle = b"no json"
    assert shell(*words)[0] == 3
    assert shell("attestation", "list", "-R", "acme/shop")[1].count("\n") == 3
    assert json.loads(shell("attestation", "get", "2" * 64, "-R", "acme/shop")[1])["n"] == 2


# --- which server, and what is missing ----------------------------------------------------------------------------------


def test_without_a_server_the_error_says_what_to_do(shell: Shell) -> None:
    status, out, err = shell("list")
    assert (status, out) == (2, "")
    for words in ("SERVER_MISSING", "--server", "GATEKEEPER_SERVER", "docs/cli.md"):
        assert words in err
    status, out, _ = shell("list", "--format", "json")
    assert (status, json.loads(out)["error"]["code"]) == (2, "SERVER_MISSING")


def test_a_missing_token_says_where_one_is_given(shell: Shell, gate: FakeGate, tmp_path: Path) -> None:
    server = {"next_action": "Send a token or a client certificate."}
    for format_ in ((), ("--format", "json")):
        gate.faults["ListChanges"] = [Fault(grpc.StatusCode.UNAUTHENTICATED, "CREDENTIAL_MISSING", "None.", server)]
        status, out, err = shell("list", *format_)
        assert status == 2
        assert "--token-file" in out + err
        assert "GATEKEEPER_TOKEN" in out + err
    status, _, err = shell("list", "--token-file", str(tmp_path / "gone"))
    assert status == 2
    assert "Check the path" in err


def test_an_unreachable_server_is_undecided_never_a_verdict(shell: Shell) -> None:
    for words in (("show", NAME), ("watch", NAME), SUBMIT, ("list",)):
        status, _, err = shell(*words, "--server", "127.0.0.1:1")
        assert status == 3
        assert "SERVER_UNREACHABLE" in err


def test_option_before_environment_before_file(shell: Shell, gate: FakeGate, monkeypatch, tmp_path: Path) -> None:
    address = os.environ["GATEKEEPER_SERVER"]
    for name, token in (("option", "gk_option"), ("env", "gk_env"), ("file", "gk_file")):
        (tmp_path / f"{name}.token").write_text(token + "\n")
    place = tmp_path / "xdg" / "gatekeeper" / "client.toml"
    place.parent.mkdir(parents=True)
    place.write_text(f'server = "127.0.0.1:1"\ntoken_file = "{tmp_path}/file.token"\n')

    def used(*words: str) -> str:
        assert shell(*words)[0] == 0
        return gate.calls[-1][2]["authorization"].removeprefix("Bearer ")

    assert used("list") == "gk_token"
    assert used("list", "--token-file", str(tmp_path / "option.token")) == "gk_option"
    assert used("--token-file", str(tmp_path / "option.token"), "list") == "gk_option"
    monkeypatch.delenv("GATEKEEPER_TOKEN")
    monkeypatch.setenv("GATEKEEPER_TOKEN_FILE", str(tmp_path / "env.token"))
    assert used("list") == "gk_env"
    monkeypatch.delenv("GATEKEEPER_TOKEN_FILE")
    assert used("list") == "gk_file"
    monkeypatch.delenv("GATEKEEPER_SERVER")
    assert used("list", "--server", address) == "gk_file"
    assert used("--server", address, "list") == "gk_file"
    assert shell("list")[0] == 3
    other = tmp_path / "other.toml"
    other.write_text(f'server = "{address}"\ntoken_file = "env.token"\n')
    assert used("list", "--client-config", str(other)) == "gk_env"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("server = 1", "must be text"),
        ("server = ", "not TOML"),
        ("sever = 'x:1'", "unknown key 'sever'"),
        ("server = 'x:1'\ncertificate = 'a'", "both certificate and key"),
        ("server = 'https://x'", "expected host:port"),
        ("server = 'x:99999'", "expected host:port"),
        ("server = '127.0.0.1:1'\ntoken_file = 'gone'", "cannot be read"),
        ("server = '127.0.0.1:1'\nca = 'gone'", "cannot be read"),
        (b"\xff\xfe", "not TOML"),
    ],
)
def test_a_bad_configuration_file_is_told_with_its_place(shell: Shell, tmp_path: Path, content, words: str) -> None:
    file = tmp_path / "c.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    status, _, err = shell("list", "--client-config", str(file))
    assert status == 2
    assert words in err


@pytest.mark.parametrize("token", ["two words", "tab\tbed", "n\u00f6n", "x" * 5000])
def test_a_token_that_is_none_is_refused_without_being_shown(shell: Shell, tmp_path: Path, token: str) -> None:
    file = tmp_path / "t"
    file.write_text(token)
    status, out, err = shell("list", "--server", "127.0.0.1:1", "--token-file", str(file))
    assert status == 2
    assert "CREDENTIAL_MALFORMED" in err
    assert token[:8] not in out + err


def test_a_token_never_leaves_this_machine_in_clear() -> None:
    from gatekeeper.client.channel import target_of

    for address in (
        "gate.example:443",
        "192.0.2.7:8443",
        "[2001:db8::1]:1",
        "localhost.evil.example:1",
        "127.0.0.1.nip.example:1",
    ):
        assert target_of(address, token="gk_x").secure, address
    for address in ("localhost:1", "127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "unix:/run/gate.sock"):
        assert not target_of(address, token="gk_x").secure, address
    assert "gk_x" not in repr(target_of("localhost:1", token="gk_x"))


# --- hostile servers ------------------------------------------------------------------------------------------------------

EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\u2066 end"


def poisoned(message: Any, depth: int = 0) -> Any:
    """The message with hostile text in every text field."""
    for field in message.DESCRIPTOR.fields:
        repeated = field.is_repeated
        if field.message_type and field.message_type.GetOptions().map_entry:
            if field.message_type.fields_by_name["key"].cpp_type == field.CPPTYPE_STRING:
                try:
                    getattr(message, field.name)[EVIL] = 3
                except (TypeError, ValueError):
                    continue
        elif field.cpp_type == field.CPPTYPE_STRING and field.name not in ("name", "next_page_token"):
            if field.type == field.TYPE_BYTES:
                value: Any = EVIL.encode()
            else:
                value = EVIL
            if repeated:
                getattr(message, field.name).append(value)
            else:
                setattr(message, field.name, value)
        elif field.cpp_type == field.CPPTYPE_MESSAGE and depth < 4:
            if field.message_type.full_name.startswith("google.protobuf."):
                if field.message_type.name == "Timestamp":
                    getattr(message, field.name).seconds = 2**62
                continue
            poisoned(getattr(message, field.name).add() if repeated else getattr(message, field.name), depth + 1)
        elif field.cpp_type == field.CPPTYPE_ENUM and not repeated:
            setattr(message, field.name, 99)
    return message


def test_nothing_of_a_hostile_server_reaches_the_terminal_raw(shell: Shell, gate: FakeGate, tmp_path: Path) -> None:
    change = poisoned(Change(name=f"{REPOSITORY}/changes/42"))
    change.latest_verification = NAME
    gate.changes[change.name] = change
    made = poisoned(Verification(name=NAME))
    made.state, made.verdict, made.revision = Verification.STATE_DECIDED, VERDICT_REJECTED, 3
    gate.lives[NAME] = [made]
    gate.tickets[f"{REPOSITORY}/tickets/T-1"] = poisoned(Ticket(name=f"{REPOSITORY}/tickets/T-1"))
    gate.attestations = [poisoned(Attestation(name=f"{REPOSITORY}/attestations/{'1' * 64}"))]
    gate.events = [poisoned(Event())]
    gate.events[0].sequence = 1
    gate.repositories[REPOSITORY] = poisoned(Repository(name=REPOSITORY))
    for words in (
        ("show", NAME), ("show", NAME, "--logs"), ("show", "acme/shop#42"), ("watch", NAME, "--full"), ("list",),
        ("list", "verifications", "-R", "acme/shop"), ("ticket", "show", "acme/shop#T-1"), ("ticket", "list", "-R", "acme/shop"),
        ("change", "show", "acme/shop#42"), ("repo", "show", "acme/shop"), ("repo", "list"), ("events",),
        ("attestation", "list", "-R", "acme/shop"), ("attestation", "get", "1" * 64, "-R", "acme/shop"),
        ("review", NAME, "--retry"), ("cancel", NAME),
    ):  # fmt: skip
        for format_ in ((), ("--format", "json")):
            gate.lives[NAME] = [made]
            status, out, err = shell(*words, *format_)
            assert status in (0, 1, 3), (words, err)
            assert "GATE_CRASHED" not in err, (words, err)
            bad = {c for c in out + err if (ord(c) < 0x20 and c not in "\n\t") or c in "\x7f\x9b\u202e\u2066"}
            assert not bad, (words, bad)
    gate.faults["GetVerification"] = [Fault(grpc.StatusCode.NOT_FOUND, "X_NEW", EVIL, {"next_action": EVIL})]
    status, _, err = shell("show", NAME)
    assert status == 2
    assert "\x1b" not in err


@given(st.binary(max_size=400))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_message_of_the_wire_can_be_shown(data: bytes) -> None:
    from google.protobuf.message import DecodeError

    try:
        made = Verification.FromString(data)
    except DecodeError:
        made = Verification(
            name=NAME, findings=[Finding(message=data.decode("latin-1"), evidence=data.decode("latin-1"))]
        )
    text = report(made, logs=True)
    assert all(c in "\n\t" or (c >= " " and c not in "\x7f\x9b") for c in text)


def test_a_reader_that_goes_away_is_no_crash(gate: FakeGate, shell: Shell, tmp_path: Path) -> None:
    for key in range(30):
        shell("submit", "-R", "acme/shop", "--change", str(key), "--head", HEAD, "--ticket", "T-1")
    command = f"{sys.executable} -m gatekeeper list --format json; echo status $? >&2"
    done = subprocess.run(
        ["bash", "-c", f"({command}) | head -c 10"], capture_output=True, text=True, timeout=60, env=dict(os.environ)
    )
    assert "GATE_CRASHED" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_shows_one_table_that_is_drawn_again(gate: FakeGate, shell: Shell) -> None:
    shell(*SUBMIT)
    shell("submit", "-R", "acme/shop", "--change", "43", "--head", HEAD, "--ticket", "T-1")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gatekeeper", "watch", "acme/shop#42", "acme/shop#43"],
        stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # the other side was closed: the program ended
        pass
    finally:
        os.close(ours)
    assert process.wait(timeout=60) == 0
    text = shown.decode()
    assert text.count("\x1b[2A\x1b[J") == 5  # six snapshots; all but the first wipe two lines
    last = text.rpartition("\x1b[J")[2].split()
    assert last.count("accepted") == 2


# --- start and completion -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("--help",), ("check", "--help"), ("submit", "--help"), ("ticket", "--help")])
def test_help_loads_neither_grpc_nor_protobuf(words: tuple[str, ...]) -> None:
    code = (
        "import sys; sys.argv = ['gatekeeper', *sys.argv[1:]]\n"
        "from gatekeeper.cli.main import main\n"
        "status = main()\n"
        "heavy = [m for m in ('grpc', 'google.protobuf', 'sqlalchemy', 'dbos', 'cryptography', 'rich') if m in sys.modules]\n"
        "sys.exit(f'loaded {heavy}' if heavy or status else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "Usage:" in done.stdout


def test_the_list_of_commands_is_the_list_of_commands() -> None:
    import typer.main

    whole = typer.main.get_command(entry.build())
    assert set(whole.commands) == set(entry.COMMANDS)  # type: ignore[attr-defined]
    for name in entry.COMMANDS:
        assert name in typer.main.get_command(entry.build(name)).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("gatekeeper sub", ["submit"]),
        ("gatekeeper ticket ap", ["approve"]),
        ("gatekeeper submit --tick", ["--ticket", "--ticket-digest"]),
        ("gatekeeper list verif", ["verifications"]),
        ("gatekeeper completion z", ["zsh"]),
        ("gk attestation f", ["fetch"]),
    ],
)
def test_bash_really_completes(tmp_path: Path, typed: str, expected: list[str]) -> None:
    for program in ("gatekeeper", "gk"):
        script = tmp_path / program
        script.write_text(
            f'#!/bin/sh\nexec {sys.executable} -c "import sys; sys.argv[0] = \'{program}\'; from gatekeeper.cli.main import main; sys.exit(main())" "$@"\n'
        )
        script.chmod(0o755)
    words = typed.split(" ")
    name = words[0]
    shell_script = f"""
    eval "$({name} completion bash)"
    COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; COMP_LINE="{typed}"; COMP_POINT={len(typed)}
    set -- $(complete -p {name}); while [ "$1" != -F ]; do shift; done; function=$2
    $function {name} "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", shell_script], capture_output=True, text=True, timeout=60, check=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.stdout.split() == expected, done.stderr


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(shell: Shell, kind: str) -> None:
    status, out, _ = shell("completion", kind)
    assert status == 0
    assert "_GATEKEEPER_COMPLETE" in out
    assert "_GK_COMPLETE" in out


def test_a_fault_of_the_ticket_is_for_whoever_keeps_it() -> None:
    made = life(NAME, VERDICT_REJECTED)[-1]
    del made.findings[:]
    made.findings.append(Finding(code="NO_SUITE", category="ticket_invalid", effect=1, message="Nothing to run."))
    text = report(made)
    assert "The ticket is at fault, not the change." in text
    assert "gatekeeper ticket amend acme/shop#T-1 FILE" in text.replace("'", "")
    assert "Mend what the reasons name" not in text
    made.findings.append(Finding(code="TESTS_FAILED", category="tests_failed", effect=1, message="One."))
    assert "Mend what the reasons name" in report(made)


def test_runs_on_the_server_have_the_words_of_check() -> None:
    made = life(NAME, VERDICT_REJECTED)[-1]
    made.runs.add(suite="tests", role=Run.ROLE_BASE_INSTRUMENTS, exit=1)
    assert "tests on the merge with the target's tests: exit 1" in report(made)
