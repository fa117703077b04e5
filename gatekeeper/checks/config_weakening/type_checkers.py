"""Switches of type checkers: what strict holds, what pays for a lost one, and imports that need no types."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gatekeeper.checks.config_weakening.keys import plain_key, tool_of
from gatekeeper.domain.evidence import Evidence
from gatekeeper.formats.tool_settings import words

IN_STRICT = re.compile(
    r"mypy\.(?:warn_unused_configs|disallow_any_generics|disallow_subclassing_any|disallow_untyped_calls|disallow_untyped_defs"
    r"|disallow_incomplete_defs|check_untyped_defs|disallow_untyped_decorators|warn_redundant_casts|warn_unused_ignores"
    r"|warn_return_any|no_implicit_reexport|strict_equality|extra_checks|no_implicit_optional)"
)
"""What strict switches on by itself."""
_DEMANDS = re.compile(
    r"mypy\.(?:strict|strict_equality|extra_checks|warn_unreachable|warn_return_any|check_untyped_defs|no_implicit_reexport|disallow_\w+)"
    r"|(?:based)?pyright\.(?:report|strict)\w+"
)
"""Switches of type checkers that find faults, and are not on by themselves."""
_VENDORED = frozenset({"vendor", "vendored", "third_party", "_vendor", "node_modules"})
_TYPE_CHECKERS = ("mypy", "pyright", "basedpyright", "ty", "pyre")


def exchanged(
    key: str, old: Any, new: Any, had: dict[str, Any], has: dict[str, Any], runs: Callable[[str], bool]
) -> bool:
    """A type checker lost a single switch or looks at tests no longer, and in return it got another or one more looks on.

    One more looks on only where something `runs` it: settings alone find nothing.
    """
    tool = tool_of(key)
    if tool not in _TYPE_CHECKERS or new is True or key.rsplit(".", 1)[-1] in ("strict", "strict_optional"):
        return False  # a switch that lets faults pass is paid for by nothing
    paths = key.rsplit(".", 1)[-1] in ("files", "include") and new is not None
    kept = {w.rstrip("/") for w in words(new)}
    left = [w for w in words(old) if w.rstrip("/") not in kept]
    if not isinstance(old, bool) and not (paths and all(re.match(r"(?:\./)?tests?\b", w) for w in left)):
        return False

    def used(table: dict[str, Any]) -> set[str]:
        return {t for k in table if (t := tool_of(k)) in _TYPE_CHECKERS}

    others = {t for t in used(has) - used(had) if has.get(f"{t}.typecheckingmode") not in ("off", False) and runs(t)}
    fresh = [k for k, v in has.items() if tool_of(k) == tool and v is True and had.get(k) is not True]
    free = had.get("mypy.strict") is True
    switches = [k for k in fresh if _DEMANDS.fullmatch(k) and not (free and IN_STRICT.fullmatch(k))]
    return tool in used(has) and bool(others or switches)


def off_under_strict(key: str, before: dict[str, Any], after: dict[str, Any]) -> str | None:
    """What strict held is switched off, for all modules or for some that are no tests."""
    found = re.fullmatch(r"mypy[.-](?:(?:overrides\.)?(.+)\.)?(\w+)", plain_key(key))
    if found is None or after.get(key) is not False or before.get(key) is False:
        return None
    strict = any(plain_key(k) == "mypy.strict" and v is True for k, v in before.items())
    modules, switch = found.groups()
    if (
        not strict
        or not IN_STRICT.fullmatch(f"mypy.{switch}")
        or re.match(r"[\['\" ]*(?:tests?|docs|examples?|benchmarks?|conftest)\b", modules or "")
    ):
        return None
    return f"{key} none -> False, which strict held"


def of_strangers(evidence: Evidence, key: str) -> bool:
    """Imports of a module that somebody else wrote, named as such, are not to be found: nothing of the project goes unchecked."""
    plain = plain_key(key)
    if not plain.startswith("mypy") or not plain.endswith((".ignore_missing_imports", ".follow_imports")):
        return False
    section = key.rsplit(".", 1)[0].removeprefix("tool.").removeprefix("mypy").removeprefix(".overrides").lstrip(".-")
    modules = [m.strip(" '\"").partition(".")[0] for m in section.strip("[]").split(",")]
    own = {
        part.partition(".")[0]
        for p in (*evidence.base.entries, *evidence.merged.entries)
        if p.endswith((".py", ".pyi", ".pyx", ".so")) and not _VENDORED & set(p.split("/"))
        for part in p.split("/")
    }
    return bool(modules) and all(re.fullmatch(r"[A-Za-z]\w*", m) and m not in own for m in modules)
