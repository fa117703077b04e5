"""The whole measurement: coverage, control, mutants, one after the other within the budget."""

from __future__ import annotations

import builtins
import mmap
import os
import sys
import time
from typing import Any

from .child import Child, bare
from .interpreter import more_arguments, preload
from .results import Out
from .sources import PROBES, Source
from .values import MAX_TOLD, NOTES, TOLD, Values, described, had_effect

MAX_TESTS_NAMED = 20


class Driver:
    """The whole measurement."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.began = time.monotonic()
        self.deadline = self.began + float(job["budget_s"])
        self.out = Out(job["out"])
        self.root = os.path.normpath(os.path.join(os.getcwd(), *[".."] * int(job["up"])))
        self.scratch = job["scratch"]
        self.memory = int(job["memory"])
        self.files = [os.path.join(self.root, f) for f in job["files"]]
        self.near = [os.path.join(self.root, f) for f in job["near"]]
        self.sources = []  # type: list[Source]
        self.probe_count = 0
        for row in job["sources"]:
            self.sources.append(Source(self.root, row, self.probe_count))
            self.probe_count += len(row["probes"])
        self.imported = set(job["imported"])
        self.mutants = job["mutants"]
        # One byte for each probe, and behind them what a mutant did to values.
        self.probes = mmap.mmap(-1, self.probe_count + NOTES + TOLD)
        setattr(builtins, PROBES, self.probes)
        Values(self.note, self.tell).install()
        self.arguments = [*job["arguments"], *more_arguments(self.scratch)]
        self.first = frozenset()  # type: frozenset[str]
        self.wished = job["first"]
        self.took = {}  # type: dict[str, float]
        self.reach = {}  # type: dict[int, set[str]]
        self.at_import = set()  # type: set[int]
        self.elsewhere = set()  # type: set[int]
        self.usable = set()  # type: set[str]
        self.file_of = {}  # type: dict[str, str]
        self.overhead = 1.0
        self.starts = False

    def left(self) -> float:
        """Seconds of the budget."""
        return self.deadline - time.monotonic()

    def note(self, what: int) -> None:
        """In a child: what the mutant did to a value."""
        self.probes[self.probe_count + what] = 1

    def tell(self, before: Any, after: Any) -> None:
        """In a child: the first value that the mutant changed, in words."""
        start = self.probe_count + NOTES
        if self.probes[start]:
            return
        try:
            words = described(before, after).replace("\0", "?").encode("utf-8", "backslashreplace")
        except Exception:
            words = b""
        words = words[: TOLD - 1] or b" "
        self.probes[start : start + len(words)] = words

    def told(self) -> str:
        """Those words; empty where no value changed, or there were none for it."""
        words = self.probes[self.probe_count + NOTES :].split(b"\0", 1)[0]
        return words.decode("utf-8", "replace").strip()[:MAX_TOLD]

    def preloadable(self, early: list[str]) -> list[str]:
        """In the child: modules that can be imported once for all runs.

        Those of the standard library, and what was there before any test module (plug-ins and what they import), so that
        no test finds something imported that it would not find otherwise. Nothing of the tree.
        """
        known = getattr(sys, "stdlib_module_names", frozenset())  # type: frozenset[str]
        found = []
        for name, module in list(sys.modules.items()):
            place = getattr(module, "__file__", None) or ""
            standard = name.split(".", 1)[0] in known
            if "__main__" in name or (place and os.path.realpath(place).startswith(self.root + os.sep)):
                continue
            if standard or (name in early and place):
                found.append(name)
        return found[:3000]

    def run(self) -> None:
        """Measure, and say so line by line."""
        if not self.cover():
            return
        reached = set(self.reach) | self.at_import
        for probe in range(self.probe_count):
            tests = sorted(self.reach.get(probe, ()), key=lambda t: (bare(t) not in self.first, t))
            self.out.send("probe", p=probe, n=len(tests), t=tests[:MAX_TESTS_NAMED], i=probe in self.at_import)
        missed = set(range(self.probe_count)) - reached
        if missed and self.starts:
            self.look_elsewhere(missed)
        if not self.mutants:
            return
        if not self.control():
            return
        self.try_mutants()

    def cover(self) -> bool:
        """Step 1. False where nothing more can be done."""
        child = Child(self, self.files, None, stop_first=False, cover=True)
        child.run(self.left() * 0.6)
        end = [r for r in child.rows if "end" in r]
        if child.timed_out or not end:
            self.out.send("cover", r="timeout" if child.timed_out else "crash", wall=round(child.wall, 3), n=0)
            return False
        self.starts = any(r.get("started") for r in child.rows)
        for row in child.rows:
            if "t" not in row:
                continue
            test = row["t"]
            for probe in row["h"]:
                if test:
                    self.reach.setdefault(probe, set()).add(test)
                if not test or probe in self.imported:
                    self.at_import.add(probe)
            if test:
                self.took[test] = self.took.get(test, 0.0) + row["d"]
                (self.usable.add if row["s"] == "passed" else self.usable.discard)(test)
        modules = [m for r in child.rows for m in r.get("modules", ()) if isinstance(m, str)]
        self.out.send("cover", r="ran", wall=round(child.wall, 3), n=len(self.took), passed=len(self.usable))
        self.first = frozenset(t for t in map(bare, self.took) if self.is_first(t))
        preload(modules, self.root)
        return bool(self.usable)

    def is_first(self, bare: str) -> bool:
        """True for a test of the change; ids here may begin below the tree's root."""
        return any(bare == w or w.endswith("/" + bare) or bare.endswith("/" + w) for w in self.wished)

    def look_elsewhere(self, missed: set[int]) -> None:
        """Step 2."""
        changed = []
        for source in self.sources:
            data = source.data
            for probe, at in sorted(source.raising, key=lambda r: -r[1]):
                if probe in missed:
                    data = data[:at] + b"raise SystemError;" + data[at:]
            if data != source.data:
                source.write(data)
                changed.append(source)
        if not changed:
            return
        child = Child(self, self.files, self.usable, stop_first=True, cover=False)
        passed = child.run(self.left() * 0.4)
        for source in changed:
            source.write(source.data)
        if not passed:
            self.elsewhere = missed
            self.out.send("elsewhere", p=sorted(missed))

    def tests_of(self, probe: int) -> set[str]:
        """Tests whose result can depend on a statement."""
        if probe in self.at_import or probe in self.elsewhere:
            near = self.near or self.files
            return {t for t in self.usable if self.is_in(t, near)} | (self.reach.get(probe, set()) & self.usable)
        return self.reach.get(probe, set()) & self.usable

    def is_in(self, test: str, files: list[str]) -> bool:
        """True where the test is in one of the files."""
        name = test.split("::", 1)[0]
        return any(f == name or f.endswith("/" + name) for f in files)

    def files_of(self, tests: set[str]) -> list[str]:
        """The files that hold the tests."""
        names = {t.split("::", 1)[0] for t in tests}
        return [f for f in self.files if any(f == n or f.endswith("/" + n) for n in names)]

    def control(self) -> bool:
        """Step 3: the code as it is, with the tests that will judge mutants."""
        wanted = set()  # type: set[str]
        for row in self.mutants:
            wanted |= self.tests_of(row[5])
        if not wanted:
            self.out.send("control", r="none", wall=0.0, n=0, excluded=0)
            return False
        for attempt in range(2):
            child = Child(self, self.files_of(wanted), wanted, stop_first=False, cover=False)
            child.run(self.left() * 0.5)
            bad = {r["t"] for r in child.rows if r.get("t") and r["s"] != "passed"}
            seen = {r["t"] for r in child.rows if r.get("t")}
            if child.timed_out or not seen:
                self.out.send("control", r="timeout" if child.timed_out else "crash", wall=round(child.wall, 3), n=0, excluded=0)  # fmt: skip
                return False
            unsteady = bad | (wanted - seen)
            self.usable -= unsteady
            wanted -= unsteady
            for row in child.rows:
                if row.get("t"):
                    self.took[row["t"]] = row["d"]
            self.overhead = max(0.05, child.wall - sum(self.took[t] for t in seen))
            if not unsteady or attempt:
                break
        self.out.send("control", r="ran", wall=round(child.wall, 3), n=len(wanted), excluded=len(unsteady))
        return bool(wanted)

    def try_mutants(self) -> None:
        """Step 4."""
        for number, index, start, end, text, probe, by_value in self.mutants:
            tests = self.tests_of(probe)
            if not tests:
                self.out.send("skip", m=number, r="not_reached")
                continue
            needed = self.overhead + sum(self.took.get(t, 0.0) for t in tests)
            limit = 2 * needed + 1
            if min(limit, needed * 1.3 + 0.2) > self.left():
                self.out.send("skip", m=number, r="budget")
                continue
            source = self.sources[index]
            source.write(source.data[:start] + text.encode("utf-8") + source.data[end:])
            self.probes[self.probe_count :] = bytes(NOTES + TOLD)
            child = Child(self, self.files_of(tests), tests, stop_first=True, cover=False)
            passed = child.run(limit)
            source.write(source.data)
            if child.out_of_budget:
                self.out.send("skip", m=number, r="budget")
                continue
            # What runs in processes of its own changes a value unseen, or does not change it.
            effect = had_effect(self.probes[self.probe_count :])
            if passed and by_value and not effect and probe not in self.elsewhere:
                self.out.send("skip", m=number, r="no_effect")
                continue
            failed = [r["failed"] for r in child.rows if r.get("failed")]
            result = "survived" if passed else "timeout" if child.timed_out else "killed"
            asserted = any(r.get("asserted") is True for r in child.rows)
            self.out.send(
                "mutant", m=number, r=result, n=len(tests), t=failed[0] if failed else "", a=asserted, v=self.told(),
                wall=round(child.wall, 3),
            )  # fmt: skip
