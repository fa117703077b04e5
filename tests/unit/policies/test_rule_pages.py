"""docs/rules/: one page a rule, made from the rule's METADATA, the table of codes and the configuration it reads.

Anew: PYTHONPATH=tests/unit/policies python -c 'import test_rule_pages; test_rule_pages.write()'
"""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from gatekeeper.errors import reasons

ROOT = Path(__file__).resolve().parents[3]
RULES = ROOT / "policies" / "gatekeeper" / "rules"
PAGES = ROOT / "docs" / "rules"

EFFECTS = {
    "deny": "The verdict is rejected.",
    "undecided": "The verdict is undecided, unless another rule rejects.",
    "ask": "The verdict is needs_human, unless another rule rejects or leaves it undecided.",
    "raises the tier": "The tier of the change rises to what the configuration says, and with it what is demanded.",
    "echoes the worst finding": "The verdict is that of the worst finding: rejected, undecided or needs_human.",
}
WITHOUT_A_CODE = {
    "raises the tier": "Nothing is wrong. Meet what the tier demands, or split the change so that most of it stays low.",
    "echoes the worst finding": "See the findings; each has a code with its own advice.",
}
HEAD = "<!-- Made from the rule's METADATA; a test compares the two. -->"


def rules() -> dict[str, Path]:
    """`category/rule` and its file."""
    files = sorted(p for p in RULES.rglob("*.rego") if not p.name.endswith("_test.rego"))
    return {f"{p.parent.parent.name}/{p.parent.name}": p for p in files}


def metadata(path: Path) -> dict[str, object]:
    """The METADATA block at the head of a rule."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# METADATA", path
    block = []
    for line in lines[1:]:
        if not line.startswith("#"):
            break
        block.append(line[2:])
    return yaml.safe_load("\n".join(block))


def tuned_by(path: Path) -> list[str]:
    """Keys of config/data.json that the rule reads; what a variable chooses is `*`."""
    source = re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8"))
    found = set()
    for reference in re.findall(r"\bconfig((?:\.\w+|\[[^\]]*\])+)", source):
        found.add(re.sub(r"\[[^\]]*\]", ".*", reference).lstrip("."))
    return sorted(found)


def page(rule: str, path: Path) -> str:
    """The page of one rule."""
    about = metadata(path)
    custom = about["custom"]
    effect, codes = custom["effect"], custom.get("codes", [])
    used = [c for c in re.findall(r'"code": "([A-Z_]+)"', path.read_text(encoding="utf-8")) if c]
    assert sorted(codes) == sorted(used), f"{rule}: METADATA says {codes}, the rule gives {used}"
    fires = [EFFECTS[effect]]
    todo = [f"- `{code}`: {reasons()[code].next_action}" for code in codes] or [WITHOUT_A_CODE[effect]]
    tuned = [f"- `{key}`" for key in tuned_by(path)] or ["Nothing; it holds for every change."]
    return "\n".join(
        [
            HEAD,
            f"# {about['title']}",
            "",
            f"Rule `{rule}` of the {'plan' if rule.startswith('tier/') else 'decision'}.",
            "",
            "## Summary",
            "",
            str(about["description"]),
            "",
            "## When it fires",
            "",
            *fires,
            "",
            "## What to do",
            "",
            *todo,
            "",
            "## Data that tunes it",
            "",
            *tuned,
            "",
        ]
    )


def pages() -> dict[str, str]:
    """All pages by file name, the index among them."""
    made = {f"{rule.replace('/', '-')}.md": page(rule, path) for rule, path in rules().items()}
    rows = [
        f"| [`{rule}`]({rule.replace('/', '-')}.md) | {metadata(path)['title']} | {metadata(path)['custom']['effect']} |"
        for rule, path in rules().items()
    ]
    made["README.md"] = "\n".join([HEAD, "# Rules", "", "| rule | what holds | effect |", "|---|---|---|", *rows, ""])
    return made


def test_every_rule_has_its_current_page_and_no_page_is_left_over():
    there = {p.name: p.read_text(encoding="utf-8") for p in PAGES.iterdir()}
    assert there == pages(), "see the head of this file"


def test_policies_page_links_the_index():
    assert "(rules/README.md)" in (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")


def write() -> None:
    """Write all pages anew."""
    PAGES.mkdir(exist_ok=True)
    for old in PAGES.glob("*.md"):
        old.unlink()
    for name, text in pages().items():
        (PAGES / name).write_text(text, encoding="utf-8")
