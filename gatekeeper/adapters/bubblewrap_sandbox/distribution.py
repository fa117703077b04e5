"""The recorder as an installable distribution: files for a site-packages directory."""

from __future__ import annotations

import hashlib
from pathlib import Path

MODULE = "gatekeeper_pytest_recorder"
"""Name of the module and of its pytest plugin inside a test environment."""


def recorder_distribution() -> dict[str, bytes]:
    """Relative file name to content, for site-packages: the module and a .dist-info with a pytest11 entry point.

    The version holds a digest of the module, so that environments with another recorder have another digest.
    """
    source = Path(__file__).with_name("pytest_recorder.py").read_bytes()
    version = f"1+{hashlib.sha256(source).hexdigest()[:12]}"
    info = f"{MODULE}-{version}.dist-info"
    files = {
        f"{MODULE}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {MODULE.replace('_', '-')}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: gatekeeper\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[pytest11]\n{MODULE} = {MODULE}\n".encode(),
        f"{info}/INSTALLER": b"gatekeeper\n",
        f"{info}/top_level.txt": f"{MODULE}\n".encode(),
    }
    listing = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    return {**files, f"{info}/RECORD": listing.encode()}
