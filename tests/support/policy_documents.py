"""Input documents of the policy for tests: realistic starts and everything that one step of change makes of them."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gatekeeper.config import policy_bundle

RISKS = ("low", "medium", "high")
VERDICTS = ("rejected", "undecided", "needs_human", "accepted")


def example(name: str, bundle: Path | None = None) -> dict[str, Any]:
    """`decision` or `plan` of the bundle's own example."""
    text = ((bundle or policy_bundle()) / "gatekeeper/example_test.rego").read_text(encoding="utf-8")
    body = re.search(rf"^{name} := (\{{.*?^\}})", text, re.MULTILINE | re.DOTALL)
    assert body is not None
    document: dict[str, Any] = json.loads(re.sub(r",(\s*[}\]])", r"\1", body.group(1)))
    return document


def approval(number: int, **changes: Any) -> dict[str, Any]:
    """A valid approval of the reviewer `number`."""
    return {
        "reviewer": f"r{number}",
        "key": f"k{number}",
        "binds_ticket": True,
        "binds_diff": True,
        "is_author": False,
        "expired": False,
    } | changes


def approved(document: dict[str, Any], *approvals: dict[str, Any]) -> dict[str, Any]:
    """The document with these approvals."""
    document["observed"] |= {"approvals": list(approvals), "approvals_total": len(approvals)}
    return document


def found(document: dict[str, Any], **counts: int) -> dict[str, Any]:
    """The document with so many findings of each verdict, and the floor that follows."""
    by_verdict = dict.fromkeys(VERDICTS, 0) | counts
    total = sum(counts.values())
    document["floor"] = next((v for v in VERDICTS if by_verdict[v]), "accepted")
    document["observed"]["findings"] = {
        "total": total,
        "by_verdict": by_verdict,
        "by_category": {"tests_failed": total} if total else {},
    }
    return document


def _run(**changes: Any) -> dict[str, Any]:
    run: dict[str, Any] = example("decision")["observed"]["runs"][0]
    return run | changes


def decisions() -> dict[str, dict[str, Any]]:
    """Realistic inputs of the decision by name; each name says the verdict that a reader expects."""
    plain = example("decision")
    rich = example("decision")
    rich["ticket"] = {"risk": "medium", "approved": True, "permits": {"edit_tests": 1, "migrate_data": 1}}
    rich["plan"] |= {
        "tier": "high",
        "approvals": 1,
        "expiry_s": 86400,
        "required_evidence": ["commands", "report", "summary", "risks", "rollback"],
        "required_evidence_total": 5,
        "extra_runs": ["base_instruments"],
        "extra_runs_total": 1,
        "data_migration": True,
    }
    rich["claimed"]["parts"] = dict.fromkeys(("commands", "report", "summary", "risks", "rollback"), True)
    rich["observed"] |= {
        "paths_total": 12,
        "runs": [
            _run(suite="unit"),
            _run(suite="lint", guarantee="exit_status", tests=0, sessions=0, sessions_complete=0),
            _run(suite="unit", role="base_instruments"),
            _run(suite="unit", role="new_tests_on_base", exit_code=1),
            _run(),
        ],
        "runs_total": 5,
        "required_suites": ["unit", "lint"],
        "required_suites_total": 2,
    }
    approved(found(rich, accepted=2), approval(1), approval(2, expired=True))
    alone = copy.deepcopy(rich)
    silent = example("decision")
    silent["claimed"] = {"present": False, "parts": {}}
    exits = example("decision")
    exits["claimed"]["parts"].pop("report")
    exits["observed"] |= {"runs": [_run(guarantee="exit_status", tests=0)]}
    half = copy.deepcopy(exits)
    half["observed"] |= {"runs": [_run(guarantee="exit_status", tests=0), _run(suite="unit")], "runs_total": 2}
    floor = example("decision")
    floor["claimed"]["parts"].pop("report")
    floor["plan"] |= {"required_evidence": [], "required_evidence_total": 0}
    killed = example("decision")
    killed["observed"]["runs"] = [_run(termination="killed", exit_code=None, sessions_complete=0)]
    asks = found(example("decision"), needs_human=1, accepted=1)
    empty = example("decision")
    empty["observed"]["paths_total"] = 0
    return {
        "accepted": plain,
        "accepted_rich": rich,
        "accepted_exit_status": exits,
        "accepted_answered": approved(copy.deepcopy(asks), approval(1)),
        "needs_human_finding": asks,
        "needs_human_alone": approved(alone),
        "undecided_killed": killed,
        "undecided_finding": found(example("decision"), undecided=1, needs_human=1),
        "rejected_finding": found(example("decision"), rejected=2, undecided=1, accepted=1),
        "rejected_without_claim": silent,
        "rejected_without_report": half,
        "rejected_by_the_tier": floor,
        "rejected_empty": empty,
    }


def plans() -> dict[str, dict[str, Any]]:
    """Realistic inputs of the plan by name; each name says the tier that a reader expects."""
    paths = {
        "low": {"a": ["src/a.py"], "src": ["src/a.py"], "author": ["src/author.py"]},
        "medium": {"pyproject.toml": ["pyproject.toml"], ".tf": ["x/main.tf", "x/net.tf"]},
        "high": {"auth": ["src/auth/view.py", "src/auth/form.py"], "login": ["src/login.py"], "src": ["src/login.py"]},
        "high_migrations": {"migrations": ["app/migrations/0001.py"], "app": ["app/migrations/0001.py"]},
    }
    made = {}
    for name, words in paths.items():
        document = example("plan")
        listed = sorted({p for examples in words.values() for p in examples})
        document["observed"] |= {
            "paths": listed,
            "paths_listed": len(listed),
            "paths_total": len(listed),
            "words": words,
            "words_listed": len(words),
        }
        made[name] = document
    permitted = copy.deepcopy(made["high_migrations"])
    permitted["ticket"]["permits"] = {"migrate_data": 1}
    ci = copy.deepcopy(made["low"])
    ci["observed"] |= {"paths": [".github/workflows/ci.yml", "a/.claude/x.md"], "paths_listed": 2}
    signals = copy.deepcopy(made["low"])
    signals["observed"]["signals"]["sql_destroy"] = {"count": 2, "paths": ["src/a.py"]}
    signals["observed"]["signals"]["file_mode"] = {"count": 1, "paths": ["src/a.py"]}
    settings = copy.deepcopy(made["low"])
    settings["settings"] = {"present": True, "tiers": {"medium": 2, "high": 0}}
    large = copy.deepcopy(made["low"])
    large["observed"] |= {"paths_total": 101, "truncated": True, "special_modes": 3}
    stated = copy.deepcopy(made["medium"])
    stated["ticket"]["risk"] = "high"
    return made | {
        "medium_permitted": permitted,
        "medium_ci": ci,
        "high_signals": signals,
        "medium_settings": settings,
        "medium_large": large,
        "high_stated": stated,
    }


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every key and element of a document is."""
    pairs: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in pairs:
        yield (*above, key)
        yield from places(below, (*above, key))


def without(document: dict[str, Any], removed: list[tuple[Any, ...]]) -> dict[str, Any]:
    """The document without these places; what lies in something that is already gone is passed over."""
    smaller = copy.deepcopy(document)
    # From the back, so that an element's number still holds when an earlier one goes.
    for path in sorted(removed, key=lambda p: [str(k).zfill(6) for k in p], reverse=True):
        holder: Any = smaller
        try:
            for key in path[:-1]:
                holder = holder[key]
            del holder[path[-1]]
        except (KeyError, IndexError):
            continue
    return smaller


def with_value(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The document with another value at a place."""
    changed = copy.deepcopy(document)
    holder: Any = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return changed


def at(document: Any, path: tuple[Any, ...]) -> Any:
    """The value at a place."""
    for key in path:
        document = document[key]
    return document


def _neighbours(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        return [0, value + 1, -1]
    if isinstance(value, str):
        return ["", "unheard_of", *({"low": RISKS, "medium": RISKS, "high": RISKS}.get(value, ()))]
    return [type(value)()]


def steps(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The document; without each of its places; with each value replaced by its neighbours of the same type."""
    yield document
    for path in places(document):
        yield without(document, [path])
        for value in _neighbours(at(document, path)):
            yield with_value(document, path, value)


def combinations() -> Iterator[dict[str, Any]]:
    """Every verdict of a finding x tier x risk x approvals needed x approvals given, and every category."""
    for worst, tier, risk, needed, given in itertools.product((*VERDICTS, ""), RISKS, RISKS, (0, 2), (0, 1, 2)):
        document = found(example("decision"), **({worst: 1} if worst else {}))
        document["ticket"]["risk"] = risk
        document["plan"] |= {"tier": tier, "approvals": needed}
        yield approved(document, *[approval(n) for n in range(given)])
    categories = json.loads((policy_bundle() / "gatekeeper/config/data.json").read_text())["categories"]
    for category in [*categories, "unheard_of"]:
        document = found(example("decision"), accepted=1)
        document["observed"]["findings"]["by_category"] = {category: 1}
        yield document


def areas_and_signals() -> Iterator[dict[str, Any]]:
    """Every area by its first word, with and without its permit, and every kind of line."""
    tiers = json.loads((policy_bundle() / "gatekeeper/config/data.json").read_text())["tiers"]
    for name, area in sorted(tiers["areas"].items()):
        for permits in ({}, {area.get("permit", name): 1}):
            document = example("plan")
            document["ticket"]["permits"] = permits
            document["observed"] |= {"words": {area["words"][0]: ["src/a.py"]}, "words_listed": 1}
            yield document
    for kind in sorted(tiers["signals"]):
        yield with_value(example("plan"), ("observed", "signals", kind, "count"), 2)


def everything() -> dict[str, dict[str, dict[str, Any]]]:
    """All documents for the comparison of engines: entrypoint (plan, decide) -> digest -> document."""
    decide = itertools.chain(combinations(), *(steps(d) for d in decisions().values()))
    plan = itertools.chain(areas_and_signals(), *(steps(d) for d in plans().values()))
    return {
        "plan": {digest(d): d for d in [{}, *plan]},
        "decide": {digest(d): d for d in [{}, *decide]},
    }


def digest(value: Any) -> str:
    """Short name of a JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]
