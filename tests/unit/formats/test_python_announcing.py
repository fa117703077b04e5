"""What is left of a module without its warnings, and what a plan says is to be deprecated or to go."""

from __future__ import annotations

import ast

import pytest

from gatekeeper.formats.python_announcing import ended_ways, newly_warned
from gatekeeper.formats.python_deprecations import named_for_deprecation, says_that_this_goes
from gatekeeper.formats.python_expected_warnings import only_expects

PLAIN = "def f(n):\n    return n\n\n\nclass A:\n    def g(self):\n        return 1\n"
IN_F = "import warnings\n\n\n" + PLAIN.replace(
    "    return n\n", "    warnings.warn('f is deprecated', DeprecationWarning)\n    return n\n"
)


def warned(old: str, new: str) -> dict[str, frozenset[str]] | None:
    found = newly_warned(ast.parse(old), ast.parse(new))
    return None if found is None else dict(found)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (PLAIN, PLAIN, {}),
        (PLAIN, IN_F, {"f": frozenset({"f is deprecated"})}),
        (PLAIN, IN_F.replace("import warnings", "from warnings import warn").replace("warnings.warn", "warn"), {"f": frozenset({"f is deprecated"})}),
        (IN_F, IN_F, {}),
        (IN_F, PLAIN, None),
        (PLAIN, IN_F.replace("return n", "return -n"), None),
        (PLAIN, IN_F.replace(", DeprecationWarning", ""), None),
        (PLAIN, IN_F.replace("'f is deprecated'", "n.pop()"), None),
        (PLAIN, IN_F.replace("DeprecationWarning)", "DeprecationWarning, source=n.pop())"), None),
        (PLAIN, IN_F.replace("def f(n)", "def f(warnings)"), None),
        (PLAIN, IN_F.replace("    warnings.warn(", "    raise ("), None),
        (PLAIN, IN_F.replace("    warnings.warn(", "    return warnings.warn("), None),
        (PLAIN, IN_F + "\n\nwarnings.warn = print\n", None),
    ],
)  # fmt: skip
def test_newly_warned(old, new, found):
    assert warned(old, new) == found


@pytest.mark.parametrize(
    ("given", "handed", "whole"),
    [
        ("self", "", True),
        ("self, *a, **b", "*a, **b", True),
        ("self, a, *b, c, **d", "a, *b, c=c, **d", False),
        ("self, *a", "*a", False),
        ("self, a, b", "b, a", False),
        ("self, a, b", "a", False),
        ("self, a=1", "a", False),
        ("self, a: print(1)", "a", False),
    ],
)
def test_an_init_that_hands_on_what_it_got(given, handed, whole):
    init = f"class A:\n    def __init__({given}):\n        warnings.warn('A is deprecated', FutureWarning)\n        super().__init__({handed})\n\n"
    new = "import warnings\n\n\n" + PLAIN.replace("class A:\n", init)
    assert warned(PLAIN, new) == ({"A": frozenset({"A is deprecated"})} if whole else None)
    own = PLAIN.replace("class A:\n", "class A:\n    def __init__(self):\n        self.n = 1\n\n")
    assert warned(own, new) is None


BRANCH = "import warnings\n\n\ndef f(n):\n    if n is None:\n        warnings.warn('None is deprecated', DeprecationWarning)\n        n = 0\n    if n is not None:\n        n += 1\n    return n\n"


@pytest.mark.parametrize(
    ("new", "messages"),
    [
        ("def f(n):\n    if n is not None:\n        n += 1\n    return n\n", ["None is deprecated"]),
        ("def f(n):\n    n += 1\n    return n\n", ["None is deprecated"]),
        ("def f(n):\n    n += 2\n    return n\n", None),
        ("def f(n):\n    return n\n", None),
        (BRANCH, []),
        (BRANCH.replace("n = 0", "n = 1"), None),
    ],
)
def test_ended_ways(new, messages):
    ways = ended_ways(ast.parse(BRANCH), ast.parse(new))
    assert (None if ways is None else [w.message for w in ways]) == messages


def test_what_only_warned_goes_with_the_last_that_called_it():
    old = "import warnings\n\n\ndef say():\n    warnings.warn('None is deprecated', DeprecationWarning)\n\n\ndef f(n):\n    if n is None:\n        say()\n    return n\n\n\ndef g(n):\n    if n is None:\n        say()\n    return n\n"
    neither = "def f(n):\n    return n\n\n\ndef g(n):\n    return n\n"
    assert len(ended_ways(ast.parse(old), ast.parse(neither)) or ()) == 2
    one = neither.replace("g(n):\n", "g(n):\n    if n is None:\n        say()\n")
    assert ended_ways(ast.parse(old), ast.parse(one)) is None


@pytest.mark.parametrize(
    ("plan", "names"),
    [
        ("Deprecate Pack", {"Pack"}),
        ("deprecate `pkg.Pack` and old_store, use store instead", {"pkg", "Pack", "and", "old_store"}),
        ("Deprecate Pack in favor of Box.", {"Pack"}),
        ("Mark pkg.Pack as deprecated.", {"pkg", "Pack"}),
        ("Do not deprecate Pack", set()),
        ("Un-deprecate Pack", set()),
        ("Fix the deprecated Pack", set()),
        ("Remove deprecated code", set()),
        ("Pack raises a DeprecationWarning", set()),
    ],
)
def test_named_for_deprecation(plan, names):
    assert named_for_deprecation([plan]) == names


@pytest.mark.parametrize(
    ("plan", "message", "goes"),
    [
        ('Drop support for passing "info" as fourth positional parameter.', "passing `info` as positional parameter is deprecated", True),
        ('Drop support for passing "key" as fourth positional parameter.', "passing `info` as positional parameter is deprecated", False),
        ("Remove old_store.", "old_store is deprecated and will be removed, use store", True),
        ("Remove the deprecation warning of old_store.", "old_store is deprecated", False),
        ("Never drop old_store.", "old_store is deprecated", False),
        ("Use store instead.", "old_store is deprecated", False),
        ("Remove old_store.", "use store", False),
        ("Remove it.", "it is deprecated", False),
    ],
)  # fmt: skip
def test_says_that_this_goes(plan, message, goes):
    assert says_that_this_goes(["A title", plan], message) is goes


MODULE = (
    "import pytest\n\n\ndef test_a():\n    with pytest.warns(DeprecationWarning):\n        f(1)\n    assert g(2) == 3\n"
)
ADDED = "\n\ndef test_w():\n    with pytest.warns(DeprecationWarning):\n        h()\n"


@pytest.mark.parametrize(
    ("old", "new", "only"),
    [
        (MODULE, MODULE, True),
        (MODULE, MODULE.replace("    assert", "    with pytest.deprecated_call():\n        h()\n    assert"), False),
        (MODULE, MODULE.replace("    assert g(2) == 3", "    with pytest.deprecated_call():\n        assert g(2) == 3"), True),
        (MODULE.replace("    assert g(2) == 3", "    with pytest.deprecated_call():\n        assert g(2) == 3"), MODULE, False),
        (MODULE, MODULE.replace("import pytest", "import shy as pytest").replace("    assert g(2)", "    with pytest.deprecated_call():\n        assert g(2)"), False),
        (MODULE, MODULE.replace("import pytest\n", "import pytest\n\npytestmark = pytest.mark.filterwarnings('ignore:g is deprecated:DeprecationWarning')\n"), True),
        (MODULE, MODULE.replace("import pytest\n", "import pytest\n\npytestmark = pytest.mark.filterwarnings('ignore::DeprecationWarning')\n"), False),
        (MODULE, MODULE.replace("import pytest\n", "import pytest\n\npytestmark = [pytest.mark.skip]\n"), False),
        (MODULE, MODULE + ADDED, True),
        (MODULE + ADDED, MODULE, False),
        (MODULE, MODULE + ADDED.replace("def ", "@pytest.fixture\ndef "), False),
        (MODULE, MODULE + ADDED.replace("def test_w", "def made"), False),
        (MODULE, MODULE + ADDED.replace("()", "(n=setattr(f, 'g', 1))"), False),
        (MODULE + "\n\nname = 'test_w'\n", MODULE + "\n\nname = 'test_w'\n" + ADDED, False),
        (MODULE, MODULE.replace("    assert g(2)", "    with pytest.warns(DeprecationWarning):\n        made = g(2)\n    assert made"), True),
        (MODULE, MODULE.replace("    assert g(2)", "    made = g(2)\n    assert made"), True),
        (MODULE, MODULE.replace("    assert g(2)", "    made = g(5)\n    assert made"), False),
        (MODULE, MODULE.replace("    assert g(2)", "    made = g(2)\n    h()\n    assert made"), False),
        (MODULE, MODULE.replace("    assert g(2)", "    made = g(2)\n    made = 3\n    assert made"), False),
        (MODULE, MODULE.replace("    assert g(2)", "    made = g(2)\n    assert made == made"), False),
        (MODULE, MODULE.replace("    assert g(2) == 3", "    made = g(2)\n    assert (lambda: made == 3)"), False),
    ],
)  # fmt: skip
def test_only_expects(old, new, only):
    assert only_expects(ast.parse(old), ast.parse(new), {"g is deprecated, use f"}) is only
