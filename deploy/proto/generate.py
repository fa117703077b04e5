"""Generates the Python code and the type stubs of the public API from proto/.

    python deploy/proto/generate.py            writes gatekeeper/api/v1/ in this checkout
    python deploy/proto/generate.py --out DIR  writes DIR/gatekeeper/api/v1/ instead
    python deploy/proto/generate.py --baseline takes the present .proto files as what may never break from now on
                                               (at a release; the breaking check compares with it)

Trusts: the .proto files of this checkout and the locked protoc and mypy-protobuf of the environment it runs in. It
opens no connection. Files that a removed .proto left behind are deleted, so that the folder is exactly what protoc makes.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from importlib import resources
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parents[2]
PROTO = ROOT / "proto"
PACKAGE = Path("gatekeeper/api/v1")
BASELINE = PROTO / PACKAGE / "baseline.binpb"
INIT = '"""Generated from proto/gatekeeper/api/v1 by deploy/proto/generate.py. Do not edit."""\n'


def sources() -> list[str]:
    """The .proto files relative to proto/, sorted."""
    return sorted(p.relative_to(PROTO).as_posix() for p in (PROTO / PACKAGE).glob("*.proto"))


def services() -> list[str]:
    """Those of `sources` that define a service; only they have stubs and servicers."""
    return [s for s in sources() if re.search(r"^service ", (PROTO / s).read_text(encoding="utf-8"), re.MULTILINE)]


def run_protoc(options: list[str], files: list[str]) -> None:
    """Runs the packaged protoc. Raises `SystemExit` with its status when it fails."""
    # protoc finds its mypy plugins on the PATH: they lie beside this interpreter, which need not be activated.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    well_known = str(resources.files("grpc_tools") / "_proto")
    status = protoc.main(["protoc", f"-I{PROTO}", f"-I{well_known}", *options, *files])
    if status != 0:
        raise SystemExit(status)


def generate(out: Path) -> list[Path]:
    """Writes all generated files below `out` and answers their paths, sorted."""
    folder = out / PACKAGE
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.py*"):
        old.unlink()
    run_protoc([f"--python_out={out}", f"--mypy_out=quiet:{out}"], sources())
    run_protoc([f"--grpc_python_out={out}", f"--mypy_grpc_out=quiet:{out}"], services())
    (folder / "__init__.py").write_text(INIT, encoding="utf-8")
    return sorted(folder.glob("*.py*"))


def write_baseline(path: Path = BASELINE) -> None:
    """Writes the descriptors of all sources, without comments, to `path`."""
    run_protoc([f"--descriptor_set_out={path}", "--include_imports"], sources())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Generate gatekeeper/api/v1 from proto/.")
    parser.add_argument("--out", type=Path, default=ROOT, help="folder of the Python root (default: this checkout)")
    parser.add_argument("--baseline", action="store_true", help="write baseline.binpb instead")
    arguments = parser.parse_args()
    if arguments.baseline:
        write_baseline()
    else:
        for made in generate(arguments.out):
            sys.stdout.write(f"{made}\n")
