"""A caller's frame that is read for one thing only: to tell in a warning which line of whose file gave rise to it.

`warnings.warn(..., stacklevel=2)` does the same and says nothing of frames, so code that does it by hand is not the
worse for it. Nothing but the warning may come to know the frame.
"""

from __future__ import annotations

import ast

from gatekeeper.formats.python_code import Function, dotted, functions, walk

_PLACE = {"filename": 2, "lineno": 3}
"""Parameters of `warnings.warn_explicit` that tell where, and their positions."""
_CASTS = ("typing.cast", "typing_extensions.cast")
_USED = ("warnings", "inspect", "sys", "typing", "typing_extensions")


def frames_for_warnings(tree: ast.Module, names: dict[str, str]) -> frozenset[int]:
    """Ids of the nodes that reach for a caller's frame, or into it, merely to place a warning."""
    if not any(isinstance(n, ast.Attribute) and n.attr == "warn_explicit" for n in walk(tree)):
        return frozenset()
    known = {n: d for n, d in names.items() if d.split(".")[0] in _USED}
    own = {n: d for n, d in known.items() if n not in _rebound(tree, known)}
    return frozenset(i for function in functions(tree) for i in _excused(function, own))


def _rebound(tree: ast.Module, known: dict[str, str]) -> set[str]:
    """Names of the modules in question that anything but one and the same import binds."""
    bound: set[str] = set()
    for node in walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler):
            bound.add(node.name or "")
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.MatchMapping):
            bound.add((node.rest if isinstance(node, ast.MatchMapping) else node.name) or "")
        elif isinstance(node, ast.Import | ast.ImportFrom):
            start = f"{'.' * node.level}{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
            bound |= {n for n, a in ((a.asname or a.name.split(".")[0], a) for a in node.names) if known.get(n) != start + (a.name if a.asname or start else n)}  # fmt: skip
            bound |= set(known) if any(a.name == "*" for a in node.names) else set()
    return bound


def _excused(function: Function, names: dict[str, str]) -> set[int]:
    """Of one function, its inner ones left out: they are asked on their own, and see no frame of this one."""
    nodes = _own(function)
    frames: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            made = _uncast(node.value, names)
            if _is_frame(made, names):
                frames.setdefault(node.targets[0].id, []).append(node.value)
    places = [p for n in nodes if isinstance(n, ast.Expr) for p in _placed(n.value, names)]
    told = {id(frame) for frame, _ in places}
    excused: set[int] = set()
    held = {name for name, made in frames.items() if len(made) == 1 and _for_warnings_only(function, nodes, name, told)}
    for name in held:
        excused |= {id(n) for n in ast.walk(frames[name][0])}
    for frame, place in places:
        if not isinstance(frame, ast.Name) or frame.id in held:
            excused |= {id(n) for n in ast.walk(place)}
    return excused


def _own(function: Function) -> list[ast.AST]:
    nodes: list[ast.AST] = []
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return nodes


def _for_warnings_only(function: Function, own: list[ast.AST], name: str, told: set[int]) -> bool:
    """The name is bound once in the function, deleted at most, and read for the place of a warning alone."""
    here = {id(n) for n in own}
    bound = 0
    for node in ast.walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal) and name in node.names:
            return False
        if isinstance(node, ast.arg) and node.arg == name:
            return False
        if not isinstance(node, ast.Name) or node.id != name:
            continue
        if id(node) not in here:
            return False
        bound += isinstance(node.ctx, ast.Store)
        if isinstance(node.ctx, ast.Load) and id(node) not in told:
            return False
    return bound == 1


def _placed(call: ast.expr, names: dict[str, str]) -> list[tuple[ast.expr, ast.expr]]:
    """(frame, argument) of `warnings.warn_explicit` that take nothing but file or line from a name or a frame."""
    if not isinstance(call, ast.Call) or dotted(call.func, names) != "warnings.warn_explicit" or not _known(call.func, names):  # fmt: skip
        return []
    given = {k.arg: k.value for k in call.keywords if k.arg in _PLACE}
    given |= {p: call.args[at] for p, at in _PLACE.items() if at < len(call.args)}
    if any(isinstance(a, ast.Starred) for a in call.args):
        return []
    found = [(_uncast(frame, names), v) for p, v in given.items() if (frame := _frame_of(p, v, names)) is not None]
    return [(frame, v) for frame, v in found if isinstance(frame, ast.Name) or _is_frame(frame, names)]


def _frame_of(part: str | None, value: ast.expr, names: dict[str, str]) -> ast.expr | None:
    """`F` of `F.f_lineno` as the line; of `F.f_code.co_filename` and `inspect.getfile(F.f_code)` as the file."""
    if part == "lineno":
        return value.value if isinstance(value, ast.Attribute) and value.attr == "f_lineno" else None
    code: ast.expr | None = None
    if isinstance(value, ast.Attribute) and value.attr == "co_filename":
        code = value.value
    elif (
        isinstance(value, ast.Call)
        and len(value.args) == 1
        and not value.keywords
        and dotted(value.func, names) == "inspect.getfile"
        and _known(value.func, names)
    ):
        code = value.args[0]
        if isinstance(code, ast.Name):
            return code  # a frame is taken as well as its code
    return code.value if isinstance(code, ast.Attribute) and code.attr == "f_code" else None


def _is_frame(value: ast.expr, names: dict[str, str]) -> bool:
    """A frame further up: `inspect.currentframe().f_back`, `sys._getframe(1)`, also through `typing.cast`."""
    value = _uncast(value, names)
    if isinstance(value, ast.Attribute) and value.attr == "f_back":
        return _is_frame(value.value, names)
    if not isinstance(value, ast.Call) or value.keywords or not _known(value.func, names):
        return False
    called = dotted(value.func, names)
    if called == "inspect.currentframe":
        return not value.args
    depth = value.args[0] if len(value.args) == 1 else None
    constant = depth is None or (isinstance(depth, ast.Constant) and isinstance(depth.value, int))
    return called == "sys._getframe" and len(value.args) < 2 and constant


def _uncast(value: ast.expr, names: dict[str, str]) -> ast.expr:
    while isinstance(value, ast.Call) and len(value.args) == 2 and not value.keywords and dotted(value.func, names) in _CASTS and _known(value.func, names):  # fmt: skip
        value = value.args[1]
    return value


def _known(node: ast.expr, names: dict[str, str]) -> bool:
    """The first part of a dotted name is a name that only its import binds."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in names
