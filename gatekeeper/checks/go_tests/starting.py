"""What decides how `go test` starts: TestMain, flags set from code, golden files that are always rewritten, scripts."""

from __future__ import annotations

import posixpath
import re
from collections import Counter

from gatekeeper.checks.go_tests.project import Project
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.go_tests import GoTestFile
from gatekeeper.formats.go_tokens import tokens

_INSTRUMENTS = (PermitKind.CHANGE_INSTRUMENTS,)
_RUNS = re.compile(r"(?:\bm|\w+) \. Run \( \)")
_IGNORES = re.compile(r"\w+ \. Run \( \) .*os \. Exit \( 0 \)|(?:^|; )_ = \w+ \. Run \( \)")
_SETS = re.compile(
    r"flag \. (?:Set|Lookup) \( \"test\.(?:run|skip|short|count|v|failfast|timeout|list)\"|os \. Args = "
)
_UPDATES = re.compile(r'Bool(?:Var)? \( (?:& \w+ , )?"(?:update|golden|write|regen\w*|record|accept)[\w-]*" , true')
_WRITES = re.compile(r"os \. (?:WriteFile|Create|Rename) \( [^;]*(?:golden|testdata|snap)", re.IGNORECASE)
_LINE = re.compile(r"\bgo\s+(?:\S+\s+)?test\b|\bgotestsum\b")
_NARROW = re.compile(r"(?<!\S)--?(run|skip|short|tags|list|vet|failfast|update|exec)(?:[= ]|$)")
_SCRIPTS = {"Makefile", "makefile", "GNUmakefile", "Taskfile.yml", "Taskfile.yaml", "justfile", "magefile.go"}


def starting(project: Project) -> list[Finding]:
    """Findings about what starts the tests."""
    return [*_mains(project), *_golden(project), *_scripts(project)]


def _mains(project: Project) -> list[Finding]:
    out = []
    for path, old, new in project.changed_tests():
        if new is None or project.permits(_INSTRUMENTS, path):
            continue
        before = old.main if old else None
        main = new.main
        if main is not None and (before is None or before.body != main.body):
            ran = before is not None and _RUNS.search(before.body)
            if not _RUNS.search(main.body) and (before is None or ran):
                message = f"TestMain in {path} does not run the tests of its package."
                out.append(finding("REPORT_HOOK", message, path=path, line=main.line, key=f"{path} TestMain"))
                continue
            if _IGNORES.search(main.body) and not (before and _IGNORES.search(before.body)):
                message = f"TestMain in {path} ends with status 0 whatever the tests came to."
                out.append(finding("REPORT_HOOK", message, path=path, line=main.line, key=f"{path} TestMain"))
                continue
        known = Counter(m for f in _bodies(old) for m in _SETS.findall(f))
        for name, function in [*new.others.items(), *new.functions.items()]:
            more = Counter(_SETS.findall(function.body)) - known
            if more:
                message = f"{path}: {name} sets flags of the test program itself, which decide what runs."
                out.append(finding("REPORT_HOOK", message, path=path, line=function.line, key=f"{path} {name}"))
    return out


def _bodies(file: GoTestFile | None) -> list[str]:
    return [f.body for f in (*file.functions.values(), *file.others.values())] if file else []


def _golden(project: Project) -> list[Finding]:
    """Golden files that the run itself writes: they compare with themselves."""
    out = []
    frees = (PermitKind.UPDATE_SNAPSHOTS, PermitKind.CHANGE_INSTRUMENTS)
    for path, _, new in project.changed_tests():
        if new is None or project.permits(frees, path):
            continue
        before, after = (project.source(path, base=b) or "" for b in (True, False))
        texts = [" ".join(t.text for t in tokens(s)) for s in (before, after)]
        if len(_UPDATES.findall(texts[1])) > len(_UPDATES.findall(texts[0])):
            message = f"{path}: golden files are rewritten in every run, so they always agree."
            out.append(finding("ASSERTION_ALWAYS_TRUE", message, path=path, key=f"{path} update"))
        elif len(_WRITES.findall(texts[1])) > len(_WRITES.findall(texts[0])) and "update" not in texts[1].lower():
            message = f"{path} writes files that tests compare with."
            out.append(finding("ASSERTION_ALWAYS_TRUE", message, path=path, key=f"{path} write", effect=Effect.ASKS))
    return out


def _scripts(project: Project) -> list[Finding]:
    """Options that let fewer of Go's tests run, in files that start them."""
    out = []
    for path, changed in project.changed.items():
        name = posixpath.basename(path)
        if changed.old is None or changed.new is None or not (name in _SCRIPTS or path.endswith((".sh", ".bash"))):
            continue
        if project.permits(_INSTRUMENTS, path):
            continue
        old, new = (_lines(project.source(path, base=b) or "") for b in (True, False))
        if not old or not new:
            continue
        known = Counter(o for line in old for o in _NARROW.findall(line))
        more = Counter(o for line in new for o in _NARROW.findall(line)) - known
        more.pop("tags", None) if all("-tags" in line for line in old) else None
        whole = [any("./..." in line for line in side) for side in (old, new)]
        why = [f"-{o} was added to go test" for o in sorted(more)]
        if len(new) > len(old) and whole[1]:
            why = []  # a run more, beside the one that there was
        if whole[0] and not whole[1]:
            why.append("go test is no longer given ./...")
        if why:
            message = f"{path}: {'; '.join(why)}."
            out.append(finding("VERIFY_SCRIPT_WEAKENED", message, path=path, evidence="\n".join(new[:10]), key=f"{path} go {'; '.join(why)}"))  # fmt: skip
    return out


def _lines(text: str) -> list[str]:
    joined = re.sub(r"\\\n\s*", " ", text[:500_000])
    lines = (re.sub(r"(?:^|\s)#.*$", "", line).strip() for line in joined.splitlines())
    return [line for line in lines if _LINE.search(line) and not re.match(r"@?(?:echo|printf)\b", line)]
