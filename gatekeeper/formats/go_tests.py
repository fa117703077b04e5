"""What the tests of a Go file are: functions with normalised bodies, assertions, skips, and what keeps them from running.

A light tokenizer, no type checking: strings, comments and brackets are read as Go reads them, semicolons are put in where
Go does, and a text that no Go compiler would take just yields fewer functions. Spec: https://go.dev/ref/spec
"""

from __future__ import annotations

import re
from collections import Counter

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
    """All other functions and methods: TestMain and what tests call."""

    @property
    def main(self) -> GoFunction | None:
        """TestMain."""
        return self.others.get("TestMain")


def read_go_tests(source: str) -> GoTestFile:
    """Read a file. Never raises: what is not understood is left out."""
    stream = tokens(source)
    package = ""
    functions: dict[str, GoFunction] = {}
    others: dict[str, GoFunction] = {}
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
        if token.text in "([{" and token.kind == "mark":
            depth += 1
        elif token.text in ")]}" and token.kind == "mark":
            depth = max(0, depth - 1)
        at += 1
    return GoTestFile(package, build_constraint(source), functions, others)


def _runs(name: str) -> bool:
    match = _TEST.match(name)
    return match is not None and match[1] != "Benchmark" and name != "TestMain"


def _function(stream: list[Token], at: int) -> tuple[GoFunction | None, int]:
    """The function whose `func` is at `at`, and the index behind it."""
    start = at
    at += 1
    receiver = ""
    if at < len(stream) and stream[at].text == "(":
        end = closing(stream, at)
        receiver = next((t.text for t in reversed(stream[at:end]) if t.kind == "name"), "")
        at = end + 1
    if at >= len(stream) or stream[at].kind != "name":
        return None, start + 1
    name = stream[at].text
    at += 1
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
    return _read(full, stream[start].line, stream[at + 1 : end], testing), end + 1


@dataclass
class _Block:
    """One pair of braces that is open."""

    closing: str
    function: bool
    """The body of a function (literal): a return in it is not conditional."""
    condition: str


def _read(name: str, line: int, body: list[Token], testing: str) -> GoFunction:
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
        if call is None:
            continue
        owner, method = call
        if method in _FAILS and owner in ("t", "tb", "f", "b", "T"):
            assertions[_statement(words, index, blocks)] += 1
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
    )


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
