"""What loading a module does: each way to reach another module while it is loaded, and what honest tests write beside it."""

from __future__ import annotations

import pytest

from gatekeeper.formats.import_effects import import_effects

DOES = {
    "a call": "from app import patch\npatch.install()\n",
    "a call in a value": "from app import make\nX = make()\n",
    "a call in a class": "from app import make\nclass TestA:\n    X = make()\n",
    "a call in a default": "from app import make\ndef test_a(x=make()):\n    pass\n",
    "a call in a row": "import pytest\nfrom app import make\n@pytest.mark.parametrize('x', [make()])\ndef test_a(x):\n    pass\n",
    "a call in a comprehension": "from app import make\nX = [make(i) for i in range(2)]\n",
    "a call in a condition": "from app import make\nif make():\n    X = 1\n",
    "a call in a handler": "from app import make\ntry:\n    import y\nexcept ImportError:\n    make()\n",
    "a call of its own": "def fix():\n    pass\nfix()\n",
    "a lambda called": "X = (lambda: 1)()\n",
    "a decorator": "from app import register\n@register\ndef f():\n    pass\n",
    "a decorator of its own": "def now(f):\n    return f()\n@now\ndef f():\n    pass\n",
    "a context": "from app import patched\nwith patched:\n    X = 1\nwith patched() as Y:\n    pass\n",
    "a patch started": "from unittest import mock\nmock.patch('app.f').start()\n",
    "a patch through a method": "import functools\nfrom app import fix\nfunctools.partial(fix)()\n",
    "handed over": "import functools\nfrom app import fix\nX = functools.reduce(fix, [1, 2])\n",
    "handed over as a key": "from app import fix\nX = sorted([1, 2], key=fix)\n",
    "a lambda handed over": "X = sorted([1, 2], key=lambda v: v)\n",
    "names of rows": "import pytest\nfrom app import fix\n@pytest.mark.parametrize('x', [1], ids=fix)\ndef test_a(x):\n    pass\n",
    "an attribute": "import app\napp.f = print\n",
    "a place": "from app import HANDLERS\nHANDLERS['x'] = print\n",
    "in place": "from app import HANDLERS\nHANDLERS += [print]\n",
    "a loop target": "import app\nfor app.f in [print]:\n    pass\n",
    "deleted": "import app\ndel app.f\n",
    "read": "from app import state\nX = state.fixed\n",
    "an operator": "from app import HANDLERS\nX = HANDLERS << 1\n",
    "a comparison": "from app import HANDLERS\nX = HANDLERS == 1\n",
    "a key": "from app import HANDLERS\nX = HANDLERS[1]\n",
    "an expression": "from app import HANDLERS\nHANDLERS\nHANDLERS << 1\n",
    "everything": "from app import *\n",
    "a metaclass": "from app import Meta\nclass A(metaclass=Meta):\n    pass\n",
    "a class keyword": "from app import Base\nclass A(Base, fix=True):\n    pass\n",
    "pytest's hook": "def pytest_generate_tests(metafunc):\n    pass\n",
    "a plug-in": "pytest_plugins = ['app.fix']\n",
    "a getter": "class TestA:\n    @property\n    def x(self):\n        return 1\n",
    "a module getter": "def __getattr__(name):\n    raise AttributeError(name)\n",
    "another thing of that name": "from app import fix as int\nX = int(1)\n",
    "a name bound anew": "import re\nfrom app import fix\nre = fix\nX = re.compile('a')\n",
    "a name of two origins": "from app import fix as re\nX = re.compile('a')\ndef test_a():\n    import re\n",
    "a builtin bound anew": "def len(x):\n    return 1\nX = len('a')\n",
    "a match": "from app import state\nmatch state:\n    case _:\n        pass\n",
    "no Python": "def (:\n",
}
HONEST = {
    "tests": "import pytest\nimport app\nfrom app import add\n\n\ndef test_a():\n    assert add(1, 2) == 3\n    app.state.f = 1\n",
    "rows": "import pytest\nfrom app import A, b\n@pytest.mark.parametrize('x', [1, (2, 'a'), A, b], ids=['w', 'x', 'y', 'z'])\ndef test_a(x):\n    pass\n",
    "parameters": "import pytest\n@pytest.mark.parametrize('x', [pytest.param(1, id='one', marks=pytest.mark.slow)], ids=str)\ndef test_a(x):\n    pass\n",
    "fixtures": "import pytest\nfrom app import Router\n@pytest.fixture\ndef router():\n    return Router()\n@pytest.fixture(scope='module')\ndef one():\n    yield Router()\n",
    "classes": "import unittest\nfrom app import Base\nclass TestA(unittest.TestCase):\n    maxDiff = None\n    def setUp(self):\n        self.x = Base()\n",
    "constants": "import re\nfrom pathlib import Path\nfrom decimal import Decimal\nHERE = Path(__file__).parent\nX = re.compile('a')\nY = [Decimal('1'), *range(3), len('abc')]\nZ = 'a b'.split()\nW = {n: str(n) for n in (1, 2)}\n",
    "patches": "from unittest import mock\nfrom unittest.mock import patch\n@mock.patch('app.f')\n@patch.object(dict, 'x', create=True)\ndef test_a(one, two):\n    pass\n",
    "skips": "import sys\nimport unittest\nimport pytest\n@pytest.mark.skipif(sys.platform == 'win32', reason='r')\n@unittest.skipUnless(sys.version_info >= (3, 8), 'r')\ndef test_a():\n    pass\n",
    "data classes": "from dataclasses import dataclass, field\n@dataclass(frozen=True)\nclass A:\n    x: int = field(default=1)\n",
    "static methods": "class TestA:\n    @staticmethod\n    def make():\n        return 1\n    @classmethod\n    def new(cls):\n        return cls()\n",
    "a lambda kept": "F = lambda x: x + 1\n",
    "an import that may fail": "try:\n    import y\nexcept ImportError:\n    y = None\n",
    "constants of the code": "import app\nX = app.LIMIT\nY = app.Router\n",
    "documentation": "'''Tests.'''\n",
    "given": "from hypothesis import given, settings, strategies as st\n@settings(max_examples=5)\n@given(st.integers())\ndef test_a(x):\n    pass\n",
}


@pytest.mark.parametrize("source", DOES.values(), ids=DOES)
def test_what_reaches_beyond_the_module_is_named(source):
    assert import_effects(None, source, test=True)


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST)
def test_what_only_defines_things_is_not(source):
    assert import_effects(None, source, test=True) == ()


@pytest.mark.parametrize("name", [n for n in DOES if n != "no Python"])
def test_what_was_there_before_is_nothing_new(name):
    assert import_effects(DOES[name], DOES[name], test=True) == ()


@pytest.mark.parametrize(
    "name", ["a call of its own", "a decorator of its own", "pytest's hook", "a plug-in", "a module getter"]
)
def test_what_hangs_on_the_module_itself_is_new_with_every_edit(name):
    assert import_effects(DOES[name], DOES[name] + "\n\ndef more():\n    import app\n    app.f = 1\n", test=True)


def test_a_decorated_function_that_changes_may_do_something_else():
    source = "from app import register\n@register\ndef f():\n    return 1\n"
    assert import_effects(source, source.replace("return 1", "return 2"))
    assert import_effects(source, source + "\nX = 1\n") == ()


def test_the_same_once_more_is_new():
    source = "from app import patch\npatch.install()\n"
    assert import_effects(source, source + "patch.install()\n")


def test_a_getter_of_the_code_is_no_matter():
    assert import_effects(None, DOES["a getter"]) == ()


def test_a_module_that_is_gone_does_nothing():
    assert import_effects(DOES["a call"], None) == ()


def test_depth_is_no_way_out():
    assert import_effects(None, "X = " + "(" * 150 + "f()" + ")" * 150)
    deep = "X = " + "-" * 5000 + "1\n"
    assert import_effects(None, deep)
