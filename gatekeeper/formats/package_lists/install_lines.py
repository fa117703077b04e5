"""Packages that lines of a shell install or run: pip, pipx, uv, conda, npm, yarn, pnpm, go, cargo and gem.

Words are split at blanks; what stands behind a variable or a pattern is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from gatekeeper.formats.python_requirements.manifest import OUTSIDE, Dependency, canonical, requirement

MAX_TEXT = 400_000
_MAX_COMMANDS = 2_000
_MAX_WORDS = 200
_VALUED = frozenset({
    "-r", "-c", "-e", "-i", "-f", "-t", "-p", "-n", "--requirement", "--constraint", "--editable", "--index-url", "--extra-index-url",
    "--find-links", "--target", "--prefix", "--root", "--python", "--python-version", "--platform", "--only-binary", "--no-binary",
    "--trusted-host", "--cache-dir", "--src", "--log", "--proxy", "--retries", "--timeout", "--config-settings", "--global-option",
    "--progress-bar", "--upgrade-strategy", "--report", "--index", "--default-index", "--name", "--channel", "--file", "--registry",
    "--version", "--branch", "--tag", "--rev", "--features", "--bin", "--group", "--extra", "--index-strategy", "--overrides", "--build-constraint",
    "--refresh-package", "--upgrade-package", "-P", "-C", "--no-build-package", "--exclude-newer", "--resolution", "--link-mode",
})  # fmt: skip
"""Options with a value behind them that is no package."""
_PACKAGE = frozenset({"--with", "--from", "--spec", "--package", "--include-deps", "--git", "--pip-args"})
"""Options whose value is a package, or says where it comes from."""


def installed(text: str) -> list[tuple[str, Dependency]]:
    """Family and package of everything that the lines install or run by name; `source` where it is no name."""
    whole = re.sub(r"\\\r?\n", " ", text[:MAX_TEXT])
    whole = re.sub(r"\$\{\{[^}\n]{0,500}\}\}", "$", whole)  # blanks in it would make words of it
    found: list[tuple[str, Dependency]] = []
    starts = list(islice(_command().finditer(whole), _MAX_COMMANDS))
    for match, following in zip(starts, [*(m.start() for m in starts[1:]), len(whole)], strict=False):
        kind = next(k for k, v in match.groupdict().items() if v)
        line = re.split(r"[;&|\n)`]", whole[match.end() : min(following, match.end() + 10_000)], maxsplit=1)[0]
        words = line.split()[:_MAX_WORDS]
        running = kind in ("uvx", "npx", "pipx", "gorun")
        for word in _packages(words, first=running, with_options=kind in ("uvx", "pipx", "uvrun")):
            if kind != "uvrun" or word.startswith("--"):
                one = _read(kind, word.removeprefix("--with="))
                if one is not None:
                    found.append((_FAMILY[kind], one))
    return found


_FAMILY = {
    "pip": "python", "uvx": "python", "pipx": "python", "uvrun": "python", "conda": "python", "npm": "npm", "npx": "npm", "go": "go",
    "gorun": "go", "cargo": "cargo", "gem": "gem",
}  # fmt: skip


def _packages(words: list[str], *, first: bool, with_options: bool) -> Iterator[str]:
    """The words that name packages; with `first`, what follows the first of them belongs to the program that is run."""
    skip = named = False
    for at, raw in enumerate(words):
        word = raw.strip("\"'")
        if skip:
            skip = False
            continue
        if word.startswith("#") or word in (">", ">>", "<", "2>", "||"):
            return
        if word.startswith("-"):
            option, equals, value = word.partition("=")
            if option in _PACKAGE and with_options:
                given = value if equals else (words[at + 1].strip("\"'") if at + 1 < len(words) else "")
                skip = not equals
                if given:
                    yield f"--with={given}"
                named = named or option in ("--from", "--spec")
            else:
                skip = (option in _VALUED or option in _PACKAGE) and not equals
            continue
        if not named:
            yield word
        if first or named:
            return


def _read(kind: str, word: str) -> Dependency | None:
    if (
        re.search(r"[$%*{}<>\\]", word.replace(">=", "").replace("<=", "").replace(">", "").replace("<", ""))
        or not word
    ):
        return None
    if OUTSIDE.match(word):
        remote = re.match(r"(?:[a-z0-9+.-]+://|git@|git\+|github:|gitlab:|bitbucket:)", word, re.IGNORECASE)
        return Dependency(word[:200], source=word[:300]) if remote and "://pypi" + ".org/simple" not in word else None
    if kind in ("npm", "npx"):
        return Dependency((word[:1] + word[1:].partition("@")[0])[:200])
    if kind in ("go", "gorun"):
        name, at, _ = word.partition("@")
        return Dependency(name[:200]) if at and "." in name.partition("/")[0] else None
    if kind in ("cargo", "gem"):
        return Dependency(word.partition("@")[0][:200]) if re.fullmatch(r"[\w.@-]+", word) else None
    if "/" in word or word.endswith((".whl", ".tar.gz", ".zip", ".txt", ".in", ".toml")):
        return None
    if kind == "conda":
        plain = re.match(r"(?:[\w-]+::)?([A-Za-z_][\w.-]*)", word)
        return Dependency(canonical(plain[1])) if plain else None
    spec = re.sub(r"@(?=\d|latest)", "==", word) if kind in ("uvx", "uvrun") else word
    return requirement(spec.replace("==latest", "")) if re.match(r"[A-Za-z0-9]", spec) else None


@cache
def _command() -> re.Pattern[str]:
    start = r"(?<![\w./-])"
    return re.compile(
        rf"{start}(?:(?P<pip>(?:pip[23]?(?:\.\d{{1,2}})?|uv\s+pip|(?:python[0-9.]{{0,5}}|py)\s+-m\s+pip)(?:\s+-\S{{1,30}}){{0,4}}\s+install|uv\s+tool\s+install|pipx\s+(?:install|inject)|uv\s+add|pip-sync)"
        r"|(?P<uvx>uvx|uv\s+tool\s+run)|(?P<pipx>pipx\s+run)|(?P<uvrun>uv\s+run)"
        r"|(?P<conda>(?:conda|mamba|micromamba)\s+(?:install|create))"
        r"|(?P<npm>npm\s+(?:install|i|add)|pnpm\s+(?:add|install)|yarn\s+(?:global\s+)?add|bun\s+add)"
        r"|(?P<npx>npx|pnpm\s+dlx|yarn\s+dlx|bunx|npm\s+exec)"
        r"|(?P<gorun>go\s+run)|(?P<go>go\s+(?:install|get))|(?P<cargo>cargo\s+(?:install|binstall))|(?P<gem>gem\s+install))(?=\s)"
    )
