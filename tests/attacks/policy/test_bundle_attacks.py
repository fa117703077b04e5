"""A damaged, gutted or hostile bundle never lets anything pass; an honest edit of one does."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from gatekeeper.adapters.rego_policy.engine import RegoPolicy
from gatekeeper.config import policy_bundle
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import CouldNotCheck

RULES = "gatekeeper/rules"


@pytest.fixture
def bundle(tmp_path):
    return Path(shutil.copytree(policy_bundle(), tmp_path / "bundle"))


def example(bundle, name="decision"):
    text = (bundle / "gatekeeper/example_test.rego").read_text()
    body = re.search(rf"^{name} := (\{{.*?^\}})", text, re.MULTILINE | re.DOTALL).group(1)
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", body))


def refusal(bundle, **options):
    policy = RegoPolicy(bundle, **options)
    try:
        with pytest.raises(CouldNotCheck) as caught:
            policy.decide(example(bundle))
        return caught.value
    finally:
        policy.close()


def verdict(bundle, document):
    policy = RegoPolicy(bundle)
    try:
        return policy.decide(document).verdict
    finally:
        policy.close()


def test_honest_edit_of_thresholds_works(bundle):
    place = bundle / "gatekeeper/config/data.json"
    place.write_text(place.read_text().replace('"expiry_s": 604800', '"expiry_s": 3600'))
    policy = RegoPolicy(bundle)
    assert policy.plan(example(bundle, "plan")).expiry_s == 3600
    assert policy.decide(example(bundle)).verdict is Verdict.ACCEPTED
    policy.close()


@pytest.mark.parametrize(
    "path, change",
    [
        (f"{RULES}/change/not_empty/not_empty.rego", lambda s: s + "\nx := {"),
        (f"{RULES}/change/not_empty/not_empty.rego", lambda s: s + '\nx := http.send({"url": "x"})\n'),
        (f"{RULES}/change/not_empty/not_empty.rego", lambda s: s + "\nx := time.now_ns()\n"),
        (f"{RULES}/change/not_empty/not_empty.rego", lambda s: s + "\nx := opa.runtime()\n"),
        (f"{RULES}/change/not_empty/not_empty.rego", lambda s: s + "\nx := no_such_function(1)\n"),
        (f"{RULES}/change/not_empty/not_empty.rego", lambda s: s.replace("package gatekeeper", "package elsewhere")),
        (f"{RULES}/change/not_empty/not_empty.rego", lambda s: s.replace("outcome :=", "result :=")),
        ("gatekeeper/config/data.json", lambda s: s.replace("{", "", 1)),
        (".manifest", lambda s: s.replace('"gatekeeper"', '"other"')),
    ],
)
def test_damaged_file_is_refused_by_name(bundle, path, change):
    place = bundle / path
    place.write_text(change(place.read_text()))
    assert refusal(bundle).code == "POLICY_UNUSABLE"


@pytest.mark.parametrize(
    "path",
    [
        ".manifest",
        "capabilities.json",
        "gatekeeper/decide/v1/decide.rego",
        f"{RULES}/scans/code_verified/code_verified.rego",
    ],
)
def test_deleted_file_is_refused(bundle, path):
    document = example(bundle)
    (bundle / path).unlink()
    policy = RegoPolicy(bundle)
    with pytest.raises(CouldNotCheck, match="POLICY_UNUSABLE"):
        policy.decide(document)
    policy.close()


def test_link_and_binary_are_refused(bundle):
    (bundle / "gatekeeper/x.rego").symlink_to("/etc/passwd")
    assert "x.rego" in refusal(bundle).message
    (bundle / "gatekeeper/x.rego").unlink()
    (bundle / "gatekeeper/x.rego").write_bytes(b"\xff\xfe")
    assert "UTF-8" in refusal(bundle).message


def test_rule_that_never_ends_is_killed(bundle):
    place = bundle / f"{RULES}/change/not_empty/not_empty.rego"
    place.write_text(
        place.read_text().replace(
            "satisfied if input.observed.paths_total > 0",
            "satisfied if {\n\tinput.observed.paths_total > 0\n\tl := numbers.range(1, 3000)\n"
            "\tcount({[a, b] | some a in l; some b in l}) > 0\n}",
        )
    )
    error = refusal(bundle, wall_s=4.0)
    assert error.code == "POLICY_FAILED"
    assert "killed" in error.message


def test_rule_that_always_allows_cannot_lift_a_finding(bundle):
    for place in (bundle / RULES).rglob("*.rego"):
        if not place.name.endswith("_test.rego") and "none_blocking" not in place.name:
            place.write_text(place.read_text().replace("default satisfied := false", "default satisfied := true"))
    document = example(bundle)
    document["floor"] = "rejected"
    assert verdict(bundle, document) is Verdict.REJECTED


def test_bundle_that_accepts_everything_is_refused(bundle):
    place = bundle / "gatekeeper/decide/v1/decide.rego"
    text = place.read_text().replace('"verdict": verdict,', '"verdict": "accepted",')
    place.write_text(text)
    assert refusal(bundle).code == "POLICY_UNUSABLE"


def approval(**changes):
    return {
        "reviewer": "r",
        "key": "k",
        "binds_ticket": True,
        "binds_diff": True,
        "is_author": False,
        "expired": False,
    } | changes


@pytest.mark.parametrize(
    "given, needed, expected",
    [
        ([approval()], 1, Verdict.ACCEPTED),
        ([approval(), approval(reviewer="s", key="l")], 2, Verdict.ACCEPTED),
        ([approval(), approval()], 2, Verdict.NEEDS_HUMAN),
        ([approval(), approval(key="l")], 2, Verdict.NEEDS_HUMAN),
        ([approval(), approval(reviewer="s")], 2, Verdict.NEEDS_HUMAN),
        ([approval(expired=True)], 1, Verdict.NEEDS_HUMAN),
        ([approval(is_author=True)], 1, Verdict.NEEDS_HUMAN),
        ([approval(binds_diff=False)], 1, Verdict.NEEDS_HUMAN),
    ],
)
def test_approvals_count_once_and_only_when_bound(bundle, given, needed, expected):
    document = example(bundle)
    document["plan"]["approvals"] = needed
    document["observed"] |= {"approvals": given, "approvals_total": len(given)}
    assert verdict(bundle, document) is expected


def removals(value, path=()):
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in pairs:
        yield (*path, key)
        yield from removals(below, (*path, key))


@pytest.mark.parametrize("start", ["accepted", "needs_human", "undecided", "rejected"])
def test_taking_anything_away_never_moves_the_verdict_up(bundle, start):
    document = example(bundle)
    document["floor"] = start
    document["observed"]["findings"] = {
        "total": 1,
        "by_verdict": dict.fromkeys(("rejected", "undecided", "needs_human", "accepted"), 0) | {start: 1},
        "by_category": {"tests_failed": 1},
    }
    policy = RegoPolicy(bundle)
    whole = policy.decide(document).verdict
    assert whole.value == start
    better = []
    for path in removals(document):
        smaller = json.loads(json.dumps(document))
        place = smaller
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]
        try:
            if policy.decide(smaller).verdict.rank > whole.rank:
                better.append(path)
        except CouldNotCheck:
            pass
    policy.close()
    assert better == []
