"""New tests that can not fail: shown by their source, and by passing on code that the change was to repair."""

from __future__ import annotations

from gatekeeper.checks.suite_integrity.situation import BAD, Situation
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.python_source import proves_nothing

_WHY = {
    "constant": "asserts only what always holds",
    "empty": "does nothing",
    "silent": "asserts nothing and passes on the target branch's code as well",
}


def hollow(situation: Situation) -> list[Finding]:
    """One finding for each new test that proves nothing. One that fails on the base's code proves something."""
    out: list[Finding] = []
    for path, test in situation.new_functions:
        if situation.function(path, test.name, base=True) is not None or situation.kind(path) is None:
            continue
        why = proves_nothing(test.node)
        if not why or test.silencers or _moved(situation, test.body):
            continue
        merged = situation.merged
        if merged is not None and (path, test.name) not in merged.functions:
            continue
        probed = situation.probed
        ids = probed.functions.get((path, test.name), []) if probed else []
        if probed is not None and any(probed.outcomes(i)[o] for i in ids for o in BAD):
            continue
        if why == "silent" and not ids:
            continue
        effect = Effect.ADVISES if why == "silent" else None
        message = f"The new test {path}::{test.name} {_WHY[why]}."
        out.append(finding("TEST_PROVES_NOTHING", message, path=path, line=test.line, key=f"{path}::{test.name}", effect=effect))  # fmt: skip
    return out


def _moved(situation: Situation, body: str) -> bool:
    """The base has this very test in a file of the change, so it is not new."""
    for path, changed in situation.changed.items():
        module = situation.module(path, base=True) if changed.old is not None else None
        if module is not None and any(t.body == body for t in module.tests.values()):
            return True
    return False
