"""Numeric limits, switches and lists of tools, compared in the direction that demands less."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from gatekeeper.checks.config_weakening.ci_commands import started
from gatekeeper.checks.config_weakening.keys import WHOSE, plain_key, plain_tool, read_there, tool_of
from gatekeeper.checks.config_weakening.no_loss import (
    beside_the_code,
    never_selected,
    of_formatters,
    of_nothing,
    place_went,
    unmeasured,
)
from gatekeeper.checks.config_weakening.reach import left_out, unused
from gatekeeper.checks.config_weakening.type_checkers import IN_STRICT, exchanged, of_strangers, off_under_strict
from gatekeeper.checks.config_weakening.value_words import demands_less, sure
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.globs import matches
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.tool_settings import is_settings, read, words

_LOWER_IS_WEAKER = re.compile(r"(?:^|[._-])(?:fail[_-]under|min(?:imum)?|threshold|target|branches|functions|lines|statements|score|required)(?:$|[._-])", re.IGNORECASE)  # fmt: skip
_HIGHER_IS_WEAKER = re.compile(
    r"(?:^|[._-])(?:max(?:imum)?|line[_-]length|complexity|tolerance|allowed|warnings|limit)(?:$|[._-])", re.IGNORECASE
)
_TRUE_IS_STRICT = re.compile(r"(?:^|[._-])(?:strict\w*|warn_\w+|disallow_\w+|check_\w+|no_implicit\w*|no_\w+|branch|fail_on\w*|enable\w*|error\w*|verify\w*|noImplicit\w*|noUnused\w*|noUnchecked\w*|exactOptional\w*|use[A-Z]\w*)$")  # fmt: skip
_TRUE_IS_LAX = re.compile(
    r"(?:^|[._-])(?:ignore_\w+|allow_\w+|skip_\w+|disable\w*|exit[_-]zero|skip\w*|implicit_\w+|exclude\w*|allow[A-Z]\w*)$"
)
_LIST_LAX = re.compile(r"(?:^|[._-])(?:(?:extend[_-])?ignore\w*|(?:extend[_-])?exclude\w*|omit|disable\w*|lint_ignore|skip\w*|(?:extend[_-])?per[_-]file[_-]ignores?.*|exclude_also|exclude_lines|whitelist|allow\w*|ignore[_-]paths|baseline|unfixable_ok|disable_error_code)$", re.IGNORECASE)  # fmt: skip
_LIST_STRICT = re.compile(
    r"(?:^|[._-])(?:(?:extend[_-])?select|enable\w*|rules|checks|source|source_pkgs|include|files|packages|plugins|fail[_-]on\w*|required|enable_error_code)$",
    re.IGNORECASE,
)
_OWNED_ELSEWHERE = re.compile(r"^(?:tool\.pytest|pytest|tool:pytest|tool\.(?:setuptools|poetry|hatch|pdm|uv|flit|bumpversion|commitizen|towncrier|isort|black|semantic_release)|project|dependencies|devDependencies|scripts|jest\.test|name|version|metadata|options|bdist|egg_info|sdist|aliases)(?:$|[.:])")  # fmt: skip
_NO_CHECK = frozenset({
    "skip_install", "skip_missing_interpreters", "skip_covered", "skip_empty", "skip_string_normalization", "skip-string-normalization",
    "skip-magic-trailing-comma", "skip_magic_trailing_comma", "skip_dist", "skipsdist", "skip_package", "allowlist_externals",
    "whitelist_externals", "show_error_codes", "show_error_context", "show_column_numbers",
})  # fmt: skip
"""Names that look like switches of a check and are none: how things are installed, shown or laid out."""
_STYLE = re.compile(
    r"(?:E1|E2|E3|E5|E70|W1|W2|W3|W5|W6|UP|D|COM|Q|ISC|N8|I0|Q0|FIX|TD|ANN|EM|TRY003|SIM|FURB|RUF00[123]|B950|PT0)\d*"
)
"""Rules of linters about layout, names, documentation and idiom."""
_NEVER_RUN = re.compile(
    r"(?:# )?pragma: no cover|(?:\^?\s*)?if (?:\w+\.)?TYPE_CHECKING:?|(?:\\s\*)?raise (?:NotImplementedError|AssertionError)(?:\(\)|\\\(\\\)|\\b)?"
    r"|(?:\^|\\s\*)*:? ?(?:\\\.){3}\$?|: \\\.\{3\}|(?:@(?:\w+\\?\.)?|@\(abc\\\.\)\?)(?:abstractmethod|overload)"
    r"|if __name__ == (?:\.|\\?['\"]|\[(?:'\"|\"')\])__main__(?:\.|\\?['\"]|\[(?:'\"|\"')\])(?:\\?:)?|def __repr__|assert_never\(?|class .*\\bProtocol\\\):"
)
"""Lines that coverage customarily leaves out, as patterns: they do not run, or only where something is wrong."""
_RULE_WORDS = {"off": 0, "0": 0, "warn": 1, "1": 1, "warning": 1, "error": 2, "2": 2}


def weakened_limits(evidence: Evidence) -> tuple[Finding, ...]:
    """One finding a settings file, which lists all that demands less."""
    out = []
    for changed in evidence.change.paths:
        path = changed.path
        if not is_settings(path) or changed.old is None:
            continue
        before = read(path, text(evidence.base, path) or "")
        if before is None:
            continue
        before = {k: v for k, v in before.items() if not _OWNED_ELSEWHERE.match(k)}
        after_text = text(evidence.merged, path)
        after = read(path, after_text) if after_text is not None else {}
        if permitted(evidence, path):
            continue
        if after is None:
            out.append(
                finding("LIMIT_LOWERED", f"{path} can no longer be read, so its limits no longer hold.", path=path)
            )
            continue
        earlier = settings_elsewhere(evidence, path, base=True)
        if earlier:
            alone = _tools_set_once(evidence, path)
            earlier = {k: v for k, v in earlier.items() if plain_tool(k) in alone}
        moved = settings_elsewhere(evidence, path) | {plain_key(k): v for k, v in after.items() if read_there(path, k)}
        respelled = {plain_key(k): v for k, v in before.items() if k not in after and plain_key(k).startswith("ruff.")}
        lost = {
            key: w
            for key in sorted({*before, *after})
            if not _OWNED_ELSEWHERE.match(key)
            and (w := weaker(key, before.get(key), after.get(key)) or off_under_strict(key, before, after))
            and not _kept_elsewhere(key, before.get(key), after.get(key), moved)
            and not of_strangers(evidence, key)
            and not _first_reach(key, before)
            and not _came_from(key, before.get(key), after.get(key), earlier | respelled)
            and not never_selected(key, before, after)
            and not beside_the_code(key, before.get(key), after.get(key))
            and not of_formatters(key, before.get(key), after.get(key))
            and not place_went(evidence, key, before.get(key), after.get(key))
            and not of_nothing(evidence, key, before.get(key), after.get(key), after)
        }
        whose = WHOSE.get(path.rsplit("/", 1)[-1])
        excluded = {
            k: left_out(evidence, k, whose or tool_of(k), before, after)
            for k in lost
            if re.search(r"(?:^|[.-])exclude$", k)
        }
        owner = {k: whose or tool_of(k) for k in lost}
        arrived = {t for t in owner.values() if all(before.get(k) is None for k in lost if owner[k] == t)}
        arrived = {t for t in arrived if re.fullmatch(r"\w+", t) and unused(evidence, t)}
        lost = {k: w for k, w in lost.items() if owner[k] not in arrived}
        lost = {k: w for k, w in lost.items() if (k not in excluded) or excluded[k] is not None}
        if lost:
            worse = list(lost.values())
            first = worse[0].split(" ", 1)[0].rsplit(".", 1)[-1]
            line = next((i for i, row in enumerate((after_text or "").splitlines(), 1) if first in row), None)
            had = {plain_key(k): v for k, v in before.items()}
            runs = partial(started, evidence)
            weights = {
                excluded.get(key) or _weight(key, before.get(key), after.get(key), had, moved, runs) for key in lost
            }
            if Effect.BLOCKS in weights and all(map(_of_coverage, lost)) and unmeasured(evidence):
                weights = {Effect.ADVISES} if all(plain_key(k).endswith(".branch") for k in lost) else {Effect.ASKS}
            effect = next(e for e in (Effect.BLOCKS, Effect.ASKS, Effect.ADVISES) if e in weights)
            out.append(finding(
                "LIMIT_LOWERED", f"{path} demands less: {'; '.join(worse[:5])}.", path=path, line=line,
                evidence="\n".join(worse[:20]), key="; ".join(worse), effect=effect,
            ))  # fmt: skip
    return tuple(out)


def _of_coverage(key: str) -> bool:
    """What coverage is measured of and how; its limits are none of it."""
    return bool(
        re.fullmatch(
            r"coverage\.(?:run|report)\.(?:branch|source|source_pkgs|omit|include|exclude_also|exclude_lines)",
            plain_key(key),
        )
    )


def _weight(
    key: str, old: Any, new: Any, had: dict[str, Any], has: dict[str, Any], runs: Callable[[str], bool]
) -> Effect:
    """Of one lost demand: advice beyond what strict holds, a question of style or where something came in exchange."""
    plain = plain_key(key)
    strict = had.get("mypy.strict") is True and has.get("mypy.strict") is True
    if strict and old is True and plain in ("mypy.warn_unreachable", "mypy.warn_incomplete_stub"):
        return Effect.ADVISES
    if (
        style_only(key, old, new)
        or not sure(key, old)
        or (old is None and new is False and IN_STRICT.search(f"mypy.{plain.rpartition('.')[2]}"))
        or exchanged(key, old, new, had, has, runs)
    ):
        return Effect.ASKS
    return Effect.BLOCKS


def style_only(key: str, old: Any, new: Any) -> bool:
    """A linter is told to pass over rules of layout, naming or spelling only: no fault of the code hides behind them."""
    if not re.search(r"(?:^|\.)(?:ruff|flake8|pycodestyle)\b", key) or "ignore" not in key:
        return False
    gained = [w for w in words(new) if w not in words(old)]
    return bool(gained) and all(_STYLE.fullmatch(w) for w in gained)


def settings_elsewhere(evidence: Evidence, path: str, *, base: bool = False) -> dict[str, Any]:
    """What the other settings files say, or said, that this change touched, by a key that is the same in every format.

    Only those at the root or beside `path` speak for it: a tool reads no settings of examples.
    """
    tree, folder = evidence.base if base else evidence.merged, path.rpartition("/")[0]
    found: dict[str, Any] = {}
    for changed in evidence.change.paths:
        near = changed.path.rpartition("/")[0] in ("", folder)
        if changed.path != path and near and is_settings(changed.path) and (changed.old if base else changed.new):
            content = text(tree, changed.path) or ""
            told = read(changed.path, content) or {}
            if (whose := WHOSE.get(changed.path.rsplit("/", 1)[-1])) == "ruff":
                told = {f"{whose}.{k}": v for k, v in told.items()}
            found |= {plain_key(k): v for k, v in told.items() if read_there(changed.path, k)}
    return found


def _tools_set_once(evidence: Evidence, path: str) -> set[str]:
    """Tools that exactly one settings file of the base, at the root or beside `path` and not `path` itself, set up."""
    folder = path.rpartition("/")[0]
    seen: dict[str, set[str]] = {}
    for p in evidence.base.entries:
        if p.rpartition("/")[0] in ("", folder) and is_settings(p):
            for key in read(p, text(evidence.base, p) or "") or {}:
                seen.setdefault(plain_tool(key), set()).add(p)
    return {tool for tool, files in seen.items() if len(files) == 1 and path not in files}


def _first_reach(key: str, before: dict[str, Any]) -> bool:
    """Which files coverage is measured of, said where nothing was said of coverage yet: no number held before."""
    return bool(re.fullmatch(r"coverage\.\w+\.include", plain_key(key))) and "coverage" not in map(plain_tool, before)


def _came_from(key: str, old: Any, new: Any, earlier: dict[str, Any]) -> bool:
    """A setting that another file, the only one that counted, held before, where it demanded no more."""
    plain = plain_key(key)
    return old is None and plain in earlier and weaker(key, earlier[plain], new) is None


def _kept_elsewhere(key: str, old: Any, new: Any, elsewhere: dict[str, Any]) -> bool:
    """The setting went to another file and demands as much there; `strict` of mypy stands for its single switches."""
    if new is not None:
        return False
    plain = plain_key(key)
    if elsewhere.get("mypy.strict") is True and isinstance(old, bool) and IN_STRICT.fullmatch(plain):
        return True
    if plain in elsewhere and weaker(key, old, elsewhere[plain]) is None:
        return True
    linter, _, rest = plain.partition(".")
    if linter == "flake8" and rest in ("select", "extend_select", "enable_extensions"):
        chosen = [
            w for k, v in elsewhere.items() if re.fullmatch(r"ruff\.(?:lint\.)?(?:extend_)?select", k) for w in words(v)
        ]
        if not chosen and "flake8.extend_select" in elsewhere and "flake8.select" not in elsewhere:
            chosen = [*words(elsewhere["flake8.extend_select"]), "E", "F", "W", "C90"]  # these it selects by itself
        return bool(chosen) and all(any(w.startswith(c) or c == "ALL" for c in chosen) for w in words(old))
    return False


def permitted(evidence: Evidence, path: str, *more: PermitKind) -> bool:
    """True where a permit for instruments, or of one of the kinds `more`, names this file."""
    kinds = (PermitKind.CHANGE_INSTRUMENTS, *more)
    return any(matches(g, path) for k in kinds for p in evidence.ticket.permits_of(k) for g in p.paths)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def weaker(key: str, old: Any, new: Any) -> str | None:
    """What is weaker at this key with the value `new`, in words; None where nothing is."""
    if old == new or (old is None and new is None):
        return None
    name = key.rsplit(".", 1)[-1]
    if name in _NO_CHECK or plain_key(key).startswith("coverage.paths."):
        return None  # the latter says which folders are the same one, not what is measured
    said = f"{key} {_short(old)} -> {_short(new)}"
    if name == "strict_optional" and new is False:
        return said
    ordered = demands_less(key, old, new)
    if ordered is not None:
        return said if ordered else None
    a, b = _number(old), _number(new)
    lower, higher = _LOWER_IS_WEAKER.search(key), _HIGHER_IS_WEAKER.search(name)
    if a is not None and (b is not None or new is None):
        if lower and not higher and (b is None or b < a):
            return said
        if higher and b is not None and b > a:
            return said
        return None
    if isinstance(old, bool) or isinstance(new, bool):
        if _TRUE_IS_LAX.search(name) and not name.startswith("no_") and new is True:
            return said
        strict = _TRUE_IS_STRICT.search(name) and not re.match(r"(?:ignore|allow|skip|disable)_", name)
        return said if strict and old is True and new is not True else None
    if (
        isinstance(old, str)
        and old.lower() in _RULE_WORDS
        and (new is None or (isinstance(new, str) and new.lower() in _RULE_WORDS))
    ):
        return said if _RULE_WORDS[old.lower()] > _RULE_WORDS[(new or "off").lower()] else None
    if isinstance(old, list) and isinstance(new, list) and old and new and str(old[0]) in _RULE_WORDS:
        return said if _RULE_WORDS[str(old[0])] > _RULE_WORDS.get(str(new[0]), 2) else None
    gained = [w for w in words(new) if w not in words(old)]
    lost = [w for w in words(old) if w not in words(new)]
    if name in ("files", "include", "source", "packages"):
        # A folder in place of one that lies in it: `src` for `src/shop`.
        lost = [w for w in lost if not any(f"{w.rstrip('/')}/".startswith(f"{g.rstrip('/')}/") for g in gained)]
    if re.search(r"select$", name):
        # `TC` holds `TCH` and `TC001`, and `P` not `PLE`: letters name other rules.
        lost = [
            w for w in lost if not any(re.fullmatch(rf"{re.escape(g)}\d*", re.sub("^TCH", "TC", w)) for g in words(new))
        ]
    if name in ("exclude_also", "exclude_lines"):
        gained = [w for w in gained if not _NEVER_RUN.fullmatch(w)]
    if (
        _LIST_LAX.search(name)
        or re.search(r"per[_-]file[_-]ignores?\.", key)
        or (_LIST_LAX.search(key.rsplit(".", 1)[0].rsplit(".", 1)[-1]) and "ignore" in key)
    ) and gained:
        return f"{key} gains {_short(gained)}"
    if (
        _LIST_STRICT.search(name)
        and lost
        and not (new is None and name in ("files", "include", "packages"))
        and "ALL" not in words(new)
    ):
        return f"{key} loses {_short(lost)}"
    return None


def _short(value: Any) -> str:
    return "none" if value is None else str(value)[:80]
