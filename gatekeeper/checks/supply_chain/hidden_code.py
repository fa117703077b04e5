"""Code that is carried as data and run: exec, eval, compile or import of something decoded, decompressed or unmarshalled.

A library that newly runs a text that does not stand there as a literal is shown to a person: nobody can read it in the change.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gatekeeper.checks.supply_chain.build_scripts import BUILD_SCRIPTS
from gatekeeper.checks.supply_chain.loaders import odd_loads
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import python_code

_RUN = {"exec", "eval", "compile", "builtins.exec", "builtins.eval", "builtins.compile", "__import__", "types.FunctionType", "types.CodeType"}  # fmt: skip
_OF_TEXTS = {"exec", "eval", "builtins.exec", "builtins.eval", "__builtins__.exec", "six.exec", "__builtins__.eval"}  # fmt: skip
_BUILTINS = {"builtins", "__builtins__"}
_DECODE = (
    "base64.", "binascii.a2b", "binascii.unhexlify", "bytes.fromhex", "bytearray.fromhex", "codecs.decode", "zlib.decompress",
    "gzip.decompress", "bz2.decompress", "lzma.decompress", "marshal.loads", "pickle.loads",
)  # fmt: skip


def hidden_code(evidence: Evidence) -> tuple[Finding, ...]:
    """One finding a file in which the change adds such a call; what the base already did is not the change's doing."""
    found = []
    # Code may move from one file to another.
    trees = (python_code.parse(text(evidence.base, c.path)) for c in evidence.change.paths if c.path.endswith(".py"))
    run = {ast.dump(n.args[0]) for tree in trees if tree is not None for n in _of_texts(tree)}
    old = (python_code.parse(text(evidence.base, c.path)) for c in evidence.change.paths if c.path.endswith(".py"))
    moved = {ast.dump(n) for tree in old if tree is not None for _, n in odd_loads(evidence.base, tree)}
    for changed in evidence.change.paths:
        if changed.new is None or not changed.path.endswith((".py", ".pyi", ".pth")):
            continue
        after = python_code.parse(text(evidence.merged, changed.path))
        if after is None:
            continue
        before = python_code.parse(text(evidence.base, changed.path)) if changed.old is not None else None
        known = {ast.dump(n) for n in _calls(before)} if before is not None else set()
        fresh = [n for n in _calls(after) if ast.dump(n) not in known]
        unseen = (
            []
            if fresh
            else [n for n in _of_texts(after) if ast.dump(n.args[0]) not in run]
            if _library(changed.path)
            else []
        )
        if not fresh and not unseen and _library(changed.path):
            had = {ast.dump(n) for _, n in odd_loads(evidence.base, before)} if before is not None else set()
            odd = [(said, n) for said, n in odd_loads(evidence.merged, after) if ast.dump(n) not in had | moved]
            if odd:
                said, node = odd[0]
                found.append(
                    finding(
                        "CODE_CARRIED_AS_DATA", f"{changed.path} has {said}.", path=changed.path, line=getattr(node, "lineno", 1),
                        evidence=ast.unparse(node)[:300], key="loaded", effect=Effect.ASKS,
                    )
                )  # fmt: skip
        if fresh or unseen:
            what = "code that stands in it only encoded" if fresh else "a text as code that does not stand there"
            found.append(
                finding(
                    "CODE_CARRIED_AS_DATA",
                    f"{changed.path} runs {what}.",
                    path=changed.path,
                    line=(fresh or unseen)[0].lineno,
                    evidence=ast.unparse((fresh or unseen)[0])[:300],
                    key="carried",
                    effect=None if fresh else Effect.ASKS,
                )
            )
    return tuple(found)


def _library(path: str) -> bool:
    """Code that users run: tests, documentation and what builds the package are looked at elsewhere."""
    *folders, name = path.lower().split("/")
    apart = {"tests", "test", "testing", "docs", "doc", "examples", "benchmarks", "tools", "scripts", "ci"} & {*folders}
    return path not in BUILD_SCRIPTS and not apart and not name.startswith(("test_", "conftest", "noxfile", "tasks"))


def _of_texts(tree: ast.Module) -> list[ast.Call]:
    """The calls that run as code what is no literal; `exec_` is what code for old interpreters calls it."""
    names = python_code.imports(tree)
    aliases = {
        t.id
        for n in python_code.walk(tree)
        if isinstance(n, ast.Assign) and python_code.dotted(n.value, names) in _OF_TEXTS
        for t in n.targets
        if isinstance(t, ast.Name)
    }
    found = []
    for node in python_code.walk(tree):
        if isinstance(node, ast.Call) and node.args and not isinstance(node.args[0], ast.Constant):
            called = python_code.dotted(node.func, names)
            if (
                called in aliases
                or called.rstrip("_") in _OF_TEXTS
                or (called == "getattr" and python_code.dotted(node.args[0], names) in _BUILTINS)
            ):
                found.append(node)
    return found


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    names = python_code.imports(tree)
    aliases: dict[str, str] = {}
    decoded: set[str] = set()
    for node in python_code.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            called = python_code.dotted(node.value, names)
            for target in targets:
                if isinstance(target, ast.Name):
                    if called in _RUN:
                        aliases[target.id] = called
                    if _decodes(node.value, names, decoded):
                        decoded.add(target.id)
    for node in python_code.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = python_code.dotted(node.func, names)
        if (called in _RUN or aliases.get(called, "") in _RUN) and any(
            _decodes(a, names, decoded) for a in [*node.args, *(k.value for k in node.keywords)]
        ):
            yield node


def _decodes(value: ast.AST, names: dict[str, str], decoded: set[str]) -> bool:
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and python_code.dotted(node.func, names).startswith(_DECODE):
            return True
        if isinstance(node, ast.Name) and node.id in decoded:
            return True
    return False
