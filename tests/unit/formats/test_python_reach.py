"""Test modules that reach a module by their imports."""

from __future__ import annotations

from gatekeeper.formats.python_reach import reaching

FILES = {
    "src/shop/__init__.py": "from shop.cart import Cart\n",
    "src/shop/cart.py": "from .price import total\nclass Cart: ...\n",
    "src/shop/price.py": "def total(): ...\n",
    "src/shop/mail.py": "import smtplib\n",
    "tests/conftest.py": "",
    "tests/test_cart.py": "import shop\n",
    "tests/test_mail.py": "def test():\n    from other import thing\n",
    "tests/late/test_late.py": "def test():\n    from shop import price\n",
    "tests/fixtures/conftest.py": "from shop.price import total\n",
    "tests/fixtures/test_by_fixture.py": "def test(total): ...\n",
    "tests/test_broken.py": "def (:\n",
}
TESTS = sorted(p for p in FILES if "/test_" in p)


def test_imports_are_followed_through_packages_functions_and_conftest_files() -> None:
    found = reaching(TESTS, ["src/shop/price.py"], FILES, FILES.get)
    assert found == ("tests/fixtures/test_by_fixture.py", "tests/late/test_late.py", "tests/test_cart.py")


def test_a_module_that_nothing_imports_is_reached_by_none() -> None:
    assert reaching(TESTS, ["src/shop/unused.py"], FILES, FILES.get) == ()
