"""Go code that is no test and behaves differently when it is tested."""

from __future__ import annotations

import re
from collections import Counter

from gatekeeper.checks.go_tests.project import Project, is_test_file
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.formats.go_tokens import tokens

_DETECTS = re.compile(
    r'testing \. Testing \( \)|flag \. Lookup \( "test\.\w+" \)'
    r'|strings \. (?:HasSuffix|Contains) \( os \. Args \[ 0 \] , "[^"]*test[^"]*" \)'
    r"|filepath \. Base \( os \. Args \[ 0 \] \)"
    r'|strings \. Contains \( \w+ , "(?:_test\.go|testing\.tRunner|go-build)'
)
_CI = re.compile(r'os \. (?:Getenv|LookupEnv) \( "(?:CI|GITHUB_ACTIONS|GITLAB_CI|JENKINS_URL|BUILDKITE|GO_TEST\w*)" \)')
_EXIT = re.compile(r"(?:syscall|unix) \. (?:Exit|Kill|RawSyscall|Syscall) \(")
_DATA = re.compile(r'"[^"]*(?:testdata/|_test\.go)[^"]*"')


def gaming(project: Project) -> list[Finding]:
    """One finding for each file and kind; what the base has already is none."""
    out = []
    for path, changed in project.changed.items():
        if changed.new is None or not path.endswith(".go") or is_test_file(path):
            continue
        if any(p in ("testdata", "vendor", "internal/testutil") or "test" in p for p in path.split("/")[:-1]):
            continue
        old = _text(project.source(path, base=True) or "")
        new = _text(project.source(path) or "")
        for code, pattern, why in (
            ("TEST_DETECTED", _DETECTS, "looks for the test program"),
            ("CI_DETECTED", _CI, "looks for a CI system"),
            ("PROCESS_ENDED", _EXIT, "ends the process past Go's own exit"),
            ("TEST_DATA_READ", _DATA, "names files that belong to the tests"),
        ):
            more = list((Counter(pattern.findall(new)) - Counter(pattern.findall(old))).elements())
            if more:
                line = _line(project.source(path) or "", pattern)
                message = f"{path} {why}: {more[0][:120]}."
                out.append(finding(code, message, path=path, line=line, key=f"{path} {code}"))
        imports = re.search(r'"testing" ', new) and not re.search(r'"testing" ', old)
        if imports and "testing . Testing" not in new and not re.search(r"testing \. (?:TB|T|B|M|F)\b", new):
            message = f"{path} imports testing, and is no file of tests."
            out.append(finding("TEST_RUNNER_IN_CODE", message, path=path, key=f"{path} testing"))
    return out


def _text(source: str) -> str:
    return " ".join(t.text for t in tokens(source)) + " "


def _line(source: str, pattern: re.Pattern[str]) -> int | None:
    rows: dict[int, list[str]] = {}
    for token in tokens(source):
        rows.setdefault(token.line, []).append(token.text)
    return next((line for line, words in rows.items() if pattern.search(" ".join(words))), None)
