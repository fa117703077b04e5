"""Tests in JavaScript and TypeScript against those of the target branch: what is gone, hidden, hollow or weaker.

Outcomes that turned silent and expectations that were bent are seen in the runs and told by suite_integrity; here sources
are compared with them. What stands in a test's name decides which test it is; what it does decides whether it moved.
"""

from __future__ import annotations

import posixpath

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding
from gatekeeper.domain.languages import SCRIPT_EXTENSIONS

__all__ = ["check"]


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """Findings about JavaScript. One fault is told once: a test that is gone is not also weakened."""
    if not _concerned(evidence):
        return ()
    # Imported where there are scripts to look at: most changes have none, and reading them is a good part of all modules.
    from gatekeeper.checks.javascript_tests.code import gaming
    from gatekeeper.checks.javascript_tests.new_tests import hollow, unproven
    from gatekeeper.checks.javascript_tests.project import Project
    from gatekeeper.checks.javascript_tests.settings import settings
    from gatekeeper.checks.javascript_tests.vanished import unreported, vanished
    from gatekeeper.checks.javascript_tests.weakened import weakened

    project = Project(evidence)
    ended = unreported(project)
    whole = {f.path for f in ended}
    gone = [*ended, *(f for f in vanished(project) if f.path not in whole or f.code != "TEST_HIDDEN")]
    told = {(f.path, f.line) for f in gone}
    less = [f for f in (*weakened(project), *hollow(project)) if (f.path, f.line) not in told]
    told |= {(f.path, f.line) for f in less}
    found = [*gone, *less, *unproven(project, told), *settings(project), *gaming(project)]
    return tuple({f.fingerprint: f for f in found}.values())


def _concerned(evidence: Evidence) -> bool:
    """Whether the change can have to do with JavaScript at all."""
    paths = [p.path for p in evidence.change.paths]
    return any(
        p.endswith(SCRIPT_EXTENSIONS) or posixpath.basename(p) == "package.json" or "node_modules" in p.split("/")
        for p in paths
    ) or any(s.runner in ("node", "jest", "vitest") for s in evidence.suites)
