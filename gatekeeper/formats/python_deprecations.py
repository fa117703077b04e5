"""What a module of Python warned would go, and whether a plan says that such things are to go now."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from gatekeeper.formats import python_code

WARNINGS = frozenset({"DeprecationWarning", "PendingDeprecationWarning", "FutureWarning"})
"""Classes of warnings that announce an end."""
_DEMANDS = frozenset({"warns", "assertWarns", "assertWarnsRegex", "assertWarnsMessage"})
_CLAIMS = frozenset({"assertTrue", "assertIs", "assertEqual", "assertIn", "assertIsInstance", "assertIsSubclass"})
MADE_BY = ("__init__", "__new__", "__init_subclass__")
"""Functions of a class that stand for the class: what they warn of is its end."""
_TELLING = 4
"""Letters of the longest word that a warning must have to be told from others."""
REMOVAL = r"\b(?:remov|drop|delet|retir|discontinu|get(?:ting)? rid of|revert|instead of|rather than)\w*\b"
"""Words of a plan to take something away, as a pattern."""


def announced(tree: ast.Module) -> frozenset[str]:
    """Qualified names that warned whenever they were used, or are decorated to; classes built on such a class included.

    Words in a docstring alone are none: they warn nobody who runs the code. A warning behind a condition is about one way of
    use, not about the whole.
    """
    found: set[str] = set()
    classes: list[tuple[str, ast.ClassDef]] = []
    for name, node in python_code.definitions(tree):
        parts: list[ast.AST] = [*node.decorator_list, *(node.body if not isinstance(node, ast.ClassDef) else ())]
        if isinstance(node, ast.ClassDef):
            classes.append((name, node))
            makers = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name in MADE_BY]
            parts += [s for m in makers for s in m.body]
        if any(_warns(p) for p in parts):
            found.add(name)
    for name, node in classes:
        if any(getattr(b, "id", "") in found for b in node.bases):
            found.add(name)
    return frozenset(found)


def _warns(part: ast.AST) -> bool:
    """A statement or decorator that warns of deprecation whenever it is reached."""
    call = part.value if isinstance(part, ast.Expr) else part
    if isinstance(call, ast.Call):
        called = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if called == "warn":
            return any(WARNINGS & {getattr(n, "id", ""), getattr(n, "attr", "")} for n in ast.walk(call))
        part = call.func
    return getattr(part, "attr", getattr(part, "id", "")) == "deprecated"


def warnings_given(tree: ast.Module) -> Counter[str]:
    """Every call that warns of deprecation, by what it says."""
    return Counter(ast.dump(n) for n in python_code.walk(tree) if isinstance(n, ast.Call) and _warns(n))


def warning_places(tree: ast.Module) -> Counter[tuple[str, str]]:
    """(qualified name of the function or class around it, what it says) of every call that warns of deprecation.

    The text is empty where it is no constant, the name where it stands in no function; what makes a class stands for it.
    """
    rows: Counter[tuple[str, str]] = Counter()
    calls = {id(n): n for n in python_code.walk(tree) if isinstance(n, ast.Call) and _warns(n)}
    for name, node in python_code.definitions(tree):
        owner, _, last = name.rpartition(".")
        place = owner if last in MADE_BY and owner else name
        parts = node.decorator_list if isinstance(node, ast.ClassDef) else [node]
        for call in (calls.pop(id(n)) for part in parts for n in ast.walk(part) if id(n) in calls):
            rows[place, _text(call)] += 1
    rows.update(("", _text(call)) for call in calls.values())
    return rows


def _text(call: ast.Call) -> str:
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def warning_balance(pairs: Iterable[tuple[str | None, str | None]]) -> int | None:
    """From (source before, source after) of every changed module of the code: how many warnings there are more.

    None where every warning of before is still given as it was.
    """
    before, after = Counter[str](), Counter[str]()
    for pair in pairs:
        for table, source in zip((before, after), pair, strict=True):
            tree = python_code.parse(source)
            table.update(warnings_given(tree) if tree is not None else ())
    return after.total() - before.total() if before - after else None


def demands_a_warning(node: ast.AST) -> bool:
    """A test that asserts a warning of deprecation, so that it can only pass where one is given.

    By `pytest.warns`, `deprecated_call` or `assertWarns`, or by an assertion about recorded warnings that names the kind.
    A filter that mentions such warnings demands none.
    """
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    for call in calls:
        called = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if called == "deprecated_call" or (called in _DEMANDS and any(_kinds(a) for a in (*call.args, *call.keywords))):
            return True
    recorded = recorded_warnings(node)
    claims: list[ast.AST] = [n.test for n in ast.walk(node) if isinstance(n, ast.Assert)]
    claims += [c for c in calls if getattr(c.func, "attr", "") in _CLAIMS]
    return any(_kinds(c) and recorded & _named(c) and not _denies(c) for c in claims)


def demanded_texts(node: ast.AST) -> frozenset[str]:
    """Texts that a test wants to read in the warnings it demands: a constant `match`, or the text of `assertWarnsRegex`."""
    found: set[str] = set()
    for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
        if getattr(call.func, "attr", getattr(call.func, "id", "")) in (*_DEMANDS, "deprecated_call"):
            values = [k.value for k in call.keywords if k.arg == "match"] + call.args[1:2]
            found |= {v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str)}
    return frozenset(found)


def recorded_warnings(node: ast.AST) -> frozenset[str]:
    """Names under which a test keeps the warnings that came: `catch_warnings(record=True) as w`, `recwarn`."""
    found = {n.arg for n in ast.walk(node) if isinstance(n, ast.arg) and n.arg == "recwarn"}
    for item in (i for n in ast.walk(node) if isinstance(n, ast.With) for i in n.items):
        call = item.context_expr
        if isinstance(call, ast.Call) and isinstance(item.optional_vars, ast.Name):
            called = getattr(call.func, "attr", getattr(call.func, "id", ""))
            if called == "catch_warnings" and any(k.arg == "record" for k in call.keywords):
                found.add(item.optional_vars.id)
    return frozenset(found)


def _named(node: ast.AST) -> set[str]:
    return {x for n in ast.walk(node) for x in (getattr(n, "id", ""), getattr(n, "attr", "")) if x}


def _kinds(node: ast.AST) -> set[str]:
    return _named(node) & WARNINGS


def _denies(claim: ast.AST) -> bool:
    """It says no somewhere, or compares with nothing: it may demand that no warning comes."""
    for node in ast.walk(claim):
        if isinstance(node, ast.Not | ast.NotIn | ast.IsNot | ast.NotEq):
            return True
        if isinstance(node, ast.Compare) and any(
            (isinstance(c, ast.Constant) and not c.value) or (isinstance(c, ast.List | ast.Tuple) and not c.elts)
            for c in (node.left, *node.comparators)
        ):
            return True
    return False


def wholly_announced(tree: ast.Module) -> bool:
    """Everything public that the module defines had warned of its end."""
    ending = announced(tree)
    public = [name for name, _ in python_code.definitions(tree) if "." not in name and not name.startswith("_")]
    return bool(public) and all(name in ending for name in public)


def says_to_go(rows: Iterable[str], what: str) -> bool:
    """One sentence of the plan says that `what` (a pattern) is to go, and does not say no."""
    return any(True for _ in _going(rows, what))


def _going(rows: Iterable[str], what: str) -> Iterator[str]:
    """Such sentences, from the verb on."""
    goes = re.compile(rf"{REMOVAL}[^.;\n]{{0,80}}(?<!\w)(?:{what})", re.IGNORECASE)
    denied = re.compile(r"\b(?:not|never|without|no)\b|n't\b", re.IGNORECASE)
    for sentence in _sentences(rows):
        found = goes.search(sentence[:2000])
        if found is not None and not denied.search(sentence[: found.end()]):
            yield sentence[found.start() : 2000]


_DEPRECATED = r"deprecat\w*|obsolete\w*"


def says_that_deprecated_things_go(rows: Iterable[str]) -> bool:
    """The plan asks for the end of what was deprecated, whatever it is."""
    return says_to_go(rows, _DEPRECATED)


def words_of_deprecated_things_that_go(rows: Iterable[str]) -> list[frozenset[str]]:
    """For each sentence of the plan that asks for the end of deprecated things: its words from the verb on, as they are written."""
    return [frozenset(re.findall(r"\w+", said)) for said in _going(rows, _DEPRECATED)]


_ANNOUNCES = r"\bdeprecat(?:e|es|ing)\b(?P<object>.*)|\b(?:mark|flag)\w*\b(?P<marked>.*?)\bas deprecated\b"
_ELSE = (
    r"[,;:(\u2013\u2014]|\s-|\b(?:in favou?r|instead|rather|for|because|since|so|use|using|as|but|when|where|while"
    r"|without|except|not|from|in|of|on|to|by|with)\b"
)
_DENIED = r"\b(?:not|never|without|no|stop|un-?deprecate)\b|n't\b"
_SUBJECT = r"(.*?)\W*(?:\b(?:is|are|was|has been|have been|will be)\b)?\W*(?:\bnow\b)?\W*\bdeprecat"
_OF_WARNINGS = r"\W*(?:(?:the|a|an|this|all|any)\W+)?(?:deprecation\W+)?warnings?\b"
_SLIGHT = (
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "its", "of", "on", "or", "support", "that",
    "the", "this", "to", "use", "using", "was", "with",
)  # fmt: skip


def named_for_deprecation(rows: Iterable[str]) -> frozenset[str]:
    """Names that a sentence of the plan says are to be deprecated: what follows the verb, not what is to be used instead."""
    found: set[str] = set()
    for sentence in _sentences(rows):
        said = re.search(_ANNOUNCES, sentence[:2000], re.IGNORECASE)
        if said is None:
            continue
        until = said.end() if said["marked"] else said.start() + len("deprecate")
        if not re.search(_DENIED, sentence[:until], re.IGNORECASE):
            what = (said["object"] or said["marked"] or "").strip()
            found |= set(re.findall(r"[^\W\d]\w*", re.split(_ELSE, what, maxsplit=1, flags=re.IGNORECASE)[0]))
    return frozenset(found)


def says_that_this_goes(rows: Iterable[str], message: str) -> bool:
    """One sentence of the plan asks for the end of what the warning `message` is about: it says all that this says of it."""
    about = re.match(_SUBJECT, message[:500], re.IGNORECASE | re.DOTALL)
    words = _words(about[1]).difference(_SLIGHT) if about is not None else set[str]()
    if not words or max(map(len, words)) < _TELLING:
        return False
    for sentence in _sentences(rows):
        goes = re.search(REMOVAL, sentence[:2000], re.IGNORECASE)
        if goes is None or re.search(_DENIED, sentence[: goes.end()], re.IGNORECASE):
            continue
        rest = sentence[goes.end() : 2000]
        if words <= _words(rest) and not re.match(_OF_WARNINGS, rest, re.IGNORECASE):
            return True
    return False


def _words(text: str) -> set[str]:
    return {w.lower() for w in re.findall(r"\w+", text)}


def _sentences(rows: Iterable[str]) -> list[str]:
    return [s for row in rows for s in re.split(r"(?<=[.;])\s|\n", row)]
