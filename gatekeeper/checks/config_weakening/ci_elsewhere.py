"""Where a checking line of CI went that its definition no longer has: another definition, a task runner or hooks that CI starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gatekeeper.checks.config_weakening.ci_bodies import around_checks, surroundings, swallowed
from gatekeeper.checks.config_weakening.ci_commands import CHECKING, command_lines, is_ci, left_somewhere, tools_of_line
from gatekeeper.checks.config_weakening.ci_same_work import same_work, succeeded
from gatekeeper.checks.config_weakening.ci_successors import always, always_uses, as_often, read_by_itself
from gatekeeper.checks.config_weakening.ci_switches import switches
from gatekeeper.checks.config_weakening.command_reach import ASKS, LOST, as_much
from gatekeeper.checks.config_weakening.hook_lists import over_all_files, starts_all
from gatekeeper.checks.config_weakening.reached import parts, reached
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import workflow_yaml

_HOOKS = ".pre-commit-config.yaml"


def runs_elsewhere(evidence: Evidence, path: str, old: dict[str, Any] | None, line: str) -> Effect | None:
    """Where a line went that the definition at `path` had.

    ADVISES: it runs in every case, as often as before, in another definition, by a task runner or as a hook over all files.
    ASKS: it is there to be run, and whether it is only a person can tell. None: it is nowhere.
    """
    starts: list[str] = []
    uses: set[str] = set()
    for other, doc in _definitions(evidence, path, old):
        rows = [r for r in (always(doc) if "jobs" in doc else command_lines(doc)) if not LOST.search(r) and swallowed(r, piped=False) is None]  # fmt: skip
        if other != path and (any(r == line or same_work(line, r) for r in rows) or succeeded(line, rows)):
            return Effect.ADVISES
        starts += rows
        uses |= set(always_uses(doc))
    tools = tools_of_line(line)
    if tools and all(_runs(evidence, line, tool, starts, uses) for tool in tools):
        return Effect.ADVISES
    return left_somewhere(evidence, line)


def beside(evidence: Evidence, path: str, old: dict[str, Any]) -> list[dict[str, Any]]:
    """The other definitions of the merge that run as often as this one did."""
    return [doc for other, doc in _definitions(evidence, path, old) if other != path]


def _definitions(evidence: Evidence, path: str, old: dict[str, Any] | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Definitions that start as often as `old`, and in which nothing that this change brought is switched off."""
    target = evidence.change.target_ref.removeprefix("refs/heads/")
    for other in evidence.merged.entries:
        doc = workflow_yaml.load(text(evidence.merged, other)) if is_ci(other) and stands_for(other, path) else None
        if not isinstance(doc, dict) or (old is not None and not as_often(old, doc, target)):
            continue
        before = workflow_yaml.load(text(evidence.base, other)) or {}
        if not isinstance(before, dict):
            continue
        had = before or old or {}
        around = [*switches(before, doc), *around_checks(had, doc), *surroundings(had, doc)]
        if other == path or all(e is not None for _, _, e in around):
            yield other, doc


def _runs(evidence: Evidence, line: str, tool: str, starts: list[str], uses: set[str]) -> bool:
    """A task runner, a script or a hook that these lines start does with `tool` what the line did."""
    fresh = frozenset(c.path for c in evidence.change.paths if c.old is None)
    rows = [r.line for r in reached(evidence.merged, fresh, starts) if r.path is not None and r.path != _HOOKS]
    old_hooks, hooks = (workflow_yaml.load(text(tree, _HOOKS)) for tree in (evidence.base, evidence.merged))
    by_service = isinstance(hooks, dict) and "ci" in hooks and isinstance(old_hooks, dict) and "ci" in old_hooks
    if any(map(starts_all, starts)) or by_service or "pre-commit/action" in uses:
        rows += over_all_files(hooks, on_service=by_service)
    return any(
        (_begins(row, tool) and as_much(line, row, tool)) or succeeded(line, [" ".join(words) for words in parts(row)])
        for row in rows
        if not LOST.search(row) and not ASKS.search(row)
    )


def _begins(row: str, tool: str) -> bool:
    """One of the commands of a row is the tool itself, or coverage that runs it."""
    for words in parts(row):
        names = [w.rsplit("/", 1)[-1] for w in words]
        if names[0] == tool or (names[0] == "coverage" and tool in names[1:] and names[names.index(tool) - 1] == "-m"):
            return True
    return False


def stands_for(path: str, gone: str) -> bool:
    """A system reads the new file as it read the old one: by itself, or in the same folder for those that others name."""
    return read_by_itself(path) or (not read_by_itself(gone) and path.rpartition("/")[0] == gone.rpartition("/")[0])


def all_elsewhere(old: dict[str, Any], now: list[str], elsewhere: Callable[[str], Effect | None]) -> bool:
    """Each check of the old definition that it has no longer runs elsewhere in every case, so that a job without any is no loss."""
    checks = [r for r in command_lines(old) if CHECKING.search(r) and r not in now]
    return bool(checks) and all(
        any(same_work(r, n) for n in now) or succeeded(r, now) or elsewhere(r) is Effect.ADVISES for r in checks
    )
