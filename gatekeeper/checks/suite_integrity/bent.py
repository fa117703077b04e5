"""The base's own tests against the change's code: where they fail and the change's version passes, the oracle was bent."""

from __future__ import annotations

import posixpath
import re

from gatekeeper.checks.suite_integrity.announced_ends import announced_as_asked, fails_for_it
from gatekeeper.checks.suite_integrity.around import reads_the_same
from gatekeeper.checks.suite_integrity.departed import changed_support, lost_its_imports
from gatekeeper.checks.suite_integrity.private_ways import called_in_its_class
from gatekeeper.checks.suite_integrity.shown import describe
from gatekeeper.checks.suite_integrity.situation import BAD, Situation, near, place
from gatekeeper.checks.suite_integrity.versions import only_the_version
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.globs import matches_any
from gatekeeper.domain.instruments import InstrumentKind
from gatekeeper.domain.testrun import CaseResult, Outcome
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import python_code
from gatekeeper.formats.python_expected_warnings import only_expects
from gatekeeper.formats.python_following import follows
from gatekeeper.records import replace

_FREES = (PermitKind.CHANGE_EXPECTATIONS, PermitKind.UPDATE_SNAPSHOTS, PermitKind.REMOVE_FEATURE)
"""Permits that free what a test expects. One for a rename frees the name alone."""
_INTERFACE = re.compile(
    r"ImportError|ModuleNotFoundError|AttributeError|NameError|fixture '\w+' not found"
    r"|TypeError: .*(?:argument|positional|keyword|takes|abstract|not callable|is not a (?:function|constructor))"
    r"|ReferenceError: |Cannot find module|ERR_MODULE_NOT_FOUND|does not provide an export named|Failed to load url"
    r"|\.go:\d+:\d+: (?:undefined: |(?:not enough|too many) arguments|cannot use |assignment mismatch|unknown field|.* undefined \(type)"
)
_WORD = re.compile(r"[\w-]+")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_MENDS_TESTS = re.compile(
    r"\b(?:updat|adapt|adjust|correct|fix|repair)\w*\b[^.;\n]{0,40}\btests?\b(?! (?:data|for|of|that)\b)", re.IGNORECASE
)
_FOREIGN = re.compile(r"(?:module|cannot import name '\w+' from|No module named) '([\w.]+)'")
_STRICTER = re.compile(r"\s*(?:\[XPASS\(strict\)\][^\n]*|(?:Failed: )?[Uu]nexpected success)\s*(?:\n|\Z)")


def bent(situation: Situation) -> list[Finding]:
    """One finding a file: the changed test module, or what else was changed that made its tests pass."""
    restored, merged = situation.restored, situation.merged
    if restored is None or merged is None:
        return []
    groups: dict[tuple[str, str], list[str]] = {}
    for test_id, rows in restored.by_id.items():
        bad = [c for c in rows if c.outcome in BAD]
        if not bad or _succeeded(situation, test_id, bad):
            continue
        if "::" not in test_id:
            passing = [i for i in merged.by_id if i.startswith(f"{test_id}::") and Outcome.PASSED in merged.outcomes(i)]
            if not passing:
                continue
        elif Outcome.PASSED not in merged.outcomes(test_id) or any(merged.outcomes(test_id)[o] for o in BAD):
            continue  # gone, silent or failing: told elsewhere
        path, name = place(test_id)
        if _explained(situation, test_id, path, name):
            continue
        detail = "\n".join(c.detail[-2000:] for c in bad)
        frees = (*_FREES, PermitKind.RENAME_API) if _only_renamed(situation, path, name) else _FREES
        if situation.permits(frees, test_id=test_id, path=path, words=_words(situation, path, name, detail)):
            continue
        blamed = _blamed(situation, path, _same(situation, path, name))
        # The test's own module is no way around a permit that names other tests of it.
        rest = [b for b in blamed if not situation.permits(frees, test_id=test_id if b == path else "", path=b)]
        if not rest or (len(rest) < len(blamed) and not any(posixpath.basename(b) == "conftest.py" for b in rest)):
            continue
        code = _code(situation, test_id, "\n".join(c.detail for c in bad))
        code = "EXPECTATION_BENT" if _stranger(situation, path, rest[0]) else code
        groups.setdefault((rest[0], code), []).append(test_id)
    out = []
    for (path, code), ids in groups.items():
        case = restored.first(ids[0])
        line = None
        test = situation.function(*place(ids[0]))
        if path == place(ids[0])[0] and test is not None:
            line = test.line
        detail = case.detail.strip()[-1500:] if case else ""
        seen = "\n".join(f"{i}: {describe(situation, i)}" for i in ids[:10])
        what = f"{ids[0]}" + (f" and {len(ids) - 1} more" if len(ids) > 1 else "")
        message = f"{what}: the target branch's version fails on this code; it passes only with the changed {path}."
        effect = Effect.ASKS if code == "EXPECTATION_BENT" and _tests_are_the_task(situation) else None
        out.append(finding(code, message, path=path, line=line, evidence=f"{seen}\n{detail}", key=path, effect=effect))
    return out


def _succeeded(situation: Situation, test_id: str, bad: list[CaseResult]) -> bool:
    """It "fails" since it was expected to: the whole failure says so, and on the target branch it did not simply pass.

    What a failure holds besides may come from the code itself.
    """
    before = situation.before
    if before is None or Outcome.PASSED in before.outcomes(test_id):
        return False
    return all(_STRICTER.match(c.detail) for c in bad)


def _tests_are_the_task(situation: Situation) -> bool:
    """The ticket speaks of mending tests, lets no code be changed, and none was: the code is not what was to be repaired."""
    ticket, base = situation.evidence.ticket, situation.evidence.base
    code = [p for p in base.entries if p.endswith(".py") and situation.kind(p) is None]
    return (
        any(_MENDS_TESTS.search(row) for row in (ticket.title, *ticket.goal.splitlines()))
        and not any(matches_any(ticket.allowed, p) for p in code)
        and all(situation.kind(p) is not None or not p.endswith(".py") for p in situation.changed)
    )


def _explained(situation: Situation, test_id: str, path: str, name: str) -> bool:
    """It passed before, and the edit says only what the changed code's own source says anew: a name, a message, an entry."""
    before = situation.before
    if before is None:
        return False
    if not name:
        return _repaired(situation, path) or lost_its_imports(situation, path)
    if set(before.outcomes(test_id)) != {Outcome.PASSED}:
        return False
    if _expects_what_was_announced(situation, test_id, path):
        return True
    old, new = situation.definition(path, name, base=True), situation.definition(path, name)
    if old is None or new is None or python_code.meaning(old) == python_code.meaning(new):
        return False
    if called_in_its_class(situation, path, name):
        return True
    return follows(old, new, situation.code_change) and reads_the_same(situation, path, name, situation.code_change)


def _only_renamed(situation: Situation, path: str, name: str) -> bool:
    """The test is as it was but for the names that a permit for a rename gives; where its module did not load, all of them are.

    What is no Python cannot be compared so, and the permit holds as it was given.
    """
    permits = situation.evidence.ticket.permits_of(PermitKind.RENAME_API)
    if not permits:
        return True
    spoken = frozenset(w for p in permits for n in p.names for w in _IDENTIFIER.findall(n))
    change = situation.code_change
    change = replace(change, gone=change.gone | spoken, new=change.new | spoken)
    module = situation.module(path, base=True)
    for one in [name] if name else list(module.tests if module else ()):
        old, new = situation.definition(path, one, base=True), situation.definition(path, one)
        if old is None or new is None:
            continue
        if python_code.meaning(old) != python_code.meaning(new) and not follows(old, new, change):
            return False
        if not reads_the_same(situation, path, one, change):
            return False
    return True


def _expects_what_was_announced(situation: Situation, test_id: str, path: str) -> bool:
    """It fails for a warning that the ticket asked for and that is all the code does anew; its module only expects that now."""
    found = announced_as_asked(situation)
    if not found or not fails_for_it(situation, found, [test_id]) or changed_support(situation, path):
        return False
    others = [p for p in situation.changed if p != path and not only_the_version(situation, p)]
    kinds = [k for p in others if (k := situation.kind(p)) is not None and k.bends_runs]
    if path not in situation.changed or any(k is not InstrumentKind.TEST for k in kinds):
        return False  # a setting, or a file of support, may have silenced it instead
    old, new = (python_code.parse(situation.source(path, base=base)) for base in (True, False))
    messages = {m for said in found.values() for m in said}
    return old is not None and new is not None and only_expects(old, new, messages)


def _repaired(situation: Situation, path: str) -> bool:
    """A module of tests that could not even be loaded for a name of somebody else's package, and now can.

    None of its tests is gone; what they assert is compared elsewhere.
    """
    before, restored = situation.before, situation.restored
    case, again = (results.first(path) if results is not None else None for results in (before, restored))
    if case is None or again is None or case.outcome not in BAD:
        return False
    faults = [_FOREIGN.findall(c.detail[-3000:]) for c in (case, again)]
    if not faults[0] or faults[0] != faults[1] or any(situation.own(f.split(".")[0]) for f in faults[0]):
        return False
    old, new = situation.module(path, base=True), situation.module(path)
    return old is not None and new is not None and old.tests.keys() <= new.tests.keys()


def _words(situation: Situation, path: str, name: str, detail: str) -> str:
    """What a permit for a renamed or removed thing may name: it must be why the test fails, or what left the test."""
    old, new = situation.function(path, name, base=True), situation.function(path, name)
    if _INTERFACE.search(detail):
        return " ".join([detail, *(old.material.names if old else ())])
    if old is None or new is None:
        return ""
    left = set(_WORD.findall(old.body)) - set(_WORD.findall(new.body))
    return " ".join(sorted(left))


def _same(situation: Situation, path: str, name: str) -> bool:
    old, new = situation.function(path, name, base=True), situation.function(path, name)
    if old is None or new is None or path not in situation.changed:
        return path not in situation.changed
    return (old.body, old.decorators) == (new.body, new.decorators)


def _blamed(situation: Situation, path: str, same: bool) -> list[str]:
    """Changed files that can explain it, the likeliest first: the test's own module, then what reaches it."""
    bending = [p for p in situation.changed if (k := situation.kind(p)) is not None and k.bends_runs and p != path]
    own = [path] if path in situation.changed else []
    if own and not same:
        return own
    source = situation.source(path, base=True) or ""
    named = [
        p for p in bending if posixpath.basename(p) in source or posixpath.splitext(posixpath.basename(p))[0] in source
    ]
    conftest = [p for p in bending if posixpath.basename(p) == "conftest.py" and near(path, p)]
    rest = [p for p in bending if situation.kind(p) is not InstrumentKind.TEST]
    # A test may be reached by ways that its text does not show: then any of the changed files can be what bent it.
    return list(dict.fromkeys([*named, *conftest, *own, *rest])) or bending


def _stranger(situation: Situation, path: str, blamed: str) -> bool:
    """A test that is as it was passes only in the company of a module of tests that nothing of it speaks of."""
    if path in situation.changed or situation.kind(blamed) is not InstrumentKind.TEST:
        return False
    stem = re.compile(rf"\b{re.escape(posixpath.splitext(posixpath.basename(blamed))[0])}\b")
    support = (InstrumentKind.TEST_SUPPORT, InstrumentKind.RUNNER_SETTINGS, InstrumentKind.SHADOW)
    around = [p for p in situation.evidence.merged.entries if p == path or situation.kind(p) in support]
    return not any(stem.search(situation.source(p) or "") for p in around)


def _code(situation: Situation, test_id: str, detail: str) -> str:
    """Bent where the test failed on the base already or only its expectation is in the way; asked where code moved on."""
    before = situation.before
    passed = before is not None and Outcome.PASSED in before.outcomes(test_id)
    if before is not None and "::" not in test_id:
        passed = any(i.startswith(f"{test_id}::") and Outcome.PASSED in before.outcomes(i) for i in before.by_id)
    if not passed:
        return "EXPECTATION_BENT"
    return "TEST_FOLLOWS_INTERFACE" if _INTERFACE.search(detail) else "EXPECTATION_FOLLOWS_CODE"
