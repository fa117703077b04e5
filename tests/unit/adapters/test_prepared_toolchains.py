"""What the operator's settings add to the environment of every suite."""

from __future__ import annotations

import os

import pytest

from gatekeeper.adapters.environment_builder.store import built, inventory
from gatekeeper.adapters.prepared_toolchains import PreparedToolchains
from gatekeeper.domain.gate_settings import ToolSettings
from gatekeeper.domain.ports import TestEnvironment
from gatekeeper.domain.settings import EnvironmentSettings
from gatekeeper.domain.tree import MemoryTree
from gatekeeper.errors import ConfigurationError, CouldNotCheck
from gatekeeper.formats.gate_settings import parse_gate_settings

PLAIN = TestEnvironment(mounts=(), python="/p", path=("/p/bin",), digest="d", description="plain", has_recorder=True)


def extended(paths, settings):
    return PreparedToolchains(paths, settings, built, inventory).extend(
        PLAIN, MemoryTree.of({}), EnvironmentSettings(), ()
    )


def test_nothing_named_changes_nothing(gate_paths):
    assert extended(gate_paths, ToolSettings()) is PLAIN


def test_a_toolchain_a_cache_and_a_variable(gate_paths, state_dir):
    tool, cache = state_dir / "tool", state_dir / "cache"
    (tool / "bin").mkdir(parents=True, exist_ok=True)
    cache.mkdir(exist_ok=True)
    (cache / "a.jar").write_text("one")
    settings = ToolSettings((tool,), (cache,), (("JAVA_HOME", str(tool)),))
    made = extended(gate_paths, settings)
    assert made.mounts == ((os.path.realpath(tool), str(tool)),)
    assert made.path == ("/p/bin", f"{tool}/bin")
    assert made.env["JAVA_HOME"] == str(tool)
    ((copy, inside),) = made.layers
    assert inside == str(cache)
    assert copy != inside
    (cache / "a.jar").write_text("two, and longer")
    again = extended(gate_paths, settings)
    assert (again.digest != made.digest, again.layers != made.layers) == (True, True)


def test_what_is_not_there_blames_the_environment(gate_paths, state_dir):
    with pytest.raises(CouldNotCheck) as caught:
        extended(gate_paths, ToolSettings((state_dir / "none",)))
    assert (caught.value.code, caught.value.blame) == ("ENVIRONMENT_MISSING", "environment")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's gate has a sandbox user of its own")
def test_what_the_sandbox_user_cannot_reach(gate_paths, state_dir):
    closed = state_dir / "closed"
    (closed / "tool").mkdir(parents=True, exist_ok=True)
    closed.chmod(0o700)
    with pytest.raises(CouldNotCheck, match="cannot pass through"):
        extended(gate_paths, ToolSettings((closed / "tool",)))


def test_settings_are_read():
    found = parse_gate_settings(
        b'[environment]\ntoolchains = ["/opt/java"]\ncaches = ["/opt/m2"]\n[environment.variables]\nJAVA_HOME = "/opt/java"\n'
    )
    assert [str(p) for p in found.environment.toolchains] == ["/opt/java"]
    assert found.environment.variables == (("JAVA_HOME", "/opt/java"),)


@pytest.mark.parametrize(
    "text",
    [
        'toolchains = ["/"]', 'toolchains = ["/repo/x"]', 'toolchains = ["/usr"]', 'toolchains = ["/proc/self"]', 'toolchains = ["relative"]',
        'toolchains = ["/opt/../etc"]', 'toolchains = "/opt"', 'caches = ["/tmp/x"]', 'toolchain = ["/opt"]',
        'toolchains = ["/opt/a", "/opt/a/b"]', 'toolchains = ["/opt/a"]\ncaches = ["/opt/a"]', 'variables = { PATH = "/x" }',
        'variables = { LD_PRELOAD = "/x" }', 'variables = { PYTEST_ADDOPTS = "-x" }', 'variables = { NPM_TOKEN = "x" }',
        'variables = { "a b" = "x" }', 'variables = { A = "" }', "variables = 3",
    ],
)  # fmt: skip
def test_settings_that_are_refused(text):
    with pytest.raises(ConfigurationError):
        parse_gate_settings(f"[environment]\n{text}\n".encode())
