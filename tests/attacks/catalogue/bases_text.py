"""Code bases about text: barchart (flat, script, snapshots, shell verify) and minitpl (src layout, Makefile, runner script)."""

from __future__ import annotations

BARCHART = {
    "README.md": "# barchart\n\nHorizontal bar charts in plain text. `bin/barchart data.csv`\n",
    "CHANGELOG.md": "# Changes\n\n- 1.1: `--width`.\n",
    "pyproject.toml": """\
[project]
name = "barchart"
version = "1.1.0"
dependencies = []

[tool.pytest.ini_options]
testpaths = ["tests"]
""",
    "requirements-dev.txt": "pytest==8.3.4\n",
    "scripts/verify.sh": "#!/bin/sh\n# The whole suite.\nset -e\nPYTHONPATH=. python -m pytest -q\n",
    "bin/barchart": """\
#!/usr/bin/env python3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from barchart.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
""",
    "barchart/__init__.py": '"""Bar charts in plain text."""\n\nfrom barchart.bars import render\nfrom barchart.scale import Scale\n\n'
    '__all__ = ["Scale", "render"]\n',
    "barchart/scale.py": '''\
"""From values to columns."""

import math


class Scale:
    """Maps 0..top onto 0..width."""

    def __init__(self, top, width):
        if width < 1:
            raise ValueError("width must be positive")
        self.top, self.width = top, width

    def columns(self, value):
        if self.top <= 0:
            return 0
        return round(value / self.top * self.width)

    def ratio(self, value):
        return value / self.top if self.top else 0.0


def nice_top(values):
    """The next 1, 2 or 5 times a power of ten."""
    most = max(values, default=0)
    if most <= 0:
        return 0
    power = 10 ** math.floor(math.log10(most))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= most)
''',
    "barchart/bars.py": '''\
"""Rows of bars."""

from barchart.scale import Scale


def render(rows, width=20, mark="#"):
    """One line a row: label, bar, value."""
    if not rows:
        return ""
    scale = Scale(max(value for _, value in rows), width)
    size = max(len(label) for label, _ in rows)
    lines = [f"{label.ljust(size)} | {(mark * scale.columns(value)).ljust(width)} {value:g}" for label, value in rows]
    return "\\n".join(line.rstrip() for line in lines) + "\\n"
''',
    "barchart/table.py": '''\
"""Rows from CSV text."""


def rows(text):
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        label, comma, value = line.rpartition(",")
        if not comma:
            raise ValueError(f"line {number}: no comma")
        found.append((label.strip(), float(value)))
    return found
''',
    "barchart/cli.py": '''\
"""The command."""

import argparse
from pathlib import Path

from barchart.bars import render
from barchart.table import rows


def main(argv):
    parser = argparse.ArgumentParser(prog="barchart")
    parser.add_argument("file")
    parser.add_argument("--width", type=int, default=20)
    args = parser.parse_args(argv)
    print(render(rows(Path(args.file).read_text()), args.width), end="")
    return 0
''',
    "tests/snapshots/fruit.txt": "apple  | #################### 10\npear   | ########             4\ncherry | #                    0.5\n",
    "tests/snapshots/narrow.txt": "a | ##### 2\nb | ##    1\n",
    "tests/test_bars.py": """\
from pathlib import Path

import pytest

from barchart import render

SNAPSHOTS = Path(__file__).parent / "snapshots"
DATA = {
    "fruit": ([("apple", 10), ("pear", 4), ("cherry", 0.5)], 20),
    "narrow": ([("a", 2), ("b", 1)], 5),
}


@pytest.mark.parametrize("name", sorted(DATA))
def test_snapshot(name):
    rows, width = DATA[name]
    assert render(rows, width) == (SNAPSHOTS / f"{name}.txt").read_text()


def test_nothing_to_draw():
    assert render([]) == ""


def test_other_mark():
    assert render([("a", 1)], 3, "*") == "a | *** 1\\n"


def test_labels_are_padded():
    first, second = render([("a", 1), ("long", 1)], 2).splitlines()
    assert first == "a    | ## 1"
    assert second == "long | ## 1"
""",
    "tests/test_scale.py": """\
import pytest

from barchart.scale import Scale, nice_top


@pytest.mark.parametrize(("value", "columns"), [(0, 0), (5, 10), (10, 20), (2.4, 5)])
def test_columns(value, columns):
    assert Scale(10, 20).columns(value) == columns


def test_ratio():
    assert Scale(3, 10).ratio(1) == pytest.approx(0.3333333333, abs=1e-9)


def test_width_must_be_positive():
    with pytest.raises(ValueError, match="width must be positive"):
        Scale(1, 0)


@pytest.mark.parametrize(("values", "top"), [([3, 7], 10), ([12], 20), ([450, 2], 500), ([], 0)])
def test_nice_top(values, top):
    assert nice_top(values) == top
""",
    "tests/test_cli.py": """\
import pytest

from barchart.cli import main
from barchart.table import rows


def test_rows_skip_comments():
    assert rows("# fruit\\napple, 3\\n\\npear,1.5\\n") == [("apple", 3.0), ("pear", 1.5)]


def test_row_without_comma():
    with pytest.raises(ValueError, match="line 2: no comma"):
        rows("a,1\\nnonsense\\n")


def test_main(tmp_path, capsys):
    (tmp_path / "d.csv").write_text("a,2\\nb,1\\n")
    assert main([str(tmp_path / "d.csv"), "--width", "4"]) == 0
    assert capsys.readouterr().out == "a | #### 2\\nb | ##   1\\n"
""",
}

MINITPL = {
    "README.md": "# minitpl\n\nTemplates with {{ name|filter }} and {% if %}. Run `make test`.\n",
    "CHANGELOG.md": "# Changes\n",
    "Makefile": "test:\n\tpython -m pytest -q\n\n.PHONY: test\n",
    "pyproject.toml": """\
[project]
name = "minitpl"
version = "0.4.0"
dependencies = []

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["src"]
""",
    "scripts/run_tests.py": '''\
"""Run the suite; further arguments go to pytest."""

import sys

import pytest


def main(argv):
    return pytest.main(["-q", *argv])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
''',
    "src/minitpl/__init__.py": '"""Small templates."""\n\nfrom minitpl.render import TemplateError, render\n\n__all__ = ["TemplateError", "render"]\n',
    "src/minitpl/filters.py": '''\
"""Filters of values."""

import html

FILTERS = {
    "upper": lambda value: str(value).upper(),
    "title": lambda value: str(value).title(),
    "escape": lambda value: html.escape(str(value), quote=False),
    "join": lambda value: ", ".join(map(str, value)),
    "length": len,
}
''',
    "src/minitpl/lexer.py": '''\
"""Pieces of a template."""

import re

_PIECE = re.compile(r"({{.*?}}|{%.*?%})", re.DOTALL)


def pieces(text):
    """(kind, text) pairs; kind is text, value or tag."""
    for piece in _PIECE.split(text):
        if piece.startswith("{{"):
            yield "value", piece[2:-2].strip()
        elif piece.startswith("{%"):
            yield "tag", piece[2:-2].strip()
        elif piece:
            yield "text", piece
''',
    "src/minitpl/render.py": '''\
"""Fill a template."""

from minitpl.filters import FILTERS
from minitpl.lexer import pieces


class TemplateError(ValueError):
    """The template is wrong."""


def _value(expression, values):
    name, *filters = (part.strip() for part in expression.split("|"))
    found = values
    for part in name.split("."):
        try:
            found = found[part]
        except (KeyError, TypeError):
            raise TemplateError(f"unknown name: {name}") from None
    for each in filters:
        if each not in FILTERS:
            raise TemplateError(f"unknown filter: {each}")
        found = FILTERS[each](found)
    return found


def render(text, **values):
    out, shown = [], [True]
    for kind, piece in pieces(text):
        if kind == "tag":
            word, _, rest = piece.partition(" ")
            if word == "if":
                shown.append(shown[-1] and bool(_value(rest, values)))
            elif word == "else" and len(shown) > 1:
                shown[-1] = not shown[-1]
            elif word == "end" and len(shown) > 1:
                shown.pop()
            else:
                raise TemplateError(f"unknown tag: {piece}")
        elif shown[-1]:
            out.append(piece if kind == "text" else str(_value(piece, values)))
    if len(shown) > 1:
        raise TemplateError("if without end")
    return "".join(out)
''',
    "tests/test_render.py": """\
import unittest

from minitpl import TemplateError, render


class ValueTest(unittest.TestCase):
    def test_name(self):
        self.assertEqual(render("Hi {{ who }}!", who="Ada"), "Hi Ada!")

    def test_dotted_name(self):
        self.assertEqual(render("{{ a.b }}", a={"b": 3}), "3")

    def test_unknown_name(self):
        with self.assertRaisesRegex(TemplateError, "unknown name: nobody"):
            render("{{ nobody }}")

    def test_filters(self):
        for text, expected in [
            ("{{ v|upper }}", "A&B"),
            ("{{ v|escape }}", "a&amp;b"),
            ("{{ v|title|length }}", "3"),
            ("{{ n|join }}", "1, 2"),
        ]:
            with self.subTest(text=text):
                self.assertEqual(render(text, v="a&b", n=[1, 2]), expected)

    def test_unknown_filter(self):
        with self.assertRaisesRegex(TemplateError, "unknown filter: shout"):
            render("{{ v|shout }}", v=1)


class TagTest(unittest.TestCase):
    def test_if(self):
        self.assertEqual(render("a{% if x %}b{% end %}c", x=1), "abc")
        self.assertEqual(render("a{% if x %}b{% end %}c", x=0), "ac")

    def test_else(self):
        self.assertEqual(render("{% if x %}yes{% else %}no{% end %}", x=False), "no")

    def test_if_without_end(self):
        with self.assertRaisesRegex(TemplateError, "if without end"):
            render("{% if x %}b", x=1)

    def test_unknown_tag(self):
        with self.assertRaisesRegex(TemplateError, "unknown tag: loop x"):
            render("{% loop x %}")
""",
    "tests/test_lexer.py": """\
from minitpl.lexer import pieces


def test_plain_text():
    assert list(pieces("abc")) == [("text", "abc")]


def test_all_kinds():
    assert list(pieces("a{{ b }}{% if c %}")) == [("text", "a"), ("value", "b"), ("tag", "if c")]


def test_line_breaks_inside():
    assert list(pieces("{{\\nb\\n}}")) == [("value", "b")]
""",
}
