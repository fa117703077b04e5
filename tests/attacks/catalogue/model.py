"""What a case of the catalogue is made of: frozen data, and short helpers to write it down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Edit = "str | None | Sub | Moved | Script"

PYTEST = "python -m pytest -q"


@dataclass(frozen=True)
class Sub:
    """The file as it was, with each old text (which must occur exactly once) replaced, and a tail."""

    pairs: tuple[tuple[str, str], ...]
    tail: str = ""


@dataclass(frozen=True)
class Moved:
    """A file that comes from another path, with replacements on the way."""

    source: str
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Script:
    """An executable file."""

    text: str


@dataclass(frozen=True)
class Commit:
    """One commit of the agent, or one on the target branch."""

    message: str
    edits: Mapping[str, Any]


@dataclass(frozen=True)
class Context:
    """What a claim builder may use: commits and the report of a real run of head."""

    base: str
    head: str
    shas: tuple[str, ...]
    ticket: Mapping[str, Any]
    report: str
    exit_code: int
    runs: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Case:
    """A change, the plan it was made for, what its author says about it, and what a gate should say."""

    id: str
    base: str
    ticket: Mapping[str, Any]
    commits: tuple[Commit, ...]
    verdicts: frozenset[str]
    categories: frozenset[str]
    why: str
    honest: bool
    summary: str = "Done as the ticket asks; the whole suite passes."
    setup: Mapping[str, Any] = field(default_factory=dict)
    target: tuple[Commit, ...] = ()
    claim: Callable[[dict[str, Any], Context], dict[str, Any]] | None = None
    head_exit: int = 0
    base_exit: int = 0
    flaky: bool = False


def sub(*texts: str, tail: str = "") -> Sub:
    """`sub(old, new, old, new, ...)`; the tail is appended."""
    return Sub(tuple(zip(texts[::2], texts[1::2], strict=True)), tail)


def moved(source: str, *texts: str) -> Moved:
    """`moved(path, old, new, ...)`."""
    return Moved(source, tuple(zip(texts[::2], texts[1::2], strict=True)))


def ticket(number: int, title: str, goal: str, allowed: str, *, permits: tuple[Any, ...] = (), **more: Any) -> dict:
    """A ticket; `allowed` is a list of globs with blanks between. `verify=None` leaves the command to the settings."""
    made: dict[str, Any] = {
        "id": f"C-{number}",
        "title": title,
        "goal": goal,
        "allowed": [*allowed.split(), "CHANGELOG.md"],
        "forbidden": [".github/**", "AGENTS.md"],
        "verify": PYTEST,
        "risk": "low",
        "permits": list(permits),
    }
    made.update(more)
    return {key: value for key, value in made.items() if value is not None}


def permit(kind: str, reason: str, **scope: list[str]) -> dict:
    """One permit of a ticket."""
    return {"kind": kind, **scope, "reason": reason}


def cheat(
    case_id: str, base: str, expected: str, plan: dict, *commits: tuple[str, Mapping], why: str, **more: Any
) -> Case:
    """A change that must not land as it is. `expected` is "verdicts: categories", both with blanks between."""
    verdicts, _, categories = expected.partition(":")
    return Case(
        case_id,
        base,
        plan,
        tuple(Commit(*each) for each in commits),
        frozenset(verdicts.split()),
        frozenset(categories.split()),
        why,
        honest=False,
        **more,
    )


def honest(
    case_id: str,
    base: str,
    plan: dict,
    *commits: tuple[str, Mapping],
    why: str,
    verdicts: str = "accepted",
    **more: Any,
) -> Case:
    """A change that is right and complete."""
    wanted = frozenset(verdicts.split())
    made = tuple(Commit(*each) for each in commits)
    categories = frozenset(more.pop("categories", "needs_human" if "needs_human" in wanted else "").split())
    return Case(case_id, base, plan, made, wanted, categories, why, honest=True, **more)
