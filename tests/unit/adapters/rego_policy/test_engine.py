"""The engine around the policy: crashes, limits, threads, forks, hostile messages. Nothing of it ever passes a change."""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import threading
from pathlib import Path

import pytest
from policy_documents import decisions, example

from gatekeeper.adapters.rego_policy.engine import RegoPolicy
from gatekeeper.adapters.rego_policy.policy_worker import WORKER
from gatekeeper.config import policy_bundle
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import CouldNotCheck
from gatekeeper.worker_process import MAX_MESSAGE_BYTES, Worker, WorkerError

NOT_EMPTY = "gatekeeper/rules/change/not_empty/not_empty.rego"


@pytest.fixture
def policy():
    policy = RegoPolicy(policy_bundle())
    yield policy
    policy.close()


@pytest.fixture
def worker():
    worker = Worker(WORKER, "regopy")
    yield worker
    worker.kill()


def edited(tmp_path, body):
    """A copy of the bundle whose rule change/not_empty holds only with this body; harmless on an empty input."""
    bundle = Path(shutil.copytree(policy_bundle(), tmp_path / "bundle"))
    text = (bundle / NOT_EMPTY).read_text()
    old = "satisfied if input.observed.paths_total > 0"
    assert old in text
    (bundle / NOT_EMPTY).write_text(
        text.replace(old, f"satisfied if {{\n\tinput.observed.paths_total > 0\n\t{body}\n}}")
    )
    return bundle


def pid_of(policy):
    assert policy._worker is not None
    return policy._worker.pid


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_killed_worker_is_replaced(policy):
    assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED
    first = pid_of(policy)
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED
    assert pid_of(policy) != first


def test_worker_that_dies_while_it_is_asked_gives_no_answer_and_the_next_call_works(policy):
    policy.decide(example("decision"))
    stopped = pid_of(policy)
    os.kill(stopped, signal.SIGSTOP)
    os.waitid(os.P_PID, stopped, os.WSTOPPED | os.WNOWAIT)
    caught = []

    def ask():
        try:
            policy.decide(example("decision"))
        except CouldNotCheck as error:
            caught.append(error.code)

    asking = threading.Thread(target=ask)
    asking.start()
    os.kill(stopped, signal.SIGKILL)
    asking.join(30)
    # Killed before it was asked it is replaced at once, killed after it the answer is missing; never anything else.
    assert caught in ([], ["POLICY_FAILED"])
    assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED


def test_worker_that_is_gone_in_the_middle_of_a_message_is_an_error(worker):
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerError):
        worker.ask({"modules": []}, 5.0)
    assert not worker.usable


def test_silent_worker_is_killed_at_the_wall_limit(tmp_path):
    policy = RegoPolicy(policy_bundle(), wall_s=4.0)
    policy.decide(example("decision"))
    silent = pid_of(policy)
    os.kill(silent, signal.SIGSTOP)
    with pytest.raises(CouldNotCheck, match="killed") as caught:
        policy.decide(example("decision"))
    assert caught.value.code == "POLICY_FAILED"
    assert not alive(silent)
    assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED
    policy.close()


def test_rule_that_takes_all_memory_ends_its_worker_only(tmp_path):
    greedy = edited(
        tmp_path, 'count(concat("", [s | some _ in numbers.range(1, 200000); s := sprintf("%0300d", [1])])) > 0'
    )
    policy = RegoPolicy(greedy, memory_mib=96, wall_s=10.0)
    with pytest.raises(CouldNotCheck) as caught:
        policy.decide(example("decision"))
    assert caught.value.code == "POLICY_FAILED"
    empty = example("decision")
    empty["observed"]["paths_total"] = 0
    assert policy.decide(empty).verdict is Verdict.REJECTED
    policy.close()


def test_threads_get_their_own_answers(policy):
    wanted = {name: d for name, d in decisions().items() if not name.startswith("accepted_")}
    wrong = []

    def ask(name, document):
        for _ in range(10):
            verdict = policy.decide(document).verdict.value
            if not name.startswith(verdict):
                wrong.append((name, verdict))

    threads = [threading.Thread(target=ask, args=pair) for pair in wanted.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(t.is_alive() for t in threads)
    assert wrong == []


def test_fork_gets_a_worker_of_its_own_and_leaves_its_parents_alone(policy):
    policy.decide(example("decision"))
    mine = pid_of(policy)
    child = os.fork()
    if child == 0:
        good = False
        try:
            good = policy.decide(example("decision")).verdict is Verdict.ACCEPTED and pid_of(policy) != mine
            policy.close()
        finally:
            os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert alive(mine)
    assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED
    assert pid_of(policy) == mine


def test_close_leaves_no_process_and_refuses_further_calls():
    policy = RegoPolicy(policy_bundle())
    policy.decide(example("decision"))
    pid = pid_of(policy)
    policy.close()
    policy.close()
    assert not alive(pid)
    with pytest.raises(CouldNotCheck, match="closed"):
        policy.decide(example("decision"))


def test_close_right_after_warm_leaves_no_process():
    policy = RegoPolicy(policy_bundle())
    policy.warm()
    policy.warm()
    assert policy._warming is not None
    policy._warming.result(30)
    pid = pid_of(policy)
    policy.close()
    assert not alive(pid)


def test_input_over_the_cap_is_refused_and_the_worker_lives(policy):
    policy.decide(example("decision"))
    pid = pid_of(policy)
    with pytest.raises(CouldNotCheck, match="bytes, more than"):
        policy.decide(example("decision") | {"x": "a" * MAX_MESSAGE_BYTES})
    assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED
    assert pid_of(policy) == pid


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"x", object()])
def test_input_that_is_no_json_is_refused(policy, value):
    with pytest.raises(CouldNotCheck) as caught:
        policy.decide(example("decision") | {"x": value})
    assert caught.value.code == "POLICY_FAILED"


@pytest.mark.parametrize(
    "message",
    [
        struct.pack(">I", MAX_MESSAGE_BYTES + 1),
        struct.pack(">I", 4) + b"null",
        struct.pack(">I", 3) + b"{\x00}",
        struct.pack(">I", 2) + b"\xff\xff",
    ],
)
def test_worker_ends_on_a_message_that_is_none(worker, message):
    os.set_blocking(worker._in.fileno(), True)
    os.write(worker._in.fileno(), message)
    assert worker._process.wait(30) == 0


@pytest.mark.parametrize(
    "said",
    [
        struct.pack(">I", MAX_MESSAGE_BYTES + 1),
        struct.pack(">I", 8) + b"{}",
        struct.pack(">I", 4) + b"nope",
        struct.pack(">I", 2) + b"[]",
        struct.pack(">I", 2) + b"{}",
        b"\x00",
        b"",
    ],
)
def test_answer_that_is_none_is_an_error(worker, said):
    """The parent's end is given another process' words: what a broken worker might say."""
    reading, writing = os.pipe()
    os.write(writing, said)
    os.close(writing)
    worker._out.close()
    worker._out = os.fdopen(reading, "rb", buffering=0)
    with pytest.raises(WorkerError):
        worker.ask({"entrypoint": "x", "input": {}}, 5.0)


def test_worker_has_no_environment_no_files_and_few_descriptors(policy):
    policy.decide(example("decision"))
    proc = Path(f"/proc/{pid_of(policy)}")
    assert b"PATH=" not in (proc / "environ").read_bytes()
    limits = {line[:26].strip(): line[26:].split()[0] for line in (proc / "limits").read_text().splitlines()[1:]}
    assert limits["Max file size"] == "0"
    assert limits["Max core file size"] == "0"
    assert int(limits["Max open files"]) <= 16
    assert limits["Max address space"] != "unlimited"
    assert len(os.listdir(proc / "fd")) <= 6


def test_bundle_with_http_send_is_refused_by_name(tmp_path):
    bundle = edited(tmp_path, 'http.send({"method": "GET", "url": "http://127.0.0.1:1/"}).status_code == 200')
    capabilities = json.loads((bundle / "capabilities.json").read_text())
    capabilities["builtins"].append({"name": "http.send", "decl": {"type": "function"}})
    (bundle / "capabilities.json").write_text(json.dumps(capabilities))
    policy = RegoPolicy(bundle)
    with pytest.raises(CouldNotCheck) as caught:
        policy.decide(example("decision"))
    policy.close()
    assert caught.value.code == "POLICY_UNUSABLE"
    assert "not_empty.rego" in caught.value.message
