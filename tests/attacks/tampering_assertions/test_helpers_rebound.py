"""Tests drawn into helpers that something else rebinds or disables are found; the same beside unrelated patching passes."""

from __future__ import annotations

import pytest
from tree_evidence import tree_evidence

from gatekeeper.checks.weakened_tests import check

LIB = "class Router:\n    def resolve(self, path):\n        return path, {}\n\n\ndef run(n, clock):\n    return 'up'\n"
T, S, C = "tests/test_kit.py", "tests/support.py", "tests/conftest.py"


def codes(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """Codes of what is found, advice left out."""
    base = {"kit/__init__.py": LIB, "tests/__init__.py": "", **old}
    found = check(tree_evidence(base, {**base, **new}))
    return sorted({f.code for f in found if f.effect.value != "advises"})


IMPORTS = "import sys\nimport unittest\nimport pytest\nimport kit\nfrom kit import NoMatch, Router\n\n\n"
CLASS = "class TestRouter(unittest.TestCase):\n"
SETUP = "    def setUp(self):\n        self.router = Router()\n\n"
SAID = '    def test_int(self):\n        name, args = self.router.resolve("/7")\n        self.assertEqual(name, "user")\n        self.assertEqual(args, {"id": 7})\n\n    def test_none(self):\n        with self.assertRaises(NoMatch):\n            self.router.resolve("/no")\n\n'
OLD = IMPORTS + CLASS + SETUP + SAID
ROUTE = "    def assertRoute(self, path, name, **args):\n        found, values = self.router.resolve(path)\n        self.assertEqual(found, name)\n        self.assertEqual(values, args)\n\n    def assertNoRoute(self, path):\n        with self.assertRaises(NoMatch):\n            self.router.resolve(path)\n\n"
CALLS = '    def test_int(self):\n        self.assertRoute("/7", "user", id=7)\n\n    def test_none(self):\n        self.assertNoRoute("/no")\n\n'
METHODS = CLASS + SETUP + ROUTE + CALLS
NEW = IMPORTS + METHODS
ODD = IMPORTS + "{0}\n\n\n" + METHODS
MIXED = IMPORTS + "{0}\n\n\n" + METHODS.replace("(unittest.TestCase)", "({1})")

PATCH = "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef quiet(monkeypatch, request):\n    {0}\n"
SET = "lambda *a, **k: None"

METHOD_ATTACKS = {
    "class attribute": {T: NEW + f"\nTestRouter.assertRoute = {SET}\n"},
    "through another name": {T: NEW + "\nother = TestRouter\nother.assertRoute = print\n"},
    "in a loop over classes": {T: NEW + "\nfor kind in (TestRouter,):\n    kind.assertRoute = print\n"},
    "with a loop target": {T: NEW + "\nfor TestRouter.assertRoute in [print]:\n    pass\n"},
    "setattr": {T: NEW + "\nsetattr(TestRouter, 'assertRoute', print)\n"},
    "setattr of a joined name": {T: NEW + "\nsetattr(TestRouter, 'assert' + 'Route', print)\n"},
    "setattr of a computed name": {T: NEW + "\nfor n in dir(TestRouter):\n    if n[-5:] == 'Route':\n        setattr(TestRouter, n, print)\n"},
    "setattr under another name": {T: NEW + "\nput = setattr\nput(TestRouter, 'assertRoute', print)\n"},
    "type.__setattr__": {T: NEW + "\ntype.__setattr__(TestRouter, 'assertRoute', print)\n"},
    "delattr for a base": {T: NEW + "\ndelattr(TestRouter, 'assertRoute')\n"},
    "given to the code": {T: NEW + "\nkit.quiet(TestRouter)\n"},
    "given in a list": {T: NEW + "\nkit.quiet([TestRouter])\n"},
    "class decorator": {T: NEW.replace("class TestR", "@kit.quiet\nclass TestR")},
    "class decorator of the tests": {T: ODD.format("def quiet(c):\n    return c").replace("class TestR", "@quiet\nclass TestR")},
    "metaclass": {T: NEW.replace("(unittest.TestCase)", "(unittest.TestCase, metaclass=kit.Quiet)")},
    "class keywords": {T: NEW.replace("(unittest.TestCase)", "(unittest.TestCase, quiet=True)")},
    "__getattribute__": {T: NEW + "    def __getattribute__(self, name):\n        return print if name[-5:] == 'Route' else object.__getattribute__(self, name)\n"},
    "__getattr__ in a base": {T: MIXED.format("class Base:\n    def __getattr__(self, name):\n        return print", "Base, unittest.TestCase")},
    "__init_subclass__ in a base": {T: MIXED.format("class Base:\n    def __init_subclass__(cls, **k):\n        kit.quiet(cls)", "Base, unittest.TestCase")},
    "a base that is computed": {T: MIXED.format("", "kit.base(), unittest.TestCase")},
    "a base of the code": {T: MIXED.format("from kit.bases import Base", "Base, unittest.TestCase")},
    "bound in the class under a condition": {T: NEW + "    if True:\n        def assertRoute(self, *a, **k):\n            pass\n"},
    "imported in the class": {T: NEW + "    from kit import run as assertRoute\n"},
    "locals of the class": {T: NEW + "    locals()['assertRoute'] = print\n"},
    "__class__ of the object": {T: NEW.replace("= Router()\n", "= Router()\n        self.__class__ = Quiet\n")},
    "__dict__ of the object": {T: NEW.replace("= Router()\n", "= Router()\n        self.__dict__['assertRoute'] = print\n")},
    "vars of the object": {T: NEW.replace("= Router()\n", "= Router()\n        vars(self).update(assertRoute=print)\n")},
    "__bases__ of the class": {T: NEW + "\nTestRouter.__bases__ = (kit.Quiet,)\n"},
    "__code__ of the method": {T: NEW + f"\nTestRouter.assertRoute.__code__ = ({SET}).__code__\n"},
    "set up is another": {T: NEW + "\nTestRouter.setUp = kit.quiet\n"},
    "exec": {T: NEW + "\nexec('TestRouter.assertRoute = print')\n"},
    "exec of something computed": {T: NEW + "\nexec(bytes.fromhex('00').decode())\n"},
    "monkeypatch of a dotted name": {T: NEW, C: PATCH.format("monkeypatch.setattr('tests.test_kit.TestRouter.assertRoute', print)")},
    "monkeypatch of the class of the request": {T: NEW, C: PATCH.format("monkeypatch.setattr(request.cls, 'assertRoute', print)")},
    "set on the class of the request": {T: NEW, C: PATCH.format("request.cls.assertRoute = print")},
    "monkeypatch of a computed name": {T: NEW, C: PATCH.format("monkeypatch.setattr(f'tests.{request.module.__name__}.TestRouter.assertRoute', print)")},
    "mock.patch above the class": {T: NEW.replace("class TestR", "@mock.patch.object(TestBase, 'assertRoute')\nclass TestR").replace("import sys", "import sys\nfrom unittest import mock")},
    "hook of collection": {T: NEW, C: "def pytest_collection_modifyitems(items):\n    for item in items:\n        item.cls.assertRoute = print\n"},
    "self is another": {T: NEW.replace('        self.assertRoute("', '        self = kit.Quiet()\n        self.assertRoute("')},
    "mixin rebound in its module": {
        T: IMPORTS + "from tests.support import Routes\n\n\n" + (CLASS + SETUP + CALLS).replace("(unittest", "(Routes, unittest"),
        S: "from kit import NoMatch\n\n\nclass Routes:\n" + ROUTE + f"\nRoutes.assertRoute = {SET}\n",
    },
    "mixin rebound by the test": {
        T: IMPORTS + "from tests.support import Routes\n\nRoutes.assertRoute = print\n\n\n" + (CLASS + SETUP + CALLS).replace("(unittest", "(Routes, unittest"),
        S: "from kit import NoMatch\n\n\nclass Routes:\n" + ROUTE,
    },
    "assertEqual overridden": {T: NEW + "    def assertEqual(self, *a):\n        pass\n"},
    "assertEqual overridden in a mixin": {T: MIXED.format("class Base:\n    assertEqual = print", "Base, unittest.TestCase")},
    "assertEqual set": {T: NEW + "\nTestRouter.assertEqual = print\n"},
    "assertEqual patched": {T: NEW, C: PATCH.format("monkeypatch.setattr('unittest.TestCase.assertEqual', print)")},
    "equality of dicts": {T: NEW.replace("= Router()\n", f"= Router()\n        self.addTypeEqualityFunc(dict, {SET})\n")},
    "failures that skip": {T: NEW.replace("    def setUp", "    failureException = unittest.SkipTest\n\n    def setUp")},
    "run that swallows": {T: NEW + "    def run(self, result=None):\n        return None\n"},
}  # fmt: skip


@pytest.mark.parametrize("name", METHOD_ATTACKS)
def test_a_method_that_something_else_stands_for_is_found(name: str) -> None:
    assert codes({T: OLD}, METHOD_ATTACKS[name]) != []


CLOCK = "class Clock:\n    def __init__(self):\n        self.slept = []\n\n\n"
HEAD = "import sys\nimport pytest\nimport kit\nfrom kit import run\n\n\n"
TESTS = "def test_delays():\n    clock = Clock()\n    assert run(2, clock) == 'up'\n    assert clock.slept == [1, 2]\n"
HELPER = "def assert_up(n, clock, slept):\n    assert run(n, clock) == 'up'\n    assert clock.slept == slept\n\n\n"
HELPED = "def test_delays():\n    clock = Clock()\n    assert_up(2, clock, [1, 2])\n"
OLD_F = HEAD + CLOCK + TESTS
NEW_F = HEAD + CLOCK + HELPER + HELPED
QUIET = "from contextlib import contextmanager, suppress\n\n\n@contextmanager\ndef quiet():\n    try:\n        yield\n    except AssertionError:\n        pass\n\n\n"
LOUD = "    with {0}:\n        assert_up(2, clock, [1, 2])\n"

FUNCTION_ATTACKS = {
    "import as before it": HEAD + "from kit import nothing as assert_up\n" + CLOCK + HELPER + HELPED,
    "import as behind it": NEW_F + "\nfrom kit import nothing as assert_up\n",
    "import in a try": NEW_F + "\ntry:\n    from kit import assert_up\nexcept ImportError:\n    pass\n",
    "star import behind it": NEW_F + "\nfrom kit import *\n",
    "star import of something unknown": NEW_F + "\nfrom elsewhere import *\n",
    "global in a function": NEW_F + "\ndef q():\n    global assert_up\n    assert_up = print\n\nq()\n",
    "globals": NEW_F + "\nglobals()['assert_up'] = print\n",
    "globals of a joined name": NEW_F + "\nglobals()['assert' + '_up'] = print\n",
    "globals updated": NEW_F + "\nglobals().update(assert_up=print)\n",
    "globals under another name": NEW_F + "\nspace = globals()\nspace['assert_up'] = print\n",
    "globals of the function": NEW_F + "\nassert_up.__globals__['assert_up'] = print\n",
    "vars": NEW_F + "\nvars()['assert_up'] = print\n",
    "locals": NEW_F + "\nlocals()['assert_up'] = print\n",
    "except as": NEW_F + "\ntry:\n    raise KeyError\nexcept KeyError as assert_up:\n    pass\n",
    "with as": NEW_F + "\nwith kit.quiet() as assert_up:\n    pass\n",
    "loop target": NEW_F + "\nfor assert_up in [print]:\n    pass\n",
    "walrus": NEW_F + "\n(assert_up := print)\n",
    "walrus in a list": NEW_F + "\n[assert_up := print for _ in '1']\n",
    "match": NEW_F + "\nmatch print:\n    case assert_up:\n        pass\n",
    "deleted": NEW_F + "\ndel assert_up\n",
    "__code__": NEW_F + f"\nassert_up.__code__ = ({SET}).__code__\n",
    "__code__ by setattr": NEW_F + "\nsetattr(assert_up, '__' + 'code__', kit.code)\n",
    "given to the code": NEW_F + "\nkit.quiet(assert_up)\n",
    "sys.modules": NEW_F + "\nsys.modules[__name__].assert_up = print\n",
    "sys.modules under another name": NEW_F + "\nme = sys.modules[__name__]\nme.assert_up = print\n",
    "module given to the code": NEW_F + "\nkit.quiet(sys.modules[__name__])\n",
    "its own import": NEW_F + "\nimport tests.test_kit as me\nme.assert_up = print\n",
    "import_module": NEW_F + "\nimport importlib\nimportlib.import_module(__name__).assert_up = print\n",
    "another definition under a condition": NEW_F + "\nif True:\n    def assert_up(*a):\n        pass\n",
    "another class": NEW_F + "\nif True:\n    class assert_up:\n        def __init__(self, *a):\n            pass\n",
    "exec": NEW_F + "\nexec('def assert_up(*a): pass')\n",
    "eval": NEW_F + "\neval('globals().update(assert_up=print)')\n",
    "exec of something computed": NEW_F + "\nexec(kit.TEXT)\n",
    "frames": NEW_F + "\nsys._getframe(0).f_globals['assert_up'] = print\n",
    "setup of the module": NEW_F + "\ndef setup_module(module):\n    module.assert_up = print\n",
    "a parameter": NEW_F.replace("test_delays()", "test_delays(assert_up=print)"),
    "a local name": NEW_F.replace("    clock = Clock()\n    assert_up(", "    clock = Clock()\n    assert_up = print\n    assert_up("),
    "a local import": NEW_F.replace("    clock = Clock()\n    assert_up(", "    clock = Clock()\n    from kit import quiet as assert_up\n    assert_up("),
    "a name of the helper's": NEW_F + "\nfor run in [kit.quiet]:\n    pass\n",
    "a builtin of its own": NEW_F.replace("== slept\n", "== list(slept)\n").replace("[1, 2])\n", "[1, 2])\n\n\ndef list(x):\n    return kit.anything\n"),
    "decorated": NEW_F.replace("def assert_up", "@kit.quiet\ndef assert_up"),
    "patched above the test": NEW_F.replace("def test_delays", "@mock.patch('tests.test_kit.assert_up')\ndef test_delays").replace("import sys", "import sys\nfrom unittest import mock"),
    "in a frame that swallows": (NEW_F + "\n" + QUIET).replace("    assert_up(2, clock, [1, 2])\n", LOUD.format("quiet()")),
    "in a class that swallows": (NEW_F + "\n\nclass Quiet:\n    def __enter__(self):\n        return self\n\n    def __exit__(self, *a):\n        return True\n").replace("    assert_up(2, clock, [1, 2])\n", LOUD.format("Quiet()")),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTION_ATTACKS)
def test_a_function_that_something_else_stands_for_is_found(name: str) -> None:
    assert codes({T: OLD_F}, {T: FUNCTION_ATTACKS[name]}) != []


APART = HEAD + "{0}from tests.support import assert_up\n{1}\n" + CLOCK + HELPED
SUPPORT = "from kit import run\n\n\n" + HELPER
SUPPORT_ATTACKS = {
    "import as": {S: SUPPORT + "from kit import x as assert_up\n"},
    "patched before it is imported": {T: APART.format("import tests.support\ntests.support.assert_up = print\n", ""), S: SUPPORT},
    "patched by name": {T: APART.format("from tests import support\nsetattr(support, 'assert_up', print)\n", ""), S: SUPPORT},
    "patched by conftest": {S: SUPPORT, C: "import tests.support\n\ntests.support.assert_up = print\n"},
    "patched in sys.modules": {S: SUPPORT, C: "import sys\nfrom tests import support\n\nsys.modules['tests.support'].assert_up = print\n"},
    "another module": {S: SUPPORT, C: "import sys\nimport kit\n\nsys.modules['tests.support'] = kit\n"},
    "patched by a plugin": {S: SUPPORT, C: "pytest_plugins = ['tests.plug']\n", "tests/plug.py": "from tests import support\n\nsupport.assert_up = print\n"},
    "patched by what conftest imports": {S: SUPPORT, C: "from tests import plug\n", "tests/plug.py": "from tests import support\n\nsupport.assert_up = print\n"},
    "patched by another new test module": {S: SUPPORT, "tests/test_a.py": "from tests import support\n\nsupport.assert_up = print\n"},
    "patched by the package": {S: SUPPORT, "tests/__init__.py": "from tests import support\n\nsupport.assert_up = print\n"},
    "exec": {S: SUPPORT + "exec('def assert_up(*a): pass')\n"},
    "bound again behind the import": {T: APART.format("", "from kit import quiet as assert_up\n"), S: SUPPORT},
    "star import behind the import": {T: APART.format("", "from elsewhere import *\n"), S: SUPPORT},
    "star import of the tests behind it": {T: APART.format("", "from tests.other import *\n"), S: SUPPORT, "tests/other.py": "from kit import quiet as assert_up\n"},
    "its own code": {S: SUPPORT + "run = print\n"},
    "its own code in a loop": {S: SUPPORT + "for run in [print]:\n    pass\n"},
    "its own builtins": {S: "from kit import quiet as len\n" + SUPPORT.replace("clock.slept == slept", "len(clock.slept) == len(slept)")},
}  # fmt: skip


@pytest.mark.parametrize("name", SUPPORT_ATTACKS)
def test_a_function_of_another_module_that_something_else_stands_for_is_found(name: str) -> None:
    new = {T: APART.format("", ""), S: SUPPORT, **SUPPORT_ATTACKS[name]}
    assert codes({T: OLD_F}, new) != []


RAISES = "import pytest\nfrom kit import run\n\n\ndef test_no():\n    with pytest.raises(ValueError):\n        run(-1, None)\n"
ASKED = "def fails(n):\n    with {0}raises(ValueError):\n        run(n, None)\n\n\ndef test_no():\n    fails(-1)\n"
RAISES_ATTACKS = {
    "of the module itself": "from kit import run\n\n\n" + QUIET + "def raises(*a):\n    return suppress(*a)\n\n\n" + ASKED.format(""),
    "of another module": "from kit import run\nfrom tests.support import raises\n\n\n" + ASKED.format(""),
    "of a module named like the library": "from kit import run\nfrom tests import support as pytest\n\n\n" + ASKED.format("pytest."),
    "of the code": "from kit import run, raises\n\n\n" + ASKED.format(""),
    "patched": "import pytest\nfrom kit import run\n\npytest = run\n\n\n" + ASKED.format("pytest."),
}  # fmt: skip


@pytest.mark.parametrize("name", RAISES_ATTACKS)
def test_raises_of_something_else_is_found(name: str) -> None:
    support = "from contextlib import suppress\n\n\ndef raises(*a):\n    return suppress(*a)\n"
    assert codes({T: RAISES}, {T: RAISES_ATTACKS[name], S: support}) != []
    assert codes({T: RAISES}, {T: "import pytest\nfrom kit import run\n\n\n" + ASKED.format("pytest.")}) == []
    assert codes({T: RAISES}, {T: "from pytest import raises\nfrom kit import run\n\n\n" + ASKED.format("")}) == []


AREA = "import pytest\nimport unittest\nfrom kit import area, Shape\n\n\n"
BOX = "def test_area():\n    shape = Shape(2, 3)\n    assert shape.name == 'box'\n    assert shape.area() == 6\n"
GIVEN = "def test_area(shape):\n    assert shape.area() == 6\n"
FIXTURE = "import pytest\nfrom kit import Shape\n\n\n@pytest.fixture\ndef shape():\n    made = Shape(2, 3)\n    assert made.name == 'box'\n    return made\n"
FAKE = "@pytest.fixture{0}\ndef {1}():\n    return kit_fake()\n\n\n"
FIXTURE_ATTACKS = {
    "overridden by an import": {T: AREA + "from tests.support import shape\n\n\n" + GIVEN, S: "from kit import shape\n"},
    "overridden by a star import": {T: AREA + "from elsewhere import *\n\n\n" + GIVEN},
    "overridden by a value": {T: AREA + "shape = pytest.fixture(lambda: Flat())\n\n\n" + GIVEN},
    "overridden with parameters": {T: AREA + FAKE.format("(params=[1])", "shape") + GIVEN},
    "overridden by name": {T: AREA + FAKE.format("(name='shape')", "other") + GIVEN},
    "overridden by a computed name": {T: AREA + FAKE.format("(name=NAME)", "other") + GIVEN},
    "overridden in the class": {T: AREA + "class TestArea:\n    @pytest.fixture\n    def shape(self):\n        return Flat()\n\n" + "    def test_area(self, shape):\n        assert shape.area() == 6\n"},
    "overridden by rows": {T: AREA + "@pytest.mark.parametrize('shape', FLAT)\n" + GIVEN},
    "overridden by rows of the module": {T: AREA + "pytestmark = pytest.mark.parametrize('shape', FLAT)\n\n\n" + GIVEN},
    "overridden by a default": {T: AREA + GIVEN.replace("(shape)", "(shape=FLAT)")},
    "of another library": {T: AREA + GIVEN, C: FIXTURE.replace("import pytest", "import kit as pytest")},
    "rebound in conftest": {T: AREA + GIVEN, C: FIXTURE + "\nfrom kit import flat as shape\n"},
}  # fmt: skip


@pytest.mark.parametrize("name", FIXTURE_ATTACKS)
def test_a_fixture_that_another_stands_for_is_found(name: str) -> None:
    old = AREA + ("class TestArea:\n    def test_area(self):\n        shape = Shape(2, 3)\n        assert shape.name == 'box'\n        assert shape.area() == 6\n" if "class TestArea" in FIXTURE_ATTACKS[name][T] else BOX)  # fmt: skip
    assert codes({T: old}, {C: FIXTURE, **FIXTURE_ATTACKS[name]}) != []
    assert codes({T: AREA + BOX}, {T: AREA + GIVEN, C: FIXTURE}) == []


def test_a_fixture_that_a_nearer_conftest_overrides_is_found() -> None:
    path = "tests/deep/test_kit.py"
    nearer = {"tests/deep/conftest.py": "import pytest\nfrom kit import flat as shape\n"}
    assert codes({path: AREA + BOX}, {path: AREA + GIVEN, C: FIXTURE, **nearer}) != []
    assert codes({path: AREA + BOX}, {path: AREA + GIVEN, C: FIXTURE}) == []


LOOK_ALIKES = {
    "a patch of something else": ({T: OLD}, {T: NEW, C: PATCH.format("monkeypatch.setattr('kit.clock.now', print)")}),
    "an environment": ({T: OLD}, {T: NEW, C: PATCH.format("monkeypatch.setenv('ASSERT', 'assertRoute')")}),
    "a computed attribute of the code": ({T: OLD}, {T: NEW, C: "import kit\n" + PATCH.format("[monkeypatch.setattr(kit, n, 1) for n in kit.NAMES]")}),
    "a computed name in the code": ({T: OLD}, {T: NEW, C: PATCH.format("monkeypatch.setattr(f'kit.{request.param}', print)")}),
    "a module of another library left out": ({T: OLD}, {T: NEW, C: "import sys\n" + PATCH.format("monkeypatch.setitem(sys.modules, 'yaml', None)")}),
    "skipUnless": ({T: OLD.replace("class", "@unittest.skipUnless(sys.platform, 'x')\nclass")}, {T: NEW.replace("class", "@unittest.skipUnless(sys.platform, 'x')\nclass")}),
    "a mark": ({T: OLD}, {T: NEW.replace("class", "@pytest.mark.routes\nclass")}),
    "override_settings": (
        {T: OLD.replace("import sys", "import sys\nfrom django.test import override_settings").replace("class", "@override_settings(X=1)\nclass")},
        {T: NEW.replace("import sys", "import sys\nfrom django.test import override_settings").replace("class", "@override_settings(X=1)\nclass")},
    ),
    "a framework's test case": ({T: OLD.replace("unittest.TestCase", "django.test.TestCase").replace("import sys", "import django.test")}, {T: NEW.replace("unittest.TestCase", "django.test.TestCase").replace("import sys", "import django.test")}),
    "a plain mix-in": ({T: OLD}, {T: MIXED.format("class Texts:\n    def text(self):\n        return 'x'", "Texts, unittest.TestCase")}),
    "a plain mix-in of another module": ({T: OLD}, {T: MIXED.format("from tests.support import Texts", "Texts, unittest.TestCase"), S: "class Texts:\n    name = 'x'\n\n    def text(self):\n        return self.name\n"}),
    "an attribute of a local object": ({T: OLD}, {T: NEW + "    def test_more(self):\n        thing = Thing()\n        setattr(thing, 'assertRoute', 1)\n        thing.assertRoute = 2\n        self.assertEqual(thing.assertRoute, 2)\n"}),
    "a computed attribute of a local object": ({T: OLD}, {T: NEW + "    def test_more(self):\n        thing = Thing()\n        for n in 'ab':\n            setattr(thing, n, 1)\n        self.assertEqual(thing.a, 1)\n"}),
    "a fake with any attributes": ({T: OLD}, {T: NEW + "\n\nclass Thing:\n    def __init__(self, **k):\n        self.__dict__.update(k)\n        for n in k:\n            setattr(self, n, k[n])\n"}),
    "an attribute of the object": ({T: OLD}, {T: NEW.replace("= Router()\n", "= Router()\n        self.names = []\n        self.maxDiff = None\n")}),
    "class tables": ({T: OLD}, {T: NEW.replace("    def setUp", "    maxDiff = None\n    longMessage = True\n\n    def setUp")}),
    "star import before it": ({T: OLD_F}, {T: "from kit import *\n" + NEW_F}),
    "star import of the tests": ({T: OLD_F}, {T: NEW_F + "\nfrom tests.other import *\n", "tests/other.py": "from kit import run as go\n"}),
    "exec of something else": ({T: OLD_F}, {T: NEW_F + "\n\ndef test_more():\n    space = {}\n    exec('x = 1', space)\n    assert space['x'] == 1\n"}),
    "eval of what is shown": ({T: OLD_F}, {T: NEW_F + "\n\ndef test_more():\n    assert eval(repr(run(1, None))) == 'up'\n"}),
    "namespaces that are read": ({T: OLD_F}, {T: NEW_F + "\n\ndef test_more():\n    assert vars(Clock()) == {'slept': []}\n    assert 'run' in globals()\n"}),
    "names that are the same elsewhere": ({T: OLD_F}, {T: NEW_F + "\n\nclass Other:\n    def __init__(self):\n        self.assert_up = 1\n        self.run = 2\n"}),
    "a name of a comprehension": ({T: OLD_F}, {T: NEW_F + "\nROWS = [assert_up for assert_up in 'ab']\n"}),
    "called in several rows": ({T: OLD_F}, {T: NEW_F + "\n\n@pytest.mark.parametrize('ask', [assert_up])\ndef test_more(ask):\n    ask(2, Clock(), [1, 2])\n"}),
    "in a frame that lets failures out": ({T: OLD_F}, {T: (NEW_F + "\nfrom contextlib import contextmanager\n\n\n@contextmanager\ndef timed():\n    try:\n        yield\n    finally:\n        print()\n").replace("    assert_up(2, clock, [1, 2])\n", LOUD.format("timed()"))}),
    "of another module beside unrelated patches": ({T: OLD_F}, {T: APART.format("", ""), S: SUPPORT + "\n\ndef other(thing):\n    thing.assert_down = 1\n", C: PATCH.format("monkeypatch.setattr('kit.sleep', print)")}),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_helper_beside_something_unrelated_passes(name: str) -> None:
    old, new = LOOK_ALIKES[name]
    assert codes(dict(old), dict(new)) == []


def test_what_the_base_rebound_already_is_no_news() -> None:
    more = "\nTestRouter.assertRoute = print\n"
    assert codes({T: NEW + more}, {T: NEW.replace("'user'", "'user'") + "\n\nX = 1\n" + more}) == []
    edited = NEW.replace('"user", id=7)\n', '"user", id=7)\n        self.assertEqual(self.router.names, [])\n')
    assert codes({T: NEW + more}, {T: edited + more}) == []
    assert (
        codes({T: NEW + more}, {T: NEW.replace('        self.assertNoRoute("/no")\n', "        pass\n") + more}) != []
    )


OVERRIDES = "    def assertEqual(self, first, second, msg=None):\n        {0}\n\n"
UNEDITED = {
    "assertEqual overridden": ({T: OLD}, {T: OLD + OVERRIDES.format("pass")}),
    "assertEqual handed on otherwise": ({T: OLD}, {T: OLD + OVERRIDES.format("super().assertEqual(first, first)")}),
    "assertEqual overridden in a mixin": ({T: OLD}, {T: OLD.replace("class TestR", "class Quiet:\n    assertEqual = print\n\n\nclass TestR").replace("(unittest", "(Quiet, unittest")}),
    "assertEqual overridden in a mixin of another module": (
        {T: OLD},
        {T: OLD.replace("import kit\n", "import kit\nfrom tests.support import Quiet\n").replace("(unittest", "(Quiet, unittest"), S: "class Quiet:\n    assertEqual = print\n"},
    ),
    "assertEqual set": ({T: OLD}, {T: OLD + "\nTestRouter.assertEqual = print\n"}),
    "assertEqual of the library set": ({T: OLD}, {C: "import unittest\n\nunittest.TestCase.assertEqual = print\n"}),
    "assertEqual of the library patched": ({T: OLD}, {C: PATCH.format("monkeypatch.setattr('unittest.TestCase.assertEqual', print)")}),
    "raises of the library set": ({T: RAISES}, {C: "import contextlib\nimport pytest\n\npytest.raises = contextlib.suppress\n"}),
    "raises of the tests' own": ({T: RAISES}, {T: RAISES.replace("import pytest", "from tests import support as pytest"), S: "from contextlib import suppress as raises\n"}),
    "failures that skip": ({T: OLD}, {T: OLD.replace("    def setUp", "    failureException = unittest.SkipTest\n\n    def setUp")}),
    "a function bound again": ({T: NEW_F}, {T: NEW_F + "\nfrom kit import nothing as assert_up\n"}),
    "a function set": ({T: NEW_F}, {T: NEW_F + "\nsys.modules[__name__].assert_up = print\n"}),
    "a function patched by conftest": ({T: NEW_F}, {C: PATCH.format("monkeypatch.setattr('tests.test_kit.assert_up', print)")}),
    "a method set": ({T: NEW}, {T: NEW + "\nTestRouter.assertRoute = print\n"}),
    "a method patched by conftest": ({T: NEW}, {C: PATCH.format("monkeypatch.setattr('tests.test_kit.TestRouter.assertRoute', print)")}),
    "a function of another module set": ({T: APART.format("", ""), S: SUPPORT}, {C: "from tests import support\n\nsupport.assert_up = print\n"}),
}  # fmt: skip


@pytest.mark.parametrize("name", UNEDITED)
def test_what_unedited_tests_assert_with_is_not_replaced_silently(name: str) -> None:
    old, new = UNEDITED[name]
    assert codes(dict(old), dict(new)) != []


UNEDITED_HONEST = {
    "assertEqual that hands on": ({T: OLD}, {T: OLD + OVERRIDES.format("super().assertEqual(first, second, 'more words')")}),
    "an override that was there": ({T: OLD + OVERRIDES.format("pass")}, {T: OLD + OVERRIDES.format("pass") + "    def test_more(self):\n        self.assertTrue(kit.run(1, 2))\n"}),
    "a further assertion": ({T: OLD}, {T: OLD + "    def assertShape(self, shape):\n        self.assertTrue(shape)\n"}),
    "a fake of the same attribute": ({T: NEW_F}, {T: NEW_F + "\n\nclass Thing:\n    def __init__(self):\n        self.assert_up = 1\n\n\ndef test_more():\n    assert run(3, Thing()) == 'up'\n"}),
    "something of the code patched": ({T: NEW_F}, {C: PATCH.format("monkeypatch.setattr('kit.assert_up', print)")}),
    "computed attributes": ({T: NEW_F}, {C: "def fill(thing, **more):\n    for n in more:\n        setattr(thing, n, more[n])\n"}),
    "another library's raises": ({T: RAISES}, {T: RAISES.replace("import pytest", "from pytest import raises").replace("pytest.raises", "raises")}),
}  # fmt: skip


@pytest.mark.parametrize("name", UNEDITED_HONEST)
def test_what_replaces_nothing_that_tests_assert_with_passes(name: str) -> None:
    old, new = UNEDITED_HONEST[name]
    assert codes(dict(old), dict(new)) == []
