"""Lines of CI that fetch a file and run it later, install from another index, or take secrets to where they may leak."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import islice

from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.verdict import Effect

_MOST = 200_000
_NAMES = 50


def changed_lines(path: str, before: str, after: str) -> Iterable[Finding]:
    """Findings about one file of CI; what the target already does is not told."""
    old, new = _whole(before), _whole(after)
    run = [f for f in _fetched_and_run(new) if f not in _fetched_and_run(old)]
    if run:
        yield finding(
            "DOWNLOAD_EXECUTED", f"{path} downloads {run[0]} and runs it.", path=path, line=_line(after, run[0]), effect=Effect.ASKS, key="later"
        )  # fmt: skip
    rows = [r for r in _rows(_index(), new) if _elsewhere(r) and r not in _rows(_index(), old)]
    if rows:
        yield finding(
            "DEPENDENCY_INDEX_ADDED", f"{path} installs from another place: {rows[0].strip()[:200]}", path=path,
            line=_line(after, rows[0].strip()[:30]), effect=Effect.ASKS,
        )  # fmt: skip
    fed = [r for r in _rows(_fed(), new) if r not in _rows(_fed(), old)]
    if fed:
        yield finding("DOWNLOAD_EXECUTED", f"{path} runs what it downloads: {fed[0].strip()[:200]}", path=path, line=_line(after, fed[0].strip()[:30]))  # fmt: skip
    said = [r for r in _rows(_said(), new) if r not in _rows(_said(), old)] if "steps" in new else []
    if said:
        yield finding(
            "CI_SECRET_REACHED", f"{path} puts a text that anybody may write into a line of the shell.", path=path,
            line=_line(after, said[0].strip()[:30]), key="said",
        )  # fmt: skip
    sent = [r for r in _rows(_sends(), new) if r not in _rows(_sends(), old)]
    sent += [r for r in _named_and_sent(new) if r not in old.splitlines()]
    head = bool(_head().search(new)) and "pull_request_target" in new
    had = bool(_head().search(old)) and "pull_request_target" in old
    if sent or (head and not had):
        what = "sends a secret away in a line" if sent else "checks out the code of anybody where it holds secrets"
        yield finding(
            "CI_SECRET_REACHED",
            f"{path} {what}.",
            path=path,
            line=_line(after, sent[0].strip()[:30] if sent else ".head"),
        )


def _elsewhere(row: str) -> bool:
    """An address other than that of the common index; a folder of the checkout holds what the job has built."""
    common = r"https://(?:pypi\.org/simple|proxy\.golang\.org|registry\.npmjs\.org|registry\.yarnpkg\.com)(?:/|(?=[\s\"',|]|$))"
    return bool(
        re.search(r"--trusted-host|\bGOSUMDB\W{1,4}off\b|apt-repository\s+(?:-\S+\s+)*[\"']?ppa:", row)
    ) or "://" in re.sub(common, "", row)


def _whole(content: str) -> str:
    return re.sub(r"\\\r?\n", " ", content[:_MOST])


def _line(content: str, needle: str) -> int:
    return next((i for i, row in enumerate(content.splitlines(), 1) if needle in row), 1)


def _fetched_and_run(content: str) -> list[str]:
    """Names of files that one line downloads and the same or a later one starts, without a digest that is compared."""
    found = []
    for match in islice(_fetch().finditer(content), _NAMES):
        name = next((g for g in match.groups() if g), "").strip("\"'")
        base = re.escape(name.rsplit("/", 1)[-1])
        if not base:
            continue
        rest = content[match.end() :]
        start = rf"(?:^|[\s;&|])(?:(?:ba|z|da)?sh|python[0-9.]*|source|\.|node|perl)\s+(?:-\S+\s+)*[\"']?(?:\S*/)?{base}(?![\w.-])|(?:^|[\s;&|])\.?/(?:[\w.-]+/)*{base}(?![\w.-])"
        checked = re.search(rf"sha(?:256|512)sum\s+(?:-\S+\s+)*.*|shasum[^\n]*{base}", rest)
        if re.search(start, rest, re.MULTILINE) and not checked:
            found.append(name)
    return found


def _named_and_sent(content: str) -> list[str]:
    """Lines that hand a variable which holds a secret to a program that sends, as data or in an address; a header that
    identifies the sender, or a password for the place itself, is what such variables are for.
    """
    names = {m.group(1) for m in islice(_named().finditer(content), _NAMES)}
    if not names:
        return []
    any_name = (
        rf"\$(?:\{{(?:{'|'.join(map(re.escape, sorted(names)))})\}}|(?:{'|'.join(map(re.escape, sorted(names)))})\b)"
    )
    sends = re.compile(
        rf"\b(?:curl|wget|nc|ncat)\b.{{0,300}}?(?:\s(?:-d|-F|-T|--data\S{{0,20}}|--form|--json|--post-data|--upload-file)[ =]?\s{{0,3}}\S{{0,3}}.{{0,200}}?{any_name}"
        rf"|https?://[^\s\"']{{0,300}}{any_name})|{any_name}.{{0,200}}\|.{{0,60}}\b(?:curl|wget|nc|ncat)\b"
    )
    return _rows(sends, content)


def _rows(pattern: re.Pattern[str], content: str) -> list[str]:
    return [row for row in content.splitlines() if pattern.search(row)]


# Every gap is bounded: the lines are hostile and may be long.
@cache
def _fetch() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:curl|wget)\b[^\n|;&]{0,300}?(?:\s(?:-o|--output|-O|--output-document)[ =]?\s{0,9}([^\s;&|-][^\s;&|]{0,200})|\s>\s{0,9}([^\s;&|]{1,200}))[^\n;&|]{0,300}"
    )


@cache
def _index() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:pip[0-9.]{0,5}|uv|uvx|pipx|poetry|pdm)\b.{0,300}?\s(?:-i|-f|--index-url|--extra-index-url|--index|--default-index|--find-links|--trusted-host)[ =]"
        r"|\b(?:PIP_(?:EXTRA_)?INDEX_URL|PIP_FIND_LINKS|UV_(?:DEFAULT_|EXTRA_)?INDEX(?:_URL)?|GOPROXY|GOSUMDB|(?i:npm_config_registry)"
        r"|YARN_NPM_REGISTRY_SERVER|CARGO_REGISTR\w{1,60}|CONDA_CHANNELS)[\"']?\s{0,9}[:=]"
        r"|\b(?:npm|pnpm|yarn|bun|npx)\b.{0,300}?(?:\s--registry[ =]|\sset\s{1,9}\S{0,60}(?:registry|RegistryServer))"
        r"|\b(?:add-apt-repository|apt-add-repository)\s|sources\.list|\bgem\s{1,9}(?:install|sources)\b.{0,300}?\s(?:-s|--source|--add|-a)[ =]"
        r"|\b(?:conda|mamba|micromamba)\b.{0,300}?\s(?:-c|--channel)[ =]{1,9}https?:"
    )


@cache
def _fed() -> re.Pattern[str]:
    """An interpreter that is told in one line to fetch a text and to run it."""
    return re.compile(
        r"\bpython[0-9.]{0,5}\s{1,9}-c\b(?=.{0,1000}(?:urlopen|urlretrieve|requests\.get|httpx\.get))(?=.{0,1000}\b(?:exec|eval)\()"
        r"|\bnode\s{1,9}(?:-e|--eval)\b(?=.{0,1000}(?:fetch\(|https?\.get))(?=.{0,1000}\b(?:eval|Function)\()"
    )


@cache
def _said() -> re.Pattern[str]:
    """A title, a body or a message in a line that is run; what only names or compares it is none."""
    text = r"\$\{\{[^}\n]{0,100}\bgithub\.event\.(?:(?:pull_request|issue|discussion)\.(?:title|body)|(?:comment|review|review_comment)\.body|head_commit\.message)\b"
    return re.compile(
        rf"(?:\brun:\s.{{0,300}}|^\s{{0,40}}(?:echo|printf|bash|sh|python|node|git|gh|curl|if|test)\b.{{0,300}}){text}"
    )


@cache
def _sends() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:curl|wget|nc|ncat|Invoke-WebRequest|iwr)\b.{0,300}\$\{\{\s{0,9}(?:secrets\.|toJSON\(\s{0,9}secrets)"
    )


@cache
def _named() -> re.Pattern[str]:
    """A variable of the surroundings that holds a secret of the repository."""
    return re.compile(
        r"(?m)^\s{1,60}[\"']?([A-Za-z_]\w{0,60})[\"']?\s{0,9}:\s{0,9}[\"']?\$\{\{\s{0,9}(?:secrets\.|toJSON\(\s{0,9}secrets)"
    )


@cache
def _head() -> re.Pattern[str]:
    return re.compile(r"\bref:[^\n]{0,200}(?:pull_request\.head\.|github\.head_ref|refs/pull/)")
