"""What the tests of a Go file are: functions with normalised bodies, assertions, skips, and what keeps them from running.

A light tokenizer, no type checking: strings, comments and brackets are read as Go reads them, semicolons are put in where
Go does, and a text that no Go compiler would take just yields fewer functions. Spec: https://go.dev/ref/spec
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from gatekeeper.formats.go_calls import called, idle_parts, loses_t, wrapping
from gatekeeper.formats.go_tokens import Token, build_constraint, closing, tokens
from gatekeeper.records import dataclass, field

MAX_DEPTH = 200
"""Brackets open at once in a function; what is deeper is left out."""
_MOST = 500
"""Statements of one function that are looked at so."""
_WINDOW = 2_000
"""Tokens that are looked ahead for the end of one statement."""
_TEST = re.compile(r"(Test|Fuzz|Benchmark|Example)(?:$|[^a-z])")
_FAILS = {"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"}
_SKIPS = {"Skip", "Skipf", "SkipNow"}
_LOGS = {"Log", "Logf"}
_LIBRARIES = {"require", "assert", "is", "must", "check", "qt", "expect", "td", "gomega"}


@dataclass(frozen=True, slots=True)
class GoCall:
    """One call in a function."""

    owner: str
    """What stands before the dot; empty for none."""
    name: str
    arguments: tuple[str, ...]
    condition: str
    """Conditions around it; empty for none."""


@dataclass(frozen=True)
class GoFunction:
    """One top-level function or method of a file."""

    name: str
    """`TestX`, or `Type.Method`."""
    line: int
    body: str
    """Tokens of the body with one space between; the testing parameter is called `t`, comments are gone."""
    assertions: Counter[str] = field(default_factory=Counter)
    """Normalised text of each statement that can fail the test."""
    skips: tuple[tuple[int, str], ...] = ()
    """(line, condition around it; empty where there is none)."""
    logs: tuple[int, ...] = ()
    returns: tuple[int, ...] = ()
    """Lines of a `return` that nothing makes conditional and that code follows."""
    dead: tuple[int, ...] = ()
    """Lines of a branch whose condition is a constant."""
    exits: tuple[int, ...] = ()
    """Lines that end the process: os.Exit, syscall.Exit, log.Fatal."""
    constants: Counter[str] = field(default_factory=Counter)
    """Literals of the body."""
    names: frozenset[str] = frozenset()
    calls: tuple[GoCall, ...] = ()
    """Calls that run when it does, but for those of the testing package."""
    parameters: str = ""
    """Tokens of its parameters with one space between."""
    wraps: tuple[str, ...] = ()
    """Functions to which it hands a function literal that can fail the test."""
    adrift: tuple[int, ...] = ()
    """Lines of function literals that nobody calls or waits for, and that could fail the test."""
    loses_t: bool = False
    """What it asserts with is something that it made itself."""

    @property
    def is_test(self) -> bool:
        """`go test` runs it: a test, or a fuzz target with its seeds. Benchmarks are not run."""
        return self.name.startswith(("Test", "Fuzz")) and "." not in self.name


@dataclass(frozen=True)
class GoTestFile:
    """One file."""

    package: str = ""
    constraint: str = ""
    """Expression of its //go:build line; empty for none."""
    functions: dict[str, GoFunction] = field(default_factory=dict)
    """Tests, fuzz targets and examples by name."""
    others: dict[str, GoFunction] = field(default_factory=dict)
    """All other functions and methods, and variables that are functions: TestMain and what tests call."""
    declared: frozenset[str] = frozenset()
    """Names of variables and types of the package that stand in it."""
    imports: dict[str, str] = field(default_factory=dict)
    """Name -> path of each imported package."""
    assigned: frozenset[str] = frozenset()
    """Names to which a function of it assigns, or whose address it takes."""

    @property
    def main(self) -> GoFunction | None:
        """TestMain."""
        return self.others.get("TestMain")


@lru_cache(maxsize=96)
def read_go_tests(source: str) -> GoTestFile:
    """Read a file. Never raises: what is not understood is left out."""
    stream = tokens(source)
    package = ""
    functions: dict[str, GoFunction] = {}
    others: dict[str, GoFunction] = {}
    declared: set[str] = set()
    at, depth = 0, 0
    while at < len(stream):
        token = stream[at]
        if depth == 0 and token.text == "package" and not package and at + 1 < len(stream):
            package = stream[at + 1].text
        if depth == 0 and token.text == "func" and token.kind == "keyword":
            function, at = _function(stream, at)
            if function is not None:
                place = functions if _runs(function.name) else others
                place.setdefault(function.name, function)
            continue
        if depth == 0 and token.text in ("var", "type") and at + 1 < len(stream):
            declared |= _declared(stream, at)
            start = (
                at + 3
                if stream[at + 1].kind == "name" and [t.text for t in stream[at + 2 : at + 4]] == ["=", "func"]
                else 0
            )
            if token.text == "var" and start:
                function, at = _function(stream, start, stream[at + 1].text)
                if function is not None:
                    others.setdefault(function.name, function)
                continue
        if token.text in "([{" and token.kind == "mark":
            depth += 1
        elif token.text in ")]}" and token.kind == "mark":
            depth = max(0, depth - 1)
        at += 1
    bodies = [f.body for f in (*functions.values(), *others.values())]
    assigned = {n for b in bodies for m in _ASSIGNED.finditer(b) for n in re.findall(r"\w+", m[1] or m[2])}
    return GoTestFile(
        package, build_constraint(source), functions, others, frozenset(declared), _imports(stream), frozenset(assigned)
    )


_ASSIGNED = re.compile(r"(?:^|(?<=[;{}] ))((?:\w+ , )*\w+) = |& (\w+)")


def _declared(stream: list[Token], at: int) -> set[str]:
    """Names of a declaration of variables or types, alone or in brackets."""
    if stream[at + 1].text != "(":
        return {stream[at + 1].text}
    end = closing(stream, at + 1)
    starts = [i + 1 for i in range(at + 1, end) if stream[i].text == ";" or i == at + 1]
    return {stream[i].text for i in starts if i < end and stream[i].kind == "name"}


def _imports(stream: list[Token]) -> dict[str, str]:
    out: dict[str, str] = {}
    at = 0
    while at < len(stream) and stream[at].text not in ("func", "var", "const", "type"):
        if stream[at].text == "import" and stream[at].kind == "keyword":
            end = closing(stream, at + 1) if stream[at + 1 : at + 2] and stream[at + 1].text == "(" else at + 3
            for i in range(at + 1, min(end + 1, len(stream))):
                if stream[i].kind == "string":
                    path = stream[i].text.strip('"`')
                    name = stream[i - 1].text if stream[i - 1].kind == "name" or stream[i - 1].text == "." else ""
                    out[name or re.sub(r"/v\d+$", "", path).rsplit("/", 1)[-1]] = path
            at = end
        at += 1
    return out


def _runs(name: str) -> bool:
    match = _TEST.match(name)
    return match is not None and match[1] != "Benchmark" and name != "TestMain"


def _function(stream: list[Token], at: int, bound: str = "") -> tuple[GoFunction | None, int]:
    """The function whose `func` is at `at`, and the index behind it; `bound`: the variable that a literal is bound to."""
    start = at
    at += 1
    receiver = ""
    if not bound and at < len(stream) and stream[at].text == "(":
        end = closing(stream, at)
        receiver = next((t.text for t in reversed(stream[at:end]) if t.kind == "name"), "")
        at = end + 1
    if not bound and (at >= len(stream) or stream[at].kind != "name"):
        return None, start + 1
    name = bound or stream[at].text
    at += not bound
    if at < len(stream) and stream[at].text == "[":
        at = closing(stream, at) + 1
    if at >= len(stream) or stream[at].text != "(":
        return None, start + 1
    end = closing(stream, at)
    parameters = stream[at + 1 : end]
    at = end + 1
    while at < len(stream) and stream[at].text not in ("{", ";"):
        # A result list; a struct or interface type in it has braces of its own.
        if stream[at].text in ("struct", "interface") and at + 1 < len(stream) and stream[at + 1].text == "{":
            at = closing(stream, at + 1)
        elif stream[at].text in "([":
            at = closing(stream, at)
        at += 1
    if at >= len(stream) or stream[at].text != "{":
        return None, at
    end = closing(stream, at)
    testing = parameters[0].text if parameters and parameters[0].kind == "name" else ""
    full = f"{receiver}.{name}" if receiver else name
    return _read(full, stream[start].line, stream[at + 1 : end], testing, _text(parameters)), end + 1


@dataclass
class _Block:
    """One pair of braces that is open."""

    closing: str
    function: bool
    """The body of a function (literal): a return in it is not conditional."""
    condition: str


def _read(name: str, line: int, body: list[Token], testing: str, parameters: str) -> GoFunction:
    words = [Token(t.kind, "t", t.line) if testing and t.kind == "name" and t.text == testing else t for t in body]
    while words and words[-1].text == ";":
        words.pop()
    assertions: Counter[str] = Counter()
    skips: list[tuple[int, str]] = []
    logs: list[int] = []
    returns: list[int] = []
    dead: list[int] = []
    exits: list[int] = []
    blocks = [_Block("", True, "")]
    statement: list[Token] = []
    literal = header = False
    asked = 0
    idle = idle_parts(words)
    calls: list[GoCall] = []
    adrift: list[int] = []
    for index, token in enumerate(words):
        if len(blocks) > MAX_DEPTH:
            break
        if token.kind == "mark" and token.text == "{":
            head = _head(statement)
            blocks.append(_Block("}", literal, head))
            literal = header = False
            if head and _constant(head):
                dead.append(token.line)
            statement = []
            continue
        if token.kind == "mark" and token.text in ("(", "["):
            blocks.append(_Block(")" if token.text == "(" else "]", False, ""))
        elif token.kind == "mark" and token.text in (")", "]", "}"):
            if len(blocks) > 1:
                blocks.pop()
            if token.text == "}":
                statement, header = [], False
                continue
        if token.kind == "mark" and token.text == ";":
            # Between the parts of `if x := f(); x != 1 {` the statement goes on.
            if header:
                statement.append(token)
            else:
                statement = []
            continue
        if token.text == "func" and token.kind == "keyword":
            literal = True
        header = header or (token.kind == "keyword" and token.text in ("if", "for", "switch"))
        statement.append(token)
        if token.text == "return" and token.kind == "keyword" and asked < _MOST and _unconditional(blocks):
            asked += 1
            if _followed(words, index):
                returns.append(token.line)
        call = _call(words, index)
        lost = any(a < index < b for a, b in idle)
        if not lost and len(calls) < _MOST and (made := called(words, index)) is not None:
            calls.append(GoCall(*made, _condition(blocks)))
        if call is None:
            continue
        owner, method = call
        if lost and (owner in _LIBRARIES or (method in _FAILS and owner in ("t", "tb", "f", "b", "T"))):
            adrift.append(token.line)
            continue
        if method in _FAILS and owner in ("t", "tb", "f", "b", "T"):
            statement_ = _statement(words, index, blocks)
            if len(statement_) > _LONG or _ITSELF.search(statement_) is None:
                assertions[statement_] += 1
        elif method in _SKIPS and owner in ("t", "tb", "f", "b"):
            skips.append((token.line, _condition(blocks)))
        elif method in _LOGS and owner in ("t", "tb", "f"):
            logs.append(token.line)
        elif owner in _LIBRARIES and len(assertions) < _MOST:
            assertions[_text(words[index - 2 : closing(words, index + 1, _WINDOW) + 1])] += 1
        elif (owner, method) in (("os", "Exit"), ("syscall", "Exit"), ("unix", "Exit"), ("log", "Fatal"), ("log", "Fatalf")):  # fmt: skip
            exits.append(token.line)
    return GoFunction(
        name,
        line,
        _text(words),
        assertions,
        tuple(skips),
        tuple(logs),
        tuple(returns),
        tuple(dead),
        tuple(exits),
        Counter(t.text for t in words if t.kind in ("number", "string")),
        frozenset(t.text for t in words if t.kind == "name"),
        tuple(calls),
        parameters,
        tuple(dict.fromkeys(wrapping(words))),
        tuple(adrift),
        loses_t(_text(words)),
    )


_LONG = 400
_ITSELF = re.compile(r"(?:if|;) (\w+(?: [.()\w]+)*) (?:!=|<|>) \1$")
"""A value that is compared with itself."""


def _text(words: list[Token]) -> str:
    return " ".join(t.text for t in words)


def _head(statement: list[Token]) -> str:
    """The condition of the statement whose block opens; empty for a function body or a composite literal."""
    text = [t.text for t in statement]
    for index in range(len(text) - 1, -1, -1):
        if statement[index].kind == "keyword" and text[index] in ("if", "for", "switch", "select"):
            return " ".join(text[index:])
        if text[index] == "else":
            return "else"
        if text[index] == "func":
            return ""
    return ""


_CONSTANT = re.compile(r"(?:if|for) (?:(?:true|false|[0-9.]+|\"[^\"]*\"|&&|\|\||!|==|!=|<|>|<=|>=|\(|\)) ?)+")


def _constant(head: str) -> bool:
    if head in ("for true", "if true"):
        return head == "if true"
    return _CONSTANT.fullmatch(head) is not None


def _unconditional(blocks: list[_Block]) -> bool:
    """Inside the nearest function body, nothing but plain blocks."""
    for block in reversed(blocks):
        if block.function:
            return True
        if block.closing == "}" or block.condition:
            return False
    return True


def _condition(blocks: list[_Block]) -> str:
    """The conditions around a place up to the nearest function body, outermost first."""
    found: list[str] = []
    for block in reversed(blocks):
        if block.condition:
            found.append(block.condition)
        if block.function:
            break
    return " / ".join(reversed(found))


def _followed(words: list[Token], index: int) -> bool:
    """Whether code comes after the `return` at `index` in its block."""
    depth = 0
    for at in range(index + 1, min(len(words), index + _WINDOW)):
        text = words[at].text
        if words[at].kind == "mark" and text in ("(", "[", "{"):
            depth += 1
        elif words[at].kind == "mark" and text in (")", "]", "}"):
            depth -= 1
            if depth < 0:
                return False
        elif text == ";" and depth == 0:
            return at + 1 < len(words) and words[at + 1].text not in ("}", "case", "default")
    return False


def _call(words: list[Token], index: int) -> tuple[str, str] | None:
    """(owner, method) where `owner.method(` ends its name at `index`."""
    if index < 2 or index + 1 >= len(words) or words[index + 1].text != "(":
        return None
    if words[index].kind == "name" and words[index - 1].text == "." and words[index - 2].kind == "name":
        return words[index - 2].text, words[index].text
    return None


def _statement(words: list[Token], index: int, blocks: list[_Block]) -> str:
    """What makes the test fail at `index`: the conditions around the call, or the call where there are none.

    The words of the message are not part of it.
    """
    condition = _condition(blocks)
    return condition or _text(words[index - 2 : index + 1])
