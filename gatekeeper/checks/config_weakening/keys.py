"""Keys of settings, the same for every file that a tool reads them from."""

from __future__ import annotations

import re

WHOSE = {
    "ruff.toml": "ruff", ".ruff.toml": "ruff", "pyrightconfig.json": "pyright", "tsconfig.json": "tsc", ".pylintrc": "pylint",
    "pylintrc": "pylint", **{f".golangci.{s}": "golangci" for s in ("yml", "yaml")}, **{f".eslintrc{s}": "eslint" for s in ("", ".json", ".yml", ".yaml")},
}  # fmt: skip
"""Files of one tool whose keys do not say so."""


def tool_of(key: str) -> str:
    """The tool that a key belongs to, by its table or section."""
    return re.split(r"[.:-]", key.lower().removeprefix("tool."), maxsplit=1)[0]


def plain_tool(key: str) -> str:
    """The tool of a key in any spelling: sections for modules (`mypy-shop.*`) are those of the tool."""
    return re.split(r"[._]", plain_key(key), maxsplit=1)[0]


def plain_key(key: str) -> str:
    """`coverage:run.branch`, `run.branch` of .coveragerc and `tool.coverage.run.branch` are one setting; so are `ruff.lint.x` and `ruff.x`."""
    plain = key.lower().replace(":", ".").replace("-", "_").removeprefix("tool.")
    plain = re.sub(r"^ruff\.lint\.", "ruff.", plain)  # where these once stood, and still may
    return plain if not re.match(r"(?:run|report|paths|html|xml)\.", plain) else f"coverage.{plain}"


def read_there(path: str, key: str) -> bool:
    """False for a key of coverage that it does not read in this file: under a section or a spelling of another file.

    Of settings files that tools share it takes `coverage:report`, of its own `report`, of TOML `tool.coverage.report`; a
    hyphen in a name says nothing to it.
    """
    if not plain_key(key).startswith("coverage."):
        return True
    name, section = path.rsplit("/", 1)[-1].lower(), key.rpartition(".")[0]
    start: tuple[str, ...] = ("tool.coverage.",) if name == "pyproject.toml" else ("coverage:",)
    if name.startswith(".coveragerc"):
        start = (*start, "run", "report", "paths", "html", "xml", "tool.coverage.")
    return section.startswith(start) and (plain_key(key).startswith("coverage.paths.") or "-" not in key)
