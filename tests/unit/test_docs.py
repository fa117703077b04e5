"""Documents that are made from the code say what the code says."""

from __future__ import annotations

import re
from pathlib import Path

from gatekeeper.errors import reasons

ROOT = Path(__file__).resolve().parents[2]


def codes_page() -> str:
    """docs/codes.md as it must be."""
    lines = [
        "# Reason codes",
        "",
        "Made from `gatekeeper/codes.toml`; a test compares the two. Codes are stable.",
        "",
        "| code | category | effect | blame | meaning | what to do |",
        "|---|---|---|---|---|---|",
    ]
    for code, r in sorted(reasons().items(), key=lambda item: (item[1].category, item[0])):
        lines.append(f"| `{code}` | {r.category} | {r.effect} | {r.blame} | {r.meaning} | {r.next_action} |")
    return "\n".join(lines) + "\n"


def test_the_page_of_codes_is_current():
    assert (ROOT / "docs" / "codes.md").read_text(encoding="utf-8") == codes_page(), (
        "run: PYTHONPATH=tests/unit python -c 'import test_docs; test_docs.write()'"
    )


def write() -> None:
    """Write the page anew."""
    (ROOT / "docs" / "codes.md").write_text(codes_page(), encoding="utf-8")


def test_every_link_of_the_documents_leads_somewhere():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


def test_no_document_names_a_registry_host_or_a_path_of_a_machine():
    bad = re.compile(r"(pypi|npmjs|pythonhosted|crates|golang|maven)\.(org|io|com)\b|/" + "work/(main|shared)")
    for page in ROOT.rglob("*"):
        if (
            page.is_file()
            and page.suffix in (".md", ".toml", ".lock", ".in", ".sh", ".py")
            and ".venv" not in page.parts
        ):
            assert not bad.search(page.read_text(encoding="utf-8")) or page.name == "test_docs.py", page
