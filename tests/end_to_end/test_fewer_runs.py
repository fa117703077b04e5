"""Changed tests cost two whole runs and parts of two more; runs of the base are reused; a cheat gains nothing by it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gatekeeper.config import paths

CODE = "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return a * 2\n"
FIXED = CODE.replace("a - b", "a + b")
TESTS = "from app import add, double\n\n\ndef test_add():\n    assert add(2, 2) == 4\n\n\ndef test_double():\n    assert double(4) == 8\n"
MORE = "from app import add\n\n\ndef test_more():\n    assert add(1, 2) == 3\n"
PROJECT = {
    "src/app.py": CODE,
    "tests/test_app.py": TESTS,
    "tests/test_double.py": "from app import double\n\n\ndef test_zero():\n    assert double(0) == 0\n",
    "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n',
}
NAMES = {"tests.test_app": ["test_add", "test_double"], "tests.test_double": ["test_zero"]}


OTHERS = {
    "tests/test_double.py": "from app import double\n\n\n" + "\n\n".join(f"def test_{n}():\n    assert double({n}) == {2 * n}\n" for n in range(8)),
}  # fmt: skip
MANY = {
    "tests.test_app": ["test_add", "test_double"],
    "tests.test_double": [f"test_{n}" for n in range(8)],
    "tests.test_more": ["test_more"],
}


@pytest.fixture
def judge(make_repo, tmp_path, gate_env):
    """Judge files on a branch: {role: counts} of the runs, and the whole answer."""
    repo = make_repo()
    repo.commit(PROJECT, "Import")

    def run(files, names=NAMES):
        repo.git("checkout", "-q", "main")
        repo.git("branch", "-q", "-f", "agent", "main")
        repo.git("checkout", "-q", "agent")
        head = repo.commit(files, "Fix add")
        ticket = {"id": "T-1", "title": "add", "allowed": ["src/**", "tests/**"], "forbidden": [], "verify": "python -m pytest -q", "risk": "low"}  # fmt: skip
        cases = "".join(f'<testcase classname="{c}" name="{n}"/>' for c, rows in names.items() for n in rows)
        count = sum(map(len, names.values()))
        junit = f'<testsuites><testsuite name="p" tests="{count}" errors="0" failures="0" skipped="0">{cases}</testsuite></testsuites>'
        claim = {"head_sha": head, "commands": [{"cmd": "python -m pytest -q", "exit_code": 0}], "junit_xml": junit, "summary": "s"}  # fmt: skip
        (tmp_path / "ticket.json").write_text(json.dumps(ticket))
        (tmp_path / "claim.json").write_text(json.dumps(claim))
        done = subprocess.run(
            [sys.executable, "-m", "gatekeeper", "check", "--repo", str(repo.path), "--target", "main", "--head", head,
             "--ticket", str(tmp_path / "ticket.json"), "--claim", str(tmp_path / "claim.json"), "--environment",
             "host", "--format", "json"],
            capture_output=True, text=True, timeout=400, env=dict(os.environ),
        )  # fmt: skip
        answer = json.loads(done.stdout)
        return {r["role"]: r["counts"] for r in answer["runs"] if not r["role"].startswith("witness")}, answer

    run.repo = repo
    return run


def kept() -> dict[Path, int]:
    """Files of kept runs, and when each was written."""
    return {file: file.stat().st_mtime_ns for file in paths().kept_runs.glob("*.json")}


def test_a_new_file_of_tests_costs_two_whole_runs(judge):
    names = {**NAMES, "tests.test_more": ["test_more"]}
    runs, answer = judge({"src/app.py": FIXED, "tests/test_more.py": MORE}, names)
    assert (answer["verdict"], answer["reasons"]) == ("accepted", [])
    assert runs == {
        "merged": {"passed": 4},
        "base_instruments": {"passed": 3},
        "base": {},
        "new_tests_on_base": {"failed": 1},
    }


def test_a_run_of_the_base_is_kept_and_reused(judge):
    names = {**NAMES, "tests.test_more": ["test_more"]}
    known = kept()
    first, _ = judge({"src/app.py": FIXED, "tests/test_more.py": MORE}, names)
    made = kept()
    assert len(made) == len(known) + 1
    second, answer = judge({"src/app.py": FIXED + "\n", "tests/test_more.py": MORE}, names)
    assert answer["verdict"] == "accepted"
    assert second == first
    assert kept() == made


def test_a_change_of_tests_alone_is_one_whole_run(judge):
    judge.repo.commit(OTHERS, "More tests")
    more = MORE.replace("add(1, 2) == 3", "add(1, 2) == -1")
    runs, answer = judge({"tests/test_more.py": more}, MANY)
    assert runs["merged"] == {"failed": 1, "passed": 10}
    assert runs["base"] == runs["base_instruments"] == {"failed": 1, "passed": 9}
    assert runs["new_tests_on_base"] == {"passed": 1}
    parts = {r["role"]: (r["partial"], r["taken"]) for r in answer["runs"] if not r["role"].startswith("again")}
    assert parts == {
        "merged": (True, 9),
        "base_instruments": (False, 0),
        "base": (False, 0),
        "new_tests_on_base": (True, 0),
    }


def test_tests_that_code_makes_vanish_are_seen_by_their_names_on_the_base(judge):
    each = "import pytest\nimport app\n\n\n@pytest.mark.parametrize('n', app.CASES)\ndef test_each(n):\n    assert app.double(n) == 2 * n\n"
    judge.repo.commit({"src/app.py": CODE + "\n\nCASES = [1, 2, 3]\n", "tests/test_each.py": each}, "Tests from code")
    names = {**NAMES, "tests.test_more": ["test_more"], "tests.test_each": ["test_each[1]"]}
    _, answer = judge({"src/app.py": FIXED + "\n\nCASES = [1]\n", "tests/test_more.py": MORE}, names)
    assert answer["verdict"] != "accepted"
    assert {"PARAMETERS_REMOVED", "TEST_REMOVED"} & {r["code"] for r in answer["reasons"]}


def test_tests_that_pass_only_when_a_part_is_run_are_no_flakes(judge):
    sly = FIXED.replace(
        "def double(a):\n",
        "def double(a):\n    import os\n    if not os.path.exists('/run/gate/select.json'):\n        return 0\n",
    )
    _, answer = judge({"src/app.py": sly})
    assert answer["verdict"] == "rejected"
    assert {"TESTS_FAILED", "TEST_MADE_UNSTABLE"} & {r["code"] for r in answer["reasons"]}


def test_of_a_file_that_gained_a_test_only_that_one_is_tried_on_the_base(judge):
    names = {**NAMES, "tests.test_app": ["test_add", "test_double", "test_more"]}
    runs, answer = judge({"src/app.py": FIXED, "tests/test_app.py": TESTS + MORE.partition("\n\n\n")[2]}, names)
    assert (answer["verdict"], answer["reasons"]) == ("accepted", [])
    assert runs["new_tests_on_base"] == {"failed": 1}
    assert runs["base_instruments"] == {"passed": 3}


def test_a_new_test_that_proves_nothing_is_still_seen_in_such_a_file(judge):
    names = {**NAMES, "tests.test_app": ["test_add", "test_double", "test_more"]}
    more = "\n\ndef test_more():\n    add(1, 2)\n"
    runs, answer = judge({"src/app.py": FIXED, "tests/test_app.py": TESTS + more}, names)
    assert runs["new_tests_on_base"] == {"passed": 1}
    assert "TEST_PROVES_NOTHING" in {f["code"] for f in answer["findings"]}


def test_where_no_test_is_new_or_changed_none_is_tried_on_the_base(judge):
    runs, answer = judge({"src/app.py": FIXED, "tests/test_app.py": "# Sums.\n" + TESTS})
    assert (answer["verdict"], answer["reasons"]) == ("accepted", [])
    assert "new_tests_on_base" not in runs
    assert runs["base_instruments"] == {"passed": 3}


def test_where_more_of_a_file_differs_all_its_tests_are_tried_on_the_base(judge):
    names = {**NAMES, "tests.test_app": ["test_add", "test_double", "test_more"]}
    more = TESTS.replace("\n\n\ndef", "\n\nTWO = 2\n\n\ndef", 1) + "\n\ndef test_more():\n    assert add(TWO, 1) == 3\n"
    runs, answer = judge({"src/app.py": FIXED, "tests/test_app.py": more}, names)
    assert (answer["verdict"], answer["reasons"]) == ("accepted", [])
    assert runs["new_tests_on_base"] == {"passed": 1, "failed": 2}


def test_a_few_test_modules_cost_one_whole_run(judge):
    judge.repo.commit(OTHERS, "More tests")
    runs, answer = judge({"src/app.py": FIXED, "tests/test_more.py": MORE}, MANY)
    assert (answer["verdict"], answer["reasons"]) == ("accepted", [])
    assert (
        runs
        == {
            "merged": {"passed": 11},
            "base_instruments": {"passed": 10},
            "base": {"failed": 1},
            "new_tests_on_base": {"failed": 1},
        }
        or runs["base"] == {}
    )
    (merged,) = [r for r in answer["runs"] if r["role"] == "merged"]
    assert (merged["partial"], merged["taken"]) == (True, 10)


def test_tests_that_need_others_are_held_against_nobody(judge):
    """Others build on what a changed test leaves behind, and it on what they do: running a part is no fault of the change."""
    first = "import app\n\n\ndef test_first():\n    app.state = 1\n    assert app.add(2, 0) == 2\n"
    then = "import app\n\n\n" + "\n\n".join(f"def test_{n}():\n    assert app.state == 1\n" for n in range(8))
    judge.repo.commit(
        {"src/app.py": CODE + "\n\nstate = 0\n", "tests/test_a.py": first, "tests/test_b.py": then, **OTHERS}, "Order"
    )
    names = {**MANY, "tests.test_a": ["test_first"], "tests.test_b": [f"test_{n}" for n in range(8)]}
    del names["tests.test_more"]
    more = first.replace("add(2, 0) == 2", "add(2, 1) == 3")
    _, answer = judge({"src/app.py": FIXED + "\n\nstate = 0\n", "tests/test_a.py": more}, names)
    assert (answer["verdict"], answer["reasons"]) == ("accepted", [])


def test_a_changed_test_that_needs_others_is_run_with_them(judge):
    first = "import app\n\n\ndef test_first():\n    app.state = 1\n    assert app.add(2, 0) == 2\n"
    last = "import app\n\n\ndef test_last():\n    assert app.state == 1\n    assert app.double(9) == 18\n"
    code = CODE + "\n\nstate = 0\n"
    judge.repo.commit({"src/app.py": code, "tests/test_a.py": first, "tests/test_z.py": last, **OTHERS}, "Order")
    names = {**MANY, "tests.test_a": ["test_first"], "tests.test_z": ["test_last"]}
    del names["tests.test_more"]
    files = {
        "src/app.py": code.replace("a - b", "a + b"),
        "tests/test_z.py": last.replace("double(9) == 18", "add(9, 1) == 10"),
    }
    _, answer = judge(files, names)
    assert "TESTS_FAILED" not in {f["code"] for f in answer["findings"]}
    (merged,) = [r for r in answer["runs"] if r["role"] == "merged"]
    assert (merged["partial"], merged["counts"]) == (False, {"passed": 12})


BROKEN = FIXED.replace("return a * 2", "return a * 2 if HELPED else 0").replace("def add", "HELPED = []\n\n\nclass Asked:\n    def __getattr__(self, name):\n        help_out()\n        raise AttributeError(name)\n\n    def __set_name__(self, owner, name):\n        help_out()\n\n\nASKED = Asked()\n\n\ndef help_out():\n    HELPED.append(1)\n\n\ndef add")  # fmt: skip
RESCUES = {
    "a test that runs first": "import app\n\n\ndef test_aa():\n    app.help_out()\n    assert app.add(1, 2) == 3\n",
    "a fixture of the module": "import app\nimport pytest\n\n\n@pytest.fixture(scope='session', autouse=True)\ndef helped():\n    app.help_out()\n\n\ndef test_aa():\n    assert app.add(1, 2) == 3\n",
    "a call when it is loaded": "import app\n\napp.help_out()\n\n\ndef test_aa():\n    assert app.add(1, 2) == 3\n",
    "a row": "import app\nimport pytest\n\n\n@pytest.mark.parametrize('x', [app.help_out()])\ndef test_aa(x):\n    assert app.add(1, 2) == 3\n",
    "a module that only it loads": "import rescue\nimport app\n\n\ndef test_aa():\n    assert app.add(1, 2) == 3\n",
    "a hook of its module": "import app\n\n\ndef pytest_generate_tests(metafunc):\n    app.help_out()\n\n\ndef test_aa():\n    assert app.add(1, 2) == 3\n",
    "an object that pytest asks": "import app\nfrom app import ASKED\n\n\ndef test_aa():\n    assert app.add(1, 2) == 3\n",
    "an attribute of a class": "import app\n\n\nclass TestA:\n    x = app.ASKED\n\n    def test_aa(self):\n        assert app.add(1, 2) == 3\n",
    "its presence on the disk": "import app\n\n\ndef test_aa():\n    assert app.add(1, 2) == 3\n",
    "another app beside it": "import app\n\n\ndef test_aa():\n    assert app.add(1, 2) == 3\n",
    "set-up of its module": "import app\n\n\ndef setup_module():\n    app.help_out()\n\n\ndef test_aa():\n    assert app.add(1, 2) == 3\n",
}  # fmt: skip


@pytest.mark.parametrize("how", RESCUES)
def test_a_new_test_module_rescues_no_broken_code(judge, how):
    """The code fails the target's tests unless something of the new module ran before them."""
    judge.repo.commit(OTHERS, "More tests")
    names = {**MANY, "tests.test_aa": ["test_aa"]}
    del names["tests.test_more"]
    files = {"src/app.py": BROKEN, "tests/test_aa.py": RESCUES[how]}
    if how == "its presence on the disk":
        counted = "len([f for f in __import__('pathlib').Path('tests').iterdir() if f.suffix == '.py']) > 2"
        files["src/app.py"] = BROKEN.replace("if HELPED", f"if {counted}")
    if how == "another app beside it":
        files = {"src/app.py": BROKEN, "more/test_aa.py": RESCUES[how], "more/app.py": FIXED}
        names = {**names, "more.test_aa": names.pop("tests.test_aa")}
    if how == "an attribute of a class":
        names = {**names, "tests.test_aa.TestA": names.pop("tests.test_aa")}
    if "rescue" in RESCUES[how]:
        files["src/rescue.py"] = "import app\n\napp.help_out()\n"
    _, answer = judge(files, names)
    assert answer["verdict"] == "rejected"
    assert {"TESTS_FAILED", "EXPECTATION_BENT"} & {r["code"] for r in answer["reasons"]}
