"""jest and vitest end to end, with the real packages: installed by the gate from the base's lock, never by a script."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from node_projects import Judge, codes, counts, node_or_skip


@dataclass(frozen=True)
class Runner:
    """One runner, how its modules look, and how its reports name tests."""

    name: str
    packages: dict[str, str]
    ending: str
    imports: str = ""
    uses: str = ""
    exports: str = ""

    @property
    def tests(self) -> str:
        return f"""{self.imports}{self.uses.format(names="twice, table")}
describe('twice', () => {{
  it('doubles', () => {{
    expect(twice(4)).toBe(8);
  }});
  it.each([[0, 0], [1, 2]])('of %d is %d', (a, b) => {{
    expect(twice(a)).toBe(b);
  }});
}});

test('table', () => {{
  expect(table()).toMatchSnapshot();
}});
"""

    def code(self, sign: str = "-", table: str = "two") -> str:
        return (
            f"const add = (a, b) => a {sign} b;\nconst twice = (a) => a * 2;\nconst table = () => ['one', '{table}'];\n"
            f"{self.exports}"
        )

    @property
    def snapshot(self) -> str:
        head = "// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing" if self.name == "jest" else "// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html"  # fmt: skip
        return f'{head}\n\nexports[`table 1`] = `\n[\n  "one",\n  "two",\n]\n`;\n'

    def new_test(self, *, proves: bool) -> str:
        body = "expect(add(1, 2)).toBe(3);" if proves else "expect(add(0, 0)).toBe(0);"
        return f"{self.imports}{self.uses.format(names='add')}\ntest('adds', () => {{\n  {body}\n}});\n"

    def report(self, *titles: str) -> str:
        """As jest-junit and vitest's own reporter write it."""
        if self.name == "jest":
            rows = "".join(f'<testcase classname="{t.replace(" > ", " ")}" name="{t.replace(" > ", " ")}" time="0.1"/>' for t in titles)  # fmt: skip
        else:
            rows = "".join(
                f'<testcase classname="test/{"add" if t == "adds" else "math"}.test.ts" name="{t.replace(">", "&gt;")}" time="0.1"/>'
                for t in titles
            )
        return f'<testsuites name="tests" tests="{len(titles)}" failures="0" errors="0"><testsuite name="s" tests="{len(titles)}" failures="0" errors="0" skipped="0">{rows}</testsuite></testsuites>'  # fmt: skip


TITLES = ("twice > doubles", "twice > of 0 is 0", "twice > of 1 is 2", "table")
RUNNERS = (
    Runner(
        "jest", {"jest": "30.2.0"}, "js", uses="const {{ {names} }} = require('../src/math.js');\n",
        exports="module.exports = { add, twice, table };\n",
    ),
    Runner(
        "vitest", {"vitest": "3.2.4", "vite": "7.1.12"}, "ts",
        imports="import { describe, expect, it, test } from 'vitest';\n",
        uses="import {{ {names} }} from '../src/math';\n", exports="export { add, twice, table };\n",
    ),
)  # fmt: skip


@pytest.fixture(scope="module", params=RUNNERS, ids=lambda r: r.name)
def project(request, tmp_path_factory):
    """(runner, files of the base, file that a script of the packages would leave)."""
    node_or_skip()
    runner: Runner = request.param
    place: Path = tmp_path_factory.mktemp(runner.name)
    mark = place / "a-script-ran"
    scripts = dict.fromkeys(("preinstall", "install", "postinstall", "prepare", "pretest"), f"touch {mark}")
    manifest = {
        "name": "math",
        "version": "1.0.0",
        "scripts": {**scripts, "test": runner.name},
        "devDependencies": runner.packages,
    }
    (place / "package.json").write_text(json.dumps(manifest))
    try:
        subprocess.run(
            ["npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"],
            cwd=place, check=True, capture_output=True, timeout=600,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"the registry cannot be reached: {error}")
    files = {
        "package.json": json.dumps(manifest),
        "package-lock.json": (place / "package-lock.json").read_text(),
        f"src/math.{runner.ending}": runner.code(),
        f"test/math.test.{runner.ending}": runner.tests,
        f"test/__snapshots__/math.test.{runner.ending}.snap": runner.snapshot,
        ".gatekeeper.toml": f'[[suite]]\nname = "unit"\nrunner = "{runner.name}"\n',
        ".gitignore": "node_modules\n",
    }
    return runner, files, mark


@pytest.fixture
def judge(project, make_repo, gate_env):
    runner, files, _ = project
    made = Judge(make_repo(), files)
    made.runner = runner
    return made


def test_an_honest_fix_is_accepted_and_no_script_of_a_package_runs(judge, project):
    runner, _, mark = project
    code, answer = judge(
        {f"src/math.{runner.ending}": runner.code("+"), f"test/add.test.{runner.ending}": runner.new_test(proves=True)},
        report=runner.report(*TITLES, "adds"),
    )
    assert (code, answer["verdict"], codes(answer)) == (0, "accepted", set())
    assert counts(answer)["merged"] == {"passed": 5}
    assert counts(answer)["new_tests_on_base"] == {"failed": 1}
    assert {r["guarantee"] for r in answer["runs"]} == {"structured"}
    assert not mark.exists()


def test_deleted_and_skipped_tests_and_lost_rows_are_rejected(judge, project):
    runner, _, _ = project
    bent = runner.tests.replace("it('doubles'", "it.skip('doubles'").replace("[[0, 0], [1, 2]]", "[[0, 0]]")
    bent = bent[: bent.index("test('table'")]
    code, answer = judge(
        {f"src/math.{runner.ending}": runner.code("+"), f"test/math.test.{runner.ending}": bent},
        report=runner.report(*TITLES),
    )
    assert code == 1
    assert codes(answer, "blocks") >= {"TEST_SILENCED", "TEST_REMOVED", "PARAMETERS_REMOVED"}


def test_one_focused_test_silences_the_others(judge, project):
    runner, _, _ = project
    bent = runner.tests.replace("it('doubles'", "it.only('doubles'")
    code, answer = judge(
        {f"src/math.{runner.ending}": runner.code("+"), f"test/math.test.{runner.ending}": bent},
        report=runner.report(*TITLES),
    )
    assert code == 1
    assert codes(answer, "blocks") & {"TEST_SILENCED", "TESTS_FAILED", "SUITE_FAILED"}


def test_a_snapshot_that_follows_the_code_needs_a_permit(judge, project):
    runner, _, _ = project
    path = f"test/__snapshots__/math.test.{runner.ending}.snap"
    change = {
        f"src/math.{runner.ending}": runner.code("+", table="three"),
        path: runner.snapshot.replace('"two"', '"three"'),
    }
    code, answer = judge(change, report=runner.report(*TITLES))
    assert (code, codes(answer, "blocks", "asks")) == (4, {"EXPECTATION_FOLLOWS_CODE"})
    assert next(f["path"] for f in answer["findings"] if f["code"] == "EXPECTATION_FOLLOWS_CODE") == path
    permit = {"kind": "update_snapshots", "paths": [path], "reason": "three columns"}
    code, answer = judge(change, report=runner.report(*TITLES), permits=[permit])
    assert (code, answer["verdict"]) == (0, "accepted")


def test_code_that_ends_the_process_gains_nothing(judge, project):
    runner, _, _ = project
    ending = f"process.exit(0);\n{runner.code()}"
    code, answer = judge({f"src/math.{runner.ending}": ending}, report=runner.report(*TITLES))
    assert code == 1
    assert answer["reasons"][0]["category"] in ("test_tampering", "implementation_gaming", "tests_failed")


def test_a_lock_with_another_content_is_not_installed(judge, project, make_repo):
    runner, files, _ = project
    lock = json.loads(files["package-lock.json"])
    lock["packages"][f"node_modules/{runner.name}"]["integrity"] = "sha512-" + "A" * 86 + "=="
    other = Judge(make_repo("other"), {**files, "package-lock.json": json.dumps(lock)})
    code, answer = other({f"src/math.{runner.ending}": runner.code("+")}, report=runner.report(*TITLES))
    assert (code, "ENVIRONMENT_FAILED" in codes(answer)) == (3, True)
