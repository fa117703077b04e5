"""Which blobs the engine is shown, and under which names. A hostile name never reaches a command line or a disk."""

from __future__ import annotations

from gatekeeper.domain.evidence import ScanHit
from gatekeeper.domain.ports import ScanTarget
from gatekeeper.formats.text_safety import encoding_fault

MAX_BYTES = 1_500_000
"""What the engine reads; it skips a larger file without a word."""
PYTHON = frozenset({"py", "pyi", "pyw"})
_SCRIPTS = {"mjs": "js", "cjs": "js", "mts": "ts", "cts": "ts", "pyi": "py", "pyw": "py"}
_CODE = PYTHON | {"js", "jsx", "ts", "tsx", *_SCRIPTS}
_KEPT = _CODE | {"sh", "json", "yml", "yaml", "toml", "md", "html", "txt", "cfg", "ini"}


def extension(target: ScanTarget) -> str:
    """The extension under which the engine sees this blob: by name, else by a `#!` line."""
    name = (target.path or "").rsplit("/", 1)[-1]
    ext = name.rsplit(".", 1)[-1].lower() if "." in name else ""
    if ext in _KEPT:
        return _SCRIPTS.get(ext, ext)
    first = target.data[:200].split(b"\n", 1)[0]
    if first.startswith(b"#!"):
        if b"python" in first:
            return "py"
        return "js" if b"node" in first or b"deno" in first or b"bun" in first else "sh"
    return "txt"


def refusal(target: ScanTarget) -> ScanHit | None:
    """The hit that stands for source text that the engine would silently not see; None for text it reads."""
    ext = extension(target)
    if ext not in _CODE:
        return None
    fault = encoding_fault(target.data, ext in PYTHON)
    if fault is None and len(target.data) > MAX_BYTES:
        fault = f"it is over {MAX_BYTES} bytes"
    if fault is None:
        return None
    return ScanHit(
        "unreadable-source", target.path, 1, 1, f"The file is source code that scanners do not see: {fault}.",
        metadata={"code": "UNREADABLE_SOURCE", "effect": "blocks"},
    )  # fmt: skip


def is_text(target: ScanTarget) -> bool:
    """False for what no rule applies to: binary data, and data files larger than the engine reads."""
    return b"\x00" not in target.data and len(target.data) <= MAX_BYTES
