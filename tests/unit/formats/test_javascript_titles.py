"""Titles of JavaScript tests, as the gate and as reports of their runners write them."""

from __future__ import annotations

from gatekeeper.formats.javascript_titles import Titles
from gatekeeper.formats.junit_xml import contradictions, parse_junit

SEEN = ["test/a.test.js::suite > adds two", "test/a.test.js::suite > deep > adds", "test/b.test.js::adds", "test/c.js"]
NODE = b"""<?xml version="1.0" encoding="utf-8"?>
<testsuites>
  <testcase name="adds" time="0.1" classname="test"/>
  <testsuite name="suite" time="0.1" disabled="0" errors="0" tests="2" failures="0" skipped="0" hostname="h">
    <testcase name="adds two" time="0.1" classname="test"/>
    <testsuite name="deep" time="0.1" disabled="0" errors="0" tests="1" failures="0" skipped="0" hostname="h">
      <testcase name="adds" time="0.1" classname="test"/>
    </testsuite>
  </testsuite>
  <testcase name="/home/me/work/test/c.js" time="0.1" classname="test"/>
  <!-- tests 3 -->
</testsuites>"""


def keys(claimed):
    titles = Titles(SEEN, claimed)
    return [titles.claimed(c) for c in claimed], [titles.seen(i) for i in SEEN]


def test_reports_of_node_nest_suites():
    report = parse_junit(NODE)
    assert contradictions(report) == ()
    said, seen = keys([c.id for c in report.cases])
    assert sorted(said) == sorted(seen)


def test_reports_of_newer_node_join_suites_in_the_class_name():
    newer = NODE.replace(
        b'<testcase name="adds two" time="0.1" classname="test"',
        b'<testcase name="adds two" time="0.1" classname="suite" file="/w/a.test.js"',
    )
    newer = newer.replace(b'deep" time="0.1" ', b'deep" time="0.1" timestamp="2026-01-01T00:00:00Z" ')
    newer = newer.replace(
        b'      <testcase name="adds" time="0.1" classname="test"',
        b'      <testcase name="adds" time="0.1" classname="suite.deep"',
    )
    assert newer != NODE
    report = parse_junit(newer)
    assert contradictions(report) == ()
    said, seen = keys([c.id for c in report.cases])
    assert sorted(said) == sorted(seen)


def test_reports_of_vitest_name_the_file():
    said, seen = keys(["test/a.test.js::suite > adds two", "test/b.test.js::adds"])
    assert said == [seen[0], seen[2]]


def test_reports_of_jest_junit_join_suite_and_test():
    said, seen = keys(["suite adds two::suite adds two", " adds:: adds", "suite deep adds::suite deep adds"])
    assert said == [seen[0], seen[2], seen[1]]


def test_class_name_and_name_may_be_the_two_halves():
    said, seen = keys(["suite::adds two", "suite deep::adds"])
    assert said == seen[:2]


def test_a_report_that_knows_last_names_alone_is_compared_by_these():
    said, seen = keys(["x::adds two", "y::adds", "z::adds"])
    assert said == [seen[0], seen[1], seen[2]]
    assert seen[1] == seen[2]


def test_an_invented_test_has_no_key():
    said, _ = keys(["test/a.test.js::suite > adds two", "test/a.test.js::suite > adds three"])
    assert said[1] is None


def test_pytest_in_a_file_named_test_is_not_taken_for_node():
    report = parse_junit(b'<testsuites><testsuite name="pytest" tests="1" failures="0" errors="0" skipped="0"><testcase classname="test" name="test_a"/></testsuite></testsuites>')  # fmt: skip
    assert report.cases[0].id == "test::test_a"
    assert report.stated["tests"] == 1
