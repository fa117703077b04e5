"""A wheel holds the policy bundle, and finds it there."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from gatekeeper.config import policy_bundle

ROOT = Path(__file__).resolve().parents[2]
POLICIES = ROOT / "policies"


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_wheel_holds_the_bundle_and_finds_it(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    source = tmp_path / "source"
    source.mkdir()
    shutil.copy2(ROOT / "pyproject.toml", source)
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("gatekeeper", "policies"):
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=ignore)
    build = f"from setuptools import build_meta as b; b.build_wheel({str(tmp_path)!r})"
    done = subprocess.run(
        [sys.executable, "-I", "-c", build], cwd=source, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    assert files(tmp_path / "site" / "gatekeeper" / "_policies") == files(POLICIES)
    assert ".manifest" in files(POLICIES)
    reporters = Path("gatekeeper/adapters/bubblewrap_sandbox/node_reporters")
    assert files(tmp_path / "site" / reporters) == files(ROOT / reporters)
    ask = f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); from gatekeeper.config import policy_bundle; print(policy_bundle())"
    found = subprocess.run(
        [sys.executable, "-I", "-c", ask], cwd="/", capture_output=True, text=True, check=True, timeout=60, env={}
    )
    assert Path(found.stdout.strip()) == tmp_path / "site" / "gatekeeper" / "_policies"


def test_a_checkout_uses_its_own_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GATEKEEPER_POLICY_DIR", raising=False)
    assert policy_bundle() == POLICIES
