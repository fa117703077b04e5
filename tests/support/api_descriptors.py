"""The public API as protoc describes it, comments included."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from google.protobuf import descriptor_pb2 as d

ROOT = Path(__file__).resolve().parents[2]
PROTO = ROOT / "proto"
FOLDER = PROTO / "gatekeeper" / "api" / "v1"


@cache
def files() -> tuple[d.FileDescriptorProto, ...]:
    """All files of the API, with source information."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "set.binpb"
        command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO}"]
        command += [f"-I{resources.files('grpc_tools') / '_proto'}", f"--descriptor_set_out={out}"]
        command += ["--include_source_info", *sorted(p.relative_to(PROTO).as_posix() for p in FOLDER.glob("*.proto"))]
        subprocess.run(command, check=True, timeout=60)
        return tuple(d.FileDescriptorSet.FromString(out.read_bytes()).file)


def comments(file: d.FileDescriptorProto) -> dict[tuple[int, ...], str]:
    """Leading comments by descriptor path, each as one line of text."""
    rows = file.source_code_info.location
    return {tuple(r.path): re.sub(r"\s+", " ", r.leading_comments).strip() for r in rows if r.leading_comments}


@dataclass(frozen=True)
class Rpc:
    """One rpc and what its comment promises."""

    name: str
    """Service.Method"""
    method: d.MethodDescriptorProto
    comment: str

    def line(self, label: str) -> str:
        """What follows `label: ` in the comment; empty when it is not there."""
        found = re.search(rf"\b{label}: (.*?)(?= Role: | Errors: | Limits: |$)", self.comment)
        return found[1] if found else ""

    @property
    def errors(self) -> dict[str, list[str]]:
        """Reasons by status."""
        return {s: r.split(", ") for s, r in re.findall(r"([A-Z_]+) \(([A-Z_, ]+)\)", self.line("Errors"))}


def rpcs() -> Iterator[Rpc]:
    """Every rpc of the API."""
    for file in files():
        said = comments(file)
        for i, service in enumerate(file.service):
            for j, method in enumerate(service.method):
                yield Rpc(f"{service.name}.{method.name}", method, said.get((6, i, 2, j), ""))


def messages() -> dict[str, d.DescriptorProto]:
    """Top-level messages by name."""
    return {m.name: m for f in files() for m in f.message_type}
