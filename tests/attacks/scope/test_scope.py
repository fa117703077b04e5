"""Changes outside the declared scope in every disguise, and their honest look-alikes."""

from __future__ import annotations

import pytest
from evidence_builder import build_evidence, build_ticket

from gatekeeper.checks.declared_scope import check
from gatekeeper.domain.settings import Settings
from gatekeeper.domain.tree import EXECUTABLE, GITLINK, SYMLINK

TICKET = build_ticket(["src/**", "docs/*.md"], ["src/secret/**"])
BASE = {"src/a.py": "1", "src/secret/k.py": "k", "ops/run.sh": "x", "docs/a.md": "d"}


def codes(change, modes=None, ticket=TICKET, settings=None) -> set[str]:
    merged = {p: t for p, t in {**BASE, **change}.items() if t is not None}
    evidence = build_evidence(BASE, merged, ticket=ticket, merged_modes=modes, settings=settings)
    return {f.code for f in check(evidence)}


@pytest.mark.parametrize(
    ("change", "modes", "code"),
    [
        ({"ops/run.sh": "y"}, None, "SCOPE_OUTSIDE"),
        ({"ops/run.sh": None, "src/run.sh": "x"}, None, "SCOPE_OUTSIDE"),
        ({}, {"ops/run.sh": EXECUTABLE}, "SCOPE_OUTSIDE"),
        ({"src/secret/k.py": "z"}, None, "SCOPE_FORBIDDEN"),
        ({"docs/deep/b.md": "z"}, None, "SCOPE_OUTSIDE"),
        ({"src/l": "../ops/run.sh"}, {"src/l": SYMLINK}, "SCOPE_LINK"),
        ({"src/l": "/etc/passwd"}, {"src/l": SYMLINK}, "SCOPE_LINK"),
        ({"src/l": "../../x"}, {"src/l": SYMLINK}, "SCOPE_LINK"),
        ({"src/l": "../.git/config"}, {"src/l": SYMLINK}, "SCOPE_LINK"),
        ({"src/l": "secret"}, {"src/l": SYMLINK}, "SCOPE_LINK"),
        ({"src/l": "l"}, {"src/l": SYMLINK}, "SCOPE_LINK"),
        ({"src/m": "x"}, {"src/m": GITLINK}, "SCOPE_SUBMODULE"),
        ({"src/.gitattributes": "* filter=x"}, None, "SCOPE_GIT_CONTROL"),
        ({"src/A.py": "2"}, None, "SCOPE_TWIN_PATH"),
        ({"src/\u0430.py": "2"}, None, "SCOPE_TWIN_PATH"),
        ({"src/p\u0430y.py": "2"}, None, "SCOPE_TWIN_PATH"),
        ({"src/b\u200b.py": "2"}, None, "SCOPE_TWIN_PATH"),
        ({"src/Secret/b.py": "2"}, None, "SCOPE_TWIN_PATH"),
        ({"\u0455rc/b.py": "2"}, None, "SCOPE_TWIN_PATH"),
        ({"\uff53rc/b.py": "2"}, None, "SCOPE_TWIN_PATH"),
        ({"\U0001d42crc/deep/er/b.py": "2"}, None, "SCOPE_TWIN_PATH"),
        ({"src\u2215a.py": "2"}, None, "SCOPE_TWIN_PATH"),
        ({"src/\ua4ee.py": "2"}, None, "SCOPE_TWIN_PATH"),
        ({"src/secret.py/b": "2", "src/Secret.py": "2"}, None, "SCOPE_TWIN_PATH"),
        ({"docs/caf\u00e9/a.md": "1", "docs/cafe\u0301/b.md": "1"}, None, "SCOPE_TWIN_PATH"),
    ],
)
def test_outside_is_found(change, modes, code) -> None:
    assert code in codes(change, modes)


@pytest.mark.parametrize(
    ("change", "modes"),
    [
        ({"src/a.py": "2", "docs/b.md": "n"}, None),
        ({"src/a.py": None, "src/b.py": "1"}, None),
        ({"src/a.py": None, "src/A.py": "1"}, None),
        ({"src/l": "a.py"}, {"src/l": SYMLINK}),
        ({"src/.hidden": "1"}, None),
        ({"docs/\u65e5\u672c\u8a9e.md": "1"}, None),
        ({"docs/\u043f\u043b\u0430\u043d-v2.md": "1"}, None),
        ({"docs/caf\u00e9.md": "1"}, None),
        ({"src/new/deep/b.py": "1", "src/newer/deep/b.py": "1"}, None),
        ({"src/secret2/b.py": "1", "src/a/a.py": "1"}, None),
        ({"src/a.py": None, "src/A/b.py": "1"}, None),
    ],
)
def test_inside_passes(change, modes) -> None:
    assert codes(change, modes) == set()


def test_shared_paths_and_named_control_files_pass() -> None:
    assert codes({"CHANGELOG.md": "x"}, settings=Settings(shared=("CHANGELOG.md",))) == set()
    assert (
        codes(
            {".gitattributes": "*.png binary\n*.bin filter=lfs diff=lfs merge=lfs -text\n*.py diff=python"},
            ticket=build_ticket([".gitattributes"]),
        )
        == set()
    )


def test_a_named_gitattributes_may_still_not_run_programs() -> None:
    assert codes({".gitattributes": "*.py filter=x"}, ticket=build_ticket([".gitattributes"])) == {"SCOPE_GIT_CONTROL"}


def test_a_twin_folder_is_told_once() -> None:
    merged = {**BASE, **{f"Src/deep/f{i}.py": "1" for i in range(9)}}
    found = check(build_evidence(BASE, merged, ticket=build_ticket(["**"])))
    assert [f.code for f in found] == ["SCOPE_TWIN_PATH"]


def test_a_folder_that_only_changed_its_case_passes() -> None:
    merged = {p.replace("ops/", "Ops/"): t for p, t in BASE.items()}
    assert check(build_evidence(BASE, merged, ticket=build_ticket(["**"]))) == ()
