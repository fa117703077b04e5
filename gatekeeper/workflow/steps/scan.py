"""Scan: secrets over every new blob and message, code risks over the changed files."""

from __future__ import annotations

from gatekeeper.domain.evidence import ScanReport
from gatekeeper.domain.ports import ScanTarget
from gatekeeper.domain.tree import EXECUTABLE, REGULAR, Tree
from gatekeeper.records import dataclass
from gatekeeper.workflow.steps.checkout import Checkout
from gatekeeper.workflow.tools import Tools


@dataclass(frozen=True)
class Scanned:
    """A scan of what the change brings and of what stood at the same paths before."""

    after: ScanReport
    before: ScanReport


def secrets(tools: Tools, checkout: Checkout) -> Scanned:
    """Every blob that any commit of base..head introduced, every message, and the base's blobs for comparison."""
    change, mirror = checkout.change, checkout.mirror
    blobs = tools.git.blobs(mirror, [h.oid for h in change.history])
    targets = [
        ScanTarget(f"{h.commit}:{h.path}", h.path, blobs[h.oid], h.commit) for h in change.history if h.oid in blobs
    ]
    # What could not be read is a target all the same: the report then shows that it was not scanned.
    unread = [f"{h.commit}:{h.path}" for h in change.history if h.oid not in blobs]
    targets += [
        ScanTarget(f"commit:{c.oid}", None, c.message.encode("utf-8", "surrogateescape"), c.oid) for c in change.commits
    ]
    after = tools.secrets.scan(targets)
    if unread:
        after = ScanReport(
            after.tool, after.version, (*after.targets, *unread), after.scanned, after.hits, after.errors
        )
    base = tools.git.tree(mirror, change.base_tree)
    return Scanned(after, tools.secrets.scan(_texts(base, [p.path for p in change.paths if p.old])))


def code(tools: Tools, checkout: Checkout) -> Scanned:
    """The changed files as they would land. The base's versions are scanned only where something was found."""
    change, mirror = checkout.change, checkout.mirror
    merged = tools.git.tree(mirror, change.merge_tree)
    after = tools.code.scan(_texts(merged, [p.path for p in change.paths if p.new]))
    hit = {h.path for h in after.hits}
    base = tools.git.tree(mirror, change.base_tree)
    before = tools.code.scan(_texts(base, [p.path for p in change.paths if p.old and p.path in hit]))
    return Scanned(after, before)


def _texts(tree: Tree, paths: list[str]) -> list[ScanTarget]:
    regular = [p for p in paths if p in tree.entries and tree.entries[p].mode in (REGULAR, EXECUTABLE)]
    return [ScanTarget(p, p, tree.read(p)) for p in regular]
