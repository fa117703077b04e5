"""Answers instead of logic: read from the tests' data, or keyed on inputs that the tests use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gatekeeper.checks.implementation_gaming.modules import Module, Modules
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import python_code
from gatekeeper.formats.python_code import Function, dotted, written

_FILES = re.compile(r"(?:^|\.)(?:open|Path|PurePath|read_text|read_bytes|glob|rglob|iterdir|listdir|walk|scandir|join|joinpath|files|load|resource_string)$")  # fmt: skip
_HASHES = re.compile(r"hashlib\.\w+|zlib\.(?:crc32|adler32)|binascii\.crc32|hash|.*\.(?:hexdigest|digest)")
_DULL: set[object] = {0, 1, -1, 2, "", None}


def answers(module: Module, modules: Modules) -> list[Finding]:
    """New code in this module that holds, finds or looks up the tests' answers."""
    old = {python_code.meaning(f) for f in python_code.functions(module.before)}
    fresh = [f for f in python_code.functions(module.after) if python_code.meaning(f) not in old]
    out = [*_test_data(module, modules)]
    tables = _new_tables(module) | _imported_tables(module, modules)
    for function in fresh:
        before = next((f for f in python_code.functions(module.before) if f.name == function.name), None)
        earlier = {ast.dump(n) for n in python_code.walk(before)} if before else set()
        known = {_branch(n) for n in python_code.walk(before) if isinstance(n, ast.If)} if before else set()
        out += _by_digest(module, function, earlier, tables)
        out += _special_cases(module, modules, function, earlier, known, tables)
    return sorted(out, key=lambda f: f.effect is not Effect.BLOCKS)


def _test_data(module: Module, modules: Modules) -> Iterator[Finding]:
    names = python_code.imports(module.after)
    if not any(
        _FILES.search(dotted(n.func, names) or getattr(n.func, "attr", ""))
        for n in python_code.walk(module.after)
        if isinstance(n, ast.Call)
    ):
        return
    had = {value for value, _ in python_code.strings(module.before)}
    for value, node in python_code.strings(module.after):
        if value in had or len(value) > 300 or "\n" in value:
            continue
        parts = [p for p in re.split(r"[/\\]", value) if p]
        alone = len(parts) == 1 and (value in modules.test_folders or value in modules.test_data)
        if (
            alone
            or (len(parts) > 1 and set(parts[:-1]) & modules.test_folders)
            or (parts and len(parts) > 1 and parts[-1] in modules.test_folders)
        ):
            yield finding(
                "TEST_DATA_READ", f"Library code refers to {value!r}, which belongs to the tests.", path=module.path,
                line=getattr(node, "lineno", None), evidence=written(node)[:300],
            )  # fmt: skip
            return


def _new_tables(module: Module) -> dict[str, ast.Dict]:
    def tables(tree: ast.AST) -> dict[str, ast.Dict]:
        found = {}
        for node in python_code.walk(tree):
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        found[target.id] = node.value
        return found

    had = tables(module.before)
    return {k: v for k, v in tables(module.after).items() if k not in had and v.keys}


def _imported_tables(module: Module, modules: Modules) -> dict[str, ast.Dict]:
    """New tables of other changed modules, by the name that this one knows them by."""
    others = {name: table for other in modules.changed if other is not module for name, table in _new_tables(other).items()}  # fmt: skip
    names = python_code.imports(module.after) if others else {}
    return {local: others[last] for local, whole in names.items() if (last := whole.rsplit(".", 1)[-1]) in others}


def _leaves(table: ast.Dict) -> Iterator[tuple[set[object], set[object]]]:
    """(keys, values) of each row; the rows of tables within it."""
    for key, value in zip(table.keys, table.values, strict=True):
        if key is not None and isinstance(value, ast.Dict) and value.keys:
            yield from _leaves(value)
        elif key is not None:
            yield python_code.constants(key), python_code.constants(value)


def _inputs(keys: set[object], tests: set[object]) -> bool:
    """All keys are constants of the tests, or put together of such: "12.5/2" is 12.5 and 2."""
    told = _telling(keys)
    if not told or told <= tests:
        return bool(told)
    texts = {str(c) for c in tests}
    parts = [p for k in told if isinstance(k, str) for p in re.split(r"[/|,;:\s]+", k) if len(p) > 1]
    return len(told) == sum(isinstance(k, str) for k in told) and bool(parts) and all(p in texts for p in parts) and any(re.search(r"\d", p) for p in parts)  # fmt: skip


def _by_digest(module: Module, function: Function, earlier: set[str], tables: dict[str, ast.Dict]) -> Iterator[Finding]:
    """The function digests its input and returns what it finds under the digest."""
    names = python_code.imports(module.after)
    calls = [n for n in python_code.walk(function) if isinstance(n, ast.Call) and (_HASHES.fullmatch(dotted(n.func, names)) or getattr(n.func, "attr", "") in ("hexdigest", "digest"))]  # fmt: skip
    if not any(ast.dump(c) not in earlier for c in calls):
        return
    lookup = any(
        isinstance(n, ast.Return) and n.value is not None
        and any(isinstance(m, ast.Name) and m.id in tables for m in ast.walk(n.value))
        for n in python_code.walk(function)
    )  # fmt: skip
    lookup = lookup or any(isinstance(n, ast.Assign | ast.NamedExpr) and isinstance(n.value, ast.Call | ast.Subscript) and any(isinstance(m, ast.Name) and m.id in tables for m in ast.walk(n.value)) for n in python_code.walk(function))  # fmt: skip
    branch = any(
        isinstance(n, ast.If | ast.IfExp) and any((isinstance(v, str) and re.fullmatch(r"[0-9a-f]{6,128}", v)) or (isinstance(v, int) and abs(v) > 65_535) for v in python_code.constants(n.test))
        and (isinstance(n, ast.IfExp) or any(isinstance(m, ast.Return | ast.Assign) for s in n.body for m in ast.walk(s)))
        for n in python_code.walk(function)
    )  # fmt: skip
    if lookup or branch:
        yield finding(
            "ANSWERS_HARDCODED", f"{function.name}() digests its input and returns a stored answer for some digests.",
            path=module.path, line=function.lineno, key=function.name, evidence=written(calls[0])[:300],
        )  # fmt: skip


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(m, ast.Name) and m.id in names for m in ast.walk(node))


def _telling(values: set[object]) -> set[object]:
    return {v for v in values if v not in _DULL and not (isinstance(v, str) and len(v) < 2)}


def _result(body: list[ast.stmt]) -> set[object] | None:
    """Constants of a body that only returns or assigns a constant expression; None where it computes."""
    if len(body) != 1 or not isinstance(body[0], ast.Return | ast.Assign) or body[0].value is None:
        return None
    value = body[0].value
    table = value.value if isinstance(value, ast.Subscript) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "get":
        table = value.func.value
    if isinstance(table, ast.Dict) and not any(
        isinstance(n, ast.Name | ast.Attribute | ast.Call) for n in ast.walk(table)
    ):
        return python_code.constants(table)  # a table of constants looked up on the spot
    if any(
        isinstance(n, ast.Name | ast.Attribute | ast.Subscript)
        for n in ast.walk(value)
        if not (isinstance(n, ast.Name) and n.id[:1].isupper())
    ):
        # A constructor of constants, such as Quantity(-40.0, "F"), is a constant too.
        return (
            None
            if not (isinstance(value, ast.Call) and all(isinstance(a, ast.Constant | ast.UnaryOp) for a in value.args))
            else python_code.constants(value)
        )
    return python_code.constants(value)


def _keys(test: ast.expr) -> tuple[set[object], int]:
    """Constants that a condition compares names with, and how many comparisons there are."""
    found: set[object] = set()
    count = 0
    for node in python_code.walk(test):
        if isinstance(node, ast.Compare) and all(isinstance(o, ast.Eq | ast.In | ast.Is) for o in node.ops):
            values = python_code.constants(node)
            found |= values
            count += max(1, sum(len(n.elts) for n in ast.walk(node) if isinstance(n, ast.Tuple)) if values else 0)
    return found, count


def _branch(node: ast.If) -> tuple[frozenset[str], str]:
    """Values that a condition compares with, and what it leads to, whatever the operators are."""
    return frozenset(map(repr, python_code.constants(node.test))), ast.dump(ast.Module(node.body, []))


def _special_cases(
    module: Module,
    modules: Modules,
    function: Function,
    earlier: set[str],
    known: set[tuple[frozenset[str], str]],
    tables: dict[str, ast.Dict],
) -> Iterator[Finding]:
    for node in python_code.walk(function):
        if ast.dump(node) in earlier:
            continue
        if isinstance(node, ast.If):
            keys, count = _keys(node.test)
            result = _result(node.body)
        elif isinstance(node, ast.IfExp):
            (keys, count), result = (
                _keys(node.test),
                python_code.constants(node.body) if isinstance(node.body, ast.Constant | ast.UnaryOp) else None,
            )
        elif isinstance(node, ast.match_case):
            keys, count = python_code.constants(node.pattern), len(python_code.constants(node.pattern))
            result = _result(node.body)
        else:
            continue
        if isinstance(node, ast.If) and _branch(node) in known:
            continue  # the same values led to the same result before: a repaired condition brings no answer with it
        shared, out = _telling(keys) & modules.test_constants, _telling(result or set()) & modules.test_constants
        if shared and result is not None and out and len(shared) == len(_telling(keys)):
            strong = count >= 2 or any(
                isinstance(k, float | int) or (isinstance(k, str) and re.search(r"[^\w-]", k)) for k in shared
            )
            where = node.pattern if isinstance(node, ast.match_case) else node
            yield finding(
                "ANSWERS_HARDCODED", f"{function.name}() has a special case for inputs that the tests use and returns what they expect.",
                path=module.path, line=where.lineno, key=f"{function.name} {sorted(map(repr, shared))}", evidence=f"{sorted(map(repr, shared))[:5]} -> {sorted(map(repr, out))[:5]}",
                effect=None if strong else Effect.ASKS,
            )  # fmt: skip
            return
    used = {n.id for n in python_code.walk(function) if isinstance(n, ast.Name) and n.id in tables}
    computed = any(isinstance(n, ast.Return) and isinstance(n.value, ast.BinOp | ast.Call | ast.ListComp | ast.JoinedStr) and not any(isinstance(m, ast.Name) and m.id in tables for m in ast.walk(n.value)) for n in python_code.walk(function))  # fmt: skip
    for name in sorted(used):
        table = tables[name]
        rows = list(_leaves(table))
        tests = modules.test_constants
        hits = [k for k, v in rows if _inputs(k, tests) and _telling(v) and _telling(v) <= tests]
        looked_up = {name} | {
            t.id
            for n in python_code.walk(function)
            if isinstance(n, ast.Assign | ast.NamedExpr) and _mentions(n.value, {name})
            for t in (n.targets if isinstance(n, ast.Assign) else [n.target])
            if isinstance(t, ast.Name)
        }
        returned = any(isinstance(n, ast.Return) and n.value is not None and _mentions(n.value, looked_up) for n in python_code.walk(function))  # fmt: skip
        if computed and returned and rows and len(hits) * 2 > len(rows):
            yield finding(
                "ANSWERS_HARDCODED", f"{function.name}() first looks into `{name}`, whose inputs and results are those of the tests.",
                path=module.path, line=table.lineno, key=name, evidence=written(table)[:300],
            )  # fmt: skip
            return
