"""Scripts that run while a package is built: what they may start, what their names mean, which part of them runs then."""

from __future__ import annotations

import ast
from collections import Counter

from gatekeeper.formats import python_code

BUILD_SCRIPTS = ("setup.py", "hatch_build.py", "build.py")
"""Names of scripts at the root that run while a package is built."""
RUNNERS = frozenset({
    "os.system", "os.popen", "os.execv", "os.execvp", "os.spawnl", "subprocess.run", "subprocess.call", "subprocess.Popen",
    "subprocess.check_call", "subprocess.check_output", "urllib.request.urlopen", "urllib.request.urlretrieve",
    "requests.get", "requests.post", "socket.socket", "exec", "eval", "compile", "__import__",
})  # fmt: skip
"""Calls that start programs, fetch things or run text as code."""
_BY_HAND = frozenset({"publish", "release", "tag", "deploy"})
"""Words that people give a build script and no build tool does."""
_OF_SYS = frozenset(
    {"argv", "executable", "exit", "version_info", "version", "platform", "stdout", "stderr", "path", "maxsize"}
)

_BUILDING = frozenset(
    {"sdist", "bdist", "bdist_wheel", "bdist_egg", "build", "build_ext", "build_py", "check", "clean"}
)


def as_built(script: ast.Module) -> ast.Module:
    """The script without what runs only where a person gives it a word of their own; whole where that is not certain."""
    words = [(row, _word(row.test)) for row in script.body if isinstance(row, ast.If)]
    asked = [row for row, word in words if word in _BY_HAND]
    plain = python_code.imports(script).get("sys") == "sys" and _sys_is_plain(script)
    if not asked or not plain or ast.unparse(script).count("argv") != sum(w is not None for _, w in words):
        return script
    rows: list[ast.stmt] = []
    for row in script.body:
        rows += row.orelse if isinstance(row, ast.If) and row in asked else [row]
    return ast.Module(rows, [])


def starts_itself(call: ast.Call) -> bool:
    """`os.system("python setup.py sdist bdist_wheel")`: the same script once more, with words that build and no more."""
    words = call.args[0] if len(call.args) == 1 and not call.keywords else None
    if isinstance(words, ast.List) and all(
        isinstance(w, ast.Constant) and isinstance(w.value, str) for w in words.elts
    ):
        line = [str(w.value) for w in words.elts if isinstance(w, ast.Constant)]
    elif isinstance(words, ast.Constant) and isinstance(words.value, str):
        line = words.value.split(" ")
    else:
        return False
    return (
        line[:2] in (["python", "setup.py"], ["python3", "setup.py"]) and len(line) > 2 and set(line[2:]) <= _BUILDING
    )


def bound_names(script: ast.Module) -> Counter[str]:
    """How often each name is bound, in whatever way and in whatever part of the script."""
    found: Counter[str] = Counter()
    for node in python_code.walk(script):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found[node.id] += 1
        elif isinstance(node, ast.alias):
            found[(node.asname or node.name).split(".")[0]] += 1
        elif isinstance(node, ast.arg):
            found[node.arg] += 1
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler) and node.name:
            found[node.name] += 1
    return found


def _sys_is_plain(tree: ast.Module) -> bool:
    """Nothing gives `sys` another meaning, and nothing takes more from it than what a script looks up there."""
    looked = {id(n.value) for n in python_code.walk(tree) if isinstance(n, ast.Attribute) and n.attr in _OF_SYS}
    return bound_names(tree)["sys"] == 1 and all(
        id(n) in looked if isinstance(n, ast.Name) and n.id == "sys" else not (isinstance(n, ast.Attribute) and n.attr == "sys")
        for n in python_code.walk(tree)
    )  # fmt: skip


def _word(test: ast.expr) -> str | None:
    """`publish` of `sys.argv[-1] == "publish"`: a build tool never says that."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return None
    word = test.comparators[0]
    plain = isinstance(word, ast.Constant) and ast.unparse(test.left) in ("sys.argv[-1]", "sys.argv[1]")
    return str(word.value) if plain and isinstance(word, ast.Constant) else None
