"""Go as tokens, and what the head and the name of a file say about when it is compiled.

Strings, comments and brackets are read as Go reads them, semicolons are put in where Go does. Spec: https://go.dev/ref/spec
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_SOURCE = 2 * 1024 * 1024
MAX_TOKENS = 400_000
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


def closing(stream: list[Token], at: int, window: int = MAX_TOKENS) -> int:
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
