"""Names of Go's tests in reports that others made of `go test`, beside the gate's own.

Tools that write JUnit of Go put the import path, or its end, into the class name; the gate's ids have the file.
"""

from __future__ import annotations

from collections.abc import Iterable

from gatekeeper.domain.testrun import SuiteReport

Key = tuple[str, str]


class GoNames:
    """Keys (import path, name of the test) for both sides."""

    def __init__(self, reports: Iterable[SuiteReport]) -> None:
        """`reports` are the gate's own: each is named by its package."""
        self._keys: dict[str, Key] = {}
        self._files: dict[Key, set[str]] = {}
        for report in reports:
            for case in report.cases:
                path, sep, name = case.id.partition("::")
                key = (report.name, name) if sep else (report.name, "")
                self._keys[case.id] = key
                self._files.setdefault(key, set()).add(path)
        self._packages = {package for package, _ in self._keys.values()}

    def seen(self, test_id: str) -> Key | None:
        """Key of one of the gate's ids; None for one that is no Go test's."""
        return self._keys.get(test_id)

    def claimed(self, case_id: str) -> Key | None:
        """Key of a claimed `classname::name`; None where the gate saw no such package."""
        owner, sep, name = case_id.partition("::")
        if not sep or not owner:
            return None
        if owner in self._packages:
            return owner, name
        ends = [p for p in self._packages if p.endswith(f"/{owner}") or p.replace("/", ".") == owner]
        return (ends[0], name) if len(ends) == 1 else None

    def paths(self, key: Key) -> set[str]:
        """Files in which the test was seen."""
        return self._files.get(key, set())
