"""The modules of the base's go.mod and go.sum: what must be fetched, and the fetching. Nothing of a module is run."""

from __future__ import annotations

import posixpath
import shutil
import tempfile
from pathlib import Path

from gatekeeper.adapters.go_toolchain.program import Go, passed_on, run
from gatekeeper.domain.tree import EXECUTABLE, REGULAR, Tree
from gatekeeper.errors import CouldNotCheck, InputError
from gatekeeper.formats.go_mod import GoMod, is_directory, leaves_tree, parse_go_mod
from gatekeeper.records import dataclass

NAMES = ("go.mod", "go.sum", "go.work", "go.work.sum")
MAX_MODULES = 500
MAX_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class Wanted:
    """What the modules of one base need."""

    files: dict[str, bytes]
    """go.mod, go.sum and go.work files of the base, by path."""
    folders: tuple[str, ...]
    """Folders in which modules are fetched; empty where nothing is to fetch."""


def module_folder(base: Tree, workdir: str) -> str | None:
    """The folder of the go.mod or go.work that reaches `workdir`, as a path from the root ("" for the root itself)."""
    folder = posixpath.normpath(workdir)
    folder = "" if folder == "." else folder
    found = None
    while True:
        names = [posixpath.join(folder, n) for n in ("go.work", "go.mod")]
        if names[0] in base.entries:
            return folder
        if names[1] in base.entries and found is None:
            found = folder
        if not folder:
            return found
        folder = posixpath.dirname(folder)


def wanted(base: Tree, folders: list[str]) -> Wanted:
    """Read what the base says. Raises `CouldNotCheck` (ENVIRONMENT_FAILED, blame environment)."""
    files = _files(base)
    fetched = [f for f in folders if _needs_fetching(base, f, files)]
    return Wanted(files, tuple(fetched))


def _files(base: Tree) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    size = 0
    for path in sorted(base.entries):
        parts = path.split("/")
        if parts[-1] not in NAMES or any(p in ("vendor", "testdata", "node_modules") for p in parts[:-1]):
            continue
        if base.entries[path].mode not in (REGULAR, EXECUTABLE) or any(p in ("", ".", "..", ".git") for p in parts):
            continue
        found[path] = base.read(path)
        size += len(found[path])
        if len(found) > MAX_MODULES * 4 or size > MAX_BYTES:
            raise CouldNotCheck("ENVIRONMENT_FAILED", "The target branch has more module files than the gate reads.")
    return found


def _needs_fetching(base: Tree, folder: str, files: dict[str, bytes]) -> bool:
    """Whether modules of `folder` come from elsewhere. Raises `CouldNotCheck` where they must not or cannot be had."""
    members = [folder]
    work = files.get(posixpath.join(folder, "go.work"))
    if work is not None:
        found = _parsed(work, posixpath.join(folder, "go.work"))
        _inside(folder, found, "go.work")
        for use in found.uses:
            if leaves_tree(folder, use):
                raise _refused(f"go.work uses {use!r}, which lies outside the tree")
        members = [posixpath.normpath(posixpath.join(folder, u)).removeprefix("./") for u in found.uses]
        members = ["" if m == "." else m for m in members]
    needed = False
    for member in members:
        name = posixpath.join(member, "go.mod")
        data = files.get(name)
        if data is None:
            continue
        module = _parsed(data, name)
        _inside(member, module, name)
        local = {m for m, target, _ in module.replaced if is_directory(target)}
        own = {_parsed(files[n], n).module for m in members if (n := posixpath.join(m, "go.mod")) in files}
        remote = [m for m, _ in module.requires if m not in local and m not in own]
        if not remote or posixpath.join(folder, "vendor/modules.txt") in base.entries:
            continue
        if posixpath.join(member, "go.sum") not in files:
            raise CouldNotCheck(
                "ENVIRONMENT_FAILED",
                f"{name} requires {remote[0]} and the target branch has no go.sum beside it, so nothing says what it must be.",
                next_action="Run `go mod tidy` on the target branch and commit go.sum, or vendor the modules.",
            )
        needed = True
    return needed


def _inside(folder: str, module: GoMod, name: str) -> None:
    for path, target, _ in module.replaced:
        if is_directory(target) and leaves_tree(folder, target):
            raise _refused(f"{name} replaces {path} by {target!r}, which lies outside the tree")


def _refused(why: str) -> CouldNotCheck:
    return CouldNotCheck(
        "ENVIRONMENT_FAILED",
        f"The modules of the target branch cannot be used: {why}.",
        next_action="Keep replaced modules inside the repository, or require a version of them.",
    )


def _parsed(data: bytes, name: str) -> GoMod:
    try:
        return parse_go_mod(data, name)
    except InputError as error:
        raise CouldNotCheck("ENVIRONMENT_FAILED", error.message, next_action=error.next_action) from error


def download(go: Go, asked: Wanted, place: Path) -> None:
    """Fetch into `place`/modules with `go mod download`, whose checksums are those of go.sum.

    The checksum database is not asked: what go.sum does not name is refused when it is built (`-mod=readonly`). Raises
    `CouldNotCheck` (ENVIRONMENT_FAILED).
    """
    modules = place / "modules"
    modules.mkdir()
    with tempfile.TemporaryDirectory(prefix="gatekeeper-go-") as scratch:
        root = Path(scratch)
        for name, data in asked.files.items():
            target = root / "tree" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        for folder in asked.folders:
            run(
                go, ["mod", "download"], cwd=root / "tree" / folder, what="Fetching the modules of go.sum",
                variables={
                    **passed_on(), **go.operator, "GOMODCACHE": str(modules), "GOPATH": str(root / "path"),
                    "GOCACHE": str(root / "cache"), "GOFLAGS": "-modcacherw", "GOSUMDB": "off",
                    "HOME": passed_on().get("HOME", str(root)),
                },
            )  # fmt: skip
    for leftover in ("cache/vcs", "cache/lock"):
        target = modules / leftover
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)
