"""The committed code is what the .proto files make, and it costs the one-shot command nothing."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "deploy" / "proto" / "generate.py"
PACKAGE = ROOT / "gatekeeper" / "api" / "v1"


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}


def test_the_committed_code_is_current(tmp_path):
    subprocess.run([sys.executable, str(SCRIPT), "--out", str(tmp_path)], check=True, timeout=120, capture_output=True)
    made = contents(tmp_path / "gatekeeper" / "api" / "v1")
    kept = contents(PACKAGE)
    assert made.keys() == kept.keys(), "run: make proto"
    assert [n for n in made if made[n] != kept[n]] == [], "run: make proto"


def test_what_a_removed_file_left_behind_goes(tmp_path):
    spec = importlib.util.spec_from_file_location("generate", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stale = tmp_path / "gatekeeper" / "api" / "v1" / "gone_pb2.py"
    stale.parent.mkdir(parents=True)
    stale.write_text("")
    names = [p.name for p in module.generate(tmp_path)]
    assert not stale.exists()
    assert "verifications_pb2_grpc.pyi" in names
    assert "verification_pb2_grpc.py" not in names


def test_every_module_imports_unpatched_and_in_one_process():
    names = sorted(p.stem for p in PACKAGE.glob("*.py") if p.stem != "__init__")
    assert len(names) > 20
    code = f"import importlib\nfor n in {names!r}: importlib.import_module('gatekeeper.api.v1.' + n)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60, cwd=ROOT)


def test_the_command_line_does_not_import_the_api():
    code = (
        "import sys, gatekeeper.cli.main\n"
        "bad = [m for m in sys.modules if m.startswith(('gatekeeper.api', 'grpc', 'google.protobuf'))]\n"
        "sys.exit(repr(bad) if bad else 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert result.returncode == 0, result.stderr
