"""Tested code under `node --test` that wants better results than it has."""

from __future__ import annotations

from dataclasses import replace

import pytest
from node_projects import node_or_skip
from sandbox_runs import Runs, usable_runs

from gatekeeper.config import Paths
from gatekeeper.domain.settings import EnvironmentSettings
from gatekeeper.domain.testrun import SuiteRun, Termination
from gatekeeper.domain.ticket import Suite
from gatekeeper.domain.tree import MemoryTree
from gatekeeper.errors import CouldNotCheck
from gatekeeper.wiring import engines

SUITE = Suite("unit", runner="node")
MANIFEST = '{"name": "x", "type": "module"}'
FAILS = "import { test } from 'node:test';\ntest('a', () => { throw new Error('no'); });\n"
FORGED = '{"gatekeeper": 1, "runner": "node"}\\n{"file": "a.test.js", "names": ["a"], "outcome": "passed"}\\n{"end": 1, "success": true}\\n'


@pytest.fixture(scope="module")
def runs(gate_paths: Paths) -> Runs:
    node_or_skip()
    made = usable_runs(gate_paths)
    (toolchain, *_) = engines.toolchains(gate_paths)
    made.environment = toolchain.extend(
        made.environment, MemoryTree.of({"package.json": MANIFEST}), EnvironmentSettings(), [SUITE]
    )
    return made


def run(runs: Runs, files, suite: Suite = SUITE, links=None) -> SuiteRun:
    tree = runs.tree({"package.json": MANIFEST, **files}, links)
    limits = replace(runs.request(tree, suite).limits, memory_mib=1024)
    return runs.sandbox.run(runs.request(tree, suite, limits))


def believable(made: SuiteRun) -> bool:
    """What an honest green run is."""
    return (
        made.exit_code == 0
        and not made.report_faults
        and bool(made.cases)
        and all(c.outcome.value == "passed" and "::" in c.id for c in made.cases)
    )


def test_an_honest_run_is_believed(runs):
    made = run(runs, {"a.test.js": "import { test } from 'node:test';\ntest('a', () => {});\n"})
    assert believable(made), made.log
    assert (made.guarantee, [c.id for c in made.cases]) == ("structured", ["a.test.js::a"])


@pytest.mark.parametrize(
    "attack",
    [
        f"import fs from 'node:fs';\nfs.writeFileSync('/tmp/gatekeeper-events', '{FORGED}');\n",
        f"import fs from 'node:fs';\nfs.writeFileSync('/tmp/forged', '{FORGED}');\nfs.symlinkSync('/tmp/forged', '/tmp/gatekeeper-events');\n",
        "import fs from 'node:fs';\nfs.mkdirSync('/tmp/gatekeeper-events');\n",
        "process.exit(0);\n",
        "process.on('exit', () => process.reallyExit(0));\n",
        "process.kill(process.ppid, 'SIGKILL');\n",
        "process.exitCode = 0;\nObject.defineProperty(process, 'exitCode', { get: () => 0, set() {} });\n",
        "import fs from 'node:fs';\ntry { fs.writeFileSync('/run/gate/node_test.mjs', ''); } catch {}\n",
    ],
    ids=["writes-events", "links-events", "blocks-events", "exits", "exits-at-the-end", "kills-the-parent", "exit-code", "reporter"],
)  # fmt: skip
def test_a_failing_test_does_not_become_a_green_run(runs, attack):
    assert not believable(run(runs, {"a.test.js": attack + FAILS}))


def test_a_parent_that_is_killed_leaves_no_report(runs):
    made = run(runs, {"a.test.js": "process.kill(process.ppid, 'SIGKILL');\n" + FAILS})
    assert made.report_faults or made.termination is not Termination.EXITED
    assert made.exit_code != 0


def test_settings_of_the_environment_are_not_obeyed(runs):
    made = run(
        runs,
        {
            "a.test.js": "import { test } from 'node:test';\ntest('a', () => { if (process.env.NODE_OPTIONS) throw 1; });\n"
        },
    )
    assert believable(made), made.log


@pytest.mark.parametrize("argument", ["--test-reporter=tap", "--test-isolation=none", "--watch"])
def test_arguments_that_take_the_results_away_are_refused(runs, argument):
    with pytest.raises(CouldNotCheck, match="the gate's to choose"):
        run(runs, {"a.test.js": FAILS}, replace(SUITE, command=argument))


def test_a_link_where_packages_belong_is_not_followed(runs):
    inside = replace(runs.environment, mounts=(*runs.environment.mounts, (str(runs.paths.state), "/repo/node_modules")))
    tree = runs.tree({"package.json": MANIFEST, "a.test.js": FAILS}, {"node_modules": "../../../etc"})
    with pytest.raises(CouldNotCheck, match="in the way") as caught:
        runs.sandbox.run(replace(runs.request(tree, SUITE), environment=inside))
    assert caught.value.blame == "change"
