"""Go's tests against those of the target branch: what is gone, kept from running, or proves less than it did.

Outcomes that turned silent and expectations that were bent are seen in the runs and told by suite_integrity; here the
sources are compared, so most of it holds for `go test` in an opaque command as well.
"""

from __future__ import annotations

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding

__all__ = ["check"]


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """Findings about Go. One fault is told once: a test that is gone is not also weakened."""
    if not _concerned(evidence):
        return ()
    # Imported where there is Go to look at: most changes have none, and reading Go is a good part of all the modules.
    from gatekeeper.checks.go_tests.code import gaming
    from gatekeeper.checks.go_tests.project import Project
    from gatekeeper.checks.go_tests.starting import starting
    from gatekeeper.checks.go_tests.vanished import vanished
    from gatekeeper.checks.go_tests.weakened import weakened

    project = Project(evidence)
    gone = vanished(project)
    told = {(f.path, f.line) for f in gone}
    less = [f for f in weakened(project) if (f.path, f.line) not in told]
    found = [*gone, *less, *starting(project), *gaming(project)]
    return tuple({f.fingerprint: f for f in found}.values())


def _concerned(evidence: Evidence) -> bool:
    """Whether the change can have to do with Go at all."""
    return any(p.path.endswith((".go", "go.mod")) for p in evidence.change.paths) or any(
        s.runner == "go" or "go test" in s.command for s in evidence.suites
    )
