"""Every engine of the policy gives the same answers to the same documents, and none where there is none."""

from __future__ import annotations

import importlib.util
import math
import shutil
from pathlib import Path

import pytest
from opa_program import opa_program
from policy_documents import digest, everything, example

from gatekeeper.adapters.opa_policy import OpaPolicy
from gatekeeper.adapters.rego_policy.engine import RegoPolicy
from gatekeeper.adapters.rego_policy.loader import load_bundle
from gatekeeper.config import policy_bundle
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import CouldNotCheck

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
DECIDE = "gatekeeper/decide/v1/result"
NOT_EMPTY = "gatekeeper/rules/change/not_empty/not_empty.rego"
OLD = "satisfied if input.observed.paths_total > 0"

_spec = importlib.util.spec_from_file_location("make_policy_parity", GOLDEN / "make_policy_parity.py")
assert _spec is not None
assert _spec.loader is not None
parity = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(parity)


def make(engine: str, directory: Path, **limits):
    if engine == "embedded":
        return RegoPolicy(directory, **limits)
    return OpaPolicy(lambda: load_bundle(directory), opa_program(), **limits)


@pytest.fixture(scope="module", params=["embedded", "opa"])
def engine(request):
    made = make(request.param, policy_bundle())
    yield made
    made.close()


@pytest.fixture(params=["embedded", "opa"])
def kind(request):
    if request.param == "opa":
        opa_program()
    return request.param


def edited(tmp_path, body):
    bundle = Path(shutil.copytree(policy_bundle(), tmp_path / "bundle"))
    text = (bundle / NOT_EMPTY).read_text()
    assert OLD in text
    (bundle / NOT_EMPTY).write_text(
        text.replace(OLD, f"satisfied if {{\n\tinput.observed.paths_total > 0\n\t{body}\n}}")
    )
    return bundle


def refusal(call, *args):
    with pytest.raises(CouldNotCheck) as caught:
        call(*args)
    assert caught.value.blame == "gate"
    return caught.value.code


def test_identity(engine):
    assert engine.bundle() == load_bundle(policy_bundle()).id


def test_honest_change_is_accepted(engine):
    assert engine.decide(example("decision")).verdict is Verdict.ACCEPTED
    assert engine.plan(example("plan")).rules_expected > 0


@pytest.mark.parametrize("entrypoint", ["plan", "decide"])
def test_golden_vectors(engine, entrypoint):
    """The whole answer, not only its verdict, is OPA's own golden one."""
    golden = parity.read()[entrypoint]
    documents = {n: d for n, d in everything()[entrypoint].items() if int(n, 16) % 24 == 0}
    assert len(documents) > 30
    query = f"gatekeeper/{entrypoint}/v1/result"
    different = {
        name: got
        for name, d in documents.items()
        if (got := parity.sealed(engine._evaluate(query, d)[0])) != golden[name]
    }
    assert different == {}


def test_what_is_no_json_is_no_question(engine):
    assert refusal(engine.decide, {"now": object()}) == "POLICY_FAILED"
    assert refusal(engine.decide, {"now": math.nan}) == "POLICY_FAILED"
    assert engine.decide(example("decision")).verdict is Verdict.ACCEPTED


def test_empty_input_is_never_accepted(engine):
    assert engine.decide({}).verdict.rank <= Verdict.UNDECIDED.rank


def test_bundle_that_is_unsound_is_refused_alike(kind, tmp_path):
    bundle = edited(tmp_path, 'http.send({"url": "http://127.0.0.1", "method": "GET"}).status_code == 200')
    policy = make(kind, bundle)
    assert refusal(policy.bundle) == "POLICY_UNUSABLE"
    assert refusal(policy.decide, example("decision")) == "POLICY_UNUSABLE"
    policy.close()


def test_bundle_that_does_not_compile_is_no_engine(kind, tmp_path):
    policy = make(kind, edited(tmp_path, "input.observed >"))
    assert refusal(policy.decide, example("decision")) in ("POLICY_UNUSABLE", "POLICY_FAILED")
    policy.close()


@pytest.mark.parametrize(
    "body", ["undefined_variable > 0", "input.observed.paths_totl == misspelt", "misspelt[_] == 1"]
)
def test_misspelt_name_is_no_condition_that_holds(kind, tmp_path, body):
    policy = make(kind, edited(tmp_path, body))
    assert refusal(policy.decide, example("decision")) == "POLICY_UNUSABLE"
    policy.close()


@pytest.mark.parametrize(
    "body",
    [
        "some p in [1, 2]\n\tp > 1",
        "n := input.observed.paths_total\n\tn > 0",
        "every p in [1, 2] {\n\t\tp > 0\n\t}",
        "count([v | some v in [1, 2]; v == 2]) == 1",
        "[a, b] := [1, 2]\n\ta < b",
    ],
)
def test_names_that_are_declared_are_conditions(kind, tmp_path, body):
    policy = make(kind, edited(tmp_path, body))
    assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED
    policy.close()


def test_built_in_that_fails_is_an_error_and_not_silence(kind, tmp_path):
    policy = make(kind, edited(tmp_path, 'to_number("no number") == 1'))
    assert refusal(policy.decide, example("decision")) == "POLICY_FAILED"
    policy.close()


def test_slow_rule_is_cut_off_and_the_next_call_is_refused_or_answered_never_passed(kind, tmp_path):
    slow = edited(
        tmp_path, "count([1 | some a in numbers.range(1, 9000); some b in numbers.range(1, 9000); a == b]) > 0"
    )
    policy = make(kind, slow, wall_s=4.0)
    for _ in range(2):
        assert refusal(policy.decide, example("decision")) == "POLICY_FAILED"
    policy.close()


def test_undefined_entrypoint_is_no_answer(kind, tmp_path):
    bundle = Path(shutil.copytree(policy_bundle(), tmp_path / "bundle"))
    decide = next(p for p in (bundle / "gatekeeper/decide").rglob("*.rego") if not p.name.endswith("_test.rego"))
    text = decide.read_text()
    assert "result :=" in text
    decide.write_text(text.replace("result :=", "other :="))
    policy = make(kind, bundle)
    assert refusal(policy.decide, example("decision")) in ("POLICY_UNUSABLE", "POLICY_FAILED")
    policy.close()


def test_closed_engine_answers_nothing(kind):
    policy = make(kind, policy_bundle())
    policy.close()
    assert refusal(policy.decide, example("decision")) == "POLICY_FAILED"


def test_bundle_is_read_once(kind, tmp_path):
    bundle = Path(shutil.copytree(policy_bundle(), tmp_path / "bundle"))
    policy = make(kind, bundle)
    before = digest(policy._evaluate(DECIDE, example("decision"))[0])
    shutil.rmtree(bundle)
    assert digest(policy._evaluate(DECIDE, example("decision"))[0]) == before
    policy.close()
