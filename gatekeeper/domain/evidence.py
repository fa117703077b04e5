"""All that was observed and claimed about one change: the only input of the checks."""

from __future__ import annotations

from collections.abc import Mapping

from gatekeeper.domain.change import Change
from gatekeeper.domain.followup import Flaky, Measured, Witnessed
from gatekeeper.domain.settings import Settings
from gatekeeper.domain.submission import Claim
from gatekeeper.domain.testrun import RunRole, SuiteRun
from gatekeeper.domain.ticket import Suite, Ticket
from gatekeeper.domain.tree import Tree
from gatekeeper.records import dataclass, field


@dataclass(frozen=True, slots=True)
class ScanHit:
    """One match of a scanner. For secrets `excerpt` is redacted by the adapter before it leaves it."""

    rule: str
    path: str | None
    """None for a commit message."""
    line: int
    end_line: int
    message: str
    excerpt: str = ""
    digest: str = ""
    """Keyed digest of the matched text, for allow-lists and fingerprints."""
    confidence: str = "high"
    """high or medium."""
    commit: str | None = None
    """Commit that introduced the blob or holds the message, for history scans."""
    severity: str = "ERROR"
    """ERROR, WARNING or INFO as the rule states (code scanner)."""
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ScanReport:
    """What a scanner did. `targets` that are not in `scanned` were not checked, whatever the exit status was."""

    tool: str
    version: str
    targets: tuple[str, ...]
    scanned: tuple[str, ...]
    hits: tuple[ScanHit, ...]
    errors: tuple[str, ...] = ()

    @property
    def verified(self) -> bool:
        """True where every target was scanned without error. Nothing to scan is verified; a failed scan is not."""
        return not self.errors and set(self.targets) <= set(self.scanned)


@dataclass(frozen=True)
class Evidence:
    """Everything the checks may look at. `base` and `merged` are whole trees, read lazily."""

    ticket: Ticket
    claim: Claim
    settings: Settings
    """From the target tip, never from head."""
    suites: tuple[Suite, ...]
    change: Change
    base: Tree
    merged: Tree
    runs: tuple[SuiteRun, ...]
    secrets: ScanReport
    code: ScanReport
    secrets_before: ScanReport | None = None
    """The secret scan of the base's blobs at the changed paths: a secret already on the target is not newly leaked."""
    code_before: ScanReport | None = None
    """The code scan of the base's blobs at the changed paths, to tell old findings from new ones."""

    head: Tree | None = None
    """The author's own tree, where the target moved and the merge result is another; None where they are the same."""
    witnessed: Witnessed | None = None
    measured: Measured | None = None
    flaky: Flaky | None = None

    def run(self, role: RunRole, suite: str | None = None) -> SuiteRun | None:
        """The run of that role (and suite), or None."""
        for r in self.runs:
            if r.role is role and (suite is None or r.suite == suite):
                return r
        return None
