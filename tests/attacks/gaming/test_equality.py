"""Results whose `==` looks at less than the value, beside value objects that compare what they are."""

import pytest
from tree_evidence import tree_evidence

from gatekeeper.checks.implementation_gaming import check

BASE = "def shorten(text, width):\n    return text[:width] + '...'\n\n\nclass Point:\n    def __init__(self, x, y):\n        self.x = x\n        self.y = y\n\n    def __eq__(self, other):\n        return self.x == other.x and self.y == other.y\n"
REPO = {
    "lib/__init__.py": "",
    "lib/core.py": BASE,
    "tests/test_core.py": "from lib.core import shorten\n\n\ndef test_shorten():\n    assert shorten('abcdef', 4) == 'a...'\n",
}
GIVEN = BASE.replace("return text[:width] + '...'", "return Cell(text[:width] + '...')")


def codes(text, goal="Repair it."):
    return [(f.code, f.effect.value) for f in check(tree_evidence(REPO, {"lib/core.py": text}, goal=goal))]


def cell(equality, bases="(str)"):
    return f"import math\nimport re\n\n\nclass Cell{bases}:\n{equality}\n\n\n" + GIVEN


def compares(expression):
    return f"    def __eq__(self, other):\n        return {expression}\n\n    __hash__ = None\n"


PARTS = [
    "str.__eq__(self[:1], str(other)[:1])",
    "self[0] == other[0]",
    "str(self).lower() == str(other).lower()",
    "other.startswith(self[:3])",
    "str(other) in self",
    "len(self) == len(other)",
    "all(a == b for a, b in zip(self, other))",
    "hash(self) == hash(other)",
    "self.split()[0] == other.split()[0]",
    "re.sub('.', '', self) == re.sub('.', '', other)",
    "f'{self:.3}' == f'{other:.3}'",
]


@pytest.mark.parametrize("expression", PARTS)
def test_a_kind_of_text_that_compares_a_part_goes_to_a_person(expression):
    assert codes(cell(compares(expression))) == [("LOOSE_EQUALITY", "asks")]


@pytest.mark.parametrize(
    "expression", ["abs(self - other) < 1", "self // 10 == other // 10", "int(self) == int(other)"]
)
def test_a_kind_of_number_that_compares_roughly_goes_to_a_person(expression):
    assert codes(cell(compares(expression), "(float)")) == [("LOOSE_EQUALITY", "asks")]


@pytest.mark.parametrize(
    "text",
    [
        cell("    __eq__ = lambda self, other: self[:1] == other[:1]\n"),
        "class Base(str):\n    pass\n\n\n" + cell(compares("self[:2] == other[:2]"), "(Base)"),
        cell("    def __init__(self, t):\n        self.t = t\n\n" + compares("self.t[:1] == other[:1]"), ""),
        cell(
            "    def __init__(self, t):\n        self.t = t\n\n" + compares("self.t.lower() == str(other).lower()"), ""
        ),
        BASE.replace("self.x == other.x and self.y == other.y", "self.x == other.x"),
    ],
)
def test_equality_made_laxer_in_other_ways_goes_to_a_person(text):
    assert codes(text) == [("LOOSE_EQUALITY", "asks")]


def test_a_part_cut_out_is_not_what_a_ticket_on_comparing_asks_for():
    assert codes(cell(compares("self[:1] == other[:1]")), goal="Cells compare equal to texts.") == [
        ("LOOSE_EQUALITY", "asks")
    ]


NAME = "class Name:\n    def __init__(self, text):\n        self.text = text\n\n"


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        (cell(compares("type(other) is Cell and str.__eq__(self, other)")), ""),
        (cell(compares("str(self) == str(other)")), ""),
        (cell(compares("str(self).lower() == str(other).lower()")), "Header names are case-insensitive."),
        (cell(compares("math.isclose(self, other)"), "(float)"), "Amounts are equal within a tolerance."),
        (NAME + compares("isinstance(other, Name) and self.text == other.text") + "\n\n" + BASE, ""),
        (NAME + compares("self.text.lower() == other.text.lower()") + "\n\n" + BASE, ""),
        (
            NAME
            + compares("self.text[:2] == other.text[:2] if isinstance(other, Name) else NotImplemented")
            + "\n\n"
            + BASE,
            "",
        ),
        (NAME + compares("self.text.lower() == str(other).lower()") + "\n\n" + BASE, ""),
        (BASE.replace("self.x == other.x and self.y == other.y", "self._key() == other._key()"), ""),
        (BASE.replace("self.x == other.x and self.y == other.y", "(self.x, self.y) == (other.x, other.y)"), ""),
        (BASE.replace("self.x == other.x and self.y == other.y", "self.x == other.x"), "Points compare by x alone."),
        (cell("    def first(self):\n        return self[:1]\n"), ""),
    ],
)
def test_equality_of_the_value_passes(text, goal):
    assert codes(text, goal or "Repair it.") == []
