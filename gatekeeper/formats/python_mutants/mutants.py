"""Mutants: the changed statements with one small fault each, checked for syntax, best ones first."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from gatekeeper.formats.python_mutants.changed import ChangedCode, Statement
from gatekeeper.formats.python_mutants.fault import GROSS, Fault
from gatekeeper.formats.python_mutants.faults import faults
from gatekeeper.formats.python_mutants.source import SourceText
from gatekeeper.records import dataclass

MAX_A_LINE = 12
"""Mutants of one line; the last ones say little that the first did not."""
MAX_A_MODULE = 600
_MAX_WORDS = 60


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: bytes `start` to `end` of the module become `replacement`."""

    path: str
    line: int
    """Changed line that holds the fault, 1-based."""
    kind: str
    before: str
    """What stood there, in words for people, bounded."""
    after: str
    start: int
    end: int
    replacement: str
    statement: Statement
    rank: int
    """Smaller is more telling."""
    by_value: bool = False
    """As `Fault.by_value`: it is a fault only where it changed a value."""

    def applied(self, text: str) -> str:
        """The whole module with the fault."""
        data = text.encode("utf-8")
        return (data[: self.start] + self.replacement.encode("utf-8") + data[self.end :]).decode("utf-8")


def mutants(code: ChangedCode) -> tuple[Mutant, ...]:
    """Mutants of a module by line: one of each kind before a second of any, of these the most telling first.

    Never raises for any text that parses. Only changed lines differ from the module, and each mutant parses to another tree
    than it.
    """
    blocks = _Blocks(code)
    lines: dict[int, list[tuple[Fault, Statement]]] = {}
    try:
        for line, fault, statement in _candidates(code):
            lines.setdefault(line, []).append((fault, statement))
    except (RecursionError, MemoryError):
        pass  # an expression too deep to walk: what was found so far stands
    found: list[Mutant] = []
    seen: set[tuple[int, str]] = set()
    for line in sorted(lines):
        count = 0
        for raw, statement in _by_kind(lines[line]):
            if count >= MAX_A_LINE or len(found) >= MAX_A_MODULE:
                break
            fault = _same_lines(raw, code.text)
            mark = blocks.mark(fault)
            if mark is None or mark in seen:
                continue
            seen.add(mark)
            count += 1
            found.append(
                Mutant(
                    code.path, line, fault.kind, _words(fault.before), _words(fault.after), fault.start, fault.end,
                    fault.replacement, statement, fault.rank, fault.by_value,
                )
            )  # fmt: skip
    return tuple(found)


def _candidates(code: ChangedCode) -> Iterator[tuple[int, Fault, Statement]]:
    """Every fault that lies within the changed lines of its statement, with its line."""
    allowed = frozenset(code.lines)
    for statement in code.statements:
        own = statement.lines
        for fault in faults(statement.node, code.text):
            line = code.text.line_at(fault.start)
            last = code.text.line_at(max(fault.start, fault.end - 1))
            if not own[0] <= line <= last <= own[-1] or not set(range(line, last + 1)) <= allowed:
                continue
            if fault.rank > GROSS and statement.function.rsplit(".", 1)[-1] == "__repr__":
                continue  # a text for people who look for faults: no test is weak that does not compare all of it
            yield line, fault, statement


def _by_kind(rows: Iterable[tuple[Fault, Statement]]) -> list[tuple[Fault, Statement]]:
    """The first of each kind, then the second ones, and so on; the most telling kinds first."""
    count: Counter[tuple[str, int]] = Counter()
    ordered = []
    for row in sorted(rows, key=lambda r: r[0].rank):
        kind = (row[0].kind, row[0].rank)
        ordered.append((count[kind], row))
        count[kind] += 1
    return [row for _, row in sorted(ordered, key=lambda o: (o[0], o[1][0].rank))]


def round_robin(rows: Iterable[Mutant]) -> tuple[Mutant, ...]:
    """One mutant a line, then a second one of each, and so on: a small budget reaches every line.

    Lines that run only at import come after the others: every test would have to be run for them.
    """
    queues: dict[tuple[str, int], list[Mutant]] = {}
    for row in rows:
        queues.setdefault((row.path, row.line), []).append(row)
    ordered = sorted(queues.values(), key=lambda q: (not q[0].statement.function, q[0].path, q[0].line))
    most = max((len(q) for q in ordered), default=0)
    return tuple(q[n] for n in range(most) for q in ordered if n < len(q))


def _words(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _MAX_WORDS else f"{flat[: _MAX_WORDS - 4]} ..."


def _same_lines(fault: Fault, text: SourceText) -> Fault:
    """Keep the number of lines: a fault of several lines is filled up, so that later lines stay where they are."""
    missing = text.of(fault.start, fault.end).count("\n") - fault.replacement.count("\n")
    if missing <= 0:
        return fault
    end = "\r\n" if "\r\n" in text.of(fault.start, fault.end) else "\n"
    return fault.padded(f" \\{end}" * missing)


class _Blocks:
    """The functions and other small blocks of a module, parsed one at a time: a large module has many mutants."""

    def __init__(self, code: ChangedCode) -> None:
        self._text = code.text
        self._rows: list[tuple[int, int]] = []
        self._collect(code.tree.body)
        self._marks: dict[tuple[int, int], str | None] = {}

    def _collect(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            inner = node.body if isinstance(node, ast.ClassDef) else []
            if inner and inner[0].lineno > node.lineno:
                self._rows.append((first, node.lineno))
                self._collect(inner)
            else:
                self._rows.append((first, node.end_lineno or node.lineno))

    def mark(self, fault: Fault) -> tuple[int, str] | None:
        """What tells this mutant from others; None where it is no Python any more or is what it was."""
        line = self._text.line_at(fault.start)
        around = [(a, b) for a, b in self._rows if a <= line <= b]
        if not around:
            return None
        first, last = min(a for a, _ in around), max(b for _, b in around)
        start, end = self._text.line_span(first)[0], self._text.line_span(last)[1]
        if not start <= fault.start <= fault.end <= end:
            return None
        if (first, last) not in self._marks:
            self._marks[first, last] = _parsed(self._text.of(start, end), make=False)
        old = self._marks[first, last]
        new = self._text.of(start, fault.start) + fault.replacement + self._text.of(fault.end, end)
        mark = _parsed(new, make=True)
        return None if old is None or mark is None or mark == old else (first, mark)


def _parsed(block: str, *, make: bool) -> str | None:
    """The tree of a block, indented or not, as text. With `make` it must also be code that Python would make."""
    if block[:1] in (" ", "\t"):
        block = "if 1:\n" + block
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(block)
            if make:
                # Some errors are found only here: a `break` outside its loop, a name both local and global.
                compile(tree, "<mutant>", "exec", dont_inherit=True)
            return ast.dump(tree)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
