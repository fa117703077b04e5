"""Evidence made from two sets of files, for checks that compare trees and look at no run."""

from gatekeeper.domain.change import Change, ChangedPath, Commit, Person
from gatekeeper.domain.evidence import Evidence, ScanReport
from gatekeeper.domain.settings import Settings
from gatekeeper.domain.submission import Claim, ClaimedCommand
from gatekeeper.domain.ticket import Budget, Permit, PermitKind, Risk, Suite, Ticket
from gatekeeper.domain.tree import MemoryTree

NOTHING = ScanReport("none", "0", (), (), ())


def permit(kind, *, paths=(), names=()):
    return Permit(PermitKind(kind), paths=tuple(paths), names=tuple(names))


def tree_evidence(
    before, after, *, permits=(), goal="Repair it.", commands=(), message="fix", verify="python -m pytest -q"
):
    """`after` holds only what differs; None takes a file away."""
    base = MemoryTree.of(before)
    whole = {p: c for p, c in {**before, **after}.items() if c is not None}
    merged = MemoryTree.of(whole)
    paths = tuple(
        ChangedPath(p, base.entries.get(p), merged.entries.get(p))
        for p in sorted({*base.entries, *merged.entries})
        if base.entries.get(p) != merged.entries.get(p)
    )
    person = Person("A", "a@example.org")
    commit = Commit("c" * 40, "t" * 40, (), person, person, message)
    return Evidence(
        ticket=Ticket("T-1", "Title", goal, ("**",), (), (), (verify,), tuple(permits), Risk.LOW, Budget(), "d"),
        claim=Claim(commands=tuple(ClaimedCommand(c, 0) for c in commands)),
        settings=Settings(),
        suites=(Suite("verify", command=verify),),
        change=Change("r", "refs/heads/main", "b", "bt", "b", "h", "ht", "mt", paths, (commit,), ()),
        base=base,
        merged=merged,
        runs=(),
        secrets=NOTHING,
        code=NOTHING,
    )
