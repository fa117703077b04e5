"""Code that is carried as data and run: exec, eval, compile or import of something decoded, decompressed or unmarshalled."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.tree import text
from gatekeeper.formats import python_code

_RUN = {"exec", "eval", "compile", "builtins.exec", "builtins.eval", "builtins.compile", "__import__", "types.FunctionType", "types.CodeType"}  # fmt: skip
_DECODE = (
    "base64.", "binascii.a2b", "binascii.unhexlify", "bytes.fromhex", "bytearray.fromhex", "codecs.decode", "zlib.decompress",
    "gzip.decompress", "bz2.decompress", "lzma.decompress", "marshal.loads", "pickle.loads",
)  # fmt: skip


def hidden_code(evidence: Evidence) -> tuple[Finding, ...]:
    """One finding a file in which the change adds such a call; what the base already did is not the change's doing."""
    found = []
    for changed in evidence.change.paths:
        if changed.new is None or not changed.path.endswith((".py", ".pyi", ".pth")):
            continue
        after = python_code.parse(text(evidence.merged, changed.path))
        if after is None:
            continue
        before = python_code.parse(text(evidence.base, changed.path)) if changed.old is not None else None
        known = {ast.dump(n) for n in _calls(before)} if before is not None else set()
        fresh = [n for n in _calls(after) if ast.dump(n) not in known]
        if fresh:
            found.append(
                finding(
                    "CODE_CARRIED_AS_DATA",
                    f"{changed.path} runs code that stands in it only encoded.",
                    path=changed.path,
                    line=fresh[0].lineno,
                    evidence=ast.unparse(fresh[0])[:300],
                    key="carried",
                )
            )
    return tuple(found)


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
