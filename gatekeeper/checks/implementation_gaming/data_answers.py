"""Answers kept in a data file: inputs of the tests beside what they expect, looked up before the code that computes."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator

from gatekeeper.checks.implementation_gaming.modules import Module, Modules
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.tree import EXECUTABLE, REGULAR, Tree
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import python_code
from gatekeeper.formats.python_code import Function, functions, walk

_TEXT = (".json", ".jsonl", ".toml", ".csv", ".tsv", ".txt", ".yaml", ".yml", ".ini", ".cfg", ".dat")
_PICKLED = (".pickle", ".pkl")
_MAX_BYTES = 200_000
_MAX_ROWS = 5_000
_PARTS = re.compile(r"""[\s/|,;:=()\[\]{}'"]+""")
_WORD = re.compile(r"[^\W\d]*|[a-z]+(?:[-_][a-z]+)*")
_ASKED = re.compile(
    r"\b(?:irregular|exceptions?\b|overrides?|look-?up|tables?|mapp?ings?|translat\w+|locale|alias\w*|data files?|json|yaml|csv|toml"
    r"|dictionar\w+|glossar\w+|catalog\w*|list of|names? of|plurals?|constants?)",
    re.IGNORECASE,
)
"""Words of tickets that ask for a table."""
Row = tuple[frozenset[str], str]
"""(parts of a key, value), as text."""


def data_answers(modules: Modules) -> tuple[Finding, ...]:
    """One finding a file whose rows are mostly inputs and results of the tests, where code that computes the result
    otherwise now looks there first. What the code itself held before is data that moved.
    """
    evidence = modules.evidence
    fresh = [
        p
        for p in evidence.change.paths
        if p.old is None and p.new is not None and p.new.mode in (REGULAR, EXECUTABLE) and (p.new.size or 0) <= _MAX_BYTES
        and p.path.lower().endswith((*_TEXT, *_PICKLED)) and modules.instruments.kind(p.path) is None
    ]  # fmt: skip
    if not fresh or not modules.changed:
        return ()
    constants = set(modules.test_constants).union(*(_examples(m.before) for m in modules.changed))
    tests = {str(c) for c in constants if c not in (None, "") and not isinstance(c, bool)}
    held = {str(c) for m in (*modules.changed, *modules.deleted) for c in python_code.constants(m.before)}
    out = []
    for changed in fresh:
        rows = list(_rows(evidence.merged, changed.path))
        own = [r for r in rows if r[1] not in held]
        hits = [r for r in own if _known(r, tests)]
        if not hits or len(hits) * 2 < len(own) or len(own) * 2 <= len(rows):
            continue
        reader = next((m for m in modules.changed if _names(m, changed.path)), None)
        function = _looks_first(modules, reader) if reader is not None else None
        if reader is None or function is None:
            continue
        words = all(_WORD.fullmatch(part) for keys, _ in hits for part in keys)
        spoken = " ".join([evidence.ticket.title, evidence.ticket.goal, *evidence.ticket.acceptance])
        if words and _ASKED.search(spoken):
            continue
        message = f"{changed.path} holds inputs of the tests and what they expect, and {function.name}() looks there before it computes anything."
        out.append(
            finding(
                "ANSWERS_HARDCODED", message, path=changed.path, key=changed.path, evidence=f"{sorted(hits[0][0])} -> {hits[0][1]!r}"[:300],
                effect=Effect.ASKS if words or _ASKED.search(spoken) else None,
            )
        )  # fmt: skip
    return tuple(out)


def _examples(tree: ast.Module) -> set[object]:
    """Constants of the examples in the docstrings of a module, and of what they show."""
    found: set[object] = set()
    for node in walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        shown = False
        for line in (ast.get_docstring(node) or "").splitlines():
            bare = line.strip()
            prompt = bare.startswith((">>> ", "... "))
            parsed = python_code.parse(bare[4:] if prompt else bare) if prompt or shown else None
            found |= python_code.constants(parsed) if parsed is not None else set()
            shown = bool(bare) and (prompt or shown)
    return found


def _known(row: Row, tests: set[str]) -> bool:
    """Each part of the key is a constant of the tests, and so is the result; parts of one character tell nothing."""
    keys, value = row
    telling = {k for k in keys if len(k) > 1}
    # Short names of a language or a unit may stand above the rows of a nested table.
    return len(value) > 1 and value in tests and bool(telling) and telling <= tests


def _rows(tree: Tree, path: str) -> Iterator[Row]:
    data = tree.read(path)
    lower = path.lower()
    if lower.endswith(_PICKLED):
        yield from _pickled(data)
        return
    text = data.decode("utf-8", "replace")
    try:
        if lower.endswith(".json"):
            yield from _leaves(json.loads(text), frozenset())
            return
        if lower.endswith(".toml"):
            yield from _leaves(tomllib.loads(text), frozenset())
            return
    except (ValueError, RecursionError):
        return
    above: dict[int, frozenset[str]] = {}
    for line in text.splitlines()[:_MAX_ROWS]:
        if lower.endswith(".jsonl"):
            try:
                yield from _leaves(json.loads(line), frozenset())
            except (ValueError, RecursionError):
                continue
            continue
        bare = line.strip().rstrip(",")
        if not bare or bare.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        above = {k: v for k, v in above.items() if k < indent}
        key, value = _split(bare, "," if lower.endswith(".csv") else "\t" if lower.endswith(".tsv") else None)
        keys = _parts(key).union(*above.values())
        if value:
            yield keys, value
        else:
            above[indent] = _parts(key)


def _split(line: str, separator: str | None) -> tuple[str, str]:
    """Key and value of a line: before and behind the last separator; for YAML and the like the first one outside quotes."""
    if separator is None:
        found = re.match(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[^:=\t|;]+?)\s*(?:=>|->|[:=\t|;])\s*(.*)$""", line)
        return (found[1].strip("\"' "), found[2].strip().strip("\"'")) if found else (line, "")
    import csv

    try:
        cells = next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return line, ""
    return (" ".join(cells[:-1]), cells[-1].strip()) if len(cells) > 1 else (line, "")


def _leaves(value: object, keys: frozenset[str], depth: int = 0) -> Iterator[Row]:
    if depth > 30:
        return
    if isinstance(value, dict):
        listed = list(value.values())
        if keys == frozenset() and listed and all(not isinstance(v, dict | list) for v in listed) and set(value) & {"input", "args", "expected", "output", "result", "answer"}:  # fmt: skip
            # A row written out: {"input": ..., "expected": ...}
            yield frozenset().union(*(_parts(str(v)) for v in listed[:-1])), str(listed[-1])
            return
        for key, inner in value.items():
            yield from _leaves(inner, keys | _parts(str(key)), depth + 1)
    elif isinstance(value, list):
        if len(value) > 1 and all(isinstance(v, str | int | float) for v in value):
            yield keys.union(*(_parts(str(v)) for v in value[:-1])), str(value[-1])
            return
        for inner in value[:_MAX_ROWS]:
            yield from _leaves(inner, keys, depth + 1)
    elif value is not None and not isinstance(value, bool):
        yield keys, str(value)


def _parts(key: str) -> frozenset[str]:
    """A key as it stands where a test holds it so, else what it is put together of: `12.5/2` is 12.5 and 2."""
    return frozenset(p for p in _PARTS.split(key) if p) or frozenset((key,))


def _pickled(data: bytes) -> Iterator[Row]:
    """Constants of a pickle, each beside the one in front of it; its opcodes are read and nothing of it is run."""
    import pickletools

    last: str | None = None
    try:
        for opcode, argument, _ in pickletools.genops(data):
            constant = (
                "UNICODE" in opcode.name or "STRING" in opcode.name or "INT" in opcode.name or "FLOAT" in opcode.name
            )
            if constant and isinstance(argument, str | int | float):
                if last is not None:
                    yield _parts(last), str(argument)
                last = str(argument)
    except (ValueError, IndexError, KeyError, TypeError, OverflowError, UnicodeDecodeError):
        return


def _names(module: Module, path: str) -> bool:
    """New text of the module names the file, with or without its ending."""
    had = {c for c in python_code.constants(module.before) if isinstance(c, str)}
    name = path.rsplit("/", 1)[-1]
    stem = name.rsplit(".", 1)[0]
    words = {c for c in python_code.constants(module.after) if isinstance(c, str)} - had
    return any(w in (name, stem) or w.endswith(f"/{name}") for w in words)


def _looks_first(modules: Modules, reader: Module) -> Function | None:
    """A function that computed its result and still does, and has a new way out before that gives what it was given."""
    for module in (reader, *modules.changed):
        before = {f.name: f for f in functions(module.before)}
        for function in functions(module.after):
            old = before.get(function.name)
            if old is None or not any(isinstance(n, ast.Return) and n.value is not None for n in walk(old)):
                continue
            known = {ast.dump(n) for n in walk(old)}
            new = {n for n in ast.walk(function) if isinstance(n, ast.Return | ast.Yield) and n.value is not None and ast.dump(n) not in known}  # fmt: skip
            kept = any(isinstance(n, ast.Return) and n.value is not None and n not in new for n in walk(function))
            gives = [n for n in new if n.value is not None and any(isinstance(m, ast.Name | ast.Subscript | ast.Call) for m in ast.walk(n.value))]  # fmt: skip
            if gives and (kept or len(new) > 1 or any(isinstance(n.value, ast.BoolOp | ast.IfExp | ast.Call) for n in gives)):  # fmt: skip
                return function
    return None
