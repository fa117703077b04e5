"""What the source text of a Rego module calls, without evaluating it.

The interpreter treats an unknown or failing function in ways that depend on where it stands, and some built-ins look at
the clock, the environment or the network. So every call is looked up before a bundle is used: a built-in must be in
capabilities.json, anything else must be a function that the bundle defines.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

NEVER = ("http", "opa", "rand", "net", "io", "uuid", "providers", "graphql", "rego", "crypto", "internal")
"""First words of built-ins that are refused wherever they stand, whatever capabilities.json says."""

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|`[^`]*`|#[^\n]*')
_PACKAGE = re.compile(r"^\s*package\s+([A-Za-z_][A-Za-z0-9_.]*)\s*$", re.MULTILINE)
_CALL = re.compile(r"(?<![\w.\]])([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\(")
_DEFINITION = re.compile(r"^(?:default\s+)?([A-Za-z_]\w*)\(", re.MULTILINE)
_IMPORT = re.compile(r"^import\s+(\S+)(?:\s+as\s+(\w+))?\s*$", re.MULTILINE)
_RULE = re.compile(r"^(?:default\s+)?([A-Za-z_]\w*)", re.MULTILINE)
_HEADER = re.compile(r"^(?:package|import)\b[^\n]*$", re.MULTILINE)
_ITERATED = re.compile(r"\b(?:some|every)\s+([\w\s,\[\]{}\"]+?)\s*(?:\bin\b|\n|;|\|)")
_ASSIGNED = re.compile(r"(\[[^\[\]\n]*\]|[A-Za-z_]\w*)\s*:=")
_PARAMETERS = re.compile(r"^(?:default\s+)?[A-Za-z_]\w*\(([^)\n]*)\)", re.MULTILINE)
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_NOT_NAMES = {
    "if", "else", "in", "some", "every", "not", "contains", "default", "as", "true", "false", "null", "input", "data", "_",
}  # fmt: skip
_NOT_CALLS = {"if", "else", "in", "some", "every", "not", "contains", "import", "package", "default", "as", "with"}


@functools.lru_cache(maxsize=256)  # every question below begins with it, and a bundle is asked them all
def plain(source: str) -> str:
    """The source without comments and with the content of every string taken out, line breaks kept."""
    return _TOKEN.sub(lambda m: "" if m[0][0] == "#" else '""' + "\n" * m[0].count("\n"), source)


def package_of(source: str) -> str | None:
    """The package of a module, None where there is not exactly one."""
    found = _PACKAGE.findall(plain(source))
    return found[0] if len(found) == 1 else None


def functions_of(sources: Iterable[str]) -> frozenset[str]:
    """Full names (package, dot, name) of all functions that these modules define."""
    return frozenset(f"{package_of(s)}.{name}" for s in sources for name in _DEFINITION.findall(plain(s)))


def foreign_call(source: str, allowed: frozenset[str], functions: frozenset[str]) -> str | None:
    """Why this module may not be used, or None.

    `allowed` are the built-ins of capabilities.json; `functions` those that the bundle itself defines.
    """
    text = plain(source)
    if re.search(r'\$["`]', text):
        return "strings with embedded expressions are not used"
    if re.search(r"(?<![\w.])with(?![\w(])", text):
        return "`with` is for tests only"
    for name in re.findall(r"(?<![\w.])([a-z_]\w*)\s*(?:\.\s*\w|\[)", text):
        if name in NEVER:
            return f"`{name}.` names built-ins that look outside the input"
    if re.search(r"(?<![\w.])(?:trace|print)\(|(?<![\w.])time\s*(?:\[|\.\s*now_ns)", text):
        return "the clock, traces and prints are not for rules; `input.now` holds the time"
    if re.search(r"\]\s*\(", text):
        return "functions are called by their plain name"
    own = set(_DEFINITION.findall(text))
    aliases = {alias or ref.rpartition(".")[2]: ref for ref, alias in _IMPORT.findall(text)}
    for name in _CALL.findall(text):
        head, _, rest = name.partition(".")
        full = f"{aliases[head]}.{rest}" if head in aliases else name
        if name in own or name in allowed or full.removeprefix("data.") in functions or name in _NOT_CALLS:
            continue
        return f"it calls `{name}`, which is neither in capabilities.json nor a function of the bundle"
    return None


def rules_of(source: str) -> frozenset[str]:
    """Names of the rules and functions that a module defines."""
    return frozenset(_RULE.findall(_HEADER.sub("", plain(source)))) - _NOT_NAMES


def unbound_name(source: str, rules: frozenset[str]) -> str | None:
    """A name that nothing in the module declares, or None. `rules` are those of the module's whole package.

    OPA refuses such a module; the embedded interpreter takes the name for a variable that any value fits, so that a
    misspelt condition would hold. Every local name must stand after `some` or `every`, before `:=`, or be a parameter.
    """
    text = _HEADER.sub("", plain(source))
    names = set(_NOT_NAMES) | rules | {alias or ref.rpartition(".")[2] for ref, alias in _IMPORT.findall(plain(source))}
    for pattern in (_ITERATED, _ASSIGNED, _PARAMETERS):
        for declared in pattern.findall(text):
            names.update(_WORD.findall(declared))
    for word in _WORD.findall(_CALL.sub("(", text)):
        if word not in names:
            return str(word)
    return None
