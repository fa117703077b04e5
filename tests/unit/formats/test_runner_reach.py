"""What changed code newly does that could reach the runner."""

from __future__ import annotations

import pytest

from gatekeeper.formats.runner_reach import reaches

REACHING = [
    "import _pytest.python as p\np.Function.runtest = None\n",
    "from pytest import skip\n",
    "import gc\nfor o in gc.get_objects(): pass\n",
    "import os\nos._exit(0)\n",
    "from os import _exit\n",
    "import sys\nsys.exit = print\n",
    "import sys\nm = sys.modules\n",
    "from sys import modules as m\n",
    "import json\njson.dumps = print\n",
    "__import__('os')\n",
    "exec('1')\n",
    "eval(compile('1', '', 'eval'))\n",
    "x = ().__class__.__base__.__subclasses__()\n",
    "class A(BaseException):\n    pass\n",
    "class A(AssertionError):\n    pass\n",
    "class M(type):\n    pass\n",
    "class A:\n    def __init_subclass__(cls): pass\n",
    "import ctypes\n",
    "import inspect\nf = inspect.stack\n",
    "import builtins as b\n",
    "def f(x):\n    setattr(x, 'y', 1)\n",
    "NAME = 'PYTEST_CURRENT_TEST'\n",
    "from os import *\n",
    "f = lambda: 0\ng = f.__globals__\n",
    "T = type('T', (), {})\n",
    "import importlib\nimportlib.import_module('a')\n",
    "getattr(f, '__' + 'globals__')\n",
]
QUIET = [
    "def add(a, b):\n    return a + b\n",
    "import os\nimport sys\nroot = os.path.join(os.getcwd(), os.environ.get('HOME', ''))\nold = sys.version_info < (3, 9)\n",
    "import inspect\ns = inspect.signature(print)\n",
    "from importlib import metadata\nfrom importlib.metadata import version\n",
    "from types import MappingProxyType\n",
    "import ast\nx = ast.literal_eval('1')\n",
    "class A(Exception):\n    def __init__(self):\n        self.x = 1\n",
    "class A:\n    def f(self, n):\n        setattr(self, n, getattr(self, n))\n",
    "import json, re, datetime\nx = json.dumps(re.sub('a', 'b', 'c'))\n",
    "import sys\n\n\ndef main():\n    sys.exit(1)\n",
]


@pytest.mark.parametrize("source", REACHING)
def test_a_way_to_the_runner_is_named(source: str) -> None:
    assert reaches(None, source)
    assert reaches("x = 1\n", source)


@pytest.mark.parametrize("source", REACHING)
def test_what_was_there_before_is_not_new(source: str) -> None:
    assert reaches(source, source + "\n\ndef added(a):\n    return a\n") == ()


@pytest.mark.parametrize("source", QUIET)
def test_ordinary_code_reaches_nothing(source: str) -> None:
    assert reaches(None, source) == ()


def test_tests_import_the_runner_as_a_matter_of_course() -> None:
    assert reaches(None, "import pytest\nimport unittest\n\n\ndef test_a(): pass\n", test=True) == ()
    assert reaches(None, "import _pytest\n", test=True)


@pytest.mark.parametrize("source", ["def (", "x = " + "(" * 5000 + "1" + ")" * 5000, "\x00"])
def test_what_cannot_be_read_reaches_everything(source: str) -> None:
    assert reaches("x = 1\n", source)


def test_a_removed_module_reaches_nothing() -> None:
    assert reaches("import gc\n", None) == ()
