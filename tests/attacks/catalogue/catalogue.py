"""All cases, from every module of cheats and of honest changes."""

from __future__ import annotations

import importlib
from pathlib import Path

from model import Case

HERE = Path(__file__).resolve().parent


def _load() -> tuple[Case, ...]:
    cases: list[Case] = []
    for file in sorted([*HERE.glob("cheats_*.py"), *HERE.glob("honest_*.py")]):
        cases += importlib.import_module(file.stem).CASES
    if len({case.id for case in cases}) != len(cases):
        raise ValueError("an id is there twice")
    return tuple(cases)


CASES = _load()
