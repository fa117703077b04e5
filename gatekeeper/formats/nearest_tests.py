"""Which test modules are nearest to a change: those that import what changed, by how many steps. Read from the text.

Imports are looked for line by line and not parsed: a whole tree is looked through, and a miss only costs an order.
"""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Iterable, Mapping

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]{0,4000}\)|[^\n#;]*)|import[ \t]+([^\n#;]*))",
    re.MULTILINE,
)
_ROOTS = ("src/", "lib/", "python/")
_MOST_NAMES = 200


def nearest(changed: Iterable[str], tests: Iterable[str], sources: Mapping[str, str]) -> list[str]:
    """Those of `tests` to which `changed` leads, by distance, both paths; `sources` are texts of modules by path.

    A test module that is itself among the changed comes first. A conftest.py counts as imported by every test below its
    folder. Where nothing leads to any, the one that is likeliest by name.
    """
    touched = set(changed)
    importers: dict[str, set[str]] = {}
    modules = _modules(sources)
    wanted = list(tests)
    for path, text in sources.items():
        for name in _imports(path, text):
            for target in modules.get(name, ()):
                importers.setdefault(target, set()).add(path)
    distance = dict.fromkeys(touched, 0)
    queue = deque(distance)
    while queue:
        path = queue.popleft()
        following = set(importers.get(path, ()))
        if posixpath.basename(path) == "conftest.py":
            folder = posixpath.dirname(path)
            following |= {t for t in wanted if not folder or t.startswith(f"{folder}/")}
        for importer in sorted(following):
            if importer not in distance:
                distance[importer] = distance[path] + 1
                queue.append(importer)
    stems = {_stem(p) for p in touched} - {"", "__init__"}
    far = len(sources) + len(touched) + 1

    def rank(path: str) -> tuple[int, bool, str]:
        alike = any(s in _stem(path) for s in stems)
        return distance.get(path, far), not alike, path

    found = sorted(wanted, key=rank)
    return [p for p in found if p in distance] or found[:1]


def _stem(path: str) -> str:
    return posixpath.basename(path).rsplit(".", 1)[0]


def _modules(sources: Mapping[str, str]) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for path in sources:
        bare = path.removesuffix(".py").removesuffix("/__init__")
        for name in {bare, *(bare.removeprefix(r) for r in _ROOTS)}:
            table.setdefault(name.replace("/", "."), []).append(path)
    return table


def _imports(path: str, text: str) -> set[str]:
    """Dotted names that the module may import: of packages, modules, and what may be a module in one."""
    found: set[str] = set()
    folder = posixpath.dirname(path)
    here = folder.replace("/", ".")
    for match in _IMPORT.finditer(text):
        if len(found) > _MOST_NAMES:
            break
        if match[3] is not None:
            for one in match[3].split(","):
                found |= _all(one.split(" as ")[0].strip(), here)
            continue
        start = match[1]
        dots = len(start) - len(start.lstrip("."))
        if dots:
            parts = folder.split("/") if folder else []
            above = parts[: len(parts) - dots + 1]
            start = ".".join([*above, *([start[dots:]] if start[dots:] else [])])
            names = {start}
        else:
            names = _all(start, here)
        for one in re.split(r"[,\s()]+", match[2])[:_MOST_NAMES]:
            if one.isidentifier():
                found |= {f"{n}.{one}" if n else one for n in names}
        found |= names
    return found - {""}


def _all(name: str, here: str) -> set[str]:
    """The module, the packages above it, and one of that name beside the importing module."""
    parts = name.split(".")
    found = {".".join(parts[: i + 1]) for i in range(len(parts))}
    return found | {f"{here}.{name}"} if here else found
