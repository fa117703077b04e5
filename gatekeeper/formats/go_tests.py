"""What the tests of a Go file are: functions with normalised bodies, assertions, skips, and what keeps them from running.

A light tokenizer, no type checking: strings, comments and brackets are read as Go reads them, semicolons are put in where
Go does, and a text that no Go compiler would take just yields fewer functions. Spec: https://go.dev/ref/spec
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from gatekeeper.records import dataclass, field

MAX_SOURCE = 2 * 1024 * 1024
MAX_TOKENS = 400_000
MAX_DEPTH = 200
"""Brackets open at once in a function; what is deeper is left out."""
_MOST = 500
"""Statements of one function that are looked at so."""
_WINDOW = 2_000
"""Tokens that are looked ahead for the end of one statement."""
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+)|(?P<line>\n)|(?P<comment>//[^\n]*|/\*.*?\*/)"""
    r"""|(?P<string>"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<name>[^\W\d]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)"""
    r"""|(?P<mark><<=|>>=|&\^=|\.\.\.|&&|\|\||<-|\+\+|--|==|!=|<=|>=|:=|<<|>>|&\^|[-+*/%&|^]=|.)""",
    re.DOTALL,
)
_ENDS_STATEMENT = {"return", "break", "continue", "fallthrough", "++", "--", ")", "]", "}"}
_KEYWORDS = {
    "break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func", "go", "goto",
    "if", "import", "interface", "map", "package", "range", "return", "select", "struct", "switch", "type", "var",
}  # fmt: skip
_TEST = re.compile(r"(Test|Fuzz|Benchmark|Example)(?:$|[^a-z])")
_FAILS = {"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"}
_SKIPS = {"Skip", "Skipf", "SkipNow"}
_LOGS = {"Log", "Logf"}
_LIBRARIES = {"require", "assert", "is", "must", "check", "qt", "expect", "td", "gomega"}
_CONSTRAINT = re.compile(r"^//\s*(?:go:build|\+build)\s+(.*?)\s*$")
_OS = frozenset(
    [
        "aix",
        "android",
        "darwin",
        "dragonfly",
        "freebsd",
        "illumos",
        "ios",
        "js",
        "linux",
        "netbsd",
        "openbsd",
        "plan9",
        "solaris",
        "wasip1",
        "windows",
        "hurd",
        "nacl",
        "zos",
    ]
)
_ARCH = frozenset(
    [
        "386",
        "amd64",
        "arm",
        "arm64",
        "loong64",
        "mips",
        "mips64",
        "mips64le",
        "mipsle",
        "ppc64",
        "ppc64le",
        "riscv64",
        "s390x",
        "wasm",
        "sparc64",
        "armbe",
        "arm64be",
    ]
)


class Token(NamedTuple):
    """One token; semicolons that Go puts in are tokens of their own."""

    kind: str
    """name, keyword, number, string or mark."""
    text: str
    line: int


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


def tokens(source: str) -> list[Token]:
    """The tokens of a file, without comments, with the semicolons that line ends stand for."""
    out: list[Token] = []
    line = 1

    def line_ends() -> None:
        last = out[-1] if out else None
        if last and (last.kind in ("name", "number", "string") or last.text in _ENDS_STATEMENT):
            out.append(Token("mark", ";", line))

    for match in _TOKEN.finditer(source[:MAX_SOURCE]):
        kind, text = match.lastgroup or "", match[0]
        if kind == "line":
            line_ends()
            line += 1
        elif kind == "comment":
            if "\n" in text:
                line_ends()
                line += text.count("\n")
        elif kind != "space":
            if text == "`" or source.startswith("/*", match.start()):
                break  # never closed: no Go, and each further one would be searched for to the end
            out.append(Token("keyword" if kind == "name" and text in _KEYWORDS else kind, text, line))
            line += text.count("\n")
            if len(out) > MAX_TOKENS:
                break
    line_ends()
    return out


def build_constraint(source: str) -> str:
    """The expression of the //go:build line (or the +build lines) before the package clause; empty for none."""
    found: list[str] = []
    for row in source[:MAX_SOURCE].split("\n"):
        text = row.strip()
        if match := _CONSTRAINT.match(text):
            if text.startswith("//go:build"):
                return match[1]
            found.append(match[1])
        elif text and not text.startswith(("//", "/*", "*")) and not text.endswith("*/"):
            break
    return " && ".join(found)


def name_constraint(name: str) -> str:
    """What the name of a file alone demands, as `x_windows_test.go` does; empty for nothing."""
    stem = name.rsplit("/", 1)[-1].removesuffix(".go").removesuffix("_test")
    parts = stem.split("_")[1:]
    if len(parts) >= 2 and parts[-1] in _ARCH and parts[-2] in _OS:
        return f"{parts[-2]} && {parts[-1]}"
    return parts[-1] if parts and (parts[-1] in _OS or parts[-1] in _ARCH) else ""


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


def _closing(stream: list[Token], at: int, window: int = MAX_TOKENS) -> int:
    """Index of the bracket that closes the one at `at`; the end of what is looked at where none does."""
    depth = 0
    last = min(len(stream), at + window)
    for index in range(at, last):
        if stream[index].kind == "mark":
            if stream[index].text in "([{":
                depth += 1
            elif stream[index].text in ")]}":
                depth -= 1
                if depth == 0:
                    return index
    return last - 1


def _function(stream: list[Token], at: int) -> tuple[GoFunction | None, int]:
    """The function whose `func` is at `at`, and the index behind it."""
    start = at
    at += 1
    receiver = ""
    if at < len(stream) and stream[at].text == "(":
        end = _closing(stream, at)
        receiver = next((t.text for t in reversed(stream[at:end]) if t.kind == "name"), "")
        at = end + 1
    if at >= len(stream) or stream[at].kind != "name":
        return None, start + 1
    name = stream[at].text
    at += 1
    if at < len(stream) and stream[at].text == "[":
        at = _closing(stream, at) + 1
    if at >= len(stream) or stream[at].text != "(":
        return None, start + 1
    end = _closing(stream, at)
    parameters = stream[at + 1 : end]
    at = end + 1
    while at < len(stream) and stream[at].text not in ("{", ";"):
        # A result list; a struct or interface type in it has braces of its own.
        if stream[at].text in ("struct", "interface") and at + 1 < len(stream) and stream[at + 1].text == "{":
            at = _closing(stream, at + 1)
        elif stream[at].text in "([":
            at = _closing(stream, at)
        at += 1
    if at >= len(stream) or stream[at].text != "{":
        return None, at
    end = _closing(stream, at)
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
            assertions[_text(words[index - 2 : _closing(words, index + 1, _WINDOW) + 1])] += 1
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
