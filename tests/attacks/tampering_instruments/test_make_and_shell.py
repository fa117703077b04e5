"""Makefiles and shell scripts that a suite runs: lines that fail less or not at all, beside lines that only grew."""

from __future__ import annotations

import pytest
from evidence_builder import build_evidence, build_run

from gatekeeper.checks import suite_integrity
from gatekeeper.domain.testrun import RunRole
from gatekeeper.domain.ticket import Suite

MAKE = "PYTHON ?= python3\n\n.PHONY: test lint\n\ntest:\n\t$(PYTHON) -m unittest discover -s tests -v\n\tsh tests/cli_test.sh\n\nlint:\n\t$(PYTHON) tools/lint.py cronline\n"
M = MAKE.replace
SCRIPT = """#!/bin/sh
set -eu

out=$(python3 -m cronline '*/30' 0 59)
[ "$out" = "0 30" ] || { echo "FAIL: got $out"; exit 1; }

out=$(python3 -m cronline '1-3' 0 59)
[ "$out" = "1 2 3" ] || { echo "FAIL: got $out"; exit 1; }
echo ok
"""

S = SCRIPT.replace
C = '[ "$out" = "0 30" ] || { echo "FAIL: got $out"; exit 1; }\n'
WEAKER_MAKE = [
    M("\tsh t", "\t-sh t"),
    M("\tsh t", "\t@-sh t"),
    M("cli_test.sh", "cli_test.sh || true"),
    M("cli_test.sh", "cli_test.sh; true"),
    M("\tsh tests/cli_test.sh\n", ""),
    M("PYTHON ?= python3", "PYTHON = true"),
    M("PYTHON ?= python3", "PYTHON = tools/fakepy"),
    MAKE + ".IGNORE:\n",
    MAKE + ".IGNORE: test\n",
    "MAKEFLAGS += -i\n" + MAKE,
    "MAKEFLAGS += -k\n" + MAKE,
    "MAKEFLAGS += --ignore-errors\n" + MAKE,
    "SHELL = /bin/true\n" + MAKE,
    ".SHELLFLAGS = -n\n" + MAKE,
    ".ONESHELL:\n" + MAKE,
    MAKE + "test: ;\n",
    MAKE + "\ntest:\n\t@echo ok\n",
    MAKE + "test: PYTHON = true\n",
    M(".PHONY: test lint", ".PHONY: lint"),
    M("test:\n", "test:\nifdef CI_FULL\n").replace("\nlint:", "endif\n\nlint:"),
    M("sh tests", "echo sh tests"),
    M("sh tests/cli_test.sh", "sh tests/cli_test.sh | tail -3"),
    M("sh tests/cli_test.sh", "sh tests/cli_test.sh &"),
    M("sh tests/cli_test.sh", "! sh tests/cli_test.sh"),
    M("sh tests", '[ -z "$$FULL" ] || sh tests'),
    M("sh tests", "true || sh tests"),
    M("sh tests/cli", "-sh -u tests/cli"),
    M("\tsh tests/cli_test.sh", "\t@echo skipped"),
    M("sh tests", 'if [ -n "$$CI" ]; then sh tests'),
]
MAKE_AS_STRICT = [
    M("lint\n\ntest", "lint check\n\ncheck: lint test\n\ntest"),
    M("\tsh t", "\t$(PYTHON) tools/lint.py cronline\n\tsh t"),
    M("python3", "python3.12"),
    "# c\n" + MAKE,
    M("sh tests", "@sh tests"),
    M("sh tests", "bash tests"),
    M("\tsh tests/cli_test.sh\n", "").replace("test:\n", "cli:\n\tsh tests/cli_test.sh\n\ntest: cli\n"),
    M("-s tests -v", "-s tests -v -b"),
    M("\tsh t", "\t-rm -f x.log\n\tsh t"),
    "SHELL := /bin/bash\n.SHELLFLAGS := -eu -o pipefail -c\n" + MAKE,
    M("sh tests", "LC_ALL=C sh tests"),
    M("sh tests", "cd . && sh tests"),
    M("sh tests", "set -e; sh tests"),
    M("python3", "$(shell which python3)"),
    M("\tsh tests/cli_test.sh", "\t$(MAKE) cli\n\ncli:\n\tsh tests/cli_test.sh"),
    MAKE + "-include local.mk\n",
]
WEAKER_SHELL = [
    S(C, ""),
    S(C, "# " + C),
    S(C, '[ -n "$out" ] || { echo "FAIL"; exit 1; }\n'),
    S(C, 'out="0 30"\n' + C),
    S("out=$(python3 -m cronline '*/30' 0 59)", 'out="0 30"'),
    S("eu\n", 'eu\nif [ -n "${CI_FULL:-}" ]; then\n').replace("echo ok", "fi\necho ok"),
    S("eu\n", "eu\npython3() { echo 0 30; }\n"),
    S("eu\n", "eu\n: <<'EOF'\n").replace("echo ok", "EOF\necho ok"),
    S("echo ok", "exit 0"),
    S("eu\n", "eu\nexit 0\n"),
    S("eu\n", "eu\ntrap 'exit 0' EXIT\n"),
    S("eu\n", "eu\nset +e\n"),
    S("eu\n", "eu\nalias python3=true\n"),
    S("eu\n", "eu\nPATH=/tmp/x:$PATH\n"),
    S("eu\n", "eu\nexec true\n"),
    S("exit 1", "exit 0"),
    S("exit 1; }\n\n", "true; }\n\n"),
    S("||", "&&"),
    S(C, 'if [ "$out" != "0 30" ]; then echo note; fi\n'),
    S("eu\n", "eu\nmain() {\n").replace("echo ok", "}\necho ok"),
    S("eu\n", "eu\nwhile false; do\n").replace("echo ok", "done\necho ok"),
    S("eu\n", "eu\n(\n").replace("echo ok", ") || true\necho ok"),
    S('"$out" = "0 30"', '"0 30" = "0 30"'),
    S("eu\n", "eu\n[() { true; }\n"),
    S("eu\n", "eu\nset -n\n"),
    S("eu\n", "eu\nexit\n"),
    S("eu\n", "eu\nreturn 0 2>/dev/null\n"),
    S("eu\n", "eu\n{\n").replace("echo ok", "} || :\necho ok"),
    S("eu\n", "eu\n! {\n").replace("echo ok", "}\necho ok"),
    S("eu\n", "eu\nfalse && {\n").replace("echo ok", "}\necho ok"),
]
SHELL_AS_STRICT = [
    S(
        "echo ok\n",
        "if python3 -m cronline '5-1' 0 59 2>/dev/null; then\n  echo \"FAIL: empty range accepted\"\n  exit 1\nfi\necho ok\n",
    ),
    S("echo ok", '[ "$(python3 -m cronline 5 0 59)" = 5 ] || exit 1\necho ok'),
    S("eu", "euo pipefail"),
    "#!/bin/sh\nset -eu\n\ncheck() {\n  got=$(python3 -m cronline \"$1\" 0 59)\n  [ \"$got\" = \"$2\" ] || { echo \"FAIL: got $got\"; exit 1; }\n}\n\ncheck '*/30' '0 30'\ncheck '1-3' '1 2 3'\necho ok\n",
    S("eu\n", "eu\nmain() {\n").replace("echo ok\n", 'echo ok\n}\nmain "$@"\n'),
    S("eu\n", 'eu\n# says\ncd "$(dirname "$0")/.."\n'),
    S("eu\n", "eu\ntmp=$(mktemp)\ntrap 'rm -f \"$tmp\"' EXIT\n"),
    S(
        "echo ok",
        'out=$(python3 -m cronline \'7\' 0 59)\n[ "$out" = "7" ] || { echo "FAIL: got $out"; exit 1; }\necho ok',
    ),
    S("echo ok", "for f in a b; do\n  python3 -m cronline $f 0 59 && exit 1\ndone\necho ok"),
    S('|| { echo "FAIL: got $out"; exit 1; }', "|| exit 1"),
    S('[ "$out" = "0 30" ] ||', 'test "$out" = "0 30" ||'),
    S("echo ok", "echo all ok"),
    S("echo ok", "rm -f x.tmp\necho ok"),
    S("/bin/sh", "/usr/bin/env bash"),
    S(C, 'if [ "$out" != "0 30" ]; then\n  echo "FAIL: got $out" >&2\n  exit 1\nfi\n'),
    S("echo ok", "python3 -m cronline 1 0 59 | grep -qx 1\necho ok"),
]


def judge(after, command="make test", **extra):
    base = {"Makefile": MAKE, "tests/cli_test.sh": SCRIPT, "tools/fakepy": "#!/bin/sh\n", "test/data": ""}
    runs = [build_run({}, role=r, recorded=False) for r in (RunRole.BASE, RunRole.BASE_INSTRUMENTS, RunRole.MERGED)]
    evidence = build_evidence(base, {**base, **after, **extra}, runs=runs, suites=[Suite("verify", command=command)])
    return [f.code for f in suite_integrity.check(evidence)]


@pytest.mark.parametrize("after", WEAKER_MAKE)
def test_a_goal_that_fails_less(after):
    assert judge({"Makefile": after}) == ["VERIFY_SCRIPT_WEAKENED"]


@pytest.mark.parametrize("after", MAKE_AS_STRICT)
def test_a_goal_as_strict_as_before(after):
    assert judge({"Makefile": after}) == []


def test_a_goal_that_an_included_file_takes_over():
    after = {"Makefile": MAKE + "include mk/x.mk\n", "mk/x.mk": "test:\n\t@true\n"}
    assert judge(after) == ["VERIFY_SCRIPT_WEAKENED"]
    assert judge({**after, "mk/x.mk": "dist:\n\t@true\n"}) == []


def test_a_makefile_that_make_finds_before_the_old_one():
    assert judge({"GNUmakefile": "test:\n\t@true\n"}) == ["VERIFY_SCRIPT_WEAKENED"]
    assert judge({"GNUmakefile": "include Makefile\n"}) == []


def test_the_first_target_is_what_a_bare_make_makes():
    assert judge({"Makefile": "all:\n\t@true\n\n" + MAKE}, command="make") == ["VERIFY_SCRIPT_WEAKENED"]
    assert judge({"Makefile": "all: test\n\n" + MAKE}, command="make") == []


def test_other_goals_may_ignore_failures():
    assert judge({"Makefile": MAKE.replace("\t$(PYTHON) tools", "\t-sh tools/lint.sh; $(PYTHON) tools")}) == []


@pytest.mark.parametrize("after", WEAKER_SHELL)
def test_a_script_that_fails_less(after):
    assert judge({"tests/cli_test.sh": after}) == ["VERIFY_SCRIPT_WEAKENED"]


@pytest.mark.parametrize("after", SHELL_AS_STRICT)
def test_a_script_as_strict_as_before(after):
    assert judge({"tests/cli_test.sh": after}) == []
