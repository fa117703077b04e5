"""Settings of checkers that changed and lose nothing: rules that never held, places that went, figures that nothing is measured by."""

from __future__ import annotations

import re
from typing import Any

from gatekeeper.checks.config_weakening.keys import plain_key
from gatekeeper.checks.config_weakening.type_checkers import IN_STRICT
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.tree import Tree, text
from gatekeeper.formats.tool_settings import is_settings, words

_FORMATTER = frozenset({
    "W191", "E111", "E114", "E117", "D206", "D300", "Q000", "Q001", "Q002", "Q003", "Q004", "COM812", "COM819", "ISC001", "ISC002", "E203", "E501", "W503", "W504", "E701", "E704",
    "UP038",
})  # fmt: skip
"""Rules that formatters contradict or decide themselves, and one that its linter took back."""
_IGNORES = re.compile(r"(.*?)\.?(?:extend[_-])?(?:per[_-]file[_-]ignores?\..+|ignore)$")


def of_formatters(key: str, old: Any, new: Any) -> bool:
    """Only rules are passed over that a formatter settles."""
    gained = set(words(new)) - set(words(old))
    return (
        bool(re.search(r"(?:^|\.)(?:ruff|flake8|pycodestyle)\b.*ignore", key)) and bool(gained) and gained <= _FORMATTER
    )


_ASIDE = re.compile(
    r"per[_-]file[_-]ignores?\.['\"]?((?:\*\*/)?(?:(?:tests?|testing|docs?|examples?|benchmarks?|scripts)(?:/.*)?|(?:test_|conftest|[*]_test|setup|noxfile)[^/]*)|(?:\*\*/|src/[\w/]*)?__init__\.py)['\"]?$"
)
_FAULTS = ("F", "E9", "PLE", "PLW", "B", "ALL", "S6", "S3")


def beside_the_code(key: str, old: Any, new: Any) -> bool:
    """Rules of taste for files of tests, and unused imports of a file whose purpose is to import."""
    if key == "flake8.per-file-ignores":
        # flake8 has all files in one value: each counts as a setting of its own, as ruff writes it.
        was, now = _by_file(old), _by_file(new)
        gains = {f: [*now[f]] for f in now if now[f] - was.get(f, frozenset())}
        return (
            bool(gains)
            and not any(".." in f for f in gains)
            and all(
                beside_the_code(f"flake8.per-file-ignores.{f}", [*was.get(f, ())], codes) for f, codes in gains.items()
            )
        )
    found = _ASIDE.search(key)
    gained = set(words(new)) - set(words(old))
    if found is None or not gained:
        return False
    if found.group(1).endswith("__init__.py"):
        return gained <= {"F401", "F403", "E402", "D104", "PLC0414"}
    return not any((g.startswith(_FAULTS) and not g.startswith("FBT")) or g in ("E", "PL", "PT", "S") for g in gained)


def _by_file(value: Any) -> dict[str, frozenset[str]]:
    """`a.py, b.py: F401 E402` of flake8 as file -> rules; rules that stand before any file belong to the empty name."""
    table: dict[str, frozenset[str]] = {}
    files: list[str] = [""]
    given = True
    for part in re.findall(r"[^\s,:]+|:", "\n".join(value) if isinstance(value, list) else str(value or "")):
        if part == ":":
            given = True
        elif given and re.fullmatch(r"[A-Z]{1,8}\d*", part):
            for file in files:
                table[file] = table.get(file, frozenset()) | {part}
        else:
            files = [part] if given else [*files, part]
            given = False
    return table


def never_selected(key: str, before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Exceptions from rules that the same change makes a linter look at: less than all of what is new is still more."""
    found = _IGNORES.fullmatch(key)
    if found is None:
        return False
    stem = found.group(1)
    stems = {stem, stem.removesuffix("lint").rstrip("."), f"{stem.removesuffix('lint').rstrip('.')}.lint".lstrip(".")}
    old, new = (
        {
            w
            for at in stems
            for s in ("select", "extend-select", "extend_select")
            for w in words(t.get(f"{at}.{s}".lstrip(".")))
        }
        for t in (before, after)
    )
    if not any(f"{at}.select".lstrip(".") in before for at in stems):
        old |= (
            {"E", "F", "W", "C90"} if "flake8" in stem else {"E4", "E7", "E9", "F"}
        )  # what they look at by themselves
    if any(k.rsplit(".", 1)[-1] == "extend" for k in (*before, *after)):
        return False  # what another file selects is not known here
    gained = [w for w in words(after.get(key)) if w not in words(before.get(key))]
    known = any(g.startswith(c) or c.startswith(g) for g in gained for c in old)
    return bool(old and gained) and not known and "ALL" not in old and all(any(g.startswith(c) for c in new - old) for g in gained)  # fmt: skip


def place_went(evidence: Evidence, key: str, old: Any, new: Any) -> bool:
    """A package that coverage looked at has another name now: its files are gone, and are in a place that is looked at."""
    if not re.fullmatch(r"coverage\.run\.(?:source|source_pkgs|include)", plain_key(key)):
        return False
    lost, gained = (
        [w.rstrip("/").removeprefix("./") for w in words(a) if w not in words(b)] for a, b in ((old, new), (new, old))
    )
    if not lost or len(gained) < len(lost):
        return False
    homes = [home for home in gained if _files(evidence.merged, home) and not _files(evidence.base, home)]
    names = {name for home in homes for name in _files(evidence.merged, home)}
    return all(
        (had := _files(evidence.base, place))
        and not _files(evidence.merged, place)
        and 2 * len(had & names) >= len(had)
        for place in lost
    )


def _files(tree: Tree, place: str) -> set[str]:
    """Code below a folder or in a package, by its path from there."""
    path = place if "/" in place else place.replace(".", "/")
    if not re.fullmatch(r"[\w./-]+", path):
        return set()
    heads = tuple(f"{start}{path}/" for start in ("", "src/", "lib/"))
    return {
        p.removeprefix(head)
        for p in tree.entries
        for head in heads
        if p.startswith(head) and p.endswith((".py", ".pyx"))
    }


def of_nothing(evidence: Evidence, key: str, old: Any, new: Any, after: dict[str, Any]) -> bool:
    """A switch of mypy for single modules that are not there, or that strict sets for all of them."""
    plain = plain_key(key)
    found = re.fullmatch(r"mypy[.-](?:overrides\.)?(.+)\.(\w+)", plain)
    if found is None or new is not None:
        return False
    strict = any(plain_key(k) == "mypy.strict" and v is True for k, v in after.items())
    if strict and old is True and IN_STRICT.fullmatch(f"mypy.{found.group(2)}"):
        return True
    modules = [m.strip(" '\"") for m in found.group(1).strip("[]").split(",")]
    own = {
        part.partition(".")[0].lower()
        for t in (evidence.base, evidence.merged)
        for p in t.entries
        for part in p.split("/")
    }
    return all(re.fullmatch(r"[a-z][\w.]*(?:\.\*)?", m) and m.partition(".")[0] not in own for m in modules)


def unmeasured(evidence: Evidence) -> bool:
    """No limit of coverage stands anywhere in the base, so that what is measured of it only informs."""
    wanted = re.compile(r"fail[_-]under\W{1,5}(?!0\b)\d|check[_-]coverage|cov-fail-under|coverageThreshold")
    commands = [*evidence.ticket.verify, *(s.command or "" for s in evidence.suites)]
    if any(map(wanted.search, commands)):
        return False
    for path, entry in evidence.base.entries.items():
        name = path.rsplit("/", 1)[-1].lower()
        if name in ("codecov.yml", ".codecov.yml", "codecov.yaml", ".codecov.yaml", ".coveralls.yml"):
            return False
        looked = is_settings(path) or name.endswith((".yml", ".yaml", ".toml", ".cfg", ".ini", ".sh", ".mk", ".json", ".cmd", ".bat", ".ps1")) or name in ("makefile", "justfile", "noxfile.py", ".coveragerc") or "." not in name  # fmt: skip
        if looked and (entry.size or 0) < 500_000 and wanted.search(text(evidence.base, path) or ""):
            return False
    return True
