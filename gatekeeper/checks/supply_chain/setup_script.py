"""A script that runs while the package is built does more than it did before."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from gatekeeper.checks.supply_chain.build_calls import (
    doubtful,
    programs,
    replaced_commands,
    starters,
    texts_run,
    versioned,
)
from gatekeeper.checks.supply_chain.build_reach import packages, rebound, writes
from gatekeeper.checks.supply_chain.build_scripts import as_built
from gatekeeper.checks.supply_chain.publishing import fetches_and_runs, publishes, reads_git
from gatekeeper.checks.supply_chain.version_files import facts_of, harmless
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.tree import Tree
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import python_code


def changed_script(evidence: Evidence, path: str, before: str, after: str) -> Iterable[Finding]:
    """At most one finding about the script at `path`: what it newly starts, fetches, runs as code or replaces."""
    new = python_code.parse(after)
    if new is None:
        return
    old = python_code.parse(before) or ast.Module([], [])
    # What only learned constants before is no reason to run another file now.
    same = _read_and_run(new) <= _read_and_run(old)
    facts = harmless(evidence.merged, new)
    had = {**starters(old, () if same else harmless(evidence.base, old)), **replaced_commands(old)}
    now = {**starters(new, facts), **replaced_commands(new)}
    fresh = {k: v for k, v in now.items() if k not in had}
    if set(fresh) == {"cmdclass"} and versioned(new):
        # The tool lies in the project: whoever has it already has read it.
        if "versioneer.py" not in evidence.base.entries:
            said = f"{path} lets versioneer build the package."
            yield finding("BUILD_HOOK_ADDED", said, path=path, line=fresh["cmdclass"], effect=Effect.ASKS)
            return
        fresh = {}
    if fresh:
        first = min(fresh, key=lambda k: fresh[k])
        yield finding("BUILD_HOOK_ADDED", f"{path} runs {', '.join(sorted(fresh))} while the package is built.", path=path, line=fresh[first])  # fmt: skip
        return
    known, built = programs(old), programs(as_built(new))
    # What a person alone could start before and any build starts now is another program for the build.
    moved = {text for text in built if text in known and text not in programs(as_built(old))}
    other = {text: call for text, call in programs(new).items() if text not in known or text in moved}
    worst = [c for t, c in other.items() if fetches_and_runs(c)]
    looks = any(map(reads_git, known.values()))
    asked = [c for t, c in other.items() if (t in built or not publishes(c)) and not (looks and reads_git(c))]
    if worst or asked:
        one = min(worst or asked, key=lambda c: c.lineno)
        when = (
            "while the package is built"
            if any(one is c for c in built.values())
            else "when a person publishes the package"
        )
        yield finding(
            "BUILD_HOOK_ADDED", f"{path} starts another program {when} than before.", path=path, line=one.lineno,
            evidence=ast.unparse(one)[:300], effect=None if worst else Effect.ASKS,
        )  # fmt: skip
        return
    ran, reached = texts_run(old, ()), doubtful(old)
    run = {t: line for t, line in texts_run(new, facts).items() if t not in ran and not _moved(evidence.merged, t, ran)}
    reach = {t: line for t, line in doubtful(new).items() if t not in reached}
    for seen in (rebound, writes):
        reach |= {k: line for k, line in seen(new).items() if k not in seen(old)}
    reach |= {
        f"the package {k}": line
        for k, line in packages(evidence.merged, new).items()
        if k not in packages(evidence.base, old) and k.lower() not in _required(old)
    }
    odd = {**({"another text as code": min(run.values())} if run else {}), **reach}
    if odd:
        first = min(odd, key=lambda k: odd[k])
        yield finding(
            "BUILD_HOOK_ADDED", f"{path} runs or reaches {', '.join(sorted(odd))[:200]} while the package is built.",
            path=path, line=odd[first], effect=Effect.ASKS,
        )  # fmt: skip


def _required(script: ast.Module) -> set[str]:
    """Packages that the target's own script names as requirements: whoever installs it has them."""
    texts = (n.value for n in python_code.walk(script) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    names = (re.match(r"[A-Za-z0-9][\w.-]{0,100}", t) for t in texts if len(t) <= 200)
    return {m.group().lower().replace("-", "_") for m in names if m}


def _moved(tree: Tree, origin: str, before: Iterable[str]) -> bool:
    """The same reading as before of one other file, which holds constants and nothing else."""
    for known in before:
        fresh, gone = set(origin.split("\n")) - set(known.split("\n")), set(known.split("\n")) - set(origin.split("\n"))
        if len(fresh) == len(gone) == 1 and facts_of(tree, fresh.pop().strip("'")) is not None:
            return True
    return False


def _read_and_run(tree: ast.Module) -> set[str]:
    calls = (n for n in python_code.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))
    return {ast.unparse(n) for n in calls if isinstance(n.func, ast.Name) and n.func.id in ("exec", "open")}
