"""A change that was to alter what the code does and alters comments, layout or idle names alone."""

from __future__ import annotations

import ast
import re
from collections import Counter

from gatekeeper.checks.implementation_gaming.modules import Modules
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.globs import matches_any
from gatekeeper.domain.instruments import InstrumentKind
from gatekeeper.domain.testrun import Outcome, RunRole
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import python_code
from gatekeeper.formats.python_behaviour import behaviour
from gatekeeper.formats.python_requirements import is_manifest

_PROSE = (".md", ".rst", ".txt", ".adoc")
_TESTS = (InstrumentKind.TEST, InstrumentKind.TEST_SUPPORT)
_WANTED = re.compile(
    r"\b(?:must|fix\w*|bugs?|wrong\w*|incorrect\w*|crash\w*|fails?|broken|should|implement\w*|supports?|returns?|raises?"
    r"|handles?|accepts?|refuses?|never|prevents?|repair\w*|slow\w*|faster|leaks?|loses|ignores?|correctly)\b",
    re.IGNORECASE,
)
_WORDS_ONLY = re.compile(
    r"\b(?:comments?|docstrings?|document\w*|docs?|readme|changelog|typos?|spelling|wording|format\w*|reformat\w*"
    r"|whitespace|indent\w*|lint\w*|style|black|ruff|unused|dead code|licen[cs]e|copyright|header|grammar\w*"
    # What only a reader of the source sees: types and the pragmas of static tools.
    r"|explain\w*|describ\w*|clarif\w*|mention\w*|examples?|notes?|annotat\w*|reword\w*|rephras\w*|translat\w*|version"
    r"|mypy|pyright|pyre|pytype|pylint|flake8|pyflakes|pycodestyle|pydocstyle|isort|sonar\w*|codeql|noqa|pragmas?"
    r"|type[- ](?:hints?|annotations?|check\w*|ignores?|comments?)|typing|typeshed"
    r"|remov\w* [^.\n]{0,40}from (?:the |this )?(?:source|files?))\b",
    re.IGNORECASE,
)
_SAME_BEHAVIOUR = re.compile(
    r"\b(?:refactor\w*|clean\w*|tidy\w*|simplif\w*|renam\w*|reorder\w*|sort imports?)\b", re.IGNORECASE
)
_TESTS_ONLY = re.compile(r"\b(?:tests?|cover\w*|benchmarks?|prepar\w*|mov(?:e|es|ed|ing)|split\w*|merg(?:e|es|ing) (?:files|modules))\b", re.IGNORECASE)  # fmt: skip
_PUBLISH = re.compile(
    r"\b(?:publish\w*|export\w*|expos(?:e|es|ed|ing)|(?:public|named) constants?|constants?)\b", re.IGNORECASE
)
_SAID = re.compile(
    r"\b(?:fix(?:ed|es)?|repair(?:ed|s)?|implement(?:ed|s)?|correct(?:ed|s)?|solved?|resolved?|chang(?:ed|es)|now|handled?"
    r"|added?|adjust(?:ed|s)?)\b",
    re.IGNORECASE,
)


def nothing_done(evidence: Evidence, modules: Modules) -> tuple[Finding, ...]:
    """One finding where ticket or claim speak of code that behaves otherwise and none does.

    It blocks only where code was touched for show, the ticket asks for behaviour alone and the claim says it is done.
    """
    paths = evidence.change.paths
    ticket = evidence.ticket
    goal = " ".join([ticket.title, ticket.goal, *ticket.acceptance])
    wanted = bool(_WANTED.search(goal))
    # Without one of those words a plan in English still speaks of what the code does, unless it speaks of words alone.
    spoken = wanted or (goal.isascii() and not _WORDS_ONLY.search(goal) and not _TESTS_ONLY.search(goal))
    if not paths or not spoken or _SAME_BEHAVIOUR.search(goal) or not _code_allowed(evidence, modules):
        return ()
    touched = [p.path for p in paths if p.path.endswith(".py") and modules.instruments.kind(p.path) is None]
    others = [p for p in paths if p.path not in touched and modules.instruments.kind(p.path) not in _TESTS]
    if not all(p.path.lower().endswith(_PROSE) and not is_manifest(p.path) for p in others) or not _idle(
        evidence, modules, touched
    ):
        return ()
    if _PUBLISH.search(goal) and any(_public_constants(evidence, p) for p in touched):
        return ()  # nobody here reads it, and others are to
    effect = _effect(evidence, modules, goal, touched)
    if effect is None or (not wanted and not touched):
        return ()
    if not wanted and effect is Effect.BLOCKS:
        effect = Effect.ASKS
    what = f"{', '.join(touched[:5])} do the same as before" if touched else "no file of the code is changed"
    message = f"The ticket asks for other behaviour ({ticket.title[:120]!r}); {what}."
    return (finding("NOTHING_DONE", message, path=touched[0] if touched else None, key="nothing", effect=effect),)


def _public_constants(evidence: Evidence, path: str) -> set[str]:
    """Names with a value that the module gives to whoever imports it, and did not before."""

    def given(source: str | None) -> set[str]:
        tree = python_code.parse(source)
        names = set()
        for node in tree.body if tree is not None else ():
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                empty = isinstance(node.value, ast.Constant) and node.value.value in (None, ...)
                names |= {t.id for t in targets if isinstance(t, ast.Name) and t.id[0] != "_" and not empty}
        return names

    return given(text(evidence.merged, path)) - given(text(evidence.base, path))


def _code_allowed(evidence: Evidence, modules: Modules) -> bool:
    """The ticket lets the author change some module of the code."""
    return any(
        p.endswith(".py") and matches_any(evidence.ticket.allowed, p) and modules.instruments.kind(p) is None
        for p in evidence.base.entries
    )


def _idle(evidence: Evidence, modules: Modules, touched: list[str]) -> bool:
    if modules.deleted:
        return False
    differing = {m.path: m for m in modules.changed}
    used = frozenset().union(*(_names(evidence, p) for p in touched)) if differing else frozenset()
    for path in touched:
        if python_code.parse(text(evidence.merged, path)) is None or path not in evidence.base.entries:
            return False
        module = differing.get(path)
        if module is not None:
            others = frozenset(modules.test_names) | (used if len(touched) > 1 else frozenset())
            before, after = behaviour(module.before, others), behaviour(module.after, others)
            if not before or before != after:
                return False
    return True


def _edited(evidence: Evidence, path: str) -> bool:
    """Something that stood in the file is gone or reads otherwise; a file to which tests were only added is not edited."""
    before, after = (python_code.parse(text(tree, path)) for tree in (evidence.base, evidence.merged))
    if before is None or after is None:
        return True
    left = Counter(python_code.meaning(s) for s in before.body)
    left.subtract(python_code.meaning(s) for s in after.body)
    changed = [s for s in before.body if left[python_code.meaning(s)] > 0]
    return any(not isinstance(s, ast.ClassDef) or not _only_grown(s, after) for s in changed)


def _only_grown(old: ast.ClassDef, after: ast.Module) -> bool:
    """The class has all that it had, and more."""
    new = next((s for s in after.body if isinstance(s, ast.ClassDef) and s.name == old.name), None)
    if new is None:
        return False
    return not Counter(map(python_code.meaning, old.body)) - Counter(map(python_code.meaning, new.body))


def _names(evidence: Evidence, path: str) -> frozenset[str]:
    """Names that a module takes from others."""
    tree = python_code.parse(text(evidence.merged, path))
    return frozenset(python_code.imports(tree)) if tree else frozenset()


def _effect(evidence: Evidence, modules: Modules, goal: str, touched: list[str]) -> Effect | None:
    claim = evidence.claim
    words = f"{claim.summary} {claim.reason}".strip()
    # Silence must not fare better than "fixed" (DESIGN rule 5); words that claim something else do.
    said = not words or bool(_SAID.search(words))
    if _WORDS_ONLY.search(goal):
        return Effect.ADVISES if said and touched else None
    red = any(
        c.outcome in (Outcome.FAILED, Outcome.ERRORED)
        for r in evidence.runs
        if r.role is RunRole.MERGED
        for c in r.cases
    )
    tests = [p.path for p in evidence.change.paths if p.old is not None and modules.instruments.kind(p.path) in _TESTS]
    if not touched:
        # Tests at work and red tests speak for themselves; the target may have solved it meanwhile.
        moved_on = evidence.change.base != evidence.change.merge_base
        return Effect.ASKS if said and not red and not tests and not moved_on else None
    told_elsewhere = red or any(_edited(evidence, path) for path in tests)
    if told_elsewhere:
        return Effect.ADVISES
    return Effect.BLOCKS if said and not claim.not_done else Effect.ASKS
