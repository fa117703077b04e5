"""Settings of jest and vitest, compared by what they say: fewer tests, lower thresholds, faults that no longer count."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from gatekeeper.checks.javascript_tests.project import Project, is_script
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.globs import matches_any
from gatekeeper.domain.instruments import InstrumentKind
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.formats.javascript_tokens import Kind, Token, closing, tokens

_FILES = re.compile(r"(?:jest|vitest|vite)\.config\.[cm]?[jt]s|jest\.config\.json|\.mocharc\.(?:[cm]?js|json)")
_OFF = {
    "passWithNoTests": "no test at all counts as success",
    "dangerouslyIgnoreUnhandledErrors": "errors outside tests no longer count",
    "allowOnly": "one focused test may hide the others",
}
_THRESHOLDS = ("branches", "functions", "lines", "statements")
_LEAVE_OUT = ("testPathIgnorePatterns", "modulePathIgnorePatterns", "exclude", "ignore")
_SELECT = ("testNamePattern", "grep")
_RETRIES = ("retry", "retries")
_VALUES = 400
"""Values looked at of one key."""

Values = dict[str, list[tuple[Token, ...]]]


def settings(project: Project) -> list[Finding]:
    """One finding for each folder whose settings got weaker."""
    out = []
    for folder in sorted({posixpath.dirname(p) for p in project.changed if _is_settings(p)}):
        paths = [p for p in project.changed if posixpath.dirname(p) == folder and _is_settings(p)]
        old, new = _values(project, folder, base=True), _values(project, folder, base=False)
        lost = list(_weaker(project, folder, old, new))
        if not lost or all(project.permits((PermitKind.CHANGE_INSTRUMENTS,), path=p) for p in paths):
            continue
        path = next((p for p in paths if project.changed[p].new is not None), paths[0])
        message = f"{path}: {'; '.join(lost[:4])}."
        out.append(
            finding("SETTINGS_WEAKENED", message, path=path, evidence="\n".join(lost), key="; ".join(sorted(lost)))
        )
    return [*out, *_scripts(project)]


def _is_settings(path: str) -> bool:
    name = posixpath.basename(path)
    return name == "package.json" or _FILES.fullmatch(name) is not None


def _values(project: Project, folder: str, *, base: bool) -> Values:
    """Every `key: value` of the runners' settings in a folder, wherever it stands in them."""
    tree = project.evidence.base if base else project.evidence.merged
    found: Values = {}
    for path in tree.entries:
        if posixpath.dirname(path) == folder and _is_settings(path):
            text = tokens(project.source(path, base=base) or "")
            pairs = closing(text)
            if posixpath.basename(path) == "package.json":
                sections = [v for k in ("jest", "vitest", "mocha") for v in _pairs(text, pairs).get(k, [])]
                parts = [tuple(s) for s in sections]
            else:
                parts = [text]
            for part in parts:
                for key, values in _pairs(part, closing(part)).items():
                    found.setdefault(key, []).extend(values)
    return found


def _pairs(text: tuple[Token, ...], pairs: dict[int, int]) -> Values:
    found: Values = {}
    for index in range(len(text) - 2):
        token = text[index]
        if token.kind not in (Kind.NAME, Kind.STRING) or text[index + 1].text != ":":
            continue
        end = index + 2
        while end < len(text) and text[end].text not in (",", "}", ")", "]"):
            end = pairs.get(end, end) + 1
        if len(found.setdefault(token.text, [])) < _VALUES:
            found[token.text].append(text[index + 2 : end])
    return found


def _weaker(project: Project, folder: str, old: Values, new: Values) -> Iterable[str]:
    for key, why in _OFF.items():
        if _true(new.get(key)) and not _true(old.get(key)):
            yield f"{key} is on: {why}"
    for key in _THRESHOLDS:
        before, after = _numbers(old.get(key)), _numbers(new.get(key))
        if before and (not after or min(after) < min(before)):
            yield f"the threshold {key} went from {min(before):g} to {f'{min(after):g}' if after else 'none'}"
    for key in _RETRIES:
        before, after = _numbers(old.get(key)), _numbers(new.get(key))
        if after and max(after) > max(before, default=0):
            yield f"{key} went from {max(before, default=0):g} to {max(after):g}: a test that fails may pass later"
    for key in _SELECT:
        if new.get(key) and not old.get(key):
            yield f"{key} selects some of the tests"
    tests = [p for p in project.evidence.base.entries if is_script(p) and project.kind(p) is InstrumentKind.TEST]
    inside = [p.removeprefix(f"{folder}/") for p in tests if not folder or p.startswith(f"{folder}/")]
    for key in _LEAVE_OUT:
        for pattern in sorted(_texts(new.get(key)) - _texts(old.get(key))):
            hidden = [p for p in inside if _matches(pattern, p)]
            if hidden:
                yield f"{key} leaves out {hidden[0]}" + (f" and {len(hidden) - 1} more" if hidden[1:] else "")


def _true(values: list[tuple[Token, ...]] | None) -> bool:
    return any(len(v) == 1 and v[0].text == "true" for v in values or ())


def _numbers(values: list[tuple[Token, ...]] | None) -> list[float]:
    plain = (v[0] for v in values or () if len(v) == 1)
    return [float(t.text) for t in plain if t.kind is Kind.NUMBER and re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", t.text)]


def _texts(values: list[tuple[Token, ...]] | None) -> set[str]:
    return {t.text for v in values or () for t in v if t.kind is Kind.STRING}


def _matches(pattern: str, path: str) -> bool:
    """A glob, or a pattern whose fixed text stands in the path: no pattern of the project is run."""
    plain = pattern.removeprefix("<rootDir>").removeprefix("./")
    if matches_any((plain.lstrip("/"),), path):
        return True
    words = [w for w in re.split(r"[^\w.-]+", plain.replace("\\.", ".")) if w not in ("", ".", "node_modules", "dist")]
    return bool(words) and "*" not in plain and all(w in f"/{path}" for w in words)


def _scripts(project: Project) -> list[Finding]:
    """Scripts of package.json that a suite's command starts."""
    out = []
    commands = " ".join(s.command for s in project.evidence.suites if s.runner == "command")
    started = set(re.findall(r"\b(?:npm|yarn|pnpm)\s+(?:run(?:-script)?\s+)?([\w:.-]+)", commands))
    started |= {"test"} if re.search(r"\bnpm\s+t\b", commands) else set()
    for path, changed in project.changed.items():
        if posixpath.basename(path) != "package.json" or changed.old is None or changed.new is None or not started:
            continue
        old, new = (_commands(project.source(path, base=b) or "") for b in (True, False))
        for name in sorted(started & old.keys()):
            why = _quieter(old[name], new.get(name, ""))
            if why and not project.permits((PermitKind.CHANGE_INSTRUMENTS,), path=path):
                message = f"{path}: the script {name!r} {why}."
                evidence = f"was: {old[name]}\nis: {new.get(name, '(gone)')}"
                out.append(
                    finding("VERIFY_SCRIPT_WEAKENED", message, path=path, evidence=evidence, key=f"{path} {name}")
                )
    return out


def _commands(source: str) -> dict[str, str]:
    text = tokens(source)
    sections = _pairs(text, closing(text)).get("scripts", [])
    table = {k: v for s in sections for k, v in _pairs(s, closing(s)).items()}
    return {k: v[0][0].text for k, v in table.items() if v and len(v[0]) == 1 and v[0][0].kind is Kind.STRING}


_RUNNERS = re.compile(r"\b(?:jest|vitest|mocha|ava|tap|node\s+--test|tsc|eslint|playwright|cypress)\b")


def _quieter(old: str, new: str) -> str:
    for mark, why in (("|| true", "cannot fail any more"), ("|| exit 0", "cannot fail any more"), ("; exit 0", "cannot fail any more"), ("; true", "cannot fail any more"), ("|| echo", "cannot fail any more"), ("--passWithNoTests", "passes without a test")):  # fmt: skip
        if mark in new and mark not in old:
            return why
    lost = set(_RUNNERS.findall(old)) - set(_RUNNERS.findall(new))
    return f"no longer starts {', '.join(sorted(lost))}" if lost else ""
