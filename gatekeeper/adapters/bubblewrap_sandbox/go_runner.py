"""`go test`, started by absolute path with `-json`: events to the gate, what a person reads to the log.

The command that reads the events runs inside, as the tested user. It keeps them in its memory until `go test` is gone,
so that a test which ends in the usual way finds no file to write to; what a test prints can still look like events.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import shlex
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath

from gatekeeper.domain.ports import RunRequest
from gatekeeper.domain.testrun import SuiteReport
from gatekeeper.errors import InputError
from gatekeeper.formats.go_mod import parse_go_mod
from gatekeeper.formats.go_test_json import parse_go_test, suite_reports
from gatekeeper.formats.go_tests import read_go_tests

EVENTS_KEPT = 12 * 1024 * 1024
"""Bytes of events handed over; output beyond it is dropped, ends of tests are not."""
OUTPUT_KEPT = 64 * 1024
"""Bytes of output kept of one test."""
MAX_SOURCE = 2 * 1024 * 1024
MAX_FOLDER = 2_000
"""Entries of one package's folder that are looked at."""

_REFUSED = {"-json", "-exec", "-toolexec", "-c", "-o", "-C", "-modfile", "-overlay", "-n", "-list", "-fuzz"}

_RUN = r"""
import json, subprocess, sys
argv, where, cap, each = json.loads(sys.argv[1])
marks = ("--- ", "PASS", "FAIL", "ok ", "[no test", "no tests to run", "panic: ")
kept, total, sizes = [], 0, {}
child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
out = sys.stdout.buffer
for line in child.stdout:
    try:
        event = json.loads(line)
        text = event.get("Output", "")
        words = text.encode("utf-8", "replace")
        name = (event.get("Package"), event.get("Test"))
    except Exception:
        out.write(line)
        out.flush()
        continue
    if words:
        if not text.lstrip().startswith(("=== ", "--- PASS", "--- SKIP")):
            out.write(words)
            out.flush()
        size = sizes[name] = sizes.get(name, 0) + len(line)
        if (size > each or total > cap * 3 // 4) and not any(m in text for m in marks):
            continue
    if total + len(line) > cap:
        continue
    total += len(line)
    kept.append(line if line.endswith(b"\n") else line + b"\n")
code = child.wait()
with open(where, "xb") as file:
    file.writelines(kept)
sys.exit(code if code >= 0 else 128 - code)
"""


class GoRunner:
    """`go test` for `StructuredRunner`."""

    def argv(self, request: RunRequest) -> list[str]:
        """`go test -json -count=1`, the suite's arguments, then the packages. Raises `ValueError`."""
        from gatekeeper.adapters.bubblewrap_sandbox.runners import EVENTS

        go = request.environment.programs.get("go")
        if go is None:
            raise ValueError("its environment has no Go")
        try:
            words = [*shlex.split(request.suite.command), *request.arguments]
        except ValueError as error:
            raise ValueError(f"its arguments cannot be split: {error}") from error
        end = words.index("-args") if "-args" in words else len(words)
        flags, rest = words[:end], words[end:]
        for word in flags:
            plain = "-" + word.lstrip("-") if word.startswith("-") else word
            if plain in _REFUSED or plain.split("=", 1)[0] in _REFUSED:
                raise ValueError(f"its argument {word.split('=', 1)[0]} is the gate's to choose")
        argv = [go, "test", "-json", "-count=1"]
        selected = _selected(request) if request.tests else None
        if selected is not None:
            packages, pattern = selected
            flags = _without_selection(flags)
            argv += [*packages, *flags, "-run", pattern]
        elif any(w == "." or w.startswith("./") or w.endswith("...") for w in flags):
            argv += flags
        else:
            argv += ["./...", *flags]
        work = json.dumps([[*argv, *rest], EVENTS, EVENTS_KEPT, OUTPUT_KEPT])
        return [request.environment.python, "-I", "-S", "-B", "-c", _RUN, work]

    def files(self) -> Mapping[str, bytes]:
        """None: `go test` reports by itself."""
        return {}

    def variables(self) -> Mapping[str, str]:
        """Nothing from the network, nothing from a settings file of Go, no other toolchain."""
        return OFFLINE

    def reports(self, events: bytes, request: RunRequest) -> tuple[SuiteReport, ...]:
        """See `StructuredRunner.reports`. Ids are `folder/file_test.go::TestName/sub`; `folder::TestName` without a file."""
        sources = _Sources(request)
        return suite_reports(parse_go_test(events), sources.place, sources.modules)


OFFLINE = {
    "GOPROXY": "off",
    "GOSUMDB": "off",
    "GOVCS": "*:off",
    "GOTOOLCHAIN": "local",
    "GOENV": "off",
    "GOFLAGS": "",
    "GOTELEMETRY": "off",
    "GOPATH": "/tmp/go",  # noqa: S108 - a private tmpfs inside
}
"""What every Go command inside sees."""


def _without_selection(flags: list[str]) -> list[str]:
    """The flags without packages and without `-run`: the gate names both."""
    kept, skip = [], False
    for word in flags:
        if skip:
            skip = False
            continue
        if word.lstrip("-") == "run" and word.startswith("-"):
            skip = True
            continue
        if re.match(r"--?run=", word) or word == "." or word.startswith("./") or word.endswith("..."):
            continue
        kept.append(word)
    return kept


def _selected(request: RunRequest) -> tuple[list[str], str] | None:
    """(packages relative to the suite's directory, pattern for -run) for `request.tests`.

    None where nothing of them is Go's or of this suite's directory: then the whole suite stands for them.
    """
    folders: dict[str, None] = {}
    names: dict[str, None] = {}
    sources = _Sources(request)
    for test in request.tests:
        path, sep, name = test.partition("::")
        file = path.endswith("_test.go")
        if not file and not sep:
            continue
        folder = posixpath.relpath(posixpath.dirname(path) if file else path or ".", request.suite.workdir)
        if folder == ".." or folder.startswith("../"):
            continue
        wanted = [name] if name else list(read_go_tests(sources.read(path) or "").functions)
        if wanted:
            folders.setdefault("." if folder == "." else f"./{folder}")
            names.update(dict.fromkeys(wanted))
    if not names:
        return None
    if len(names) == 1:
        pattern = "/".join(f"^{re.escape(p)}$" for p in next(iter(names)).split("/"))
    else:
        tops = dict.fromkeys(n.split("/", 1)[0] for n in names)
        pattern = f"^({'|'.join(re.escape(n) for n in tops)})$"
    return list(folders), pattern


class _Sources:
    """Where tests stand in the tree of a run: the tree is hostile, so no link is followed and sizes are capped."""

    def __init__(self, request: RunRequest) -> None:
        self._tree = request.tree
        self._over = request.over
        self._workdir = posixpath.normpath(request.suite.workdir or ".")
        self._files: dict[str, dict[str, tuple[str, int]]] = {}

    def read(self, path: str) -> str | None:
        """The text of a file of the tree; None where there is none that can be read."""
        if path in self._over:
            return self._over[path][:MAX_SOURCE].decode("utf-8", "replace")
        place = self._inside(path)
        if place is None or not place.is_file() or place.is_symlink():
            return None
        try:
            with place.open("rb") as file:
                data = file.read(MAX_SOURCE + 1)
        except OSError:
            return None
        return data.decode("utf-8", "replace") if len(data) <= MAX_SOURCE else None

    def _inside(self, path: str) -> Path | None:
        place = self._tree
        for part in PurePosixPath(path).parts:
            if part in ("..", "/") or "\0" in part:
                return None
            place /= part
            if place.is_symlink():
                return None
        return place

    @cached_property
    def _roots(self) -> dict[str, str]:
        """Folder of the tree by module path: the module of the suite's directory, and those of its go.work."""
        found: dict[str, str] = {}
        folder = self._workdir
        while True:
            self._add(found, folder)
            work = self.read(posixpath.join(folder, "go.work"))
            if work is not None:
                try:
                    uses = parse_go_mod(work.encode("utf-8", "replace"), "go.work").uses
                except InputError:
                    uses = ()
                for use in uses[:500]:
                    self._add(found, posixpath.normpath(posixpath.join(folder, use)))
            if folder == ".":
                return found
            folder = posixpath.dirname(folder) or "."

    def _add(self, found: dict[str, str], folder: str) -> None:
        text = self.read(posixpath.normpath(posixpath.join(folder, "go.mod")))
        if text is not None:
            try:
                module = parse_go_mod(text.encode("utf-8", "replace")).module
            except InputError:
                return
            if module:
                found.setdefault(module, folder)

    def folder(self, package: str) -> str | None:
        """Folder of an import path, relative to the root of the tree; None for one that is of no module here."""
        for module in sorted(self._roots, key=len, reverse=True):
            if package == module or package.startswith(f"{module}/"):
                return posixpath.normpath(posixpath.join(self._roots[module], package[len(module) + 1 :] or "."))
        return self._workdir if package == "command-line-arguments" else None

    def _tests(self, folder: str) -> dict[str, tuple[str, int]]:
        """(file, line) by name of a test function, of all test files of a folder."""
        if folder not in self._files:
            table: dict[str, tuple[str, int]] = {}
            for path in self._test_files(folder):
                for name, function in read_go_tests(self.read(path) or "").functions.items():
                    table.setdefault(name, (path, function.line))
            self._files[folder] = table
        return self._files[folder]

    def _test_files(self, folder: str) -> Iterable[str]:
        names = {posixpath.basename(p) for p in self._over if posixpath.dirname(p) == ("" if folder == "." else folder)}
        place = self._inside(folder)
        if place is not None and place.is_dir():
            try:
                with os.scandir(place) as entries:
                    for index, entry in enumerate(entries):
                        if index >= MAX_FOLDER:
                            break
                        names.add(entry.name)
            except OSError:
                pass
        for name in sorted(names):
            if name.endswith("_test.go") and not name.startswith(("_", ".")):
                yield name if folder == "." else f"{folder}/{name}"

    def place(self, package: str, test: str) -> tuple[str, str | None, int | None]:
        """See `formats.go_test_json.Place`."""
        folder = self.folder(package)
        if folder is None:
            return package, None, None
        found = self._tests(folder).get(test.split("/", 1)[0])
        return (found[0], found[0], found[1]) if found else (folder, None, None)

    def modules(self, package: str) -> list[str]:
        """The test files of a package."""
        folder = self.folder(package)
        return list(dict.fromkeys(path for path, _ in self._tests(folder).values())) if folder is not None else []
