"""Go's standard library compiled once a Go: without it every run would compile it anew for about a minute."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from gatekeeper.adapters.go_toolchain.program import Go, run
from gatekeeper.config import SANDBOX_ID

LATER = 4_102_444_800
"""Time stamp of the cache's files, in 2100: Go freshens files that are older than an hour, and would copy each one up."""
_LEFT_OUT = ("internal", "vendor", "cmd", "builtin", "unsafe")


def compile_standard(go: Go, place: Path, *, race: bool) -> None:
    """Fill `place`/cache with what `go test` and `go vet` need of the standard library. Raises `CouldNotCheck`."""
    cache = place / "cache"
    cache.mkdir()
    with tempfile.TemporaryDirectory(prefix="gatekeeper-go-") as scratch:
        root = Path(scratch)
        variables = {
            "GOCACHE": str(cache), "GOPATH": str(root / "path"), "HOME": scratch, "GOPROXY": "off", "GOFLAGS": "",
            "GOMODCACHE": str(root / "path"),
        }  # fmt: skip
        module = root / "module"
        module.mkdir()
        (module / "go.mod").write_text("module gatekeeper.invalid/standard\n\ngo 1.21\n", encoding="ascii")
        listed = run(go, ["list", "std"], cwd=module, variables=variables, what="Listing Go's standard library")
        names = [n for n in listed.split() if not any(p in _LEFT_OUT for p in n.split("/")) and n != "testing"]
        imports = "".join(f'\t_ "{n}"\n' for n in names)
        source = f'package standard\n\nimport (\n\t"testing"\n{imports})\n\nfunc TestStandard(t *testing.T) {{}}\n'
        (module / "standard_test.go").write_text(source, encoding="ascii")
        flags = ["-race"] if race else []
        run(go, ["test", "-count=1", *flags, "."], cwd=module, variables=variables, what="Compiling Go's library")
    for folder, _, files in os.walk(cache):
        for path in (folder, *(os.path.join(folder, name) for name in files)):
            if os.geteuid() == 0:
                # Through the layer above it a run may replace what is its own; the files themselves it never reaches.
                os.chown(path, SANDBOX_ID, SANDBOX_ID)
            if path != folder:
                os.utime(path, (LATER, LATER))
