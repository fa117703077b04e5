"""go.mod, the events of go test, and the tests of a Go file, as Go writes them."""

from __future__ import annotations

import json

import pytest

from gatekeeper.domain.testrun import Outcome
from gatekeeper.errors import InputError
from gatekeeper.formats.go_mod import is_directory, leaves_tree, parse_go_mod
from gatekeeper.formats.go_names import GoNames
from gatekeeper.formats.go_test_json import PackageEnd, parse_go_test, suite_reports
from gatekeeper.formats.go_tests import read_go_tests
from gatekeeper.formats.go_tokens import build_constraint, name_constraint, tokens

P = "example.com/m/calc"


def events(*rows):
    """Lines of events; a row is (action, test, output) or a whole event."""
    made = [r if isinstance(r, dict) else {"Action": r[0], "Package": P, **({"Test": r[1]} if r[1] else {}), **({"Output": r[2]} if len(r) > 2 else {})} for r in rows]  # fmt: skip
    return b"".join(json.dumps(m).encode() + b"\n" for m in made)


def whole(name, end="pass", said=None):
    """A test that ran and said how it ended."""
    word = {"pass": "PASS", "fail": "FAIL", "skip": "SKIP"}[end]
    return [("run", name), ("output", name, f"=== RUN   {name}\n"), ("output", name, said or f"--- {word}: {name} (0.00s)\n"), (end, name)]  # fmt: skip


DONE = [("output", "", "PASS\n"), ("output", "", f"ok  \t{P}\t0.01s\n"), ("pass", "")]
LOST = [("output", "", "FAIL\n"), ("fail", "")]


def one(*rows):
    (package,) = parse_go_test(events(("start", ""), *rows))
    return package


def test_outcomes_and_subtests():
    package = one(*whole("TestA"), *whole("TestB/x y", "skip"), *whole("TestC", "fail"), *LOST)
    assert [(t.name, t.outcome) for t in package.tests] == [
        ("TestA", Outcome.PASSED), ("TestB/x y", Outcome.SKIPPED), ("TestC", Outcome.FAILED),
    ]  # fmt: skip
    assert (package.end, package.fault) == (PackageEnd.FAILED, "")


def test_a_test_run_twice_counts_twice():
    assert len(one(*whole("TestA"), *whole("TestA"), *DONE).tests) == 2


def test_output_before_the_mark_does_not_hide_it():
    package = one(*whole("TestA", said="printed without a line end--- PASS: TestA (0.00s)\n"), *DONE)
    assert package.tests[0].outcome is Outcome.PASSED


def test_no_test_files_and_no_tests_to_run():
    empty = one(("output", "", f"?   \t{P}\t[no test files]\n"), ("skip", ""))
    assert (empty.end, empty.fault, empty.tests) == (PackageEnd.NO_TEST_FILES, "", ())
    covered = one(("output", "", f"\t{P}\t\tcoverage: 0.0% of statements\n"), ("pass", ""))
    assert covered.end is PackageEnd.NO_TEST_FILES
    narrow = one(("output", "", "testing: warning: no tests to run\n"), *DONE)
    assert (narrow.end, narrow.fault) == (PackageEnd.NO_TESTS_TO_RUN, "")


def test_a_package_that_says_ok_without_its_tests():
    silent = one(("output", "", f"ok  \t{P}\t0.01s\n"), ("pass", ""))
    assert silent.end is PackageEnd.SILENT
    assert "TestMain" in silent.fault


def test_a_process_that_ends_while_a_test_runs():
    # So go test says it where a test calls exit(0): the test passes, and the package has no end.
    rows = [*whole("TestA"), ("run", "TestB"), ("output", "TestB", "=== RUN   TestB\n"), ("output", "TestB", f"ok  \t{P}\t0.01s\n"), ("pass", "TestB")]  # fmt: skip
    package = one(*rows)
    assert [t.outcome for t in package.tests] == [Outcome.PASSED, Outcome.ERRORED]
    assert package.end is PackageEnd.UNFINISHED
    left = one(*whole("TestA"), ("run", "TestB"), *DONE)
    assert [t.outcome for t in left.tests] == [Outcome.PASSED, Outcome.ERRORED]


def test_a_build_failure_has_the_words_of_the_compiler():
    building = f"{P} [{P}.test]"
    rows = [
        {"ImportPath": building, "Action": "build-output", "Output": f"# {building}\n"},
        {"ImportPath": building, "Action": "build-output", "Output": "calc/calc.go:7:23: undefined: y\n"},
        {"ImportPath": building, "Action": "build-fail"},
        {"Action": "output", "Package": P, "Output": f"FAIL\t{P} [build failed]\n"},
        {"Action": "fail", "Package": P, "FailedBuild": building},
    ]
    package = one(*rows)
    assert package.end is PackageEnd.BUILD_FAILED
    assert "undefined: y" in package.detail


def test_a_failure_outside_the_tests():
    package = one(*whole("TestA"), ("output", "", "panic: in TestMain\n"), ("fail", ""))
    assert package.fault == "the package failed outside its tests"


def test_reports_stand_for_files():
    packages = parse_go_test(events(("start", ""), *whole("TestA"), ("fail", "")))
    (report,) = suite_reports(
        packages, lambda p, t: ("calc/a_test.go", "calc/a_test.go", 3), lambda p: ["calc/a_test.go"]
    )
    assert [(c.id, c.outcome) for c in report.cases] == [("calc/a_test.go::TestA", Outcome.PASSED), ("calc/a_test.go", Outcome.ERRORED)]  # fmt: skip
    assert suite_reports((), lambda p, t: ("", None, None), lambda p: [])[0].cases == ()


@pytest.mark.parametrize(
    "data",
    [b"[]\n", b"{\n", b"ok example.com 0.1s\n", b'{"Action": 3}\n', b'{"Action":"run","Package":["x"]}\n', b"\xff\n",
     b'{"Action":"run","Package":"p","Test":"' + b"x" * 3000 + b'"}\n', b'{"Action":"pass","Package":"p","Elapsed":1}\n{"Acti'],
)  # fmt: skip
def test_what_go_test_does_not_write_is_refused(data):
    with pytest.raises(InputError) as caught:
        parse_go_test(data)
    assert caught.value.code == "GO_EVENTS_MALFORMED"


def test_unknown_actions_and_blank_lines_are_let_through():
    assert parse_go_test(b'\n{"Action":"attr","Package":"p","Key":"k"}\n\n')[0].end is PackageEnd.UNFINISHED


# --- go.mod ---------------------------------------------------------------------------------------------------------


def test_a_go_mod():
    found = parse_go_mod(
        b"module example.com/m // comment\n\ngo 1.21\ntoolchain go1.99.0\n\nrequire (\n\texample.com/a v1.0.0\n"
        b"\texample.com/b v0.2.0 // indirect\n)\nrequire example.com/c v1.0.0\n"
        b'replace example.com/a => ./a\nreplace (\n\texample.com/b v0.2.0 => "../b"\n)\ntool example.com/t\n'
    )
    assert (found.module, found.go, found.toolchain) == ("example.com/m", "1.21", "go1.99.0")
    assert found.requires == (("example.com/a", "v1.0.0"), ("example.com/b", "v0.2.0"), ("example.com/c", "v1.0.0"))
    assert found.replaced == (("example.com/a", "./a", ""), ("example.com/b", "../b", ""))
    assert parse_go_mod(b"go 1.21\nuse (\n\t./a\n\t./b\n)\nuse ./c\n", "go.work").uses == ("./a", "./b", "./c")


@pytest.mark.parametrize("data", [b"require (\n", b"require )\n", b"\xff", b"x" * (1024 * 1024 + 1), b"a\n" * 20_001])
def test_a_go_mod_that_cannot_be_read(data):
    with pytest.raises(InputError):
        parse_go_mod(data)


@pytest.mark.parametrize(
    ("folder", "target", "leaves"),
    [("", "./a", False), ("", "../a", True), ("sub", "../a", False), ("sub", "../../a", True), ("", "/etc", True), ("a/b", "../../..", True)],
)  # fmt: skip
def test_what_lies_outside_the_tree(folder, target, leaves):
    assert is_directory(target)
    assert leaves_tree(folder, target) is leaves


# --- tests of a file ------------------------------------------------------------------------------------------------


def test_strings_comments_and_raw_strings_hide_nothing():
    file = read_go_tests(
        "package a\n\n// func TestNo(t *testing.T) {}\nvar s = `\nfunc TestRaw(t *testing.T) {}\n`\n"
        'var r = \'"\'\nfunc TestYes(t *testing.T) { t.Error("}") }\nfunc Test1(t *testing.T) {}\nfunc Testing(t *testing.T) {}\n'
        "func (s *S) TestMethod() {}\nfunc FuzzX(f *testing.F) {}\nfunc ExampleX() {}\nfunc BenchmarkX(b *testing.B) {}\n"
    )
    assert list(file.functions) == ["TestYes", "Test1", "FuzzX", "ExampleX"]
    assert list(file.others) == ["Testing", "S.TestMethod", "BenchmarkX"]
    assert file.functions["TestYes"].line == 8


def test_layout_comments_and_the_name_of_the_parameter_change_nothing():
    one_ = read_go_tests("package a\nfunc TestA(t *testing.T) {\n\tif x() != 1 {\n\t\tt.Fatal(1)\n\t}\n}\n")
    two = read_go_tests("package a\nfunc TestA(tt *testing.T) {\n\n\t// why\n\tif x() != 1 { tt.Fatal(1) }\n}\n")
    assert one_.functions["TestA"].assertions == two.functions["TestA"].assertions


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("//go:build linux\n\npackage a\n", "linux"),
        ("// Copyright\n\n//go:build !race && integration\npackage a\n", "!race && integration"),
        ("// +build ignore\n\npackage a\n", "ignore"),
        ("package a\n//go:build linux\n", ""),
    ],
)
def test_build_constraints(source, found):
    assert build_constraint(source) == found


@pytest.mark.parametrize(
    ("name", "found"),
    [("a_test.go", ""), ("a_windows_test.go", "windows"), ("a_linux_arm64_test.go", "linux && arm64"), ("windows_test.go", ""), ("my_case_test.go", "")],
)  # fmt: skip
def test_constraints_in_names(name, found):
    assert name_constraint(f"x/{name}") == found


def test_what_is_never_closed_ends_the_file():
    assert [t.text for t in tokens("a /* b")] == ["a", ";"]
    assert [t.text for t in tokens("a ` b")] == ["a", ";"]


# --- names in claims ------------------------------------------------------------------------------------------------


def test_names_of_tools_that_write_junit():
    packages = parse_go_test(events(("start", ""), *whole("TestA/x"), *DONE))
    names = GoNames(suite_reports(packages, lambda p, t: ("calc/a_test.go", None, None), lambda p: []))
    key = names.seen("calc/a_test.go::TestA/x")
    assert key == (P, "TestA/x")
    for owner in (P, "calc", "m/calc", P.replace("/", ".")):
        assert names.claimed(f"{owner}::TestA/x") == key
    assert names.claimed("tests.test_a::test_b") is None
    assert names.paths(key) == {"calc/a_test.go"}
