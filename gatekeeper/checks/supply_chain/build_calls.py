"""What a build script may start, fetch or run as code, by whatever name it reaches it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gatekeeper.checks.supply_chain.build_scripts import RUNNERS, bound_names, starts_itself
from gatekeeper.formats import python_code

_STARTERS = ("os.exec", "os.spawn", "os.posix_spawn", "pty.spawn", "runpy.run_", "asyncio.create_subprocess_")
_OTHERS = frozenset({
    "subprocess.getoutput", "subprocess.getstatusoutput", "builtins.exec", "builtins.eval", "builtins.compile", "builtins.__import__",
    "os.startfile", "asyncio.subprocess.create_subprocess_exec", "asyncio.subprocess.create_subprocess_shell",
})  # fmt: skip
_DOUBTFUL = (
    "importlib.import_module", "importlib.util.spec_from_file_location", "importlib.machinery.", "imp.load_", "http.client.HTTP",
    "urllib.request.build_opener", "urllib.request.Request", "urllib.request.URLopener", "ftplib.FTP", "requests.", "httpx.", "aiohttp.",
    "socket.create_connection", "ctypes.", "multiprocessing.Process", "multiprocessing.Pool", "pickle.load", "marshal.load",
    "distutils.spawn.spawn", "setuptools.distutils.spawn",
)  # fmt: skip
"""Ways to reach other code that honest build scripts take as well: a person looks at a new one."""
_TEXT_AS_CODE = frozenset({"exec", "eval", "compile", "builtins.exec", "builtins.eval", "builtins.compile"})

_MODES = frozenset({"r", "rt", "rb", "utf-8", "utf8", "UTF-8", "UTF8", "ascii", "exec"})
_OPENING = frozenset({"open", "io.open", "codecs.open", "pathlib.Path", "str", "compile"})
_READING = frozenset({"read", "read_text", "strip", "joinpath", "resolve", "decode"})


def starters(tree: ast.Module, facts: tuple[ast.Call, ...] = ()) -> dict[str, int]:
    """Lines of what starts programs, fetches or runs text, by name; named is enough, for it may be called by another name."""
    names, passed = python_code.imports(tree), {id(c.func) for c in facts}
    found: dict[str, int] = {}
    for node in python_code.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load) and id(node) not in passed:
            called = python_code.dotted(node, names)
            if called in RUNNERS or called in _OTHERS or called.startswith(_STARTERS):
                found[called] = node.lineno
    return found


def replaced_commands(tree: ast.Module) -> dict[str, int]:
    """Lines where the classes that run the commands of the build are told, as a word or in a table of words."""
    found: dict[str, int] = {}
    for node in python_code.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "cmdclass":
            if not (isinstance(node.value, ast.Dict) and not node.value.keys):
                found["cmdclass"] = node.value.lineno
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                empty = isinstance(value, ast.Dict) and not value.keys
                if isinstance(key, ast.Constant) and key.value == "cmdclass" and not empty:
                    found["cmdclass"] = node.lineno
        elif (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.slice, ast.Constant)
            and node.slice.value == "cmdclass"
        ):
            found["cmdclass"] = node.lineno
    return found


def versioned(tree: ast.Module) -> bool:
    """True where the only commands that are replaced are those of versioneer, as it says itself."""
    told = [n.value for n in python_code.walk(tree) if isinstance(n, ast.keyword) and n.arg == "cmdclass"]
    others = [n for n in python_code.walk(tree) if isinstance(n, ast.Constant) and n.value == "cmdclass"]
    return bool(told) and not others and all(ast.unparse(v) == "versioneer.get_cmdclass()" for v in told)


def doubtful(tree: ast.Module) -> dict[str, int]:
    """Lines of what may reach other code in a way that cannot be followed, by a word for it."""
    names = python_code.imports(tree)
    found: dict[str, int] = {}
    for node in python_code.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            called = python_code.dotted(node, names)
            if called.startswith(_DOUBTFUL):
                found[called] = node.lineno
            if called == "__builtins__" or (called.endswith(".__dict__") and called[:-9] in names.values()):
                found[called] = node.lineno
        if isinstance(node, ast.Call):
            called = python_code.dotted(node.func, names)
            first = python_code.dotted(node.args[0], names) if node.args else ""
            if called in ("getattr", "vars", "operator.attrgetter") and first in names.values() and first != "sys":
                found[f"{called}({first})"] = node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module in ("os", "subprocess") and node.names[0].name == "*":
            found[f"{node.module}.*"] = node.lineno
    return found


def programs(tree: ast.Module) -> dict[str, ast.Call]:
    """The calls that start something, by their text and that of the names in them."""
    names = python_code.imports(tree)
    found = {}
    for node in python_code.walk(tree):
        if isinstance(node, ast.Call) and not starts_itself(node):
            called = python_code.dotted(node.func, names)
            started = called in RUNNERS | _OTHERS or called.startswith(_STARTERS)
            if started and called not in _TEXT_AS_CODE:
                found[_spelled(tree, node)] = node
    return found


def texts_run(tree: ast.Module, facts: tuple[ast.Call, ...]) -> dict[str, int]:
    """Lines of the calls that run a text as code, by the words that say where that comes from and the functions that make it."""
    names = python_code.imports(tree)
    return {
        "\n".join(sorted(_origin(tree, node, names))): node.lineno
        for node in python_code.walk(tree)
        if isinstance(node, ast.Call) and node not in facts and python_code.dotted(node.func, names) in _TEXT_AS_CODE
    }


def _spelled(tree: ast.Module, call: ast.Call) -> str:
    """The call with the line it starts, where a name stands for that."""
    first = call.args[0] if call.args else None
    said = [ast.unparse(value) for value in _values(tree, first.id)] if isinstance(first, ast.Name) else []
    return "\n".join([ast.unparse(call), *said])


def _values(tree: ast.Module, name: str) -> Iterator[ast.expr]:
    """What is bound to a name by assignment or `with`."""
    for node in python_code.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets, value = (node.targets if isinstance(node, ast.Assign) else [node.target]), node.value
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            targets, value = [node.optional_vars], node.context_expr
        else:
            continue
        if any(isinstance(t, ast.Name) and t.id == name for t in targets):
            yield value


def _origin(tree: ast.Module, call: ast.Call, names: dict[str, str]) -> set[str]:
    """Words and calls in what is run and behind the names in it; how a file is opened and a path is joined says nothing."""
    bound, found, seen = bound_names(tree), set[str](), set[str]()
    waiting: list[ast.expr] = list(call.args[:1])
    around = {w.optional_vars.id: w.context_expr for w in _opened(tree, call) if isinstance(w.optional_vars, ast.Name)}
    while waiting and len(seen) < 50:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Constant) and node.value not in _MODES:
                found.add(repr(node.value).replace("./", ""))
            elif isinstance(node, ast.Call) and not _reads(called := _called(node, names)):
                found.add(f"{called}()")
            elif isinstance(node, ast.Name) and node.id in bound and node.id not in seen:
                seen.add(node.id)
                waiting += [around[node.id]] if node.id in around else _values(tree, node.id)
    return found


def _opened(tree: ast.Module, call: ast.Call) -> Iterator[ast.withitem]:
    """What the `with` statements around a call open."""
    for node in python_code.walk(tree):
        if isinstance(node, ast.With) and any(inner is call for inner in ast.walk(node)):
            yield from node.items


def _called(call: ast.Call, names: dict[str, str]) -> str:
    called = python_code.dotted(call.func, names)
    return called or (f".{call.func.attr}" if isinstance(call.func, ast.Attribute) else "?")


def _reads(called: str) -> bool:
    return called in _OPENING or called.startswith("os.path.") or called.rsplit(".", 1)[-1] in _READING
