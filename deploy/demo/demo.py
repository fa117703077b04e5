"""The five-minute tour: a gate is started, agents submit twenty changes to a real library at once, and a branch demands
its verdicts.

Everything is real: the library comes from the package registry, the tests run in the sandbox, the statements are
signed and verified, git's own pre-receive hook decides. Only the agents are played, by small syntax-tree edits. What is
shown is asserted: the exit status is 0 only where all of it happened.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent))
import board as boards
import changes as change_plans
import redaction
import served as gates
import stage as stages
from changes import Made
from library import DemoError
from stage import Stage, git
from story import BOLD, RESET, expect, say, title

if TYPE_CHECKING:
    from gatekeeper.client import Finding, Verification

REPOSITORY = "demo/library"
IN_FULL = ("honest-fix", "false-claim", "skipped-tests", "scope-and-secret", "high-risk")
LONGEST = 600.0
"""Seconds that twenty verifications may take."""


@dataclass
class Submitted:
    """A change and what became of it."""

    made: Made
    verification: Verification
    submit_ms: float = 0.0


def prepare(gate: gates.Gate, stage: Stage) -> None:
    """Register the repository; have each plan approved by a person before anybody works on it."""
    title("A gate of its own, with everything in one process")
    say(f"   serving on {gate.address}")
    gate.client("operator").register_repository(
        REPOSITORY, stage.uri, target_refs=[b.ref for b in stage.branches.values()]
    )
    say(f"   {REPOSITORY} registered by the operator: {', '.join(sorted(stage.branches))} can be targets")
    for number, ticket in enumerate(change_plans.tickets(stage).values()):
        author = gate.client(change_plans.AGENTS[number % len(change_plans.AGENTS)])
        made = author.create_ticket(REPOSITORY, json.dumps(ticket).encode())
        approved = gate.client("reviewer").approve_ticket(made.name, made.digest, etag=made.etag)
        say(f'   {ticket["id"]} "{ticket["title"]}": approved by {approved.decider.subject}')


def submit_all(gate: gates.Gate, made: list[Made]) -> dict[str, Submitted]:
    """All changes at once, each from a thread of its agent, each watched until it is decided."""
    title(f"{len(made)} changes, submitted at once by {len(change_plans.AGENTS)} agents")
    table = boards.Board([boards.Row(m.plan.name, m.agent, m.plan.branch) for m in made])
    start, lock = threading.Barrier(len(made)), threading.Lock()
    done: dict[str, Submitted] = {}
    failed: list[str] = []
    for agent in change_plans.AGENTS:
        gate.client(agent)

    def one(change: Made) -> None:
        client = gate.client(change.agent)
        try:
            start.wait(60)
            begun = time.monotonic()
            stored = client.submit(
                repository=REPOSITORY, change=change.plan.name, head=change.head, ticket=change.plan.ticket,
                target=f"refs/heads/{change.plan.branch}", claim=change.claim,
            )  # fmt: skip
            spent = (time.monotonic() - begun) * 1000
            table.tell(change.plan.name, stored)
            last = stored
            for last in client.watch(stored.name, timeout=LONGEST):
                table.tell(change.plan.name, last)
            with lock:
                done[change.plan.name] = Submitted(change, last, spent)
        except Exception as error:  # told below, for all of them together
            with lock:
                failed.append(f"{change.plan.name}: {type(error).__name__}: {error}")

    begun = time.monotonic()
    threads = [threading.Thread(target=one, args=(m,), name=m.plan.name, daemon=True) for m in made]
    with table.shown():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    seconds = time.monotonic() - begun
    expect(not failed, f"no call fails; {'; '.join(failed[:3])}")
    spent = sorted(s.submit_ms for s in done.values())
    say(f"   all decided in {seconds:.0f} s: {table.counts()}; answers to Submit within {spent[-1]:.0f} ms")
    return done


def verdicts(done: dict[str, Submitted], made: list[Made]) -> None:
    """A line for each change, compared with what the gate has to say."""
    title("What the gate says")
    wrong = []
    for change in made:
        told = done[change.plan.name].verification
        primary = next((f for f in told.findings if f.primary), None)
        words = (
            f"{primary.category} / {primary.code}: {primary.message.splitlines()[0]}"
            if primary
            else "nothing against it"
        )
        say(f"   {boards.word(told):12} {change.plan.name:17} {words[:130]}")
        expected, categories = change.plan.expected, {f.category for f in _reasons(told)}
        if boards.word(told) != expected.verdict.upper() or not expected.categories <= categories:
            wrong.append(f"{change.plan.name} is {expected.verdict} {sorted(expected.categories) or ''}, not "
                         f"{boards.word(told)} {sorted(categories)}")  # fmt: skip
    expect(not wrong, "; ".join(wrong))
    heads = {d.verification.head_commit for d in done.values()}
    expect(len(heads) == len(made), "every change has a verdict of its own")


def _reasons(verification: Verification) -> list[Finding]:
    from gatekeeper.api.v1.verdict_pb2 import EFFECT_ADVISES

    return [f for f in verification.findings if f.effect != EFFECT_ADVISES]


def in_full(done: dict[str, Submitted]) -> None:
    """Five of them as their agents and reviewers see them."""
    for number, name in enumerate(IN_FULL, 1):
        told = done[name].verification
        title(f"{number}. {name}: {done[name].made.plan.words}")
        spent = sum(told.timings_ms.values()) / 1000
        say(f"   {BOLD}{boards.word(told)}{RESET}  {len(told.runs)} runs of the suite, {spent:.1f} s of work")
        for finding in _reasons(told)[:5]:
            where = f" {finding.path}{f':{finding.line}' if finding.line else ''}" if finding.path else ""
            say(f"   - {finding.category} / {finding.code}{where}")
            say(f"     {finding.message.splitlines()[0][:150]}")
            say(f"     -> {finding.next_action}")
        if told.repair_brief:
            say("   the repair brief, as the agent gets it:")
            lines = told.repair_brief.rstrip().splitlines()
            for line in lines[:24]:
                say(f"   | {line[:150]}".rstrip())
            if len(lines) > 24:
                say(f"   | ... {len(lines) - 24} more lines")
        expect(bool(told.repair_brief) is (boards.word(told) != "ACCEPTED"), "a repair brief for what did not pass")


def review(gate: gates.Gate, submitted: Submitted) -> Verification:
    """The reviewer approves the high-risk diff; the gate verifies it again, knowing of it."""
    from gatekeeper.client import ApiError, Review

    title("   The reviewer looks at the diff and approves it at the API")
    seen = submitted.verification
    decision = Review(
        kind=Review.KIND_APPROVE, verification=seen.name, ticket_digest=seen.ticket_digest,
        diff_digest=seen.diff_digest, comment="The roles are the right ones.",
    )  # fmt: skip
    try:
        gate.client(submitted.made.agent).create_review(decision)
        expect(False, "an agent cannot approve")
    except ApiError as error:
        say(f"   {submitted.made.agent} tries to approve its own change: {error.status} / {error.reason}")
        expect(error.reason == "ROLE_REQUIRED", "an agent is refused for its role")
    stored, change = gate.client("reviewer").create_review(decision)
    say(f"   {stored.reviewer.subject} approves the diff {seen.diff_digest[:12]}; the gate verifies the change again")
    expect(change.latest_verification != seen.name, "an approval leads to a verification of its own")
    again = gate.client("reviewer").wait(change.latest_verification, LONGEST)
    say(f"   {BOLD}{boards.word(again)}{RESET}")
    expect(boards.word(again) == "ACCEPTED" and again.current, "the approved change is accepted")
    return again


class Hook:
    """The protected repository's own check of every push."""

    def __init__(self, gate: gates.Gate, stage: Stage) -> None:
        self.gate, self.stage = gate, stage
        refs = [word for b in stage.branches.values() for word in ("--ref", b.ref)]
        self.enforced = self._trust("trust.toml", stage.uri, "--service", "--desk-reviewer", gates.REVIEWER, *refs)
        self.other_mode = self._trust("trust-local.toml", stage.uri, "--service", "--allow-mode", "local", *refs)
        self.local_key = self._trust("trust-check.toml", str(stage.protected), *refs)

    def _trust(self, name: str, repo: str, *args: str) -> Path:
        path = self.stage.folder / name
        path.write_text(self.gate.run("key", "trust", "--repo", repo, *args, shown=False).stdout, encoding="utf-8")
        return path

    def install(self, trust: Path) -> None:
        """Demand verdicts that this trust file accepts."""
        self.gate.run("hook", "install", "--repo", str(self.stage.protected), "--trust", str(trust), "--force")

    def push(self, head: str, branch: str, code: str, words: str) -> None:
        """Push a commit to a protected branch; `code` is the refusal that must come, empty where it must pass."""
        done = git(self.stage.work, "push", "origin", f"{head}:refs/heads/{branch}", ok=False)
        remote = [line for line in done.stderr.splitlines() if line.startswith("remote:") and line[7:].strip()]
        say(f"   {BOLD}{'pushed to ' + branch if done.returncode == 0 else 'refused'}{RESET}: {words}")
        for line in remote[:2]:
            say(f"      {line.rstrip()}")
        expect((done.returncode == 0) is not bool(code), words)
        expect(not code or any(f"[{code}]" in line for line in remote), f"{words}: refused for {code}")


def enforce(gate: gates.Gate, stage: Stage, done: dict[str, Submitted]) -> None:
    """Signed verdicts go to where the hook looks; then the server ends, and the proof stands without it."""
    title("The protected branches demand the signed verdict")
    honest, high, liar = done["honest-fix"].made, done["high-risk"].made, done["false-claim"].made
    hook = Hook(gate, stage)
    hook.install(hook.enforced)
    hook.push(honest.head, "main", "ATTESTATION_MISSING", "no verdict on the honest fix is in the repository yet")
    for change in (honest, high, liar):
        gate.run(
            "attestation", "fetch", "--repo", REPOSITORY, "--commit", change.head, "--git", str(stage.protected),
            who="enforcer",
        )  # fmt: skip
    say(f"   the server stopped in {gate.stop():.1f} s; what follows needs nothing but git and the trust file")
    for change in (honest, high):
        gate.run(
            "verify", "--repo", str(stage.protected), "--commit", change.head, "--ref", f"refs/heads/{change.plan.branch}",
            "--trust", str(hook.enforced),
        )  # fmt: skip
        say(f"   the signed verdict on {change.plan.name} verifies offline")
    hook.push(liar.head, "main", "ATTESTATION_FAILED", "the verdict on the false claim says no")
    hook.install(hook.other_mode)
    hook.push(honest.head, "main", "ATTESTATION_MODE", "this trust file does not allow mode enforced")
    local_verdict(gate, stage, done["fix-with-test"].made, hook)
    hook.install(hook.enforced)
    hook.push(honest.head, "main", "", "the honest fix, with its verdict")
    hook.push(high.head, "next", "", "the high-risk change, with its verdict and the reviewer's approval")


def local_verdict(gate: gates.Gate, stage: Stage, change: Made, hook: Hook) -> None:
    """A verdict of `gatekeeper check` has mode local, whatever it says."""
    ticket, claim = stage.folder / "ticket.json", stage.folder / "claim.json"
    ticket.write_text(json.dumps(change_plans.tickets(stage)[change.plan.ticket]), encoding="utf-8")
    claim.write_text(json.dumps(change.claim), encoding="utf-8")
    done = gate.run(
        "check", "--repo", str(stage.protected), "--target", change.plan.branch, "--head", change.head, "--ticket",
        str(ticket), "--claim", str(claim), "--publish", "--format", "json", "--quiet",
    )  # fmt: skip
    answer = json.loads(done.stdout)
    expect((answer["verdict"], answer["mode"]) == ("accepted", "local"), "check accepts in mode local")
    hook.install(hook.local_key)
    hook.push(
        change.head, "main", "ATTESTATION_MODE", "a verdict of `gatekeeper check`, where only enforced ones count"
    )


def audit(gate: gates.Gate) -> None:
    """The chain of decisions holds."""
    title("The record of every decision")
    done = gate.run("audit", "verify")
    for line in done.stdout.strip().splitlines()[:3]:
        say(f"   {line}")


def play(library: str, folder: Path, state: Path) -> None:
    """The whole story."""
    stage = stages.build(library, folder, state)
    token = change_plans.credential()
    made = change_plans.make(stage, token)
    expect(len({m.head for m in made}) == len(made) == 20, "twenty different commits")
    with gates.served(folder, state) as gate:
        prepare(gate, stage)
        done = submit_all(gate, made)
        verdicts(done, made)
        in_full(done)
        review(gate, done["high-risk"])
        redaction.prove(gate, [d.verification for d in done.values()], token, running=True)
        enforce(gate, stage, done)
        audit(gate)
    redaction.prove(gate, [d.verification for d in done.values()], token, running=False)


def main(clock: Callable[[], float] = time.monotonic) -> int:
    """Run the demo; 0 when everything went as it should."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", default="cachetools", help="a small library whose source distribution ships its tests")
    parser.add_argument("--keep", action="store_true", help="keep the folder to look around in it")
    args = parser.parse_args()
    from gatekeeper.errors import GatekeeperError

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the server must not outlive its demo
    folder, state = stages.folders()
    begun = clock()
    try:
        play(args.lib, folder, state)
    except (DemoError, GatekeeperError, OSError, subprocess.SubprocessError) as error:
        print(f"\ndemo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndemo: stopped", file=sys.stderr)
        return 1
    finally:
        if args.keep:
            say(f"\nkept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    title(f"Done in {clock() - begun:.0f} s")
    say("   What was honest was accepted, one change waited for a person, every other one was stopped with its reason.")
    say(
        "   Try it on your own repository: .venv/bin/gatekeeper init --help, .venv/bin/gatekeeper serve --help, README.md"
    )
    return 0


if __name__ == "__main__":
    os.environ.pop("GATEKEEPER_CONFIG", None)
    sys.exit(main())
