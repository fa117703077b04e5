"""Taking facts away never helps: whatever is missing, a verdict moves down or stays, a tier up or stays."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from policy_documents import approval, approved, decisions, example, found, places, plans, without

from gatekeeper.adapters.rego_policy.engine import RegoPolicy
from gatekeeper.config import policy_bundle
from gatekeeper.domain.verdict import Verdict

SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def policy():
    policy = RegoPolicy(policy_bundle())
    yield policy
    policy.close()


def _whole_and_less(documents):
    """A document and the places taken out of it: some single ones, or nearly all."""

    def pick(document):
        where = sorted(places(document), key=str)
        few = st.lists(st.sampled_from(where), min_size=1, max_size=6)
        many = st.lists(st.booleans(), min_size=len(where), max_size=len(where)).map(
            lambda flags: [p for p, gone in zip(where, flags, strict=True) if gone]
        )
        return st.tuples(st.just(document), st.one_of(few, few, many))

    return documents.flatmap(pick)


@st.composite
def any_decision(draw):
    document = draw(st.sampled_from(list(decisions().values())))
    document = json.loads(json.dumps(document))
    if draw(st.booleans()):
        found(document, **{v.value: draw(st.integers(0, 2)) for v in Verdict})
    document["ticket"]["risk"] = draw(st.sampled_from(("low", "medium", "high")))
    document["plan"]["tier"] = draw(st.sampled_from(("low", "medium", "high")))
    document["plan"]["approvals"] = draw(st.integers(0, 2))
    approved(document, *[approval(n) for n in range(draw(st.integers(0, 3)))])
    for part in ("commands", "report", "summary", "risks", "rollback"):
        if draw(st.integers(0, 3)) == 0:
            document["claimed"]["parts"].pop(part, None)
    return document


@SETTINGS
@given(case=_whole_and_less(any_decision()))
def test_decision_never_moves_up(policy, case):
    document, removed = case
    # An answer is demanded for every part of a document: an engine that fails would turn rejected into undecided.
    assert policy.decide(without(document, removed)).verdict.rank <= policy.decide(document).verdict.rank


@SETTINGS
@given(case=_whole_and_less(st.sampled_from(list(plans().values()))))
def test_plan_never_demands_less(policy, case):
    document, removed = case
    whole, less = policy.plan(document), policy.plan(without(document, removed))
    assert less.tier.rank >= whole.tier.rank
    assert less.approvals >= whole.approvals
    assert set(less.required_evidence) >= set(whole.required_evidence)
    assert set(less.extra_runs) >= set(whole.extra_runs)
    assert less.expiry_s <= whole.expiry_s


def _down_to(document, keep):
    """The document with everything taken out but what leads to the places kept."""
    gone = [p for p in places(document) if not any(p == k[: len(p)] or k == p[: len(k)] for k in keep)]
    return without(document, gone)


@pytest.mark.parametrize(
    "name, keep",
    [
        ("rejected_finding", [("floor",)]),
        ("rejected_finding", [("observed", "findings", "by_verdict", "rejected")]),
        ("rejected_without_claim", [("plan",)]),
        ("rejected_by_the_tier", [("plan", "tier")]),
        ("rejected_empty", [("observed", "paths_total")]),
    ],
)
def test_one_blocking_fact_alone_still_rejects(policy, name, keep):
    document = decisions()[name]
    assert policy.decide(document).verdict is Verdict.REJECTED
    assert policy.decide(_down_to(document, keep)).verdict is Verdict.REJECTED


@pytest.mark.parametrize("name", sorted(decisions()))
def test_realistic_decisions_have_the_verdict_of_their_name(policy, name):
    assert name.startswith(policy.decide(decisions()[name]).verdict.value)


@pytest.mark.parametrize("name", sorted(plans()))
def test_realistic_plans_have_the_tier_of_their_name(policy, name):
    assert policy.plan(plans()[name]).tier.value == name.partition("_")[0]


def test_nothing_at_all_is_rejected_and_of_the_highest_tier(policy):
    assert policy.decide({}).verdict is Verdict.REJECTED
    assert policy.plan({}).tier.value == "high"
    assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED
