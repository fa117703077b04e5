"""Lines of a requirements file, rebuilt from what is known to be safe: the installer runs with the gate's rights.

A line passes only as a name with versions, hashes and a marker. Everything else is left out (the project itself, paths,
indexes) or refused (addresses, version control, options nobody knows here): what an installer might make of a line is
never guessed.
"""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement

from gatekeeper.errors import CouldNotCheck

_COMMENT = re.compile(r"(^|\s)#.*$")
_HASH = re.compile(r"\s--hash(=|\s+)(?P<hash>[a-z0-9]{3,10}:[0-9a-fA-F]{32,128})(?=\s|$)")
_INDEX = re.compile(
    r"(-i|-f|--(index-url|extra-index-url|no-index|find-links|trusted-host|no-binary|only-binary|pre|prefer-binary|"
    r"use-feature|no-deps|pypi-url))(?![A-Za-z-])"
)
_EDITABLE = re.compile(r"(-e|--editable\b)\s*=?\s*(?P<what>.*)")
_INCLUDE = re.compile(r"(?P<option>-r|-c|--requirements?\b|--constraints?\b)\s*=?\s*(?P<file>\S.*)")
_FILE = re.compile(r"file:(//)?[^:?]*")
_PATH = re.compile(r"(\.{0,2}/|\.{1,2}$|\.{1,2}\[|[\w.-]+/)[\w./ ~+,\[\]-]*|\.{1,2}")
_ARCHIVE = re.compile(r"[\w.+-]+\.(whl|zip|tar|tar\.\w+|tgz|tbz|txz|tlz)(\[[\w,. -]*\])?", re.IGNORECASE)
_NAMED = re.compile(r"[A-Za-z0-9][\w.-]*\s*(\[[\w,. -]*\]\s*)?@\s*(?P<what>.*)")
_LENIENT = re.compile(
    r"[A-Za-z0-9][\w.-]*\s*(\[[\w,. -]*\]\s*)?\(?\s*([<>=!~][\w.*+!<>=~, -]*)?\)?\s*(;[\w.\s<>=!~'\"()+*-]*)?"
)
_USER = re.compile(r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]*:/{1,2})[^\s/?#]*@")
MAX_LINE = 2000
"""Characters of one requirement without its hashes."""
_DOCUMENTS = (".toml", ".py", ".cfg", ".yml", ".yaml", ".json")


def redacted(words: str) -> str:
    """`words` without the user and password of any address."""
    return _USER.sub(r"\g<scheme>***@", words)


def logical(content: str) -> list[str]:
    """Lines without comments, continued lines joined. Empty ones are left out."""
    rows, open_row = [], ""
    for line in content.splitlines():
        bare = _COMMENT.sub("", line).rstrip()
        if bare.endswith("\\"):
            open_row += bare[:-1] + " "
            continue
        rows.append((open_row + bare).strip())
        open_row = ""
    rows.append(open_row.strip())
    return [r for r in rows if r]


def included(line: str) -> str | None:
    """The file that a logical line includes, as written."""
    found = _INCLUDE.fullmatch(line)
    return found["file"].strip().strip("\"'") if found else None


def clean(name: str, content: str) -> str:
    """The file for the installer.

    Left out: the project itself and paths (its code comes from the tree under test), and package indexes (where packages
    come from is the operator's choice alone). Raises `CouldNotCheck` (ENVIRONMENT_FAILED) for a requirement at an address
    or in version control, since the gate connects to nothing and starts nothing the operator did not name, and for a line
    that is no requirement.
    """
    if name.lower().endswith(_DOCUMENTS):
        raise CouldNotCheck(
            "ENVIRONMENT_FAILED", f"The lock {name!r} is no requirements file.",
            next_action="Name a file of pinned requirements, as `uv export` or `pip-compile` writes it.",
        )  # fmt: skip
    rows = (_line(name, line) for line in logical(content))
    return "\n".join(r for r in rows if r) + "\n"


def _line(name: str, line: str) -> str:
    """One logical line as it may be installed; empty where it is left out."""
    file = included(line)
    if file is not None:
        option = "-c" if line.startswith(("-c", "--constraint")) else "-r"
        if not re.fullmatch(r"[\w./+-]+", file):
            raise _refused(name, line, "includes a file with a name that is not plain")
        return f"{option} {file}"
    editable = _EDITABLE.fullmatch(line)
    if editable is not None:
        if _local(editable["what"].strip().strip("\"'")) or re.fullmatch(r"[\w.-]+(\[[\w,. -]*\])?", editable["what"]):
            return ""
        raise _refused(name, line)
    if _INDEX.match(line) or line == "--require-hashes":
        return ""  # whether hashes are required follows from the lines themselves
    if line.startswith("-"):
        raise _refused(name, line, "has an option that is not known here")
    hashes = [found["hash"] for found in _HASH.finditer(line)]
    bare = _HASH.sub("", line).strip()
    if len(bare) > MAX_LINE:
        raise _refused(name, line, f"has a line of more than {MAX_LINE} characters")
    if _local(bare.partition(";")[0].strip()):
        return ""
    named = _NAMED.fullmatch(bare)
    if named is not None and _FILE.fullmatch(named["what"].partition(";")[0].strip()):
        return ""
    if named is not None and _local(named["what"].partition(";")[0].strip()):
        return ""
    try:
        requirement = Requirement(bare)
    except InvalidRequirement:
        if re.search(r"\s-", bare) or not _LENIENT.fullmatch(
            bare
        ):  # versions of old habits are the installer's to judge; nothing else is
            raise _refused(
                name, line, None if re.search(r"[:@]", bare) else "has a line that is no requirement"
            ) from None
    else:
        if requirement.url is not None:
            raise _refused(name, line)
    return " ".join([bare, *(f"--hash={h}" for h in hashes)])


def _local(what: str) -> bool:
    """True for a path or archive of the tree or machine: nothing is installed from it, so it is harmless to leave out."""
    return any(p.fullmatch(what) for p in (_PATH, _ARCHIVE, _FILE))


def _refused(name: str, line: str, why: str | None = None) -> CouldNotCheck:
    return CouldNotCheck(
        "ENVIRONMENT_FAILED",
        f"The lock {name!r} {why or 'takes a package from an address or a version control system'}: "
        f"{redacted(line[:MAX_LINE])[:200]!r}.",
        next_action="Take packages from a package index by name and version, or choose an environment that the operator "
        "prepared.",
    )
