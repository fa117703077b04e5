"""Functions that assert for Go's tests, and that something else replaces, empties or keeps from running."""

from __future__ import annotations

import pytest
from evidence_builder import build_evidence, build_ticket

from gatekeeper.checks import go_tests
from gatekeeper.domain.ticket import Permit, PermitKind, Suite

CODE = "package calc\n\nfunc Add(a, b int) int { return a + b }\n"
HEAD = 'package calc\n\nimport "testing"\n'
TEST, KIT = "calc/calc_test.go", "calc/kit_test.go"
PLAIN = (
    '\nfunc TestAdd(t *testing.T) {\n	if got := Add(2, 2); got != 4 {\n		t.Errorf("got %d", got)\n	}\n}\n'
)
UP = '\nfunc assertUp(t *testing.T, got, want int) {\n	t.Helper()\n	if got != want {\n		t.Errorf("got %d", got)\n	}\n}\n'
CALL = "\nfunc TestAdd(t *testing.T) {\n	assertUp(t, Add(2, 2), 4)\n}\n"
VAR = UP.replace("func assertUp(", "var assertUp = func(")
FAKE = "\ntype quiet struct {\n	*testing.T\n}\n\nfunc (q quiet) Errorf(format string, args ...any) {}\n"
METHOD = UP.replace("func assertUp(t *testing.T, ", "func (k kit) assertUp(t *testing.T, ")


def judge(before, after):
    """Codes of what is told, for files of both sides; a text alone is the test file."""
    base = {"go.mod": "module example.com/m\n", "calc/calc.go": CODE}
    base |= before if isinstance(before, dict) else {TEST: HEAD + before}
    merged = {k: v for k, v in base.items() if k in ("go.mod", "calc/calc.go") or not isinstance(after, dict)}
    merged |= after if isinstance(after, dict) else {TEST: HEAD + after}
    evidence = build_evidence(base, merged, suites=(Suite("verify", runner="go"),), ticket=build_ticket())
    return [f.code for f in go_tests.check(evidence)]


def inside(line, body=CALL):
    """The test with a line in front."""
    return body.replace("{\n", "{\n	" + line + "\n", 1)


DRAWN_OUT = {
    "set_in_init": VAR + CALL + "\nfunc init() { assertUp = func(t *testing.T, got, want int) {} }\n",
    "set_in_main": VAR + CALL + "\nfunc TestMain(m *testing.M) {\n	assertUp = func(t *testing.T, got, want int) {}\n	os.Exit(m.Run())\n}\n",
    "set_in_another_test": VAR + CALL + "\nfunc TestA(t *testing.T) {\n	assertUp = nothing\n	assertUp(t, Add(1, 1), 2)\n}\n",
    "set_through_a_pointer": VAR + CALL + "\nfunc init() { replace(&assertUp) }\n",
    "shadowed": UP + inside("assertUp := func(t *testing.T, got, want int) {}"),
    "shadowed_by_var": UP + inside("var assertUp = func(t *testing.T, got, want int) {}"),
    "fake_t": UP + FAKE + inside("q := quiet{t}", CALL.replace("assertUp(t,", "assertUp(q,")),
    "fake_t_of_the_same_name": FAKE + inside("t := quiet{tt}", PLAIN.replace("(t *testing.T)", "(tt *testing.T)")),
    "another_type_of_t": UP.replace("*testing.T", "reporter") + "\ntype reporter struct{}\n\nfunc (reporter) Helper() {}\nfunc (reporter) Errorf(string, ...any) {}\n" + CALL.replace("assertUp(t,", "assertUp(reporter{},"),
    "new_t": UP + CALL.replace("assertUp(t,", "assertUp(&testing.T{},"),
    "new_t_inside": UP.replace("	t.Helper()", "	t = new(testing.T)") + CALL,
    "logs": UP.replace("t.Errorf", "t.Logf") + CALL,
    "goroutine": UP + CALL.replace("	assertUp(", "	go assertUp("),
    "goroutine_inside": UP.replace("	if got", "	go func() {\n	if got").replace("	}\n}\n", "	}\n	}()\n}\n") + CALL,
    "recovers": UP.replace("	t.Helper()", "	defer func() { recover() }()").replace("t.Errorf", "panic") + CALL,
    "returns_before": UP.replace("	t.Helper()", "	return") + CALL,
    "returns_under_a_condition": UP.replace("	t.Helper()", '	if os.Getenv("FULL") == "" {\n		return\n	}') + CALL,
    "skips": UP.replace("	t.Helper()", '	t.Skip("later")') + CALL,
    "never": UP.replace("got != want", "false") + CALL,
    "compares_with_itself": UP.replace("got != want", "got != got") + CALL,
    "looser": UP.replace("got != want", "got == 0") + CALL,
    "called_behind_a_return": UP + inside("return"),
    "called_under_a_condition": UP + CALL.replace("	assertUp(t, Add(2, 2), 4)", '	if os.Getenv("FULL") != "" {\n		assertUp(t, Add(2, 2), 4)\n	}'),
    "called_in_a_function_that_nobody_calls": UP + CALL.replace("	assertUp(t, Add(2, 2), 4)", "	_ = func() { assertUp(t, Add(2, 2), 4) }"),
    "not_called": UP + "\nfunc TestAdd(t *testing.T) {\n	_ = assertUp\n	Add(2, 2)\n}\n",
    "nearer_method": METHOD + "\ntype kit struct{}\n\ntype loud struct{ kit }\n\nfunc (l loud) assertUp(t *testing.T, got, want int) {}\n" + CALL.replace("assertUp(", "loud{}.assertUp("),
    "run_replaced": PLAIN.replace("	if got", '	run(t, "add", func(t *testing.T) {\n	if got').replace("	}\n}\n", "	}\n	})\n}\n") + "\nfunc run(t *testing.T, name string, body func(t *testing.T)) {}\n",
    "two_files_with_tags": {TEST: HEAD + CALL, KIT: "//go:build full\n\n" + HEAD + UP, "calc/kit_other_test.go": "//go:build !full\n\n" + HEAD + "\nfunc assertUp(t *testing.T, got, want int) {}\n"},
    "two_files_of_systems": {TEST: HEAD + CALL, "calc/kit_windows_test.go": HEAD + UP, "calc/kit_linux_test.go": HEAD + "\nfunc assertUp(t *testing.T, got, want int) {}\n"},
    "own_library": PLAIN.replace('	if got := Add(2, 2); got != 4 {\n		t.Errorf("got %d", got)\n	}\n', "	assert.Equal(t, 4, Add(2, 2))\n") + "\ntype quiet struct{}\n\nfunc (quiet) Equal(args ...any) {}\n\nvar assert quiet\n",
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN_OUT)
def test_a_function_that_only_seems_to_assert(name):
    assert judge(PLAIN, DRAWN_OUT[name])


WITH_KIT = {n: a for n, a in DRAWN_OUT.items() if "assertUp" in str(a) and n != "nearer_method"}


@pytest.mark.parametrize("name", WITH_KIT)
def test_a_function_that_tests_call_no_longer_asserts(name):
    assert judge(UP + CALL, WITH_KIT[name])


EMPTIED = {
    "emptied": HEAD + "\nfunc assertUp(t *testing.T, got, want int) {}\n",
    "logs": HEAD + UP.replace("t.Errorf", "t.Logf"),
    "returns": HEAD + UP.replace("	t.Helper()", "	return"),
    "never": HEAD + UP.replace("got != want", "false"),
    "itself": HEAD + UP.replace("got != want", "got != got"),
    "looser": HEAD + UP.replace("got != want", "got < want"),
}


@pytest.mark.parametrize("name", EMPTIED)
def test_a_file_beside_the_tests_is_emptied_while_they_stay_as_they_are(name):
    first = {TEST: HEAD + CALL, KIT: HEAD + UP}
    assert judge(first, {TEST: HEAD + CALL, KIT: EMPTIED[name]})
    moved = {TEST: HEAD + CALL, "calc/other_test.go": EMPTIED[name]}
    assert judge(first, moved), "moved to another file"


@pytest.mark.parametrize("name", EMPTIED)
def test_a_package_of_support_is_emptied_while_the_tests_stay_as_they_are(name):
    kit = (HEAD + UP).replace("package calc", "package kit").replace("assertUp", "AssertUp")
    use = HEAD.replace('"testing"', '(\n	"testing"\n\n	"example.com/m/internal/kit"\n)') + CALL.replace(
        "assertUp", "kit.AssertUp"
    )
    bent = EMPTIED[name].replace("package calc", "package kit").replace("assertUp", "AssertUp")
    assert judge({TEST: use, "internal/kit/kit.go": kit}, {TEST: use, "internal/kit/kit.go": bent})


def test_a_call_that_asserted_is_taken_away():
    assert judge(UP + CALL, UP + CALL.replace("assertUp(t, Add(2, 2), 4)", "Add(2, 2)"))


HONEST = {
    "drawn_out": (PLAIN, UP + CALL),
    "drawn_out_for_any_t": (PLAIN, UP.replace("t *testing.T", "tb testing.TB").replace("t.", "tb.").replace("tbesting.", "testing.").replace("gotb.", "got.") + CALL),
    "drawn_out_with_fatal": (PLAIN, UP.replace("t.Errorf", "t.Fatalf") + CALL),
    "drawn_out_to_another_file": (PLAIN, {TEST: HEAD + CALL, KIT: HEAD + UP}),
    "drawn_out_to_a_variable": (PLAIN, VAR + CALL),
    "drawn_out_inside": (PLAIN, inside('assertUp := func(t *testing.T, got, want int) {\n		t.Helper()\n		if got != want {\n			t.Errorf("got %d", got)\n		}\n	}')),
    "drawn_out_into_a_subtest": (PLAIN, UP + CALL.replace("	assertUp(t, Add(2, 2), 4)", '	t.Run("add", func(t *testing.T) {\n		assertUp(t, Add(2, 2), 4)\n	})')),
    "drawn_out_with_a_table": (PLAIN, UP + CALL.replace("	assertUp(t, Add(2, 2), 4)", "	for _, c := range []struct{ a, b, want int }{{2, 2, 4}, {1, 1, 2}} {\n		assertUp(t, Add(c.a, c.b), c.want)\n	}")),
    "whole_body": (
        PLAIN.replace("	if got", "	for _, skip := range skips {\n		if skip {\n			t.Log(skip)\n			return\n		}\n	}\n	if got"),
        PLAIN.replace("TestAdd(t *testing.T)", "checkAll(t *testing.T, more bool)").replace("	if got", "	for _, skip := range skips {\n		if skip {\n			t.Log(skip)\n			return\n		}\n	}\n	if got")
        + "\nfunc TestAdd(t *testing.T) {\n	checkAll(t, false)\n}\n",
    ),
    "method": (PLAIN, "\ntype kit struct{}\n" + METHOD + CALL.replace("assertUp(", "kit{}.assertUp(")),
    "moved_to_another_file": (UP + CALL, {TEST: HEAD + CALL, KIT: HEAD + UP}),
    "renamed": (UP + CALL, UP.replace("assertUp", "same") + CALL.replace("assertUp", "same")),
    "written_out": (UP + CALL, PLAIN),
    "helper_marked": (UP.replace("	t.Helper()\n", "") + CALL, UP + CALL),
    "parameters_renamed": (UP + CALL, UP.replace("got", "have") + CALL),
    "stricter": (UP.replace("got != want", "got < want") + CALL, UP + CALL),
    "to_a_library": (UP + CALL, UP.replace('	if got != want {\n		t.Errorf("got %d", got)\n	}\n', "	require.Equal(t, want, got)\n") + CALL),
    "another_variable_of_that_name": (PLAIN, UP + CALL + "\nfunc TestOther(t *testing.T) {\n	assertUp := 3\n	if Add(1, 2) != assertUp {\n		t.Fatal(assertUp)\n	}\n}\n"),
    "waited_for": (PLAIN, UP + CALL.replace("	assertUp(t, Add(2, 2), 4)", "	var wg sync.WaitGroup\n	wg.Add(1)\n	go func() {\n		defer wg.Done()\n		assertUp(t, Add(2, 2), 4)\n	}()\n	wg.Wait()")),
    "t_that_records": (PLAIN, PLAIN + '\ntype recorder struct {\n	testing.TB\n	failed bool\n}\n\nfunc (r *recorder) Errorf(string, ...any) { r.failed = true }\n\nfunc TestCheck(t *testing.T) {\n	r := &recorder{TB: t}\n	Check(r, 3)\n	if !r.failed {\n		t.Error("must fail")\n	}\n}\n'),
    "two_files_of_systems": (PLAIN, {TEST: HEAD + PLAIN, "calc/kit_windows_test.go": HEAD + "\nfunc sep() string { return `\\\\` }\n", "calc/kit_unix_test.go": "//go:build unix\n\n" + HEAD + "\nfunc sep() string { return `/` }\n"}),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_change_of_such_functions_is_let_through(name):
    assert judge(*HONEST[name]) == []


def test_a_permit_lets_them_change():
    base = {"go.mod": "module example.com/m\n", "calc/calc.go": CODE, TEST: HEAD + CALL, KIT: HEAD + UP}
    permit = Permit(PermitKind.CHANGE_EXPECTATIONS, paths=("calc/**",))
    evidence = build_evidence(base, {**base, KIT: EMPTIED["emptied"]}, suites=(Suite("verify", runner="go"),), ticket=build_ticket(permits=[permit]))  # fmt: skip
    assert [f.code for f in go_tests.check(evidence)] == []
