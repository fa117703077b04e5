"""Settings of tools as flat tables: TOML, INI, JSON and YAML become {dotted key: value}."""

from __future__ import annotations

import configparser
import json
import tomllib
from typing import Any

from gatekeeper.formats import workflow_yaml

MAX_TEXT = 1_000_000
_DEPTH = 12
_INI = ("setup.cfg", "tox.ini", ".coveragerc", "mypy.ini", ".mypy.ini", ".flake8", ".pylintrc", "pylintrc", ".pydocstyle", ".isort.cfg", ".bandit")  # fmt: skip
_TOML = ("pyproject.toml", "ruff.toml", ".ruff.toml", "tox.toml", ".pylintrc.toml", ".coveragerc.toml", "zizmor.toml")
_JSON = (".eslintrc", ".eslintrc.json", "package.json", "tsconfig.json", "jest.config.json", ".nycrc", ".nycrc.json", "pyrightconfig.json", "biome.json")  # fmt: skip
_YAML = (".eslintrc.yml", ".eslintrc.yaml", "codecov.yml", ".codecov.yml", ".yamllint", ".yamllint.yml", "sonar.yml", ".golangci.yml", ".golangci.yaml", "zizmor.yml", ".ansible-lint", ".rubocop.yml")  # fmt: skip


def is_settings(path: str) -> bool:
    """True where `read` knows the name."""
    return path.rsplit("/", 1)[-1].lower() in (*_INI, *_TOML, *_JSON, *_YAML)


def read(path: str, text: str) -> dict[str, Any] | None:
    """Flat table of the file's tool settings; None where it cannot be read.

    Lists stay lists; multi-line and comma-separated INI values become lists where the key is a list by custom.
    """
    if len(text) > MAX_TEXT:
        return None
    name = path.rsplit("/", 1)[-1].lower()
    out: dict[str, Any] = {}
    try:
        if name in _INI:
            parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
            parser.read_string(text)
            for section in parser.sections():
                for key, value in parser.items(section):
                    out[f"{section}.{key}"] = _scalar(value)
            return out
        if name in _TOML:
            table: Any = tomllib.loads(text)
            table = {"tool": table.get("tool", {})} if name == "pyproject.toml" else table
        elif name in _JSON:
            table = json.loads(text)
        else:
            table = workflow_yaml.load(text)
    except (configparser.Error, ValueError, RecursionError, AttributeError):
        return None
    if not isinstance(table, dict):
        return {} if not text.strip() else None
    _flatten(table, "", out, 0)
    return out


def _flatten(node: dict[str, Any], prefix: str, out: dict[str, Any], depth: int) -> None:
    for key, value in node.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and value and depth < _DEPTH:
            _flatten(value, f"{name}.", out, depth + 1)
        elif isinstance(value, list) and value and all(isinstance(v, dict) for v in value) and depth < _DEPTH:
            for index, row in enumerate(value):
                _flatten(row, f"{name}.{row.get('module', index)}.", out, depth + 1)
        else:
            out[name] = _scalar(value)


def _scalar(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    plain = value.strip()
    if plain.lower() in ("true", "yes", "on"):
        return True
    if plain.lower() in ("false", "no", "off"):
        return False
    for kind in (int, float):
        try:
            return kind(plain.rstrip("%"))
        except ValueError:
            continue
    return plain


def words(value: Any) -> list[str]:
    """A list setting as strings, whatever its spelling: TOML list, comma-separated, one a line."""
    if isinstance(value, list):
        return [str(v) for v in value]
    if isinstance(value, str):
        return [w for w in value.replace(",", "\n").split("\n") for w in [w.strip()] if w]
    return [] if value in (None, False, True) else [str(value)]
