"""Putting packages into a site-packages directory: the gate's own pytest, the recorder, a stand-in for the project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from gatekeeper.errors import CouldNotCheck


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def installed() -> list[str]:
    """Name and version of everything installed beside the gate, as its directories say. Sorted."""
    names: set[str] = set()
    for folder in sys.path:
        with suppress(OSError):  # an entry of the path may be an archive or missing
            names.update(n.removesuffix(".dist-info") for n in os.listdir(folder or ".") if n.endswith(".dist-info"))
    return sorted(names)


def closure(names: Iterable[str]) -> list[metadata.Distribution]:
    """Installed distributions of `names` and all they require here, without extras. Sorted by name."""
    from packaging.requirements import Requirement

    found: dict[str, metadata.Distribution] = {}
    waiting = list(names)
    while waiting:
        name = _plain(waiting.pop())
        if name in found:
            continue
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            raise CouldNotCheck(
                "ENVIRONMENT_FAILED", f"The gate's own environment lacks {name}.", blame="gate",
                next_action="Run `make setup` again.",
            ) from None  # fmt: skip
        found[name] = distribution
        for line in distribution.requires or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return [found[n] for n in sorted(found)]


def copy_distributions(distributions: Iterable[metadata.Distribution], site: Path) -> None:
    """Copy the files of installed distributions; scripts outside site-packages are left out.

    One that `site` has already, in whatever version, stays: two versions in one place would be neither.
    """
    there = {_plain(found.name or "") for found in metadata.distributions(path=[str(site)])}
    for distribution in distributions:
        if _plain(distribution.name) in there:
            continue
        for file in distribution.files or []:
            if ".." in file.parts or file.is_absolute() or "__pycache__" in file.parts:
                continue
            target = site / Path(*file.parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(file.locate()), target)


def write_files(files: Mapping[str, bytes], site: Path) -> None:
    """Write a distribution given as relative names and contents."""
    for name, content in files.items():
        target = site / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def compile_bytecode(python: Path, folder: Path) -> None:
    """Compile everything below `folder`, so that a read-only environment does not compile in every run.

    Hash-based and unchecked: the files never change afterwards. A file that does not compile is nobody's fault here.
    """
    with suppress(subprocess.TimeoutExpired):  # what is compiled by then is compiled
        subprocess.run(
            [str(python), "-I", "-m", "compileall", "-q", "-j1", "--invalidation-mode", "unchecked-hash", str(folder)],
            env={"PATH": os.defpath},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=600,
            check=False,
        )


def script(python: str) -> str:
    """bin/pytest."""
    return f"#!{python}\nimport sys\nfrom pytest import console_main\n\nsys.exit(console_main())\n"
