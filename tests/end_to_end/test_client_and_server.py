"""The client and the command line against `gatekeeper serve`: from a registered repository to a verdict that a hook proves."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from served_gate import BUGGY, FIXED, TICKET, Served, Work, git, prepared, served_gate

from gatekeeper.client import (
    ApiError,
    Artifact,
    AsyncClient,
    ChangeState,
    Client,
    Verdict,
    accepted,
    change_state_of,
    state_of,
    ticket_state_of,
    verdict_of,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory, state_dir: Path) -> Iterator[Served]:
    with served_gate(tmp_path_factory.mktemp("served"), state_dir / "served", "--environment", "host") as made:
        yield made


@pytest.fixture(scope="module")
def work(gate: Served, tmp_path_factory: pytest.TempPathFactory) -> Work:
    return prepared(gate, tmp_path_factory.mktemp("work"))


def client(gate: Served, who: str = "agent") -> Client:
    return Client(gate.address, token=gate.tokens[who])


def test_the_example_of_the_readme_runs_as_it_stands(gate: Served, work: Work, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(from gatekeeper\.client import .*?)```", readme, re.DOTALL)
    assert found is not None
    example = found[1]
    assert len([row for row in example.splitlines() if row.strip()]) <= 12
    (tmp_path / "claim.json").write_text(work.claim.read_text())
    (tmp_path / "token").write_text(gate.tokens["agent"] + "\n")
    for theirs, ours in (("127.0.0.1:8443", gate.address), ("HEAD_COMMIT", work.head)):
        assert theirs in example
        example = example.replace(theirs, ours)
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, timeout=120,
        env={**gate.environment, "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["may land"]
    for words in ("Verdict.NEEDS_HUMAN", "Verdict.REJECTED", "repair_brief", "needs", "else:"):
        assert words in example


def test_a_rejection_comes_back_with_findings_and_a_repair_brief(gate: Served, work: Work) -> None:
    git(work.repository, "checkout", "-q", "-B", "bad", "main")
    (work.repository / "src/one.py").write_text(BUGGY.replace("- b", "* b"))
    git(work.repository, "commit", "-q", "-am", "Mend nothing")
    head = git(work.repository, "rev-parse", "HEAD")
    with client(gate) as api:
        made = api.submit(repository="acme/shop", change="bad", head=head, ticket="T-1")
        done = api.wait(made.name, timeout=100)
        assert verdict_of(done) is Verdict.REJECTED
        assert done.findings
        assert done.repair_brief
        assert change_state_of(api.get_change("acme/shop#bad")) is ChangeState.VERIFICATION_FAILED
    shown = gate.cli("show", "acme/shop#bad", as_="agent")
    assert shown.returncode == 1
    assert "REJECTED" in shown.stdout
    assert "For the agent:" in shown.stdout


def test_the_same_request_id_is_one_submission_in_any_process(gate: Served, work: Work) -> None:
    request_id = "0b9d8d3c-6c6a-4b54-9d6a-0a4a6d2f9f11"
    words = ("submit", "-R", "acme/shop", "--change", "twice", "--head", work.head, "--ticket", "T-1",
             "--claim", str(work.claim), "--request-id", request_id)  # fmt: skip
    first, second = gate.cli(*words, as_="agent"), gate.cli(*words, as_="agent")
    assert (first.returncode, first.stdout) == (0, second.stdout)
    assert gate.cli("watch", first.stdout.strip(), "--timeout", "100", as_="agent").returncode == 0


def test_the_client_for_asyncio_works_as_well(gate: Served, work: Work) -> None:
    async def whole() -> bool:
        async with AsyncClient(gate.address, token=gate.tokens["agent"]) as api:
            made = await api.submit(
                repository="acme/shop", change="async", head=work.head, ticket="T-1", claim=work.claim
            )
            return accepted(await api.wait(made.name, timeout=100))

    assert asyncio.run(whole())


def test_verdicts_are_fetched_to_the_notes_where_verify_finds_them(gate: Served, work: Work) -> None:
    done = gate.cli(
        "submit", "-R", "acme/shop", "--change", "signed", "--head", work.head, "--ticket", "T-1", "--claim",
        str(work.claim), "--watch", "--timeout", "100", as_="agent",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    fetched = gate.cli(
        "attestation", "fetch", "-R", "acme/shop", "--commit", work.head, "--git", str(work.repository), as_="enforcer"
    )
    assert fetched.returncode == 0, fetched.stderr
    notes = git(work.repository, "notes", "--ref=refs/notes/attestations", "show", work.head).splitlines()
    with client(gate, "enforcer") as api:
        for listed in api.list_attestations("acme/shop", subject_commit=work.head, current_only=True):
            assert api.get_attestation(listed.name).bundle.decode().strip() in notes


def test_a_large_claim_is_uploaded_and_a_download_is_compared(gate: Served, work: Work) -> None:
    padded = {**json.loads(work.claim.read_text()), "risks": "x" * (1024 * 1024 + 5)}
    with client(gate) as api:
        made = api.submit(repository="acme/shop", change="large", head=work.head, ticket="T-1", claim=padded)
        kept = api.upload(work.claim, Artifact.KIND_CLAIM)
        assert api.download(kept.name) == work.claim.read_bytes()
        api.wait(made.name, timeout=100)


def test_refusals_come_with_the_servers_reason(gate: Served, work: Work) -> None:
    with client(gate) as api, pytest.raises(ApiError) as told:
        api.submit(repository="acme/shop", change="x", head=work.head, ticket="T-77")
    assert (told.value.reason, told.value.status) == ("TICKET_UNKNOWN", "NOT_FOUND")
    with Client(gate.address, token="gk_" + "x" * 49) as api, pytest.raises(ApiError, match="CREDENTIAL_INVALID"):
        api.get_change("acme/shop#x")
    with Client(gate.address) as api, pytest.raises(ApiError, match="CREDENTIAL_MISSING"):
        next(api.list_changes())
    assert gate.cli("events", as_="agent").returncode == 2


def test_a_question_is_answered_by_a_reviewer(gate: Served, work: Work) -> None:
    with client(gate) as api:
        change, question = api.raise_question("acme/shop#asked", "Which of the two?", ticket="T-1")
        assert change_state_of(change) is ChangeState.HUMAN_DECISION_NEEDED
        assert api.get_change("acme/shop#asked").open_questions[0].id == question.id
        assert change_state_of(api.abandon_change("acme/shop#asked")) is ChangeState.ABANDONED


def test_an_amended_ticket_must_be_approved_anew(gate: Served, work: Work, tmp_path: Path) -> None:
    file = tmp_path / "t2.json"
    file.write_text(json.dumps({**TICKET, "id": "T-2"}))
    assert gate.cli("ticket", "create", str(file), "-R", "acme/shop", as_="agent").returncode == 0
    with client(gate, "reviewer") as api:
        seen = api.get_ticket("acme/shop#T-2")
        api.approve_ticket(seen.name, seen.digest)
    file.write_text(json.dumps({**TICKET, "id": "T-2", "goal": "other"}))
    assert gate.cli("ticket", "amend", "acme/shop#T-2", str(file), as_="agent").returncode == 0
    with client(gate) as api:
        made = api.get_ticket("acme/shop#T-2")
        assert (made.revision, ticket_state_of(made)) == (2, ticket_state_of(type(made)(state=made.STATE_PROPOSED)))
        with pytest.raises(ApiError, match="TICKET_NOT_APPROVED"):
            api.submit(repository="acme/shop", change="t2", head=work.head, ticket="T-2")


def test_pages_of_the_real_server_join(gate: Served, work: Work) -> None:
    with client(gate, "operator") as api:
        everything = [e.sequence for e in api.list_events()]
        assert [e.sequence for e in api.list_events(page_size=2)][: len(everything)] == everything
        assert everything == sorted(set(everything))
        assert [e.sequence for e in api.list_audit_entries(page_size=3)][:3] == [1, 2, 3]
        assert api.healthy()


def test_several_are_watched_at_once(gate: Served, work: Work) -> None:
    names = []
    with client(gate) as api:
        for number in range(3):
            git(work.repository, "checkout", "-q", "-B", f"many{number}", "main")
            (work.repository / "src/one.py").write_text(FIXED + f"# {number}\n")
            git(work.repository, "commit", "-q", "-am", f"Mend {number}")
            head = git(work.repository, "rev-parse", "HEAD")
            names.append(
                api.submit(
                    repository="acme/shop", change=f"many-{number}", head=head, ticket="T-1",
                    claim={**json.loads(work.claim.read_text()), "head_sha": head},
                ).name
            )  # fmt: skip
    done = gate.cli("watch", *names, "--format", "json", "--timeout", "110", as_="agent")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    last = {row["name"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert {row["verdict"] for row in last.values()} == {"VERDICT_ACCEPTED"}
    with client(gate) as api:
        assert all(accepted(api.get_verification(n)) for n in names)
        assert {state_of(v) for v in api.list_verifications("acme/shop#many-0")} == {
            state_of(api.get_verification(names[0]))
        }


def test_a_person_decides_through_the_command_line(gate: Served, work: Work, tmp_path: Path) -> None:
    file = tmp_path / "t3.json"
    file.write_text(json.dumps({**TICKET, "id": "T-3", "risk": "high"}))
    shown = gate.cli("ticket", "create", str(file), "-R", "acme/shop", "--format", "json", as_="agent")
    digest = json.loads(shown.stdout)["digest"]
    assert gate.cli("ticket", "approve", "acme/shop#T-3", "--digest", digest, as_="reviewer").returncode == 0
    words = ("submit", "-R", "acme/shop", "--change", "risky", "--head", work.head, "--ticket", "T-3", "--claim",
             str(work.claim))  # fmt: skip
    asked = gate.cli(*words, "--watch", "--timeout", "100", as_="agent")
    assert asked.returncode == 4, asked.stdout + asked.stderr
    assert "A PERSON MUST DECIDE" in asked.stdout
    with client(gate) as api:
        name = api.get_change("acme/shop#risky").latest_verification
    refused = gate.cli("review", name, "--approve", as_="agent")
    assert refused.returncode == 2
    assert "ROLE_REQUIRED" in refused.stderr
    seen = api_needs(gate, name)
    assert seen >= 1
    done = gate.cli("review", name, "--approve", "--reason", "read it", as_="reviewer")
    assert done.returncode == 0, done.stdout + done.stderr
    with client(gate) as api:
        change = api.get_change("acme/shop#risky")
        latest = api.wait(change.latest_verification, timeout=100)
        assert verdict_of(latest) in (Verdict.ACCEPTED, Verdict.NEEDS_HUMAN)
        assert sum(n.count for n in latest.needs) < seen


def test_an_acceptance_that_a_reviewer_sent_back_is_no_pass(gate: Served, work: Work) -> None:
    git(work.repository, "checkout", "-q", "-B", "sent-back", "main")
    (work.repository / "src/one.py").write_text(FIXED + "# to be sent back\n")
    git(work.repository, "commit", "-q", "-am", "Mend add")
    head = git(work.repository, "rev-parse", "HEAD")
    with client(gate) as api:
        made = api.submit(
            repository="acme/shop", change="sent-back", head=head, ticket="T-1",
            claim={**json.loads(work.claim.read_text()), "head_sha": head},
        )  # fmt: skip
        assert accepted(api.wait(made.name, timeout=100))
        done = gate.cli("review", made.name, "--request-changes", "--reason", "name it better", as_="reviewer")
        assert done.returncode == 0, done.stdout + done.stderr
        assert not accepted(api.get_verification(made.name))
        assert not accepted(api.wait(made.name, timeout=100))
    for words in (("show", made.name), ("show", "acme/shop#sent-back"), ("watch", made.name, "--full")):
        told = gate.cli(*words, as_="agent")
        assert told.returncode == 1, told.stdout + told.stderr
        assert "name it better" in told.stdout
        assert "Answer the reviewer's words" in told.stdout


def test_a_head_that_was_never_pushed_says_to_push_it(gate: Served, work: Work) -> None:
    words = ("submit", "-R", "acme/shop", "--change", "unpushed", "--head", "1" * 40, "--ticket", "T-1")
    done = gate.cli(*words, "--claim", str(work.claim), "--watch", "--timeout", "100", as_="agent")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "HEAD_NOT_FOUND" in done.stdout
    told = " ".join(done.stdout.split())
    assert "Push the commit to where the gate fetches from" in told
    assert "then submit again" in told


def api_needs(gate: Served, name: str) -> int:
    """How many people still have to decide."""
    with client(gate) as api:
        return sum(n.count for n in api.get_verification(name).needs)
