"""`gatekeeper claim`: what was run is told as it was, and nothing is written that the gate would not read."""

from __future__ import annotations

import json
import os
import shlex
import sys

import pytest

from gatekeeper.cli.main import build
from gatekeeper.errors import GatekeeperError
from gatekeeper.formats.claim import parse_claim
from gatekeeper.formats.junit_xml import MAX_BYTES

GREEN = '<testsuite name="s" tests="1" failures="0"><testcase classname="tests.test_a" name="test_a"/></testsuite>'
RED = '<testsuite name="s" tests="1" failures="1"><testcase classname="t" name="a"><failure/></testcase></testsuite>'
WRITE = f"{shlex.quote(sys.executable)} write.py"


@pytest.fixture
def tree(make_repo, monkeypatch):
    """A work tree whose `write.py REPORT STATUS` writes a report and ends with a status."""
    repo = make_repo()
    script = (
        "import sys, pathlib\npathlib.Path('report.xml').write_text(sys.argv[1]) if sys.argv[1] else None\n"
        "sys.exit(int(sys.argv[2]))\n"
    )
    repo.commit({"write.py": script, "README.md": "x\n"}, "Import")
    monkeypatch.chdir(repo.path)
    return repo


def claim(*words):
    return build("claim")(["claim", *words], standalone_mode=False)


def written(path="claim.json"):
    with open(path, "rb") as file:
        data = file.read()
    parsed = parse_claim(data)
    assert not parsed.report_faults
    return json.loads(data), parsed


def refused(*words):
    with pytest.raises(GatekeeperError) as caught:
        claim(*words)
    assert not os.path.exists("claim.json")
    assert caught.value.next_action
    return caught.value


def test_a_green_run_is_claimed_as_it_was(tree):
    line = f"{WRITE} {shlex.quote(GREEN)} 0"
    assert claim("--junit", "report.xml", "--summary", "Mended.", "--risks", "None.", "--", line) == 0
    document, parsed = written()
    assert document["head_sha"] == tree.git("rev-parse", "HEAD")
    assert document["commands"] == [{"cmd": line, "exit_code": 0}]
    assert document["junit_xml"] == GREEN
    assert (parsed.summary, parsed.risks, parsed.rollback) == ("Mended.", "None.", "")


def test_words_are_recorded_so_that_a_shell_reads_the_same_words(tree):
    words = [sys.executable, "write.py", RED, "3"]
    assert claim("--junit", "report.xml", *words) == 0
    document, _ = written()
    assert shlex.split(document["commands"][0]["cmd"]) == words
    assert document["commands"][0]["exit_code"] == 3, "a red run is told as red"


def test_a_signal_is_told_as_a_shell_tells_it(tree):
    assert claim("--", "kill -9 $$") == 0
    assert written()[0]["commands"] == [{"cmd": "kill -9 $$", "exit_code": 137}]


def test_a_variable_before_the_command_is_set(tree):
    assert claim("STATUS=7", "sh", "-c", "exit $STATUS") == 0
    assert written()[0]["commands"][0]["exit_code"] == 7


def test_several_reports_stand_in_one_run(tree):
    (tree.path / "a.xml").write_text(GREEN)
    (tree.path / "b.xml").write_text(GREEN.replace("test_a", "test_b"))
    told = ["--junit", "a.xml", "--junit", "b.xml", "--command", "make test", "--exit-code", "0"]
    assert claim(*told) == 0
    document, parsed = written()
    assert document["runs"][0]["cmd"] == "make test"
    assert len(parsed.reports) == 2
    assert [(c.cmd, c.exit_code) for c in parsed.commands] == [("make test", 0)]


def test_a_run_of_before_is_told_without_running_anything(tree):
    (tree.path / "report.xml").write_text(RED)
    assert claim("--junit", "report.xml", "--command", "touch ran", "--exit-code", "1") == 0
    assert written()[0]["commands"] == [{"cmd": "touch ran", "exit_code": 1}]
    assert not (tree.path / "ran").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["--command", "pytest"],
        ["--exit-code", "0"],
        ["--command", " ", "--exit-code", "0"],
        ["--command", "pytest", "--exit-code", "0", "pytest"],
        [],
        [""],
        ["--output", "nowhere/claim.json", "true"],
    ],
)
def test_what_to_run_must_be_said_once_and_the_error_shows_how(tree, words):
    error = refused(*words)
    assert error.code == "USAGE"
    assert "for instance" in error.next_action


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda p: (p / "README.md").write_text("y\n"), "M README.md"),
        (lambda p: (p / "README.md").unlink(), "D README.md"),
        (lambda p: (p / "conftest.py").write_text("\n"), "new conftest.py"),
    ],
)
def test_a_tree_that_is_not_the_commit_is_refused_and_what_differs_is_named(tree, change, named, capfd):
    change(tree.path)
    error = refused("touch", "ran")
    assert error.code == "CLAIM_TREE_DIRTY"
    assert named in error.message
    assert not (tree.path / "ran").exists(), "nothing runs whose claim would not be written"
    assert claim("--allow-dirty", "true") == 0
    assert named in capfd.readouterr().err


def test_many_differences_are_counted_and_their_names_are_harmless(tree):
    for n in range(30):
        (tree.path / f"n{n:02}\x1b[2J").write_text("")
    error = refused("true")
    assert "20 more" in error.message
    assert "\x1b" not in error.message


def test_papers_and_what_runners_leave_are_no_difference(tree):
    for name in ("ticket.json", "report.xml", "pkg/__pycache__/a.pyc", ".pytest_cache/x", ".coverage"):
        path = tree.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(GREEN)
    (tree.path / "claim.json").write_text("{}")
    assert claim("--junit", "report.xml", f"{WRITE} {shlex.quote(GREEN)} 0") == 0


def test_a_committed_report_that_was_edited_is_a_difference(tree):
    tree.commit({"report.xml": GREEN}, "Keep a report")
    (tree.path / "report.xml").write_text(RED)
    assert refused("--junit", "report.xml", "true").code == "CLAIM_TREE_DIRTY"


def test_another_commit_than_the_one_checked_out_is_not_claimed_for_a_run(tree):
    first = tree.git("rev-parse", "HEAD")
    tree.commit({"README.md": "z\n"}, "More")
    assert refused("--head", first, "true").code == "CLAIM_OTHER_COMMIT"
    assert refused("--head", "nothing", "true").code == "HEAD_NOT_FOUND"
    assert refused("--", "git checkout -q HEAD~1").code == "CLAIM_OTHER_COMMIT", "HEAD moved under the run"
    assert claim("--head", first, "--command", "true", "--exit-code", "0", "--base", first) == 0
    assert (written()[0]["head_sha"], written()[0]["base_sha"]) == (first, first)


def test_a_directory_that_is_no_work_tree_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refused("true").code == "REPOSITORY_UNREADABLE"
    assert refused("--repo", "nowhere", "true").code == "REPOSITORY_UNREADABLE"


def test_a_report_that_is_missing_or_old_is_refused(tree):
    assert refused("--junit", "report.xml", "true").code == "CLAIM_REPORT_NOT_WRITTEN"
    assert refused("--junit", "r.xml", "--command", "x", "--exit-code", "0").code == "CLAIM_REPORT_NOT_WRITTEN"
    (tree.path / "report.xml").write_text(GREEN)
    error = refused("--junit", "report.xml", "true")
    assert error.code == "CLAIM_REPORT_NOT_WRITTEN"
    assert "from before" in error.message


@pytest.mark.parametrize(
    ("report", "status", "code"),
    [
        (b'<!DOCTYPE x [<!ENTITY a "b">]><testsuite/>', "0", "CLAIM_REPORT_MALFORMED"),
        (b"<html/>", "0", "CLAIM_REPORT_MALFORMED"),
        (b"", "0", "CLAIM_REPORT_MALFORMED"),
        (b'<?xml version="1.0" encoding="latin-1"?><testsuite name="\xe9"/>', "0", "CLAIM_REPORT_MALFORMED"),
        (GREEN.replace('failures="0"', 'failures="2"').encode(), "0", "CLAIM_REPORT_CONTRADICTS_ITSELF"),
        (RED.encode(), "0", "CLAIM_REPORT_CONTRADICTS_ITSELF"),
        (b" " * (MAX_BYTES + 1), "0", "INPUT_TOO_LARGE"),
    ],
)
def test_a_report_that_the_gate_would_refuse_is_refused_here(tree, report, status, code):
    (tree.path / "report.xml").write_bytes(report)
    assert refused("--junit", "report.xml", "--command", "x", "--exit-code", status).code == code


def test_a_program_that_is_not_there_is_no_run(tree):
    assert refused("no-such-program-here", "-x").code == "CLAIM_COMMAND_NOT_RUN"
    error = refused("no such line", "--junit", "report.xml")
    assert "before the command" in error.next_action


def test_the_tickets_own_lines_are_run_and_recorded(tree, capfd):
    ticket = {
        "id": "T",
        "title": "t",
        "goal": "g",
        "allowed": ["**"],
        "forbidden": [],
        "risk": "low",
        "verify": ["true", "exit 4"],
    }
    (tree.path / "ticket.json").write_text(json.dumps(ticket))
    assert claim("--ticket", "ticket.json") == 0
    assert written()[0]["commands"] == [{"cmd": "true\nexit 4", "exit_code": 4}]
    assert "CLAIM_OTHER_COMMAND" not in capfd.readouterr().err
    assert claim("--ticket", "ticket.json", "true") == 0
    assert "'exit 4'" in capfd.readouterr().err, "what the gate will miss is said before it does"


def test_a_claim_without_report_is_written_and_says_what_that_means(tree, capfd):
    assert claim("true") == 0
    assert "CLAIM_REPORT_MISSING" in capfd.readouterr().err
    assert "junit_xml" not in written()[0]


def test_pytest_is_asked_for_a_report_and_the_claim_tells_the_command_as_given(tree, capfd):
    tree.commit({"test_a.py": "def test_a():\n    assert 0\n"}, "A failing test")
    assert claim("--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider") == 0
    assert "--junit-xml=" in capfd.readouterr().err
    document, parsed = written()
    assert document["commands"] == [{"cmd": f"{sys.executable} -m pytest -q -p no:cacheprovider", "exit_code": 1}]
    assert [c.id for c in parsed.reports[0].cases] == ["test_a::test_a"]
    line = f"{sys.executable} -m pytest -q --junitxml=own.xml -p no:cacheprovider"
    assert claim("--", line) == 0
    assert written()[0]["commands"] == [{"cmd": line, "exit_code": 1}]
    assert claim("--", line) == 0, "its report of last time is no difference of the tree"
    assert "as well" not in capfd.readouterr().err


def test_pytest_that_ends_without_report_is_told_without_one(tree):
    assert claim("--", sys.executable, "-m", "pytest", "--no-such-option") == 0
    document, _ = written()
    assert document["commands"][0]["exit_code"] == 4
    assert "junit_xml" not in document


def test_from_a_directory_below_the_command_runs_in_the_root(tree, monkeypatch):
    (tree.path / "below").mkdir()
    monkeypatch.chdir(tree.path / "below")
    assert claim("--junit", "report.xml", f"{WRITE} {shlex.quote(GREEN)} 0") == 0
    assert written()[0]["junit_xml"] == GREEN


def test_standard_output_is_the_claims_alone_where_it_is_asked_for_there(tree, capfd):
    assert claim("--output", "-", "--", "echo noise; exit 5") == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["commands"] == [{"cmd": "echo noise; exit 5", "exit_code": 5}]
    assert "noise\n" in err
    assert not (tree.path / "-").exists()


def test_a_report_that_names_tests_otherwise_is_told(tree, capfd):
    tree.commit({"test_a.py": "def test_a():\n    pass\n"}, "A test")
    pytest_line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    assert claim("--", *pytest_line, "--junit-prefix=ci") == 0
    assert "with --junit-prefix the report names the tests otherwise" in capfd.readouterr().err
    assert claim("--", *pytest_line) == 0
    assert "otherwise" not in capfd.readouterr().err
