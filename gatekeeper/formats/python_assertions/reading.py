"""Read a test module: per function its assertions and whether they can fail the test, its rows, its doubles."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator, Mapping

from gatekeeper.formats.python_assertions.doubles import Double, doubles, mocks
from gatekeeper.formats.python_assertions.expression import (
    Assertion,
    State,
    canonical,
    from_call,
    from_condition,
    last_name,
    raised,
    truth,
)
from gatekeeper.formats.python_assertions.inlining import inlined, inlined_statement, values_of
from gatekeeper.formats.python_assertions.reached import idle_lines
from gatekeeper.formats.python_assertions.rows import looped_rows, rows_of
from gatekeeper.formats.python_code import Function, imports, parse, written
from gatekeeper.formats.python_spelling import plain
from gatekeeper.records import dataclass, field, replace

_CATCHING = {"AssertionError", "Exception", "BaseException"}
_ENDING = {"skip", "exit", "_exit", "skipTest"}


@dataclass(frozen=True)
class Body:
    """One function of a module, by qualified name."""

    name: str
    line: int
    assertions: tuple[Assertion, ...]
    meaning: str
    """The body as a canonical text."""
    rows: tuple[str, ...] = ()
    """Live parameter rows, canonical."""
    row_ids: tuple[str, ...] = ()
    """What pytest puts in brackets for each row, where the row stands alone; as many as `rows`."""
    names: frozenset[str] = frozenset()
    """Names it reads that it does not bind itself."""
    calls: frozenset[str] = frozenset()
    mocks: frozenset[str] = frozenset()
    yields: bool = False
    swallows: bool = False
    """It catches what an assertion raises."""
    decorators: tuple[str, ...] = ()
    idle: frozenset[int] = frozenset()
    """Lines of statements that reach nothing of the code: whatever it does, they say the same."""

    @property
    def test(self) -> bool:
        """True where the runner collects it by its name."""
        return self.name.rsplit(".", 1)[-1].startswith("test")

    @property
    def live(self) -> tuple[Assertion, ...]:
        """The assertions that can fail it."""
        return tuple(a for a in self.assertions if a.live)


@dataclass(frozen=True)
class ModuleAssertions:
    """A module: functions (the last of a name wins, as in Python), imports, names bound at the top, doubles."""

    bodies: Mapping[str, Body]
    imports: Mapping[str, str]
    bound: Mapping[str, int]
    """Names that the module binds by def, class or assignment at its top level, with the line."""
    doubles: tuple[Double, ...] = ()
    twice: Mapping[str, int] = field(default_factory=dict)
    """Tests that are defined more than once in one scope, with the line of the last definition."""
    rebound: frozenset[str] = frozenset()
    """Helpers in whose place something else may stand, of those that the test at hand calls."""


def read(source: str | None) -> ModuleAssertions | None:
    """Read `source`; None where there is none, or it is too long, too deep or no Python."""
    tree = parse(source)
    if tree is None:
        return None
    try:
        return _read(plain(tree))
    except RecursionError:
        return None


def _read(tree: ast.Module) -> ModuleAssertions:
    names = imports(tree)
    known = values_of(tree.body)
    aliases = {n: d for n, v in known.items() if (d := _alias(v, names))}
    names = {**names, **aliases}
    bodies: dict[str, Body] = {}
    found: list[Double] = []
    twice: dict[str, int] = {}
    _scope(tree.body, "", known, names, bodies, found, twice)
    bound: dict[str, int] = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound[node.name] = node.lineno
        elif isinstance(node, ast.Assign):
            bound.update({t.id: node.lineno for t in node.targets if isinstance(t, ast.Name)})
            found += doubles(node, names, "", True)
        elif isinstance(node, ast.Expr):
            found += doubles(node, names, "", True)
    return ModuleAssertions(bodies, names, bound, tuple(found), twice)


def _alias(node: ast.expr, names: Mapping[str, str]) -> str:
    from gatekeeper.formats.python_assertions.doubles import dotted

    return dotted(node, names) if isinstance(node, (ast.Subscript, ast.Call)) else ""


def _scope(
    body: list[ast.stmt], prefix: str, known: Mapping[str, ast.expr], names: Mapping[str, str],
    bodies: dict[str, Body], found: list[Double], twice: dict[str, int],
) -> None:  # fmt: skip
    seen: set[str] = set()
    for node in body:
        if isinstance(node, ast.ClassDef):
            _scope(node.body, f"{prefix}{node.name}.", known, names, bodies, found, twice)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            name = prefix + node.name
            if node.name in seen and node.name.startswith("test"):
                twice[name] = node.lineno
            seen.add(node.name)
            bodies[name] = _body(node, name, known)
            autouse = any("autouse=True" in written(d) for d in node.decorator_list) or node.name in (
                "setup_module", "setup_function", "setUp", "setUpClass", "setUpModule", "setup_method",
            )  # fmt: skip
            found += doubles(node, names, name, autouse)


def body_of(node: Function, name: str, values: Mapping[str, ast.expr]) -> Body:
    """One function; `values` are those that names at the top of its module stand for."""
    return _body(node, name, values)


def _body(node: Function, name: str, module: Mapping[str, ast.expr]) -> Body:
    arguments = {a.arg for a in [*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs]}
    stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    local = values_of(node.body)
    known = {**{k: v for k, v in module.items() if k not in arguments | stored}, **local}
    rows = [*rows_of(node, module), *looped_rows(node, known)]
    statements = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    assertions = tuple(_walk(node.body, known, State.LIVE))
    read_names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return Body(
        name,
        node.lineno,
        assertions,
        "\n".join(written(s) for s in statements),
        tuple(r for r, _ in rows),
        tuple(i for _, i in rows),
        frozenset(read_names - arguments - stored),
        frozenset(last_name(n) for n in _run(node) if isinstance(n, ast.Call)),
        frozenset(mocks(node)),
        any(isinstance(n, (ast.Yield, ast.YieldFrom)) for s in node.body for n in ast.walk(s)),
        any(isinstance(n, ast.Try) and _catches(n) for n in ast.walk(node)),
        tuple(last_name(d) for d in node.decorator_list),
        idle_lines(node),
    )


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """As `ast.walk`, without what is made and never run: a generator that stands alone, a lambda."""
    waiting: deque[ast.AST] = deque([node])
    while waiting:
        at = waiting.popleft()
        yield at
        if isinstance(at, ast.Lambda) or (isinstance(at, ast.Expr) and isinstance(at.value, ast.GeneratorExp)):
            continue
        waiting.extend(ast.iter_child_nodes(at))


def _handler_names(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {"BaseException"}
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {last_name(k) for k in kinds}


def _loud(body: list[ast.stmt]) -> bool:
    """True where a handler raises again, fails the test or asserts."""
    for s in body:
        for n in ast.walk(s):
            if isinstance(n, (ast.Raise, ast.Assert)) or (
                isinstance(n, ast.Call) and last_name(n) in ("fail", "xfail")
            ):
                return not (
                    isinstance(n, ast.Raise) and n.exc is not None and last_name(n.exc) in ("SkipTest", "Skipped")
                )
    return False


def _catches(node: ast.Try) -> bool:
    caught = any(_handler_names(h) & _CATCHING and not _loud(h.body) for h in node.handlers)
    return caught or any(isinstance(s, (ast.Return, ast.Break, ast.Continue)) for s in node.finalbody)


_ORDER = (State.LIVE, State.CONDITIONAL, State.SWALLOWED, State.UNREACHABLE)


def _worse(a: State, b: State) -> State:
    return max(a, b, key=_ORDER.index)


def _ends(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
        return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and last_name(node.value) in _ENDING


def _walk(body: list[ast.stmt], known: Mapping[str, ast.expr], state: State) -> Iterator[Assertion]:
    for node in body:
        yield from _statement(node, known, state)
        if _ends(node):
            state = State.UNREACHABLE
        elif isinstance(node, ast.If):
            yes, no = any(map(_ends, node.body)), any(map(_ends, node.orelse))
            sure = truth(node.test)
            if (yes and no) or (yes and sure is True) or (no and sure is False):
                state = State.UNREACHABLE
            elif (yes and sure is not False) or (no and sure is not True):
                # A guard that leaves with an assertion or a failure inside is no way around the rest.
                state = _worse(state, State.CONDITIONAL)


def _statement(node: ast.stmt, known: Mapping[str, ast.expr], state: State) -> Iterator[Assertion]:
    if isinstance(node, ast.Assert):
        for a in from_condition(inlined(node.test, known), node.lineno):
            yield replace(a, state=state, text=f"assert {written(node.test)}"[:300])
    elif isinstance(node, ast.Expr):
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(value, ast.Call):
            call = inlined(value, known)
            for a in from_call(call, node.lineno) if isinstance(call, ast.Call) else ():
                yield replace(a, state=state, text=written(value)[:300])
    elif isinstance(node, ast.If):
        sure = truth(node.test)
        inner = _worse(state, State.CONDITIONAL)
        yield from _walk(node.body, known, state if sure else State.UNREACHABLE if sure is False else inner)
        yield from _walk(node.orelse, known, State.UNREACHABLE if sure else state if sure is False else inner)
    elif isinstance(node, (ast.While, ast.For, ast.AsyncFor)):
        never = truth(node.test) is False if isinstance(node, ast.While) else _empty(node.iter)
        yield from _walk(node.body, known, State.UNREACHABLE if never else state)
        yield from _walk(node.orelse, known, state)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        yield from _with(node, known, state)
    elif isinstance(node, ast.Try):
        inner = _worse(state, State.SWALLOWED) if _catches(node) else state
        yield from _walk([*node.body, *node.orelse], known, inner)
        for handler in node.handlers:
            yield from _walk(handler.body, known, _worse(state, State.CONDITIONAL))
        yield from _walk(node.finalbody, known, state)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from _walk(node.body, known, _worse(state, State.CONDITIONAL))
    elif isinstance(node, ast.Match):
        for case in node.cases:
            yield from _walk(case.body, known, _worse(state, State.CONDITIONAL))


def _empty(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and last_name(node) == "range" and len(node.args) == 1:
        return isinstance(node.args[0], ast.Constant) and not node.args[0].value
    return truth(node) is False


def _plain(statement: ast.stmt, kinds: ast.expr) -> ast.stmt:
    """`assert f(x)` as `f(x)` where another exception than a failed assertion is expected of it."""
    names = _kinds(kinds)
    if isinstance(statement, ast.Assert) and "" not in names and not names & _CATCHING:
        return ast.copy_location(ast.Expr(statement.test), statement)
    return statement


def _kinds(node: ast.expr) -> set[str]:
    return {last_name(k) for k in (node.elts if isinstance(node, ast.Tuple) else (node,))}


def _with(node: ast.With | ast.AsyncWith, known: Mapping[str, ast.expr], state: State) -> Iterator[Assertion]:
    inner = state
    for item in node.items:
        call = item.context_expr
        if not isinstance(call, ast.Call):
            continue
        name = last_name(call)
        if name in ("raises", "assertRaises", "assertRaisesRegex", "warns", "assertWarns") and call.args:
            pattern = next((written(k.value) for k in call.keywords if k.arg == "match"), "")
            if name == "assertRaisesRegex" and len(call.args) > 1:
                pattern = written(call.args[1])
            body = "; ".join(canonical(inlined_statement(_plain(s, call.args[0]), known)) for s in node.body)
            made = raised(call.args[0], pattern, body, ast.Call(call.func, call.args, call.keywords), node.lineno)
            if _kinds(call.args[0]) & _CATCHING and any(isinstance(s, ast.Assert) for s in node.body):
                made = replace(made, rank=min(made.rank, 2))  # that an assertion of the test fails says little
            yield replace(made, state=state, text=f"with {written(call)}: {body}"[:300])
            if _kinds(call.args[0]) & _CATCHING:
                inner = _worse(inner, State.SWALLOWED)
        elif name in ("suppress", "ignored") and {last_name(a) for a in call.args} & _CATCHING:
            inner = _worse(inner, State.SWALLOWED)
    yield from _walk(node.body, known, inner)
