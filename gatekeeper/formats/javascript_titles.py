"""Names of JavaScript tests as the gate writes them and as reports of their runners do, made comparable.

The gate's id is `path::suite > test`. vitest's JUnit has the path as class name; node:test's nests suites; jest-junit
joins suites and test with a blank, and can be told to do otherwise. What all of them say is the title: suites and test in
order. A report is compared as finely as it can be: by path and title, by title, or by the last name alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property

Key = tuple[str, str]

_SPACE = re.compile(r"(?:#x[0-9A-Fa-f]{1,6};?|[\x00-\x20\x7f-\xa0\u2028\u2029\ufeff])+")
SEPARATOR = " > "


def _plain(text: str) -> str:
    """A title without the marks between suites, white space as one blank."""
    return _SPACE.sub(" ", f" {text} ".replace(SEPARATOR, " ").replace(" \u203a ", " ")).strip()


def _own(test_id: str) -> tuple[str, str, str]:
    """(path, title, last name) of one of the gate's ids."""
    path, _, title = test_id.partition("::")
    return path, _plain(title), _plain(title.rsplit(SEPARATOR, 1)[-1])


class Titles:
    """The gate's ids of JavaScript tests beside a claim's; both become keys of the same fineness."""

    def __init__(self, seen: Iterable[str], claimed: Iterable[str]) -> None:
        self._seen = {i: _own(i) for i in seen}
        self._paths = {(path, title) for path, title, _ in self._seen.values()}
        self._titles = {title for _, title, _ in self._seen.values() if title}
        self._files = {path for path, title, _ in self._seen.values() if not title}
        self._names = {name for _, title, name in self._seen.values() if title}
        levels = (self._by_path, self._by_title, self._by_name)
        given = tuple(dict.fromkeys(claimed))
        counts = [sum(level(c) is not None for c in given) for level in levels]
        best = max(counts, default=0)
        self._level: Callable[[str], Key | None] = levels[counts.index(best)] if best else self._by_title

    def seen(self, test_id: str) -> Key:
        """Key of one of the gate's ids."""
        path, title, name = self._seen[test_id]
        if not title:
            return path, ""
        if self._level == self._by_path:
            return path, title
        return "", (title if self._level == self._by_title else name)

    def claimed(self, case_id: str) -> Key | None:
        """Key of a claimed `classname::name`, None where the gate saw nothing like it."""
        return self._level(case_id) or self._by_file(case_id)

    @cached_property
    def _places(self) -> dict[Key, set[str]]:
        table: dict[Key, set[str]] = {}
        for test_id, (path, _, _) in self._seen.items():
            table.setdefault(self.seen(test_id), set()).add(path)
        return table

    def paths(self, key: Key) -> set[str]:
        """Files in which tests of that key were seen; none for a key that is no JavaScript test's."""
        return self._places.get(key, set())

    def _by_path(self, case_id: str) -> Key | None:
        owner, _, name = case_id.partition("::")
        title = _plain(name)
        for path in (owner, owner.lstrip("./")):
            if (path, title) in self._paths:
                return path, title
        return None

    def _by_title(self, case_id: str) -> Key | None:
        owner, _, name = case_id.partition("::") if "::" in case_id else ("", "", case_id)
        return next((("", t) for t in (_plain(f"{owner} {name}"), _plain(name)) if t in self._titles), None)

    def _by_name(self, case_id: str) -> Key | None:
        name = _plain(case_id.partition("::")[2] or case_id)
        return ("", name) if name in self._names else None

    def _by_file(self, case_id: str) -> Key | None:
        """A file without tests of its own, which reports name by its path on the author's machine."""
        name = case_id.partition("::")[2] or case_id
        return next(((f, "") for f in self._files if name == f or name.endswith(f"/{f}")), None)
