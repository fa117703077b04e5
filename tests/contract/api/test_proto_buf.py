"""buf, pinned by the lock, judges the public API: style, comments, format, and nothing that breaks a client."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROTO = ROOT / "proto"
BASELINE = PROTO / "gatekeeper/api/v1/baseline.binpb"
MEMBER = "gatekeeper/api/v1/principal.proto"


@pytest.fixture(scope="session")
def buf(tmp_path_factory):
    binary = Path(sys.executable).parent / "buf"
    found = str(binary) if binary.exists() else shutil.which("buf")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("buf is missing: `make setup-dev` installs it from deploy/requirements/dev.lock")
        pytest.skip("buf is missing: run `make setup-dev`")
    home = tmp_path_factory.mktemp("buf")
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "BUF_CACHE_DIR": str(home)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([found, *arguments], capture_output=True, text=True, timeout=60, env=env, cwd=home)

    return run


@pytest.fixture
def copy(tmp_path):
    """A copy of proto/ with one substitution that must hit."""

    def make(old: str, new: str, member: str = MEMBER) -> str:
        target = tmp_path / "proto"
        shutil.copytree(PROTO, target)
        text = (target / member).read_text(encoding="utf-8")
        assert old in text
        (target / member).write_text(text.replace(old, new), encoding="utf-8")
        return str(target)

    return make


def test_the_version_is_the_locked_one(buf):
    locked = re.search(r"^buf-bin==(\S+)", (ROOT / "deploy/requirements/dev.lock").read_text(), re.MULTILINE)
    assert locked is not None
    assert buf("--version").stdout.strip() == locked[1]


def test_style_and_comments(buf):
    result = buf("lint", str(PROTO))
    assert (result.returncode, result.stdout) == (0, ""), result.stdout


def test_format(buf):
    result = buf("format", "--diff", "--exit-code", str(PROTO))
    assert result.returncode == 0, result.stdout


def test_nothing_breaks_clients_of_the_baseline(buf):
    result = buf("breaking", str(PROTO), "--against", str(BASELINE))
    assert (result.returncode, result.stdout) == (0, ""), result.stdout


@pytest.mark.parametrize(
    "old, new",
    [
        ("  string subject = 2;", "  reserved 2;"),
        ("  string subject = 2;", "  string subject = 9;"),
        ("  string subject = 2;", "  bytes subject = 2;"),
        ("  string subject = 2;", "  string sub = 2;"),
        ("KIND_AGENT = 2;", "KIND_ROBOT = 2;"),
    ],
    ids=["removed", "renumbered", "retyped", "renamed", "enum value renamed"],
)
def test_a_breaking_edit_is_found(buf, copy, old, new):
    result = buf("breaking", copy(old, new), "--against", str(BASELINE))
    assert result.returncode == 100, result
    assert MEMBER in result.stdout


def test_an_added_field_breaks_nothing(buf, copy):
    more = "  string subject = 2;\n  // Display name.\n  string display_name = 5;"
    proto = copy("  string subject = 2;", more)
    assert buf("breaking", proto, "--against", str(BASELINE)).returncode == 0
    assert buf("lint", proto).returncode == 0


@pytest.mark.parametrize(
    "old, new, rule",
    [
        ("  // A person.\n", "", "COMMENT|comment"),
        ("KIND_UNSPECIFIED = 0", "KIND_NONE = 0", "_UNSPECIFIED"),
        ("string subject = 2", "string theSubject = 2", "lower_snake_case"),
    ],
    ids=["no comment", "no unspecified zero", "camel case"],
)
def test_a_fault_of_style_is_found(buf, copy, old, new, rule):
    result = buf("lint", copy(old, new))
    assert result.returncode == 100, result
    assert re.search(rule, result.stdout), result.stdout
