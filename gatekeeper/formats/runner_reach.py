"""Can changed code reach the test runner? Read from the source, before and after, without running it.

Code that shares a process with the runner can bend it, but not without a way there: another module of the interpreter,
an object that leads to one, text that becomes code, native code. What a change newly does of that kind is named here.
Nothing named is no proof of innocence; it is the measure of what a second look is worth.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from gatekeeper.formats import python_code

_MODULES = {
    "_pytest", "pluggy", "pytest", "unittest", "doctest", "atexit", "gc", "ctypes", "_ctypes", "cffi", "builtins",
    "importlib", "imp", "inspect", "signal", "runpy", "code", "codeop", "marshal", "sitecustomize", "usercustomize",
    "faulthandler", "multiprocessing", "site", "trace", "bdb", "pdb", "linecache", "_thread", "sysconfig", "ast",
    "gatekeeper_pytest_recorder", "pkgutil", "zipimport", "types", "socket", "_socket",
}  # fmt: skip
_TEST_TOOLS = {"pytest", "unittest", "doctest", "inspect", "types", "ast"}
"""What a test module imports as a matter of course."""
_HARMLESS = {
    "sys": {
        "argv", "byteorder", "executable", "float_info", "getdefaultencoding", "getfilesystemencoding", "getrecursionlimit",
        "getsizeof", "hash_info", "implementation", "int_info", "intern", "maxsize", "maxunicode", "platform", "stderr",
        "stdin", "stdout", "version", "version_info", "hexversion", "exc_info", "exit", "prefix",
    },
    "os": {
        "DirEntry", "F_OK", "PathLike", "R_OK", "SEEK_CUR", "SEEK_END", "SEEK_SET", "W_OK", "X_OK", "access", "altsep",
        "chdir", "chmod", "cpu_count", "curdir", "environ", "error", "extsep", "fsdecode", "fsencode", "fspath", "fsync",
        "get_terminal_size", "getcwd", "getenv", "getlogin", "getpid", "getuid", "linesep", "listdir", "lstat", "makedirs",
        "mkdir", "name", "pardir", "path", "pathsep", "remove", "removedirs", "rename", "replace", "rmdir", "scandir",
        "sep", "stat", "stat_result", "symlink", "sysconf", "times", "umask", "uname", "unlink", "urandom", "utime", "walk",
    },
    "inspect": {"Parameter", "Signature", "cleandoc", "getdoc", "isabstract", "isclass", "iscoroutinefunction", "isfunction", "isgeneratorfunction", "signature", "unwrap"},
    "importlib": {"metadata", "resources"},
    "types": {"MappingProxyType", "SimpleNamespace", "GenericAlias", "UnionType", "NoneType", "TracebackType"},
    "signal": set(),
    "ast": {"literal_eval"},
}  # fmt: skip
_CALLS = {"exec", "eval", "compile", "__import__", "globals", "vars", "locals", "breakpoint"}
_ATTRIBUTES = {
    "__subclasses__", "__globals__", "__builtins__", "__code__", "__closure__", "__bases__", "__mro__", "__build_class__",
    "f_back", "f_locals", "f_globals", "f_builtins", "tb_frame", "gi_frame", "cr_frame", "ag_frame", "__traceback__",
    "__loader__", "__spec__", "__defaults__", "__kwdefaults__", "mro",
}  # fmt: skip
_HOOKS = {"__init_subclass__", "__instancecheck__", "__subclasscheck__", "__prepare__", "__del__"}
_ROOTS = {"BaseException", "AssertionError", "SystemExit", "KeyboardInterrupt", "GeneratorExit"}
NATIVE = (".so", ".pyd", ".dll", ".dylib", ".c", ".cc", ".cpp", ".h", ".pyx", ".pxd", ".rs", ".pth", ".pyc", ".egg")


def reaches(before: str | None, after: str | None, *, test: bool = False) -> tuple[str, ...]:
    """What the change of one module newly does that could reach the runner, in words. `test`: it is one of the tests.

    A module that cannot be read as Python reaches everything.
    """
    if after is None:
        return ()
    new = python_code.parse(after)
    if new is None:
        return ("cannot be read as Python",)
    old = python_code.parse(before) if before is not None else None
    try:
        known = Counter(_facts(old, test=test)) if old is not None else Counter[str]()
        return tuple((Counter(_facts(new, test=test)) - known).keys())
    except RecursionError:
        return ("is nested too deeply",)


def _facts(tree: ast.Module, *, test: bool) -> Iterator[str]:
    names = python_code.imports(tree)
    ordinary = _TEST_TOOLS if test else set()
    for node in python_code.walk(tree):
        match node:
            case ast.Import():
                for alias in node.names:
                    yield from _imported(alias.name, ordinary)
            case ast.ImportFrom():
                if not node.level and any(a.name == "*" for a in node.names):
                    yield f"imports all of {node.module}"
                for alias in node.names:
                    if not node.level:
                        yield from _imported(f"{node.module}.{alias.name}", ordinary)
            case ast.Attribute():
                if node.attr in _ATTRIBUTES:
                    yield f"reads {node.attr}"
                yield from _used(python_code.dotted(node, names))
            case ast.Call():
                yield from _called(node, names)
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Delete():
                yield from _assigned(node, names)
            case ast.FunctionDef():
                if node.name in _HOOKS:
                    yield f"defines {node.name}"
            case ast.ClassDef():
                for base in node.bases:
                    if python_code.dotted(base, names).rsplit(".", 1)[-1] in _ROOTS:
                        yield f"derives from {python_code.written(base)[:60]}"
                if any(python_code.dotted(b, names) == "type" for b in node.bases):
                    yield "defines a metaclass"
            case ast.Constant(value=str() as text) if not test and ("pytest" in text.lower() or "unittest" in text):
                yield "speaks of the test runner"


def _imported(name: str, ordinary: set[str]) -> Iterator[str]:
    top, _, rest = name.partition(".")
    if top in ordinary:
        return
    if top in _HARMLESS:
        if rest and rest.split(".")[0] not in _HARMLESS[top]:
            yield f"imports {name}"
    elif top in _MODULES:
        yield f"imports {top}"


def _used(name: str) -> Iterator[str]:
    top, _, rest = name.partition(".")
    if top in _HARMLESS and rest and rest.split(".")[0] not in _HARMLESS[top]:
        yield f"uses {top}.{rest.split('.')[0]}"


def _called(node: ast.Call, names: dict[str, str]) -> Iterator[str]:
    name = python_code.dotted(node.func, names)
    if name in _CALLS:
        yield f"calls {name}"
    elif name in ("setattr", "delattr", "object.__setattr__", "type.__setattr__") and node.args:
        if not (isinstance(node.args[0], ast.Name) and node.args[0].id in ("self", "cls", "instance")):
            yield f"calls {name} on {python_code.written(node.args[0])[:60]}"
    elif name == "getattr" and len(node.args) > 1:
        first = node.args[0]
        if isinstance(first, ast.Name) and first.id in names:
            yield f"calls getattr on {first.id}"
        elif (python_code.folded(node.args[1]) or "").startswith("__"):
            yield f"reads {python_code.folded(node.args[1])}"
    elif name == "type" and len(node.args) == 3:
        yield "makes a class at run time"


def _assigned(node: ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete, names: dict[str, str]) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]
    for target in targets:
        for one in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            if isinstance(one, ast.Attribute):
                if one.attr in ("__class__", "__dict__", "__eq__", "__call__", "__init__", "__new__"):
                    yield f"assigns {one.attr}"
                root: ast.expr = one
                while isinstance(root, ast.Attribute | ast.Subscript):
                    root = root.value
                if isinstance(root, ast.Name) and root.id in names:
                    yield f"assigns an attribute of {names[root.id]}"
