"""How many weak tests the measurement names: assertions of real libraries' tests loosened or removed, one at a time.

    python tests/bench/bench_weak_tests.py [--seeds 50] [--libraries a,b,...] [--budget 30] [--seed 1] [--json FILE]

Source distributions come from the package registry when this runs. For each library: one run finds the tests that pass,
one finds which tests reach which function. A function that a few tests reach is taken as the change; an assertion of
the library's own tests must notice some of its mutants, else no assertion checks that function. Then every assertion of
those tests, and of any other that notices one by an assertion (its parameters were made by that function when it was
collected), is loosened or removed in one of the ways of `WAYS`, and the step that `gatekeeper check` uses measures again. The weak tests are *named* where the report lists, as one
that no test notices, a mutant of those lines that the original tests notice. Same seed, same libraries: same choices; what
is tried in a budget depends on the machine.

The originals are measured too, and what is said of them is printed beside it: faults that they do not notice, lines that
are called untold, findings of `checks/change_proof`. More mutants must not make strong tests look weak.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "deploy" / "demo"))

from evidence_builder import build_evidence, build_ticket
from library import DemoError, Library, download
from sandbox_runs import LIMITS, TREE_OID, Runs

from gatekeeper.checks import change_proof
from gatekeeper.config import SANDBOX_ID, Paths
from gatekeeper.domain.followup import Measured, MutantResult
from gatekeeper.domain.testrun import Outcome, SuiteRun
from gatekeeper.domain.ticket import Risk, Suite
from gatekeeper.domain.tree import MemoryTree
from gatekeeper.formats.measurement_json import measurement, told, untold
from gatekeeper.formats.python_mutants import ChangedCode, whole_code
from gatekeeper.workflow.steps import measure

LIBRARIES = (
    "itsdangerous", "semver", "isodate", "cachetools", "funcy", "tomli", "boltons", "sqlparse", "humanize", "idna",
    "blinker", "jmespath", "hpack", "hyperframe", "rfc3986", "uritemplate", "webcolors", "pathspec", "anytree",
)  # fmt: skip
WAYS = ("assert removed", "is not None", "isinstance", "in a wider set", "truth of anything", "any exception")
MOST_TESTS = 8
"""Tests that reach a function taken as the change; what everything reaches is not checked by one test."""
A_LIBRARY = 8
"""Seeds of one library, so that no library decides the figure."""
_LIMITS = replace(LIMITS, wall_s=240, memory_mib=1024, tmp_mib=256, file_size_mib=64)


@dataclass(frozen=True)
class Seed:
    """One weakened set of tests and what became of it."""

    package: str
    function: str
    way: str
    tests: int
    noticed_before: int
    noticed_after: int
    named: bool
    example: str


@dataclass(frozen=True)
class Strong:
    """What is said of the library's own tests of one function."""

    package: str
    function: str
    tried: int
    survived: int
    lines: int
    """Lines of which a mutant was tried."""
    untold: int
    findings: tuple[str, ...]
    survivors: tuple[str, ...]


class Weaken(ast.NodeTransformer):
    """Loosens every assertion of the functions it is used on."""

    def __init__(self, way: str) -> None:
        self.way = way
        self.edits = 0

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        compared = node.test
        left = compared.left if isinstance(compared, ast.Compare) else compared
        return self._loosened(left, node)

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr.startswith("assert"):
            if call.func.attr.startswith("assertRaises") or not call.args:
                return node
            return self._loosened(call.args[0], node)
        return node

    def _loosened(self, left: ast.expr, node: ast.stmt) -> ast.stmt:
        a = f"({ast.unparse(left)})"
        text = {
            "assert removed": a,
            "is not None": f"assert {a} is not None or True",
            "isinstance": f"assert isinstance({a}, object)",
            "in a wider set": f"assert any(v is not None for v in [{a}, 0])",
            "truth of anything": f"assert bool({a}) in (True, False)",
        }.get(self.way)
        if text is None:
            return node
        self.edits += 1
        return ast.copy_location(ast.parse(text).body[0], node)

    def visit_With(self, node: ast.With) -> ast.stmt:
        self.generic_visit(node)
        for item in node.items:
            call = item.context_expr
            if not isinstance(call, ast.Call) or self.way != "any exception" or not call.args:
                continue
            if ast.unparse(call.func).rsplit(".", 1)[-1] in ("raises", "assertRaises"):
                call.args[0] = ast.Name("Exception", ast.Load())
                call.keywords = [k for k in call.keywords if k.arg != "match"]
                self.edits += 1
        return node


def weakened(source: str, names: set[str], way: str) -> tuple[str, int]:
    """(the test module with those tests weak, how many of them could be weakened)."""
    tree = ast.parse(source)
    done = 0
    # A test that an import puts in the place of the one that stands here cannot be weakened here.
    brought = {
        a.asname or a.name for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in names - brought:
            edit = Weaken(way)
            node.body = [edit.visit(s) for s in node.body]
            done += edit.edits > 0
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n", done


class Bench:
    """One library in the sandbox."""

    def __init__(self, runs: Runs, library: Library, budget_s: float) -> None:
        self.runs, self.source, self.budget_s = runs, library, budget_s
        self.texts: dict[str, str] = {}
        for path in sorted(library.root.rglob("*.py")):
            name = path.relative_to(library.root).as_posix()
            try:
                self.texts[name] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
        places = ["src"] if library.package.parts[0] == "src" else ["."]
        self.texts.pop("conftest.py", None)
        self.texts["conftest.py"] = (
            f"import os, sys\nsys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), p) for p in {places}]\n"
        )
        self.package = library.package.as_posix()
        self.suite = Suite(
            "tests",
            runner="pytest",
            command="-q -p no:cacheprovider -c /dev/null --rootdir . " + library.tests.as_posix(),
        )

    def tree(self, changed: dict[str, str]) -> Path:
        """The library's files with some of them changed."""
        self.runs.paths.trees.mkdir(parents=True, exist_ok=True)
        top = Path(tempfile.mkdtemp(dir=self.runs.paths.trees))
        shutil.copytree(self.source.root, top, dirs_exist_ok=True, symlinks=True)
        for name, text in {**self.texts, **changed}.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text, encoding="utf-8")
        for place in (self.runs.paths.state, self.runs.paths.trees, top):
            place.chmod(0o755)
        for place in [top, *top.rglob("*")]:
            if not place.is_symlink():
                place.chmod(0o755 if place.is_dir() else 0o644)
            if os.geteuid() == 0:
                os.chown(place, SANDBOX_ID, SANDBOX_ID, follow_symlinks=False)
        return top

    def deciding(self) -> SuiteRun | None:
        """A run of the tests that passes, without the modules that cannot run here; None for a library that has none."""
        for _ in range(3):
            run = self.runs.sandbox.run(replace(self.runs.request(self.tree({}), self.suite), limits=_LIMITS))
            if run.exit_code == 0 and run.cases:
                return run
            bad = {c.id.split("::")[0] for c in run.cases if c.outcome in (Outcome.FAILED, Outcome.ERRORED)}
            if not bad:
                return None
            for name in bad:
                self.texts[name] = ""
        return None

    def measured(
        self, code: tuple[ChangedCode, ...], run: SuiteRun, changed: dict[str, str], *, mutants: bool = True
    ) -> Measured:
        """What the step says of these tests; without mutants it only says which tests reach what, and may take long."""
        budget_s = self.budget_s if mutants else 240.0
        tree = self.tree(changed)
        texts = {**self.texts, **changed}
        job = measure.plan_job(self.suite, run, code, (), MemoryTree.of(texts), budget_s)
        if not mutants:
            job = replace(job, mutants=())
        tools: Any = SimpleNamespace(
            limits=_LIMITS,
            sandbox=self.runs.sandbox,
            git=SimpleNamespace(export=lambda _mirror, _oid: tree),
            secrets=SimpleNamespace(redact=tuple),
        )
        checkout: Any = SimpleNamespace(mirror=None)
        try:
            return measure.measure(tools, checkout, job, run, self.runs.environment, TREE_OID, budget_s)
        finally:
            shutil.rmtree(tree, ignore_errors=True)

    def weak_ways(self, ways: Sequence[str], tests: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
        """(way, changed test modules) of each way in which all these tests can be weakened."""
        options = []
        for way in ways:
            changed, done = {}, 0
            for file in sorted({t.split("::")[0] for t in tests}):
                names = {t.rsplit("::", 1)[-1] for t in tests if t.startswith(f"{file}::")}
                if file in self.texts:
                    changed[file], count = weakened(self.texts[file], names, way)
                    done += count
            if done == len(tests):
                options.append((way, changed))
        return options

    def weak(self, code: ChangedCode, run: SuiteRun, way: str, tests: set[str]) -> Measured | None:
        """What is measured when these tests are weak, and those that only then are the first whose assertion notices."""
        after = None
        while options := self.weak_ways([way], sorted(tests)):
            after = self.measured((code,), run, options[0][1])
            more = {bare(m.test) for m in after.mutants if m.by_assertion} - tests
            if not more:
                return after
            tests |= more
        return after

    def functions(self, run: SuiteRun) -> list[tuple[str, ast.FunctionDef, tuple[str, ...]]]:
        """(path, function, tests) of functions that a few tests reach."""
        code = []
        for path, text in self.texts.items():
            if path.startswith(f"{self.package}/"):
                one = whole_code(path, text.encode(), range(1, text.count("\n") + 2))
                if one is not None and one.statements:
                    code.append(one)
        seen = self.measured(tuple(code), run, {}, mutants=False)
        named: dict[tuple[str, int], tuple[str, ...]] = {
            (one.path, one.line): one.named for one in seen.lines if one.executed and not one.at_import
        }
        counted = {(one.path, one.line): one.tests for one in seen.lines}
        found = []
        for path in sorted({c.path for c in code}):
            for node in ast.walk(ast.parse(self.texts[path])):
                if not isinstance(node, ast.FunctionDef) or len(node.body) < 2:
                    continue
                lines = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
                tests = {t for n in lines for t in named.get((path, n), ())}
                if (
                    1 <= len({bare(t) for t in tests}) <= MOST_TESTS
                    and max(counted.get((path, n), 0) for n in lines) <= 20
                ):
                    found.append((path, node, tuple(sorted({bare(t) for t in tests}))))
        return found


def only(run: SuiteRun, files: set[str]) -> SuiteRun:
    """The run as if the suite had these test files alone: no other reaches the function."""
    sessions = tuple(replace(s, cases=tuple(c for c in s.cases if c.id.split("::")[0] in files)) for s in run.sessions)
    return replace(run, sessions=sessions, wall_s=sum(c.duration_s or 0 for s in sessions for c in s.cases))


def bare(test: str) -> str:
    """The test without parameters."""
    return test.split("[", 1)[0]


def noticed(measured: Measured) -> set[tuple[Any, ...]]:
    """Mutants that the tests notice."""
    good = (MutantResult.KILLED, MutantResult.TIMED_OUT)
    return {(m.path, m.line, m.kind, m.before, m.after) for m in measured.mutants if m.result in good}


def listed(measured: Measured) -> set[tuple[Any, ...]]:
    """Mutants that the report lists as noticed by no test."""
    section = measurement(measured) or {}
    return {(r["path"], r["line"], r["kind"], r["before"], r["after"]) for r in section.get("survivors", ())}


def strong(package: str, function: str, measured: Measured) -> Strong:
    """What the report and the check say of tests as the library has them."""
    evidence = build_evidence({}, {}, ticket=replace(build_ticket(), title="Fix the wrong result"))
    alive = [m for m in measured.tried if m.result is MutantResult.SURVIVED]
    return Strong(
        package, function, len(measured.tried), len(alive), len({(m.path, m.line) for m in measured.tried}),
        len(untold(measured)),
        tuple(f.code for f in change_proof.check(replace(evidence, measured=replace(measured, tier=Risk.MEDIUM)))),
        tuple(f"{m.kind}: {told(m)}" for m in alive),
    )  # fmt: skip


def seeds_of(bench: Bench, chosen: random.Random, wanted: int) -> Iterator[Seed | Strong]:
    """Seeds of one library, and what is said of its own tests of the same functions."""
    run = bench.deciding()
    if run is None:
        print(f"  {bench.source.name}: its tests do not pass here", file=sys.stderr)
        return
    functions = bench.functions(run)
    chosen.shuffle(functions)
    made = 0
    for path, node, tests in functions:
        if made >= wanted:
            return
        code = whole_code(path, bench.texts[path].encode(), range(node.body[0].lineno, (node.end_lineno or 0) + 1))
        if code is None or not code.statements:
            continue
        ways = list(WAYS)
        chosen.shuffle(ways)
        if not bench.weak_ways(ways, tests):
            continue
        run_of_these = only(run, {t.split("::")[0] for t in tests})
        original = bench.measured((code,), run_of_these, {})
        checking = {bare(m.test) for m in original.mutants if m.by_assertion}
        options = [way for way, _ in bench.weak_ways(ways, sorted({*tests, *checking}))]
        if not options or not checking:
            continue  # they cannot be loosened, or what they assert is not what checks this function
        before = noticed(original)
        yield strong(bench.source.name, f"{path}:{node.name}", original)
        for way in options[:2]:
            after = bench.weak(code, run_of_these, way, {*tests, *checking})
            if after is None or not after.tried:
                continue
            found = sorted(listed(after) & before)
            made += 1
            example = (
                f"{found[0][0]}:{found[0][1]} `{found[0][3]}` / `{found[0][4]}`" if found else "; ".join(after.notes)
            )
            yield Seed(
                bench.source.name, f"{path}:{node.name}", way, len(tests), len(before), len(noticed(after)),
                bool(found), example,
            )  # fmt: skip
            if made >= wanted:
                return


def main() -> int:
    """Print the table; exit status 1 where fewer than 80 % are named."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--libraries", default=",".join(LIBRARIES))
    parser.add_argument("--budget", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    begun = time.monotonic()
    rows: list[Seed] = []
    originals: list[Strong] = []
    with tempfile.TemporaryDirectory(prefix="gatekeeper-weak-") as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)
        runs = Runs(Paths(folder / "state", folder / "config"))
        for name in options.libraries.split(","):
            if len(rows) >= options.seeds:
                break
            place = folder / name
            place.mkdir()
            try:
                library = download(name, place)
            except DemoError as error:
                print(f"  {name}: {error}", file=sys.stderr)
                continue
            chosen = random.Random(f"{options.seed}:{name}")
            bench = Bench(runs, library, options.budget)
            for row in seeds_of(bench, chosen, min(A_LIBRARY, options.seeds - len(rows))):
                if isinstance(row, Strong):
                    originals.append(row)
                    continue
                rows.append(row)
                mark = "named" if row.named else "MISSED"
                print(
                    f"{len(rows):3} {mark:6} {row.package:13} {row.way:18} {row.function:44} tests {row.tests}"
                    f"  noticed {row.noticed_before:2} -> {row.noticed_after:2}  {row.example}",
                    flush=True,
                )
    named = sum(r.named for r in rows)
    print(
        f"\n{named} of {len(rows)} weak tests named ({100 * named / max(1, len(rows)):.0f} %), {time.monotonic() - begun:.0f} s"
    )
    for way, count in sorted(Counter(r.way for r in rows).items()):
        print(f"  {way:18} {sum(r.named for r in rows if r.way == way)} of {count}")
    tried, lines = sum(o.tried for o in originals), sum(o.lines for o in originals)
    alive, blind = sum(o.survived for o in originals), sum(o.untold for o in originals)
    print(
        f"the {len(originals)} originals: {alive} of {tried} mutants unnoticed ({100 * alive / max(1, tried):.0f} %), "
        f"{blind} of {lines} lines untold, findings: {sum(bool(o.findings) for o in originals)}"
    )
    for kind, count in sorted(Counter(s.split(":")[0] for o in originals for s in o.survivors).items()):
        print(f"  unnoticed, {kind}: {count}")
    if options.json:
        document = {"weak": [r.__dict__ for r in rows], "strong": [o.__dict__ for o in originals]}
        options.json.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return 0 if rows and named >= 0.8 * len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
