"""New tests that can not fail: shown by their source, and by passing on code that the change was to repair."""

from __future__ import annotations

from gatekeeper.checks.javascript_tests.project import BAD, Project
from gatekeeper.checks.javascript_tests.vanished import SHARE, covered
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.testrun import Outcome
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.javascript_tests import ScriptTest

_WHY = {
    "empty": "does nothing",
    "constant": "asserts only what always holds",
    "none_expected": "says that it makes no assertion",
}


def _moved(project: Project, test: ScriptTest) -> bool:
    """The base has this very test in a file of the change, or one that is gone and that this one stands for."""
    old = [(p, t) for p, before, _ in project.changed_scripts if before for t in project.tests(p, base=True)]
    gone = [t for p, t in old if project.ids_of(project.before, p, t) and not project.ids_of(project.merged, p, t)]
    return any(t.body == test.body for _, t in old) or any(covered(t, [test], SHARE) for t in gone)


def hollow(project: Project) -> list[Finding]:
    """One finding for each test whose own text shows that it proves nothing, where it is new or was not so before."""
    out = []
    for path, test in project.fresh:
        if not test.hollow or test.silencers or (project.merged and not project.ids_of(project.merged, path, test)):
            continue
        old = project.find(path, test.title, base=True)
        if (old is not None and old.hollow) or (old is None and _moved(project, test)):
            continue
        if any(
            Outcome.FAILED in project.outcomes(project.probed, i) for i in project.ids_of(project.probed, path, test)
        ):
            continue
        code, what = ("TEST_PROVES_NOTHING", "The new test") if old is None else ("ASSERTION_REMOVED", "The test")
        message = f"{what} {path}::{test.title} {_WHY[test.hollow]}."
        out.append(finding(code, message, path=path, line=test.line, key=f"{path}::{test.title}"))
    return out


def unproven(project: Project, told: set[tuple[str | None, int | None]]) -> list[Finding]:
    """Files whose new tests all pass on the target's code as well: they hold what is, and prove nothing of the change.

    A change of tests alone is left out: its tests are meant to pass before and after.
    """
    if not project.probed or all((k := project.kind(p)) is not None and k.bends_runs for p in project.changed):
        return []
    new: dict[str, list[tuple[ScriptTest, str]]] = {}
    for path, test in project.fresh:
        if _moved(project, test) or project.find(path, test.title, base=True) is not None:
            continue
        ids = [i for i in project.ids_of(project.merged, path, test) if i not in project.before]
        new.setdefault(path, []).extend((test, i) for i in ids if Outcome.PASSED in project.outcomes(project.merged, i))
    out = []
    for path, made in new.items():
        seen = [project.outcomes(project.probed, i) for _, i in made]
        if not made or any(any(o[b] for b in BAD) or not o for o in seen) or (path, made[0][0].line) in told:
            continue
        names = ", ".join(i.partition("::")[2] for _, i in made[:5])
        message = f"{len(made)} new test(s) of {path} pass on the target branch's code as well, so they prove nothing of this change: {names}."
        out.append(
            finding("TEST_PROVES_NOTHING", message, path=path, line=made[0][0].line, key=path, effect=Effect.ADVISES)
        )
    return out
