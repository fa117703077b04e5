"""The runner's settings, compared by what pytest would make of them, not by their text."""

from __future__ import annotations

import posixpath

from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.formats import pytest_settings

_INSTRUMENTS = (PermitKind.CHANGE_INSTRUMENTS,)


def settings(situation: Situation) -> list[Finding]:
    """One finding for each folder whose effective settings got weaker."""
    folders = {posixpath.dirname(p) for p in situation.changed if posixpath.basename(p) in pytest_settings.ORDER}
    modules = _modules(situation)
    out = []
    for folder in sorted(folders):
        old = _reaching(situation, folder, base=True)
        new = _reaching(situation, folder, base=False)
        path = new[0] if new is not None else (old[0] if old is not None else "")
        if path not in situation.changed:
            path = next((p for p in situation.changed if posixpath.dirname(p) == folder and posixpath.basename(p) in pytest_settings.ORDER), path)  # fmt: skip
        if situation.permits(_INSTRUMENTS, path=path):
            continue
        prefix = f"{folder}/" if folder else ""
        inside = [m.removeprefix(prefix) for m in modules if m.startswith(prefix)]
        if prefix and not inside:
            continue
        lost = pytest_settings.weakened(old[1] if old else {}, new[1] if new else {}, inside)
        if not lost:
            continue
        takes_over = (
            new is not None and situation.changed.get(new[0]) is not None and situation.changed[new[0]].old is None
        )
        code = (
            "SETTINGS_TAKEOVER"
            if (takes_over and old is not None and old[0] != path) or (takes_over and folder)
            else "SETTINGS_WEAKENED"
        )
        what = f"{path} takes the place of {old[0]}" if code == "SETTINGS_TAKEOVER" and old else f"{path}"
        message = f"{what}: {'; '.join(lost[:4])}."
        out.append(finding(code, message, path=path, evidence="\n".join(lost), key="; ".join(sorted(lost))))
    return out


def _reaching(situation: Situation, folder: str, *, base: bool) -> tuple[str, pytest_settings.Values] | None:
    """Settings that pytest would use for tests of this folder: its own file, else the nearest above."""
    while True:
        found = pytest_settings.effective(folder, lambda p: situation.source(p, base=base))
        if found is not None or not folder:
            return found
        folder = posixpath.dirname(folder)


def _modules(situation: Situation) -> list[str]:
    """Modules of the base with tests, by the runs where there are any, else by name."""
    if situation.before is not None:
        return sorted({i.split("::", 1)[0] for i in situation.before.by_id})
    names = (p for p in situation.evidence.base.entries if p.endswith(".py"))
    return sorted(p for p in names if posixpath.basename(p).startswith("test_") or p.endswith("_test.py"))
