"""Evidence of a change from plain files, scanned by the real scanners where asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gatekeeper.domain.change import Change, ChangedPath, Commit, HistoryBlob, Person
from gatekeeper.domain.evidence import Evidence, ScanReport
from gatekeeper.domain.ports import Scanner, ScanTarget
from gatekeeper.domain.settings import Settings
from gatekeeper.domain.submission import Claim
from gatekeeper.domain.ticket import Budget, Permit, Risk, Ticket
from gatekeeper.domain.tree import MemoryTree

CLEAN = ScanReport("none", "0", (), (), ())
_WHO = Person("Agent", "agent@agents.example")


def evidence_of(
    before: Mapping[str, str | bytes],
    after: Mapping[str, str | bytes],
    *,
    message: str = "change",
    permits: tuple[Permit, ...] = (),
    modes: Mapping[str, str] | None = None,
    middle: Sequence[Mapping[str, str | bytes]] = (),
    secrets: Scanner | None = None,
    code: Scanner | None = None,
) -> Evidence:
    """`middle` are states between base and head, one commit each."""
    base, merged = MemoryTree.of(before, modes), MemoryTree.of(after, modes)
    names = sorted({*base.entries, *merged.entries})
    paths = tuple(
        ChangedPath(p, base.entries.get(p), merged.entries.get(p))
        for p in names
        if base.entries.get(p) != merged.entries.get(p)
    )
    commits, history, targets, last = [], [], [], base
    for number, state in enumerate([*(MemoryTree.of(m, modes) for m in middle), merged]):
        oid = f"{number:040x}"
        commits.append(Commit(oid, "0" * 40, (), _WHO, _WHO, message))
        targets.append(ScanTarget(f"commit:{oid}", None, message.encode(), oid))
        for path, entry in state.entries.items():
            if last.entries.get(path) != entry:
                history.append(HistoryBlob(entry.oid, path, oid, entry.mode, entry.size or 0))
                targets.append(ScanTarget(f"{oid}:{path}", path, state.read(path), oid))
        last = state
    old = [ScanTarget(p.path, p.path, base.read(p.path)) for p in paths if p.old]
    new = [ScanTarget(p.path, p.path, merged.read(p.path)) for p in paths if p.new]
    ticket = Ticket("T-1", "t", "g", ("**",), (), (), (), permits, Risk.LOW, Budget(), "0" * 64)
    change = Change(
        "repo", "refs/heads/main", "b" * 40, "b" * 40, "b" * 40, "a" * 40, "a" * 40, "a" * 40, paths,
        tuple(commits), tuple(history),
    )  # fmt: skip
    return Evidence(
        ticket, Claim(), Settings(), (), change, base, merged, (),
        secrets.scan(targets) if secrets else CLEAN, code.scan(new) if code else CLEAN,
        secrets.scan(old) if secrets else CLEAN, code.scan(old) if code else CLEAN,
    )  # fmt: skip
