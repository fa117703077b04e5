"""How `go test` is started, and where its tests stand."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gatekeeper.adapters.bubblewrap_sandbox.go_runner import GoRunner
from gatekeeper.domain.ports import Limits, RunRequest, TestEnvironment
from gatekeeper.domain.testrun import RunRole
from gatekeeper.domain.ticket import Suite
from gatekeeper.errors import InputError

ENVIRONMENT = TestEnvironment(
    mounts=(),
    python="/env/bin/python",
    path=(),
    digest="d",
    description="d",
    has_recorder=False,
    programs={"go": "/go/bin/go"},
)
TEST = 'package calc\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n\nfunc TestB(t *testing.T) {}\n'


def request(tree, command="", workdir=".", tests=(), **more):
    suite = Suite("go", runner="go", command=command, workdir=workdir)
    return RunRequest(
        id="r", role=RunRole.MERGED, suite=suite, tree_oid="t", tree=tree, environment=ENVIRONMENT, limits=Limits(), tests=tests, **more
    )  # fmt: skip


def inner(asked):
    """The command of Go that is started inside."""
    argv = GoRunner().argv(asked)
    assert argv[:3] == ["/env/bin/python", "-I", "-S"]
    return json.loads(argv[-1])[0]


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "go.mod").write_text("module example.com/m\n")
    (tmp_path / "calc").mkdir()
    (tmp_path / "calc" / "calc_test.go").write_text(TEST)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", ["./..."]),
        ("-race", ["./...", "-race"]),
        ("-tags=x ./calc", ["-tags=x", "./calc"]),
        ("./calc/...", ["./calc/..."]),
        ("-timeout 5m -args -x .", ["./...", "-timeout", "5m", "-args", "-x", "."]),
    ],
)
def test_arguments(tree, command, words):
    assert inner(request(tree, command)) == ["/go/bin/go", "test", "-json", "-count=1", *words]


@pytest.mark.parametrize("command", ["-exec true", "-toolexec=x", "--json=false", "-c", "-o x", "-overlay=x", "'"])
def test_what_is_the_gates_to_choose(tree, command):
    with pytest.raises(ValueError, match=r"gate's to choose|cannot be split"):
        GoRunner().argv(request(tree, command))


def test_without_go(tree):
    with pytest.raises(ValueError, match="no Go"):
        GoRunner().argv(replace(request(tree), environment=replace(ENVIRONMENT, programs={})))


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        (("calc/calc_test.go::TestA/one [x]",), ["./calc", "-run", "^TestA$/^one\\ \\[x\\]$"]),
        (("calc/calc_test.go::TestA", "calc/calc_test.go::TestB/x"), ["./calc", "-run", "^(TestA|TestB)$"]),
        (("calc/calc_test.go", "tests/test_a.py"), ["./calc", "-run", "^(TestA|TestB)$"]),
        (("tests/test_a.py",), ["./..."]),
    ],
)
def test_selected_tests(tree, tests, words):
    assert inner(request(tree, "-run TestOther -race ./other", tests=tests))[4:] == [*words[:1], *(["-race"] if words != ["./..."] else []), *words[1:]] or words == ["./..."]  # fmt: skip


def test_ids_have_the_file(tree):
    rows = [
        {"Action": "run", "Package": "example.com/m/calc", "Test": "TestB/x"},
        {
            "Action": "output",
            "Package": "example.com/m/calc",
            "Test": "TestB/x",
            "Output": "--- PASS: TestB/x (0.00s)\n",
        },
        {"Action": "pass", "Package": "example.com/m/calc", "Test": "TestB/x"},
        {"Action": "output", "Package": "example.com/m/calc", "Output": "PASS\n"},
        {"Action": "pass", "Package": "example.com/m/calc"},
        {"Action": "pass", "Package": "example.com/m/gone"},
    ]
    events = b"".join(json.dumps(r).encode() + b"\n" for r in rows)
    cases = [c for r in GoRunner().reports(events, request(tree)) for c in r.cases]
    assert [(c.id, c.file, c.line) for c in cases[:1]] == [("calc/calc_test.go::TestB/x", "calc/calc_test.go", 7)]
    assert cases[1].id == "gone"
    with pytest.raises(InputError):
        GoRunner().reports(b"{", request(tree))


def test_links_in_the_tree_are_not_followed(tree, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "o_test.go").write_text(TEST)
    (tree / "linked").symlink_to(outside)
    (tree / "calc" / "l_test.go").symlink_to(outside / "o_test.go")
    rows = [{"Action": "fail", "Package": f"example.com/m/{p}", "Test": "TestB"} for p in ("linked", "calc")]
    events = b"".join(json.dumps(r).encode() + b"\n" for r in rows)
    found = [c.id for r in GoRunner().reports(events, request(tree)) for c in r.cases if "::" in c.id]
    assert found == ["linked::TestB", "calc/calc_test.go::TestB"]
