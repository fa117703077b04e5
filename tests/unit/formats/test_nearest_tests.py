"""Test modules in the order of their distance from a change."""

from __future__ import annotations

import time

from gatekeeper.formats.nearest_tests import nearest

SOURCES = {
    "src/shop/__init__.py": "",
    "src/shop/money.py": "",
    "src/shop/cart.py": "from . import money\n",
    "src/shop/web.py": "from .cart import (\n    Cart,\n    total,\n)\n",
    "src/shop/other.py": "import json\n",
    "tests/conftest.py": "",
    "tests/helper.py": "import shop.web\n",
    "tests/test_money.py": "from shop import money\n",
    "tests/test_cart.py": "import shop.cart as c\n",
    "tests/test_web.py": "import helper\n",
    "tests/test_other.py": "from shop.other import x\n",
}
TESTS = [p for p in SOURCES if p.startswith("tests/test_")]


def test_importers_come_by_their_distance() -> None:
    assert nearest(["src/shop/money.py"], TESTS, SOURCES) == [
        "tests/test_money.py", "tests/test_cart.py", "tests/test_web.py",
    ]  # fmt: skip


def test_a_changed_test_module_comes_first() -> None:
    assert nearest(["src/shop/other.py", "tests/test_web.py"], TESTS, SOURCES) == [
        "tests/test_web.py", "tests/test_other.py",
    ]  # fmt: skip


def test_a_conftest_reaches_what_is_below_it() -> None:
    assert nearest(["tests/conftest.py"], TESTS, SOURCES) == sorted(TESTS)


def test_where_nothing_leads_the_likeliest_name_is_taken() -> None:
    assert nearest(["data/cart.json"], TESTS, SOURCES) == ["tests/test_cart.py"]
    assert nearest(["x"], [], SOURCES) == []


def test_hostile_texts_cost_no_time() -> None:
    begun = time.process_time()
    nearest(["a.py"], ["test_a.py"], {"test_a.py": "from x import (\n" * 12_000, "b.py": "import " + "a," * 50_000})
    assert time.process_time() - begun < 20
