"""Settings whose value is a word or a code with an order of its own, and what stands where nothing is set."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from gatekeeper.checks.config_weakening.keys import plain_key
from gatekeeper.formats.tool_settings import words

_OFF = ("off", "none", "ignore", "false", "0", "disable", "disabled")
_RANKS = {
    **dict.fromkeys(_OFF, 0), "information": 1, "info": 1, "hint": 1, "warn": 2, "warning": 2, "1": 2, "error": 3, "2": 3, "true": 3, "on": 3,
}  # fmt: skip
_MODES = {"off": 0, "false": 0, "basic": 1, "standard": 2, "strict": 3, "recommended": 4, "all": 5, "true": 2}
_SMALL = 5
"""Percent by which coverage may fall in a status that is new: what people give it."""
_TOOL = r"(?:(?:based)?pyright\.)?"
_RUFF_SELECTS, _FLAKE_SELECTS = ("E4", "E7", "E9", "F"), ("E9", "F")
"""Rules about faults that these linters look for by themselves."""


@cache
def _kinds() -> tuple[tuple[str, re.Pattern[str]], ...]:
    rows = {
        "mode": rf"{_TOOL}typecheckingmode",
        "report": rf"{_TOOL}report[a-z]+|ty\.rules\.\w+|rules\.(?:unresolved|invalid|possibly|call)_\w+",
        "rule": r"(?:.*\.)?rules\.[\w@/.]+",
        # `run` is a section of coverage too, and its keys are spelled as those are
        "exit": r"(?:coverage\.)?(?:run\.)?issues_exit_code",
        "told": r"coverage\.status\.(?:.*\.)?informational|(?:ruff\.)?fix_only|(?:.*\.)?errors_only",
        "status": r"coverage\.status(?:\.(?:project|patch|changes))?(?:\.\w+)?|coverage\.status\..*\.enabled",
        "threshold": r"coverage\.status\..*\.threshold",
        "target": r"coverage\.status\..*\.target",
        "ruff select": r"ruff\.(?:lint\.)?select",
        "flake8 select": r"flake8\.select",
        "reach": r"ruff\.include|flake8\.filename|coverage\.(?:run|report)\.include|bandit\.(?:bandit\.)?tests",
        "code": r"(?:pylint\.)?(?:main|master)\.init_hook|ruff\.extend",
        "imports": r"mypy.*\.follow_imports",
    }
    return tuple((kind, re.compile(expression)) for kind, expression in rows.items())


def _kind(key: str) -> str | None:
    plain = plain_key(key)
    return next((kind for kind, wanted in _kinds() if wanted.fullmatch(plain)), None)


def demands_less(key: str, old: Any, new: Any) -> bool | None:
    """Whether `new` demands less than `old`, None being what the tool does by itself; None for keys without such an order."""
    kind = _kind(key)
    if kind is None:
        return None
    if kind == "mode" and old is None:
        return new is not None and _MODES.get(str(new).lower(), 2) == 0  # `basic` is what people begin with
    if kind == "mode":
        was, now = (_MODES.get(str(v).lower(), 2) if v is not None else 2 for v in (old, new))
        return now < was
    if kind in ("report", "rule"):
        return _less_severe(kind, old, new)
    if kind == "exit":
        return str(new) == "0"
    if kind == "told":
        return new is True
    if kind == "status":
        return (
            (new is False or str(new).lower() == "off")
            if not isinstance(old, int | float) or isinstance(old, bool)
            else None
        )
    if kind == "threshold":
        a, b = (v if isinstance(v, int | float) else 0 for v in (old, new))
        return b > a and not (old is None and b <= _SMALL)
    if kind == "target" and isinstance(old, int | float) and not isinstance(old, bool):
        return not isinstance(new, int | float) or new < old
    if kind in ("ruff select", "flake8 select") and old is None and new is not None:
        chosen = words(new)
        return any(not any(w == "ALL" or rule.startswith(w) for w in chosen) for rule in (_RUFF_SELECTS if "ruff" in kind else _FLAKE_SELECTS))  # fmt: skip
    if kind == "reach" and old is None and new is not None:
        return not any(re.fullmatch(r"(?:\*\*/)?\*(?:\.py)?", w) for w in words(new))
    if kind == "code":
        return new is not None
    if kind == "imports":
        return new in ("skip", "silent") and old not in ("skip", "silent") and new == "skip"
    return None


def sure(key: str, old: Any) -> bool:
    """Whether a lesser demand of this key needs no person: both values have a known meaning."""
    kind = _kind(key)
    if kind in ("exit", "told", "mode", "status") or kind is None:
        return True
    return (old is not None and kind != "code") or plain_key(key) == "mypy.follow_imports"


def _less_severe(kind: str, old: Any, new: Any) -> bool | None:
    first, following = (v[0] if isinstance(v, list) and v else v for v in (old, new))
    was, now = (_RANKS.get(str(v).lower()) if v is not None else None for v in (first, following))
    if kind == "report":
        return None if was is None or now is None else now < was
    if following is None:
        return None if was is None or isinstance(first, str) else was > 0 and not isinstance(first, bool)
    if now is None:
        return None
    if was is None:
        return first is None and now == 0
    return now < was
