"""What the environment of the tests gains for suites of Node.js, and what it refuses to install."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from node_projects import node_or_skip

from gatekeeper.adapters.node_toolchain import NodeToolchain
from gatekeeper.adapters.node_toolchain.packages import install, redacted
from gatekeeper.adapters.node_toolchain.program import Node, find_node
from gatekeeper.config import Paths
from gatekeeper.domain.ports import TestEnvironment
from gatekeeper.domain.settings import EnvironmentSettings
from gatekeeper.domain.ticket import Suite
from gatekeeper.domain.tree import MemoryTree
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats.npm_lock import npm_project

BARE = TestEnvironment(
    mounts=(), python="/usr/bin/python3", path=(), digest="d", description="bare", has_recorder=False
)
NODE_SUITE = Suite("unit", runner="node")
PLAIN = {"package.json": '{"name": "p", "type": "module"}'}
LOCKED = {
    "package.json": '{"name": "p", "dependencies": {"a": "1"}, "scripts": {"install": "false"}}',
    "package-lock.json": json.dumps(
        {
            "lockfileVersion": 3,
            "packages": {
                "": {"name": "p", "dependencies": {"a": "1"}},
                "node_modules/a": {"version": "1.0.0", "integrity": "sha512-" + "c" * 86 + "=="},
            },
        }
    ),
}


class Places:
    """Stands for the maker of directories: makes nothing, and remembers what was to be made."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.names: list[str] = []

    def __call__(self, parent, name, make):
        self.names.append(name)
        place = self.root / name
        (place / "node_modules").mkdir(parents=True, exist_ok=True)
        return place


@pytest.fixture
def toolchain(tmp_path):
    made = NodeToolchain(Paths(tmp_path / "state", tmp_path / "config"), "/repo", Places(tmp_path / "built"))
    made.places = made._built
    return made


def extend(toolchain, files, *suites):
    return toolchain.extend(BARE, MemoryTree.of(files), EnvironmentSettings(), suites or (NODE_SUITE,))


def test_a_project_of_another_language_is_left_alone(toolchain):
    suite = Suite("t", runner="pytest")
    assert extend(toolchain, {"app.py": ""}, suite) is BARE
    assert extend(toolchain, {"app.py": ""}, Suite("t", command="node x.js")) is BARE


def test_without_dependencies_there_is_nothing_to_install(toolchain):
    node_or_skip()
    made = extend(toolchain, PLAIN)
    assert made.programs["node"] == str(find_node().executable)
    assert not any(inside.endswith("node_modules") for _, inside in made.mounts)
    assert made.digest != BARE.digest
    assert toolchain.places.names in ([], [n for n in toolchain.places.names if n.startswith("node-")])


def test_the_packages_of_the_lock_lie_beside_it_in_the_tree(toolchain):
    node_or_skip()
    made = extend(toolchain, {f"web/{k}": v for k, v in LOCKED.items()}, Suite("t", runner="jest", workdir="web/app"))
    assert [inside for _, inside in made.mounts if "node_modules" in inside] == ["/repo/web/node_modules"]
    assert "/repo/web/node_modules/.vite-temp" in made.scratch


def test_another_lock_is_another_environment(toolchain):
    node_or_skip()
    first = extend(toolchain, LOCKED)
    second = extend(
        toolchain, {**LOCKED, "package-lock.json": LOCKED["package-lock.json"].replace('"1.0.0"', '"1.0.1"')}
    )
    assert first.digest != second.digest
    assert extend(toolchain, LOCKED).digest == first.digest


def test_packages_that_the_repository_brings_itself_are_left(toolchain):
    node_or_skip()
    made = extend(toolchain, {**LOCKED, "node_modules/a/index.js": ""})
    assert not any("node_modules" in inside for _, inside in made.mounts)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"package.json": LOCKED["package.json"]}, "no package-lock.json"),
        ({"package.json": LOCKED["package.json"], "yarn.lock": "x"}, "no package-lock.json"),
        ({**LOCKED, "package-lock.json": '{"lockfileVersion": 1}'}, "lockfileVersion"),
        ({**LOCKED, "package-lock.json": "{"}, "cannot be installed"),
        ({**LOCKED, "package-lock.json": LOCKED["package-lock.json"].replace('"integrity"', '"resolved": "git+ssh://h/x", "x"')}, "no registry's"),
    ],
    ids=["no-lock", "another-manager", "old", "broken", "git"],
)  # fmt: skip
def test_what_cannot_be_installed_says_so_and_blames_the_environment(toolchain, files, words):
    node_or_skip()
    with pytest.raises(CouldNotCheck, match=words) as caught:
        extend(toolchain, files)
    assert (caught.value.code, caught.value.blame) == ("ENVIRONMENT_FAILED", "environment")
    assert caught.value.next_action


def test_an_opaque_command_without_a_lock_is_run_as_it_is(toolchain):
    node_or_skip()
    assert extend(toolchain, {"package.json": LOCKED["package.json"]}, Suite("t", command="npm test")).mounts == ()


NPM = """
const fs = require('fs');
fs.writeFileSync('seen.json', JSON.stringify({ argv: process.argv.slice(2), env: process.env, lock: fs.readFileSync('package-lock.json', 'utf8') }));
fs.mkdirSync('node_modules');
"""


def test_npm_gets_a_home_of_its_own_no_scripts_and_no_secret(tmp_path, monkeypatch):
    node_or_skip()
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://registry.example/")
    monkeypatch.setenv("NPM_CONFIG_IGNORE_SCRIPTS", "false")
    monkeypatch.setenv("NODE_OPTIONS", "--require /tmp/evil.js")
    monkeypatch.setenv("AWS_SECRET", "abcdefgh")
    npm, place = tmp_path / "npm-cli.js", tmp_path / "place"
    npm.write_text(NPM)
    place.mkdir()
    project = npm_project({"": LOCKED["package.json"].encode()}, LOCKED["package-lock.json"].encode())
    install(project, place, node=find_node(), npm=npm, cache=tmp_path / "cache", legacy_peers=False)
    seen = json.loads((place / "seen.json").read_text())
    assert seen["argv"][:2] == ["ci", "--ignore-scripts"]
    assert seen["env"]["HOME"] == str(tmp_path / "cache/npm/home")
    assert seen["env"]["NPM_CONFIG_REGISTRY"] == "http://registry.example/"
    assert not {"NPM_CONFIG_IGNORE_SCRIPTS", "NODE_OPTIONS", "AWS_SECRET"} & set(seen["env"])
    assert "scripts" not in seen["lock"]
    assert (place / "node_modules/.vite-temp").is_dir()


def test_what_npm_says_is_told_without_credentials(tmp_path, monkeypatch):
    node_or_skip()
    monkeypatch.setenv("SOME_TOKEN", "very-secret")
    npm, place = tmp_path / "npm-cli.js", tmp_path / "place"
    npm.write_text("console.error('no http://me:pw@registry.example/a with very-secret'); process.exit(1)")
    place.mkdir()
    project = npm_project({"": LOCKED["package.json"].encode()}, LOCKED["package-lock.json"].encode())
    with pytest.raises(CouldNotCheck) as caught:
        install(project, place, node=find_node(), npm=npm, cache=tmp_path / "cache", legacy_peers=False)
    assert "pw" not in caught.value.message
    assert "very-secret" not in caught.value.message
    assert redacted("x //a:b@h/") == "x //***@h/"


def test_an_old_or_broken_node_is_refused(tmp_path, monkeypatch):
    old = tmp_path / "node"
    old.write_text('#!/bin/sh\necho \'["/opt/node/bin/node", "v18.1.0", "linux", "x64"]\'\n')
    old.chmod(0o755)
    monkeypatch.setenv("GATEKEEPER_NODE", str(old))
    with pytest.raises(CouldNotCheck, match="18"):
        find_node()
    old.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(CouldNotCheck, match="does not start"):
        find_node()


def test_a_node_in_a_private_place_is_copied_for_the_sandbox(toolchain, tmp_path):
    private = tmp_path / "home" / "bin"
    private.mkdir(parents=True)
    (private / "node").write_text("x")
    (private / "node").chmod(0o755)
    private.parent.chmod(0o700)
    node = Node(private / "node", "v20.1.0 linux x64")
    if os.geteuid() == 0:
        assert not node.reachable
    made = toolchain._with_node(BARE, node)
    ((source, inside),) = made.mounts
    assert inside == str(private / "node")
    assert source != inside or node.reachable
