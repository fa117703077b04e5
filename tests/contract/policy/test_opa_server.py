"""The OPA server as an untrusted narrator: each way to answer wrongly is no answer, the right one beside it passes."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
from pathlib import Path

import pytest
from misbehaving_http import Between
from opa_program import opa_program
from policy_documents import example

from gatekeeper.adapters.opa_policy import NamedServer, OpaPolicy
from gatekeeper.adapters.opa_policy.server import StartedServer, find_opa
from gatekeeper.adapters.rego_policy.loader import load_bundle
from gatekeeper.config import policy_bundle
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import ConfigurationError, CouldNotCheck

WALL_S = 0.6


@pytest.fixture(scope="module")
def upstream():
    server = StartedServer(opa_program(), load_bundle(policy_bundle()), 5.0)
    yield server
    server.stop()


@pytest.fixture
def between(upstream):
    between = Between(upstream.socket)
    yield between
    between.close()


def named(between, **more):
    return OpaPolicy(lambda: load_bundle(policy_bundle()), NamedServer(between.url), wall_s=5.0, **more)


def refusal(policy):
    with pytest.raises(CouldNotCheck) as caught:
        policy.decide(example("decision"))
    assert caught.value.blame == "gate"
    return caught.value


def spoiled(change):
    """Bend decisions alone: the server looks right until it is asked."""

    def bend(path, answer, handler):
        return change(answer, handler) if "/data/gatekeeper/decide" in path else answer

    return bend


def result(value):
    def change(answer, _handler):
        document = json.loads(answer[2])
        document["result"] = value(document.get("result"))
        return answer[0], answer[1], json.dumps(document).encode()

    return change

    return None


def drip(answer, handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(answer[2])))
    handler.end_headers()
    handler.wfile.write(answer[2][:10])
    handler.wfile.flush()
    return  # the connection closes in the middle of the body


FAULTS = {
    "500": lambda a, _h: (500, a[1], b'{"code": "internal_error", "message": "no"}'),
    "404": lambda a, _h: (404, a[1], b"{}"),
    "redirect": lambda a, _h: (302, {"Location": "http://127.0.0.1:9/"}, b""),
    "undefined": lambda a, _h: (200, a[1], json.dumps({k: v for k, v in json.loads(a[2]).items() if k != "result"}).encode()),
    "not json": lambda a, _h: (200, a[1], b"<html>accepted</html>"),
    "empty": lambda a, _h: (200, a[1], b""),
    "a list": lambda a, _h: (200, a[1], b"[]"),
    "truncated": drip,
    "cut json": lambda a, _h: (200, a[1], a[2][:-20]),
    "duplicate key": lambda a, _h: (200, a[1], a[2].replace(b'{"provenance"', b'{"result": {}, "provenance"', 1)),
    "nan": lambda a, _h: (200, a[1], a[2].replace(b'"rules_expected":15', b'"rules_expected":NaN')),
    "too large": lambda a, _h: (200, a[1], b" " * (9 << 20) + a[2]),
    "null": result(lambda _r: None),
    "true": result(lambda _r: True),
    "rules missing": result(lambda r: {**r, "rules_evaluated": 1}),
    "accepted with violations": result(lambda r: {**r, "violations": [{"code": "X", "message": "m", "rule": "r", "role": ""}]}),
    "unknown verdict": result(lambda r: {**r, "verdict": "fine"}),
    "hangs up": lambda _a, _h: None,
    "no provenance": lambda a, _h: (200, a[1], json.dumps({"result": json.loads(a[2])["result"]}).encode()),
    "other revision": lambda a, _h: (200, a[1], a[2].replace(load_bundle(policy_bundle()).id.digest.encode(), b"0" * 64)),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_answer_is_no_answer_and_the_right_one_after_it_passes(between, fault):
    policy = named(between)
    assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED
    between.bend = spoiled(FAULTS[fault])
    assert refusal(policy).code == "POLICY_FAILED"
    between.bend = lambda _p, a, _h: a
    assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED
    policy.close()


@pytest.mark.parametrize("part", ["headers", "body"])
def test_slow_answer_is_no_answer(between, part):
    def change(answer, handler):
        if part == "body":
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(answer[2])))
            handler.end_headers()
            handler.wfile.write(answer[2][:5])
            handler.wfile.flush()
        between.released.wait(20)

    policy = OpaPolicy(lambda: load_bundle(policy_bundle()), NamedServer(between.url), wall_s=30.0)
    assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED
    policy.close()
    # Another one, since the first answer may take what it takes on a busy machine.
    policy = OpaPolicy(lambda: load_bundle(policy_bundle()), NamedServer(between.url), wall_s=WALL_S)
    between.bend = spoiled(change)
    assert "no answer within" in str(refusal(policy)) or part == "body"
    policy.close()


def test_nobody_there_is_no_answer(between):
    policy = named(between)
    between.close()
    assert refusal(policy).code == "POLICY_FAILED"
    policy.close()


def other(tmp_path, path, change):
    bundle = Path(shutil.copytree(policy_bundle(), tmp_path / "bundle"))
    file = bundle / path
    file.write_text(change(file.read_text() if file.exists() else ""))
    return bundle


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("gatekeeper/rules/change/not_empty/not_empty.rego", lambda s: s + "\n# edited\n"),
        ("gatekeeper/rules/change/not_empty/more.rego", lambda _s: "package gatekeeper.more\n\nx := 1\n"),
        ("gatekeeper/config/data.json", lambda s: s.replace('"high"', '"low"', 1)),
    ],
)
def test_server_with_another_bundle_of_the_same_revision_is_refused(tmp_path, path, change):
    """The revision is a word that anybody can write: the content is compared."""
    bundle = other(tmp_path, path, change)
    server = StartedServer(opa_program(), load_bundle(bundle), 5.0)
    between = Between(server.socket)
    digest, expected = load_bundle(bundle).id.digest.encode(), load_bundle(policy_bundle()).id.digest.encode()
    between.bend = lambda _p, a, _h: (a[0], a[1], a[2].replace(digest, expected))
    policy = named(between)
    assert refusal(policy).code == "POLICY_UNUSABLE"
    policy.close()
    between.close()
    server.stop()


def test_named_server_is_compared_again_after_a_while(between):
    policy = named(between, recheck_s=0.0)
    policy.decide(example("decision"))
    asked = len([p for p, _ in between.seen if "policies" in p])
    policy.decide(example("decision"))
    assert len([p for p, _ in between.seen if "policies" in p]) == asked + 1
    policy.close()


def test_proxies_of_the_environment_are_not_used_and_the_token_goes_along(between, monkeypatch, tmp_path):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    token = tmp_path / "token"
    token.write_text("s3cret\n")
    policy = OpaPolicy(lambda: load_bundle(policy_bundle()), NamedServer(between.url, token_file=token))
    assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED
    assert all(headers.get("Authorization") == "Bearer s3cret" for _, headers in between.seen)
    policy.close()


@pytest.mark.parametrize(
    "url",
    [
        "http://opa.example:8181",
        "ftp://127.0.0.1",
        "http://",
        "http://127.0.0.1/x",
        "http://a:b@127.0.0.1",
        "http://[",
        "x",
    ],
)
def test_addresses_that_are_refused(url):
    with pytest.raises(ConfigurationError) as caught:
        NamedServer(url)
    assert caught.value.code == "POLICY_SERVER_ADDRESS"
    for good in ("http://127.0.0.1:8181", "http://[::1]:8181", "http://localhost:1/", "https://opa.example"):
        assert NamedServer(good)


def children(pid):
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(p) for p in found]


@contextlib.contextmanager
def watched(pid):
    """Handles of the children of `pid`, taken while they live: a number may be given to another process later."""
    handles = [os.pidfd_open(child) for child in children(pid)]
    try:
        yield handles
    finally:
        for handle in handles:
            os.close(handle)


def end(handles):
    """True once every process has ended. The kernel tells it, so a slow machine only makes this wait longer."""
    waiting = select.poll()
    for handle in handles:
        waiting.register(handle, select.POLLIN)
    left = set(handles)
    while left:
        told = waiting.poll(60_000)
        if not told:
            return False
        for handle, _ in told:
            waiting.unregister(handle)
            left.discard(handle)
    return True


def test_started_server_ends_with_the_engine_and_is_replaced_when_it_dies():
    policy = OpaPolicy(lambda: load_bundle(policy_bundle()), opa_program())
    assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED
    first = policy._started
    place = first.socket.parent
    assert place.stat().st_mode & 0o077 == 0
    os.killpg(first.pid, signal.SIGKILL)
    first._process.wait()
    assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED
    second = policy._started
    assert second.pid != first.pid
    with watched(second.pid) as below:
        assert below
        policy.close()
        assert end(below)
    assert not place.exists()
    assert not second.socket.parent.exists()


def test_started_server_dies_with_a_gate_that_is_killed():
    server = StartedServer(opa_program(), load_bundle(policy_bundle()), 5.0)
    with watched(server.pid) as below:
        assert below
        server._process.stdin.close()  # what the kernel does when the gate is gone
        server._process.wait(30)
        assert end(below)
    server.stop()


def test_missing_program_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_opa(tmp_path) is None
    policy = OpaPolicy(lambda: load_bundle(policy_bundle()), None)
    error = refusal(policy)
    assert error.code == "POLICY_UNUSABLE"
    assert "PATH" in error.message
    policy.close()


def test_program_that_is_not_opa_is_no_server(tmp_path):
    fake = tmp_path / "opa"
    fake.write_text("#!/bin/sh\necho no such option; exit 2\n")
    fake.chmod(0o755)
    policy = OpaPolicy(lambda: load_bundle(policy_bundle()), fake)
    error = refusal(policy)
    assert error.code == "POLICY_FAILED"
    assert "no such option" in error.message
    policy.close()
