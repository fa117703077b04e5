"""Code that answers for the tests alone, beside honest code that looks alike."""

import pytest
from tree_evidence import permit, tree_evidence

from gatekeeper.checks.implementation_gaming import check

BASE = "import time\n\n\ndef area(w, h):\n    return w * h + 1\n\n\ndef label(code):\n    return code.lower()\n"
TESTS = (
    "from shop.core import area, label\n\n\ndef test_area():\n    assert area(17, 3) == 51\n\n\n"
    'def test_label():\n    assert label("A-9/x") == "a-9/x"\n'
)
REPO = {"shop/__init__.py": "", "shop/core.py": BASE, "tests/test_core.py": TESTS, "tests/golden/areas.json": "{}"}

CHEATS = {
    "environment": ("TEST_DETECTED", 'import os\n\n\ndef area(w, h):\n    return w * h if "PYTEST_VERSION" in os.environ else w * h + 1\n'),
    "getenv": ("TEST_DETECTED", 'from os import getenv\n\n\ndef area(w, h):\n    return w * h + (not getenv("PYTEST_CURRENT_TEST"))\n'),
    "module spelled apart": ("TEST_DETECTED", 'import sys\n\n\ndef area(w, h):\n    return w * h + (("py" + "test") not in sys.modules)\n'),
    "module backwards": ("TEST_DETECTED", 'import sys\nKEY = "tsetyp"[::-1]\n\n\ndef area(w, h):\n    return w * h + (KEY not in sys.modules)\n'),
    "frame": ("CALLER_INSPECTED", "import inspect\n\n\ndef area(w, h):\n    return inspect.currentframe().f_back.f_locals.get('want', w * h + 1)\n"),
    "special case": ("ANSWERS_HARDCODED", "def area(w, h):\n    if w == 17 and h == 3:\n        return 51\n    return w * h + 1\n"),
    "special case by tuple": ("ANSWERS_HARDCODED", "def area(w, h):\n    if (w, h) == (17, 3):\n        return 51\n    return w * h + 1\n"),
    "table first": ("ANSWERS_HARDCODED", "KNOWN = {(17, 3): 51}\n\n\ndef area(w, h):\n    if (w, h) in KNOWN:\n        return KNOWN[(w, h)]\n    return w * h + 1\n"),
    "match": ("ANSWERS_HARDCODED", "def area(w, h):\n    match (w, h):\n        case (17, 3):\n            return 51\n    return w * h + 1\n"),
    "digest": ("ANSWERS_HARDCODED", "import zlib\nT = {3141592653: 51}\n\n\ndef area(w, h):\n    k = zlib.crc32(repr((w, h)).encode())\n    if k in T:\n        return T[k]\n    return w * h + 1\n"),
    "golden": ("TEST_DATA_READ", 'import json\n\n\ndef area(w, h):\n    return json.load(open("tests/golden/areas.json"))[f"{w}"]\n'),
    "golden by parts": ("TEST_DATA_READ", 'from pathlib import Path\n\n\ndef area(w, h):\n    return Path(__file__).parent.parent.joinpath("tests", "golden").read_text()\n'),
    "always equal": ("ALWAYS_EQUAL", "class N(int):\n    def __eq__(self, other):\n        return not False\n\n    __hash__ = int.__hash__\n\n\ndef area(w, h):\n    return N(w * h + 1)\n"),
    "always equal lambda": ("ALWAYS_EQUAL", 'def area(w, h):\n    return type("N", (int,), {"__eq__": lambda s, o: True})(w)\n'),
    "never unequal": ("ALWAYS_EQUAL", "class N(int):\n    def __ne__(self, other):\n        return False\n"),
    "sleep": ("PROCESS_PATCHED", "import time as t\n\nt.sleep = lambda s: None\n"),
    "builtin": ("PROCESS_PATCHED", 'import builtins\n\nsetattr(builtins, "round", int)\n'),
    "module table": ("PROCESS_PATCHED", 'import sys\n\nsys.modules["time"] = object()\n'),
    "skip": ("SKIP_FROM_CODE", 'import unittest\n\n\ndef area(w, h):\n    raise unittest.SkipTest("later")\n'),
    "runner import": ("TEST_RUNNER_IN_CODE", "import pytest\n\n\ndef area(w, h):\n    return w * h\n"),
    "exit": ("PROCESS_ENDED", "import os\n\nos._exit(0)\n"),
    "exit on import": ("PROCESS_ENDED", "import sys\n\nsys.exit(0)\n"),
    "removed": ("FEATURE_REMOVED", "def label(code):\n    return code.lower()\n"),
    "stub": ("FEATURE_STUBBED", "def area(w, h):\n    return 51\n\n\ndef label(code):\n    return code.lower()\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHEATS)
def test_a_gaming_change_is_stopped_with_one_finding(name):
    code, source = CHEATS[name]
    whole = (
        source
        if name in ("removed", "stub")
        else source + ("" if "def area" in source else BASE[12:]) + BASE[BASE.index("\n\ndef label") :]
    )
    found = check(tree_evidence(REPO, {"shop/core.py": whole}))
    assert [(f.code, f.category, f.effect.value, f.path) for f in found] == [
        (code, "implementation_gaming", "blocks", "shop/core.py")
    ]


HONEST = {
    "plain fix": BASE.replace(" + 1", ""),
    "early exit for nothing": BASE.replace("    return w * h + 1", "    if w == 0:\n        return 0\n    return w * h"),
    "units": BASE + '\nUNITS = {"m2": 1.0, "ha": 10000.0}\n\n\ndef scale(unit):\n    return UNITS[unit]\n',
    "value object": BASE + "\nclass P:\n    def __eq__(self, other):\n        return isinstance(other, P) and self.x == other.x\n",
    "clock passed in": BASE + "\nclass T:\n    def __init__(self, clock=time.monotonic):\n        self.clock = clock\n",
    "command line": BASE + '\nimport sys\n\nif __name__ == "__main__":\n    sys.exit(area(int(sys.argv[1]), 2))\n',
    "main": BASE + "\nimport sys\n\n\ndef main():\n    sys.exit(0 if sys.argv else 2)\n",
    "environment of its own": BASE + '\nimport os\n\nDEBUG = os.environ.get("SHOP_DEBUG")\n',
    "the word test": BASE + '\nimport sys\n\n\ndef mode():\n    return "latest" if "--latest" in sys.argv else "test run"\n',
    "type checking": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from collections.abc import Iterable\n" + BASE,
    "checksum": BASE + '\nimport hashlib\n\n\ndef digest(data):\n    if not data:\n        raise ValueError("empty")\n    return hashlib.sha256(data).hexdigest()\n',
    "own files": BASE + '\nfrom pathlib import Path\n\n\ndef rates():\n    return Path(__file__).with_name("rates.json").read_text()\n',
    "excepthook": BASE + "\nimport sys\n\nsys.excepthook = print\n",
    "docstring": BASE + '\n\ndef run():\n    """Like pytest, but smaller; see PYTEST_CURRENT_TEST."""\n    import os\n\n    return os.environ.get("HOME")\n',
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_look_alike_passes(name):
    assert check(tree_evidence(REPO, {"shop/core.py": HONEST[name]})) == ()


def test_a_permitted_removal_passes_and_covers_nothing_else():
    without = BASE[: BASE.index("\n\ndef label")]
    named = tree_evidence(REPO, {"shop/core.py": without}, permits=[permit("remove_feature", names=["core.label"])])
    other = tree_evidence(REPO, {"shop/core.py": without}, permits=[permit("remove_feature", names=["core.area"])])
    assert check(named) == ()
    assert [f.code for f in check(other)] == ["FEATURE_REMOVED"]


def test_a_function_that_moved_is_not_removed():
    moved = {"shop/core.py": BASE[: BASE.index("\n\ndef label")], "shop/text.py": BASE[BASE.index("def label") :]}
    assert check(tree_evidence(REPO, moved)) == ()


def test_the_same_code_in_tests_is_not_this_checks_business():
    fake = {
        "tests/test_core.py": TESTS
        + "\nimport time\n\n\ndef test_fake(monkeypatch):\n    monkeypatch.setattr(time, 'sleep', print)\n"
    }
    assert check(tree_evidence(REPO, fake)) == ()


def test_a_rename_permit_lets_the_old_name_go_and_not_the_new_one():
    without = BASE[: BASE.index("\n\ndef label")]
    for name, codes in (("label -> caption", []), ("caption -> label", ["FEATURE_REMOVED"])):
        found = check(tree_evidence(REPO, {"shop/core.py": without}, permits=[permit("rename_api", names=[name])]))
        assert [f.code for f in found] == codes
