"""New tests that take the code's answer for the answer it should give."""

from __future__ import annotations

from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.python_assertions import read
from gatekeeper.formats.python_assertions.own_answers import SAMENESS, answers_itself


def own_oracles(situation: Situation) -> list[Finding]:
    """Advice for each; a question where no other new or edited test shows what the changed code does."""
    ticket = situation.evidence.ticket
    fresh = [(p, t) for p, t in situation.new_functions if situation.kind(p) is not None]
    if not fresh or SAMENESS.search(" ".join([ticket.title, ticket.goal, *ticket.acceptance])):
        return []
    found = []
    for path, test in fresh:
        if situation.function(path, test.name, base=True) is not None:
            continue
        module = read(situation.source(path))
        body = module.bodies.get(test.name.replace("::", ".")) if module is not None else None
        if body is not None and answers_itself(body):
            found.append((path, test))
    code = any(p.endswith(".py") and situation.kind(p) is None for p in situation.changed)
    effect = Effect.ASKS if code and len(found) == len(fresh) else Effect.ADVISES
    return [
        finding(
            "TEST_PROVES_NOTHING", f"The new test {path}::{test.name} compares the code's answer with itself.", path=path,
            line=test.line, key=f"{path}::{test.name}", effect=effect,
        )
        for path, test in found
    ]  # fmt: skip
