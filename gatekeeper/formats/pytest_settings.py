"""Settings of pytest as it would read them: which file counts in a folder, its values, and how two sets compare.

pytest 9 looks in each folder for pytest.toml, .pytest.toml, pytest.ini, .pytest.ini, pyproject.toml, tox.ini and
setup.cfg, in that order; the first four count even when they are empty.
"""

from __future__ import annotations

import configparser
import fnmatch
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable
from typing import Any

ORDER = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_ALWAYS = frozenset(ORDER[:4])
MAX_TEXT = 1_000_000
Values = dict[str, Any]
_DEFAULTS: Values = {"python_files": "test_*.py *_test.py", "python_classes": "Test", "python_functions": "test"}
_LISTS = (
    "python_files",
    "python_classes",
    "python_functions",
    "testpaths",
    "norecursedirs",
    "addopts",
    "required_plugins",
)
# Options that take away tests, results or strictness. With a value in the next word: True.
_WEAKENING = {
    "-k": True, "-m": True, "--deselect": True, "--ignore": True, "--ignore-glob": True, "-p": True, "-o": True,
    "--override-ini": True, "-c": True, "--config-file": True, "--rootdir": True, "--confcutdir": True, "-W": True,
    "--pythonwarnings": True, "--noconftest": False, "--co": False, "--collect-only": False, "--lf": False,
    "--last-failed": False, "--sw": False, "--stepwise": False, "--stepwise-skip": False, "--sw-skip": False, "--nf": False,
    "--reruns": True, "--suppress-no-test-exit-code": False, "--no-cov": False, "--pyargs": False, "--setup-only": False,
    "--setup-plan": False, "--fixtures": False, "--version": False, "--help": False, "-h": False, "-V": False,
    "--disable-plugin-autoload": False, "--no-cov-on-fail": False, "--testmon": False, "--picked": False,
}  # fmt: skip
_STRICT = ("--strict-markers", "--strict-config", "--strict", "--doctest-modules", "--runxfail", "--doctest-glob", "--cov-fail-under", "--cov")  # fmt: skip
_STRICT_KEYS = (
    "xfail_strict",
    "strict",
    "strict_markers",
    "strict_config",
    "strict_xfail",
    "strict_parametrization_ids",
)


def values(name: str, text: str) -> Values | None:
    """The settings that a file of that name holds; None where pytest would not take it, {} where it is empty or broken."""
    always = name in _ALWAYS
    if len(text) > MAX_TEXT:
        return {} if always else None
    try:
        if name.endswith(".toml"):
            table: Any = tomllib.loads(text)
            if name == "pyproject.toml":
                tool = table.get("tool", {}).get("pytest")
                if not isinstance(tool, dict):
                    return None
                return dict(tool.get("ini_options", tool))
            found = table.get("pytest", {})
            return dict(found) if isinstance(found, dict) else {}
        parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
        parser.read_string(text)
        section = "tool:pytest" if name == "setup.cfg" else "pytest"
        if not parser.has_section(section):
            return {} if always else None
        return dict(parser.items(section))
    except (configparser.Error, ValueError, RecursionError, AttributeError, TypeError):
        return {} if always else None


def effective(folder: str, read: Callable[[str], str | None]) -> tuple[str, Values] | None:
    """(path, values) of the file that counts in one folder ('' is the root), or None."""
    for name in ORDER:
        path = f"{folder}/{name}" if folder else name
        text = read(path)
        if text is not None and (found := values(name, text)) is not None:
            return path, found
    return None


def weakened(old: Values, new: Values, tests: Iterable[str] = ()) -> list[str]:
    """What `new` takes away, in words. `tests` are paths of test modules relative to the folder of the settings."""
    modules = list(tests)
    out = _options(_list(old, "addopts"), _list(new, "addopts"))
    for key in ("python_files", "python_classes", "python_functions"):
        patterns = _list(new, key)
        lost = [p for p in _list(old, key) if not any(_covers(n, p) for n in patterns)]
        if key == "python_files" and lost:
            names = {m.rsplit("/", 1)[-1] for m in modules}
            lost = [p for p in lost if not names or any(_fits(n, [p]) and not _fits(n, patterns) for n in names)]
        if lost:
            out.append(f"{key} no longer covers {', '.join(lost)} (now: {', '.join(patterns) or 'nothing'})")
    out += _paths(_list(old, "testpaths"), _list(new, "testpaths"), modules)
    skipped = [d for d in _list(new, "norecursedirs") if d not in _list(old, "norecursedirs")]
    if any(_inside(m, d) for m in modules for d in skipped):
        out.append(f"norecursedirs now leaves out {', '.join(skipped)}")
    for key in _STRICT_KEYS:
        if _true(old.get(key)) and not _true(new.get(key)):
            out.append(f"{key} is off")
    if any(w.startswith("error") for w in _lines(old.get("filterwarnings"))) and not any(
        w.startswith("error") for w in _lines(new.get("filterwarnings"))
    ):
        out.append("filterwarnings no longer turns warnings into errors")
    gone = [p for p in _list(old, "required_plugins") if p not in _list(new, "required_plugins")]
    if gone:
        out.append(f"required_plugins lost {', '.join(gone)}")
    return out


def listed(table: Values, key: str) -> list[str]:
    """The words of one setting, pytest's own where the table has none."""
    return _list(table, key)


def _list(table: Values, key: str) -> list[str]:
    value = table.get(key, _DEFAULTS.get(key, ""))
    if isinstance(value, list):
        words = [str(v) for v in value]
        return (
            words
            if key != "addopts"
            else [w for v in words for w in (split_words(v) if v.startswith("-") and " " in v else [v])]
        )
    return split_words(str(value))


def split_words(text: str) -> list[str]:
    """Words as a shell reads them; at blanks where the quotes do not close."""
    try:
        return shlex.split(text, comments=False)
    except ValueError:
        return text.split()


def _lines(value: Any) -> list[str]:
    if isinstance(value, list):
        return [str(v).strip() for v in value]
    return [line.strip() for line in str(value or "").splitlines() if line.strip()]


def _true(value: Any) -> bool:
    return value is True or str(value).strip().lower() in ("true", "1", "yes", "on")


def _covers(new: str, old: str) -> bool:
    """Every name that `old` matches is matched by `new`: classes and functions are prefixes or globs."""
    if new in (old, "*"):
        return True
    bare_new, bare_old = new.rstrip("*"), old.rstrip("*")
    plain = not re.search(r"[*?\[]", bare_new)
    open_end = not new.endswith(".py")
    return plain and open_end and bare_old.startswith(bare_new)


def _fits(name: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, p) for p in patterns)


def _inside(module: str, folder: str) -> bool:
    clean = folder.removeprefix("./").rstrip("/")
    return (
        not clean
        or clean in (".", module)
        or module.startswith(f"{clean}/")
        or fnmatch.fnmatchcase(module, f"{clean}/*")
    )


def _paths(old: list[str], new: list[str], modules: list[str]) -> list[str]:
    if not new:
        return []
    seen = [m for m in modules if not old or any(_inside(m, d) for d in old)]
    lost = [m for m in seen if not any(_inside(m, d) for d in new)]
    dropped = [d for d in old if d not in new and not any(_inside(d, n) for n in new)]
    if lost or (dropped and not modules):
        return [f"testpaths {', '.join(new)} leaves out {', '.join((lost or dropped)[:3])}"]
    return []


def _options(old: list[str], new: list[str]) -> list[str]:
    before, after = option_pairs(old), option_pairs(new)
    out = [
        f"option {name} {value}".strip() + " was added"
        for name, value in after
        if (name, value) not in before and weak_option(name, value)
    ]
    names = {n for n, _ in after}
    out += [f"option {n} was removed" for n, _ in before if n in _STRICT and n not in names]
    out += [
        f"option -W {v} was removed"
        for n, v in before
        if n in ("-W", "--pythonwarnings") and v.startswith("error") and (n, v) not in after
    ]
    limits = [dict(side).get("--cov-fail-under") for side in (before, after)]
    if all(limits) and _number(limits[1]) < _number(limits[0]):
        out.append(f"option --cov-fail-under went from {limits[0]} to {limits[1]}")
    return out


def _number(value: str | None) -> float:
    try:
        return float(value or 0)
    except ValueError:
        return 0.0


def option_pairs(words: list[str]) -> list[tuple[str, str]]:
    """(option, value) of a command line; a word that is no option is ("", word)."""
    out: list[tuple[str, str]] = []
    skip = False
    for index, word in enumerate(words):
        if skip:
            skip = False
            continue
        name, sep, value = word.partition("=")
        if not word.startswith("-"):
            out.append(("", word))
        elif sep:
            out.append((name, value))
        elif (_WEAKENING.get(word) or word in ("--cov-fail-under", "-n", "--maxfail")) and index + 1 < len(words):
            out.append((word, words[index + 1]))
            skip = True
        elif len(word) > 2 and word[:2] in ("-k", "-m", "-p", "-W", "-o", "-c") and word[1] != "-":
            out.append((word[:2], word[2:]))
        else:
            out.append((word, ""))
    return out


def weak_option(name: str, value: str) -> bool:
    """True for an option that takes away tests, results or strictness."""
    if name in ("-W", "--pythonwarnings"):
        return value.startswith("ignore") and value.count(":") == 0
    if name == "-p":
        return value.startswith("no:") and value not in ("no:cacheprovider", "no:randomly")
    if name == "--assert":
        return value == "plain"
    return name in _WEAKENING
