"""What a test file tries, and what it puts in its place: modules, imported names, functions that assert for it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from gatekeeper.checks.javascript_tests.project import Project
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.formats.javascript_assertions import assertions
from gatekeeper.formats.javascript_tokens import EXTENSIONS, Kind, Token, closing, tokens

_DOUBLES = {"fn", "stub", "fake", "spy", "mock"}
_SPIES = {"method", "spyOn", "stub", "replace", "replaceProperty", "property"}
_FREES = (
    PermitKind.CHANGE_INSTRUMENTS,
    PermitKind.CHANGE_EXPECTATIONS,
    PermitKind.REMOVE_FEATURE,
    PermitKind.RENAME_API,
)


def mocked(project: Project, path: str) -> list[Finding]:
    """The code that the file was written to test is replaced now: its module, or one of its names."""
    old, new = project.module(path, base=True), project.module(path)
    if old is None or new is None or project.permits((PermitKind.CHANGE_INSTRUMENTS,), path=path):
        return []
    known = {m for m, _ in old.mocked}
    stem = re.sub(r"[._-](?:test|spec)$", "", posixpath.splitext(posixpath.basename(path))[0])
    relative = [i for i in old.imports if i.startswith(".")]
    asked = _asked(project, path)
    names = _imported(tokens(project.source(path, base=True) or ""))
    out = []
    for module, line in new.mocked:
        name = posixpath.splitext(posixpath.basename(module))[0]
        if module in known or not module.startswith(".") or module not in old.imports:
            continue
        if name == stem or len(relative) == 1 or any(m == module and n in asked for n, m in names.items()):
            message = f"{path} replaces {module}, the code that it was written to test."
            out.append(finding("SUBJECT_MOCKED", message, path=path, line=line, key=f"{path} {module}"))
    return out or _replaced(project, path, asked, names)


def _replaced(project: Project, path: str, asked: set[str], names: dict[str, str]) -> list[Finding]:
    """A name that came from the code, and that the tests assert of, stands for something of the test file's own."""
    found = tokens(project.source(path) or "")
    before = {what for what, _, _ in _put(tokens(project.source(path, base=True) or ""), names)}
    now = _imported(found)
    for name, line, how in _put(found, names):
        if name not in asked or name in before or project.permits(_FREES, path=path, words=[name]):
            continue
        if how == "bound" and name in now:
            continue
        used = any(name in t.words for t in project.tests(path))
        module = names.get(name, "")
        if used and module and not _is_test(project, path, module):
            message = (
                f"{path} puts something of its own in the place of {name} of {module}, which it was written to test."
            )
            return [finding("SUBJECT_MOCKED", message, path=path, line=line, key=f"{path} {name}")]
    for name, module in now.items():
        was = names.get(name, "")
        if (
            name in asked
            and was
            and module != was
            and _is_test(project, path, module)
            and not _is_test(project, path, was)
        ):
            message = f"{path} takes {name} from {module} instead of {was}, which it was written to test."
            return [finding("SUBJECT_MOCKED", message, path=path, key=f"{path} {name}")]
    return []


def _asked(project: Project, path: str) -> set[str]:
    """Names that stand in subjects of the target's assertions in this file."""
    out: set[str] = set()
    for test in project.tests(path, base=True):
        for one in assertions(test.part):
            out |= set(re.findall(r"[A-Za-z_$][\w$]*", one.subject))
    return out


def _is_test(project: Project, path: str, module: str) -> bool:
    """The module stands among the tests."""
    if not module.startswith("."):
        return False
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
    candidates = [place, *(place + e for e in EXTENSIONS)]
    return any((k := project.kind(c)) is not None and k.bends_runs for c in candidates)


def _imported(found: tuple[Token, ...]) -> dict[str, str]:
    """Name -> relative module, for names that `import { a, b as c } from` and `const { a } = require()` bind."""
    out: dict[str, str] = {}
    for index, token in enumerate(found):
        if token.kind is not Kind.STRING or not token.text.startswith(".") or not index:
            continue
        at = index - 1
        if (
            found[at].text == "("
            and at
            and found[at - 1].text in ("require", "import", "importActual", "requireActual")
        ):
            at -= 2
            while at >= 0 and found[at].text in ("await", "="):
                at -= 1
        elif found[at].text == "from":
            at -= 1
        else:
            continue
        for _ in range(200):
            if at < 0 or found[at].text in ("import", "const", "let", "var", ";", "export"):
                break
            if found[at].kind is Kind.NAME and found[at].text not in ("as", "type"):
                follows = found[at + 1].text if at + 1 < len(found) else ""
                if follows not in ("as", ":"):
                    out.setdefault(found[at].text, token.text)
            at -= 1
    return out


def _put(found: tuple[Token, ...], names: dict[str, str]) -> Iterator[tuple[str, int, str]]:
    """(name, line, how) of each of the names that the file binds or replaces by itself."""
    spaces = {n for n, _ in _imported(found).items()}
    pairs = closing(found)
    for index, token in enumerate(found):
        if token.kind is Kind.NAME and token.text in names and index:
            before = found[index - 1].text
            after = found[index + 1].text if index + 1 < len(found) else ""
            value = found[index + 2 : _value_end(found, pairs, index + 2)]
            texts = [t.text for t in value]
            loads = not spaces.isdisjoint(texts) or any(t in ("import", "require", "importActual") for t in texts)
            double = any(t in _DOUBLES for t in texts[:3]) or any("mock" in t.lower() for t in texts)
            bound = before in ("const", "let", "var") and after == "=" and (not loads or double)
            if bound or (before == "function" and after == "("):
                yield token.text, token.line, "bound"
            elif before == "." and after == "=" and index > 1 and found[index - 2].text in spaces:
                yield token.text, token.line, "assigned"
        elif token.kind is Kind.STRING and token.text in names and index > 3 and found[index - 1].text == ",":
            call = found[index - 4].text
            end = pairs.get(index - 3)
            rest = [t.text for t in found[index + 1 : (end or index) + 24]]
            acts = call != "spyOn" or any(t.startswith("mock") for t in rest)
            if call in _SPIES and found[index - 2].text in spaces and acts and (call != "method" or "," in rest[:1]):
                yield token.text, token.line, "replaced"


def _value_end(found: tuple[Token, ...], pairs: dict[int, int], start: int) -> int:
    at = start
    while at < len(found) and found[at].text != ";" and at - start < 400:
        if (
            at > start
            and found[at].line > found[at - 1].line
            and found[at].kind is Kind.NAME
            and found[at - 1].text in (")", "}", "]")
        ):
            break
        at = pairs.get(at, at) + 1
    return min(at, len(found))
