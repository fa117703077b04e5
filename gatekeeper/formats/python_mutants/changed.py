"""What a change really changes in a module: statements that are new or differ, not lines that moved or were laid out anew."""

from __future__ import annotations

import ast
import difflib
from collections import Counter
from collections.abc import Iterable, Iterator

from gatekeeper.formats import python_code
from gatekeeper.formats.added_lines import added_lines
from gatekeeper.formats.python_code import Definition
from gatekeeper.formats.python_mutants.source import SourceText, lines_of, readable
from gatekeeper.records import dataclass, field

MAX_PAIRS = 500_000
"""Pairs of equal lines that are compared by position; a file of repeated lines would cost quadratic time."""
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_STUBS = ("NotImplementedError", "NotImplemented")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement that the change touches: its own lines, without those of the statements below it."""

    line: int
    """Where it begins, 1-based. A probe there tells whether it is reached."""
    lines: tuple[int, ...]
    """Its changed lines."""
    function: str
    """Qualified name of the function it belongs to; empty for what runs when the module is imported."""
    probe: int
    """Line of the statement whose execution shows that a fault in this one could be seen."""
    simple: bool
    """True for a statement without a body of its own."""
    node: ast.stmt = field(repr=False, compare=False)


@dataclass(frozen=True)
class ChangedCode:
    """The changed statements of one module."""

    path: str
    text: SourceText
    statements: tuple[Statement, ...]
    tree: ast.Module = field(repr=False, compare=False)

    @property
    def lines(self) -> tuple[int, ...]:
        """All changed lines of code, ascending."""
        return tuple(sorted({n for s in self.statements for n in s.lines}))

    def statement_at(self, line: int) -> Statement | None:
        """The changed statement that owns a changed line."""
        return next((s for s in self.statements if line in s.lines), None)


def changed_code(path: str, before: bytes | None, after: bytes, *, others: Iterable[bytes] = ()) -> ChangedCode | None:
    """The changed code of a module; None where it cannot be read as Python.

    `others` are the base's versions of the other changed modules: what was moved from one of them is not new.
    """
    source = readable(after)
    tree = python_code.parse(source)
    if source is None or tree is None:
        return None
    old = readable(before) if before is not None else None
    try:
        known = _Known(t for t in (python_code.parse(readable(s)) for s in (before, *others) if s is not None) if t)
        lines = changed_lines(old, source)
        return ChangedCode(path, SourceText(source), tuple(_statements(tree, lines, known)), tree)
    except (RecursionError, MemoryError):
        return None


def whole_code(path: str, after: bytes, lines: Iterable[int]) -> ChangedCode | None:
    """As `changed_code`, for lines that the caller names."""
    source = readable(after)
    tree = python_code.parse(source)
    if source is None or tree is None:
        return None
    try:
        return ChangedCode(path, SourceText(source), tuple(_statements(tree, frozenset(lines), _Known(()))), tree)
    except (RecursionError, MemoryError):
        return None


def changed_lines(before: str | None, after: str) -> frozenset[int]:
    """1-based lines of `after` that a comparison by position finds new or changed."""
    new = lines_of(after)
    if before is None:
        return frozenset(range(1, len(new) + 1))
    old = lines_of(before)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    count = Counter(left)
    if sum(count[line] for line in right) > MAX_PAIRS:
        return frozenset(n for n, _ in added_lines(before, after))
    match = difflib.SequenceMatcher(None, left, right, autojunk=False)
    return frozenset(
        start + n + 1 for tag, _, _, a, b in match.get_opcodes() if tag in ("replace", "insert") for n in range(a, b)
    )


class _Known:
    """What the base already had: whole definitions anywhere, and the statements of each function and module."""

    def __init__(self, trees: Iterable[ast.Module]) -> None:
        self.definitions: set[str] = set()
        self.statements: dict[str, Counter[str]] = {}
        for tree in trees:
            self._take(tree, "")

    def _take(self, node: ast.AST, name: str) -> None:
        own = self.statements.setdefault(name, Counter())
        for statement in _below(node):
            if isinstance(statement, _DEFINITION):
                self.definitions.add(_meaning(statement))
                self._take(statement, f"{name}.{statement.name}" if name else statement.name)
            else:
                own[_header(statement)] += 1
                self._take(statement, name)

    def holds(self, name: str, statement: ast.stmt) -> bool:
        """True where the function of that name had this very statement; each one counts once."""
        own = self.statements.get(name)
        if not own:
            return False
        key = _header(statement)
        if own[key] > 0:
            own[key] -= 1
            return True
        return False


def _below(node: ast.AST) -> Iterator[ast.stmt]:
    """Statements directly inside, through handlers and cases."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from _below(child)


def _meaning(node: Definition) -> str:
    """What a definition does: without docstrings, annotations and layout."""
    return _dump(node)


def _header(statement: ast.stmt) -> str:
    """A statement without the statements below it."""
    return _dump(statement, below=False)


_LISTS = ("body", "orelse", "finalbody", "handlers", "cases")
_TYPES = ("annotation", "returns", "type_comment", "type_params", "type_ignores")


def _dump(node: object, *, below: bool = True) -> str:
    """As `ast.dump`, without annotations and bare constants."""
    if isinstance(node, ast.AST):
        parts = [type(node).__name__]
        for name, value in ast.iter_fields(node):
            if name in _TYPES or (isinstance(node, ast.Constant) and name == "kind"):
                continue
            if name in _LISTS and isinstance(value, list):
                if name == "handlers" and not below:
                    parts.append("|".join(_dump(h.type) for h in value))
                elif name == "cases" and not below:
                    parts.append("|".join(_dump(c.pattern) + _dump(c.guard) for c in value))
                elif below:
                    parts.append(";".join(_dump(v) for v in value if not _idle(v)))
                continue
            parts.append(f"{name}={_dump(value)}")
        return f"({' '.join(parts)})"
    if isinstance(node, list):
        return "[" + ",".join(_dump(v) for v in node) + "]"
    return repr(node)


def _idle(statement: object) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _statements(tree: ast.Module, lines: frozenset[int], known: _Known) -> Iterator[Statement]:
    found = list(_walk(tree, "", "", lines, known))
    for name, statement, own, _ in found:
        if not own:
            known.holds(name, statement)  # what stays where it was uses up its own counterpart first
    for name, statement, own, function in found:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _defaults(statement, name, lines)
        elif (
            own
            and not _passive(statement)
            and (function or not _plain_data(statement))
            and not known.holds(name, statement)
        ):
            yield Statement(statement.lineno, own, function, statement.lineno, _is_simple(statement), statement)


def _walk(
    node: ast.AST, name: str, function: str, lines: frozenset[int], known: _Known
) -> Iterator[tuple[str, ast.stmt, tuple[int, ...], str]]:
    """(definition around, statement, its changed lines, function around) of everything that is not as it was."""
    for statement in _below(node):
        if _typing_only(statement):
            continue
        if isinstance(statement, _DEFINITION):
            if _meaning(statement) in known.definitions or _declared_only(statement):
                continue
            inner = f"{name}.{statement.name}" if name else statement.name
            yield inner, statement, (), inner
            yield from _walk(statement, inner, function if isinstance(statement, ast.ClassDef) else inner, lines, known)
            continue
        yield name, statement, tuple(sorted(lines & set(_own_lines(statement)))), function
        yield from _walk(statement, name, function, lines, known)


def _defaults(
    statement: ast.FunctionDef | ast.AsyncFunctionDef, name: str, lines: frozenset[int]
) -> Iterator[Statement]:
    """A changed default is seen where the body runs."""
    values = [d for d in (*statement.args.defaults, *statement.args.kw_defaults) if d is not None]
    own = tuple(sorted({n for d in values for n in range(d.lineno, (d.end_lineno or d.lineno) + 1)} & lines))
    body = [s for s in statement.body if not _idle(s)]
    if own and body:
        yield Statement(statement.lineno, own, name, body[0].lineno, simple=False, node=statement)


def _own_lines(statement: ast.stmt) -> Iterator[int]:
    last = statement.end_lineno or statement.lineno
    inner = list(_below(statement))
    if inner:
        first = min(s.lineno for s in inner)
        yield from range(statement.lineno, max(first, statement.lineno + 1))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            begin = part.lineno if isinstance(part, ast.ExceptHandler) else part.pattern.lineno
            yield from range(begin, max(part.body[0].lineno, begin + 1))
    else:
        yield from range(statement.lineno, last + 1)


def _is_simple(statement: ast.stmt) -> bool:
    return not any(True for _ in _below(statement))


def _passive(statement: ast.stmt) -> bool:
    """Statements in which no fault can be made that a test could see."""
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal | ast.Pass):
        return True
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return True
    if isinstance(statement, ast.Try):
        return False
    return _idle(statement)


def _plain_data(statement: ast.stmt) -> bool:
    """Names of a module that no test looks at: `__all__`, `__version__`, loggers, type variables."""
    if isinstance(statement, ast.Assign):
        targets = [t.id for t in statement.targets if isinstance(t, ast.Name)]
        if any(t.startswith("__") and t.endswith("__") for t in targets):
            return True
        if isinstance(statement.value, ast.Call):
            called = ast.unparse(statement.value.func).rsplit(".", 1)[-1]
            return called in ("getLogger", "get_logger", "TypeVar", "ParamSpec", "NewType", "TypeVarTuple")
    if isinstance(statement, ast.AnnAssign):
        return "TypeAlias" in ast.dump(statement.annotation)
    return isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name) and statement.target.id == "__all__"  # fmt: skip


def _typing_only(statement: ast.stmt) -> bool:
    """`if TYPE_CHECKING:` and `if __name__ == "__main__":`."""
    if not isinstance(statement, ast.If):
        return False
    names = {n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(statement.test) if isinstance(n, ast.Name | ast.Attribute)}  # fmt: skip
    return bool(names & {"TYPE_CHECKING", "__name__"}) and not statement.orelse


def _declared_only(node: Definition) -> bool:
    """Definitions that do nothing by design: overloads, abstract methods, protocols, stubs."""
    if isinstance(node, ast.ClassDef):
        return any("Protocol" in ast.dump(b) for b in node.bases)
    if any("overload" in ast.dump(d) or "abstract" in ast.dump(d) for d in node.decorator_list):
        return True
    body = [s for s in node.body if not _idle(s) and not isinstance(s, ast.Pass)]
    return not body or (
        len(body) == 1
        and isinstance(body[0], ast.Raise | ast.Return)
        and any(isinstance(n, ast.Name) and n.id in _STUBS for n in ast.walk(body[0]))
    )
