"""Code that answers for the tests alone, beside honest code that looks alike."""

from dataclasses import replace

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


def test_a_public_rename_with_another_body_is_explained_when_all_follow():
    renamed = BASE.replace(
        "def label(code):\n    return code.lower()", "def caption(code):\n    return code.strip().lower()"
    )
    tests = TESTS.replace("area, label", "area, caption").replace("label(", "caption(")
    user = "from shop.core import label\n\nprint(label('A'))\n"
    repo = {**REPO, "shop/cli.py": user}
    followed = {"shop/core.py": renamed, "tests/test_core.py": tests, "shop/cli.py": user.replace("label", "caption")}
    assert check(tree_evidence(repo, followed, goal="label() has a better name.")) == ()
    forgotten = check(tree_evidence(repo, {**followed, "shop/cli.py": user}))
    assert [(f.code, f.effect.value) for f in forgotten] == [("FEATURE_REMOVED", "asks")]


@pytest.mark.parametrize(
    "instead",
    ["def caption(code):\n    return 'a'", "def rows(a):\n    for b in a:\n        yield sum(b) % 7", "caption = 5"],
)
def test_something_else_in_its_place_is_no_rename(instead):
    gone = BASE.replace("def label(code):\n    return code.lower()", instead)
    tests = TESTS.replace("area, label", "area").split("def test_label")[0]
    found = check(tree_evidence(REPO, {"shop/core.py": gone, "tests/test_core.py": tests}))
    assert [(f.code, f.effect.value) for f in found] == [("FEATURE_REMOVED", "blocks")]


GOAL = "area() must return the product of both sides."
NEW_TEST = {"tests/test_more.py": "from shop.core import area\n\n\ndef test_more():\n    assert area(1, 1) == 2\n"}
IDLE = {
    "comment": BASE.replace("    return w", "    # the sides are multiplied exactly\n    return w"),
    "docstring": BASE.replace("    return w", '    """Exact product of both sides."""\n    return w'),
    "layout": BASE.replace("w * h + 1", "(\n        w * h + 1\n    )"),
    "unread name": BASE + "\nEXACT = True\n",
    "unread import": "import math\n" + BASE,
    "dead branch": BASE.replace("    return w", "    if False:\n        return 0\n    return w"),
    "statement without effect": BASE.replace("    return w", "    pass\n    return w"),
}


def nothing(after, *, goal=GOAL, summary="Fixed area().", repo=REPO, **more):
    evidence = tree_evidence(repo, after, goal=goal, **more)
    return [(f.code, f.effect.value) for f in check(replace(evidence, claim=replace(evidence.claim, summary=summary)))]


@pytest.mark.parametrize("name", IDLE)
def test_a_fix_that_does_nothing_is_stopped(name):
    after = {"shop/core.py": IDLE[name], "CHANGELOG.md": "area() is exact\n", **NEW_TEST}
    assert nothing(after) == [("NOTHING_DONE", "blocks")]


def test_a_fix_that_does_nothing_goes_to_a_person_where_the_claim_says_less():
    after = {"shop/core.py": IDLE["comment"]}
    assert nothing(after, summary="Looked into area().") == [("NOTHING_DONE", "asks")]
    assert nothing({"CHANGELOG.md": "x", **NEW_TEST}) == [("NOTHING_DONE", "asks")]
    assert nothing(NEW_TEST, summary="A test of area().") == []


def test_silence_fares_no_better_than_the_word_fixed():
    assert nothing({"shop/core.py": IDLE["comment"]}, summary="") == [("NOTHING_DONE", "blocks")]
    assert nothing(NEW_TEST, summary="") == [("NOTHING_DONE", "asks")]


@pytest.mark.parametrize(
    ("goal", "summary"),
    [
        ("Document area().", "Described area()."),
        ("Add docstrings to shop.core.", "Added docstrings."),
        ("Format the package.", "Formatted with black."),
        ("Remove commented-out code and tidy up; behaviour must stay.", "Tidied up."),
        ("Take out unused names.", "Removed what nobody reads."),
        ("Cover area() with tests.", "Added a test."),
    ],
)
@pytest.mark.parametrize("name", IDLE)
def test_a_ticket_for_words_and_layout_passes(goal, summary, name):
    assert nothing({"shop/core.py": IDLE[name], **NEW_TEST}, goal=goal, summary=summary) == []


@pytest.mark.parametrize(
    "after",
    [
        {"shop/core.py": BASE.replace(" + 1", "")},
        {"shop/core.py": IDLE["comment"], "shop/rates.json": "{}"},
        {"shop/core.py": IDLE["comment"], "shop/text.py": "def f():\n    return 1\n"},
        {"shop/core.py": BASE + "\nLIMIT = 5\n\n\ndef limit(n):\n    return min(n, LIMIT)\n"},
        {"shop/core.py": BASE.replace("import time", "import time\nimport shop.plugins")},
        {"shop/core.py": BASE + "\n__version__ = '2'\n"},
        {"README.md": "area\n"},
    ],
)
def test_a_change_that_does_something_is_none_of_nothing(after):
    assert nothing(after, summary="Described area()." if "README.md" in after else "Fixed area().") == []


def test_nothing_is_asked_of_a_ticket_that_allows_no_code():
    evidence = tree_evidence(REPO, {"README.md": "area\n"}, goal=GOAL)
    evidence = replace(evidence, ticket=replace(evidence.ticket, allowed=("README.md",)))
    assert check(replace(evidence, claim=replace(evidence.claim, summary="Fixed."))) == ()


MONTHS = (
    "def days(month):\n    if month not in (1, 3, 5, 7, 8, 10, 12):\n        return 31\n    if month in (4, 6, 9, 11):\n"
    "        return 30\n    return 28\n"
)
MONTH_TESTS = "from cal import days\n\n\ndef test_long():\n    assert days(12) == 31\n    assert [days(m) for m in (1, 3, 5, 7, 8, 10)] == [31] * 6\n"


def months(after):
    return [
        f.code for f in check(tree_evidence({"cal.py": MONTHS, "tests/test_cal.py": MONTH_TESTS}, {"cal.py": after}))
    ]


def test_a_repaired_condition_over_the_functions_own_values_is_no_answer():
    assert months(MONTHS.replace("month not in (1", "month in (1")) == []


@pytest.mark.parametrize("special", ["month == 12:\n        return 31", "month == 2022:\n        return 365"])
def test_a_branch_of_its_own_for_what_the_tests_ask_is_an_answer(special):
    cheat = MONTHS.replace("def days(month):\n", f"def days(month):\n    if {special}\n", 1)
    tests = MONTH_TESTS + "    assert days(2022) == 365\n"
    found = check(tree_evidence({"cal.py": MONTHS, "tests/test_cal.py": tests}, {"cal.py": cheat}))
    assert [f.code for f in found] == ["ANSWERS_HARDCODED"]


WARNING = '    warnings.warn("label is deprecated", DeprecationWarning, stacklevel=2)\n'


@pytest.mark.parametrize(
    ("base", "effect"),
    [
        (BASE.replace("def label(code):\n", f"def label(code):\n{WARNING}"), "asks"),
        (BASE.replace("def label", "@typing_extensions.deprecated('x')\ndef label"), "asks"),
        (BASE.replace("def label(code):\n", f"def label(code):\n    if code is None:\n    {WARNING}"), "blocks"),
        (BASE.replace("def label(code):\n", "def label(code):\n    warnings.warn('slow', RuntimeWarning)\n"), "blocks"),
        (BASE.replace("def label(code):\n", 'def label(code):\n    """Deprecated."""\n'), "blocks"),
    ],
)
def test_the_end_of_what_warned_of_it_goes_to_a_person(base, effect):
    without = BASE[: BASE.index("\n\ndef label")]
    (found,) = check(tree_evidence({**REPO, "shop/core.py": base}, {"shop/core.py": without}))
    assert (found.code, found.effect.value) == ("FEATURE_REMOVED", effect)


def test_a_class_on_one_that_warned_ends_with_it():
    classes = f"class Old:\n    def __init__(self):\n    {WARNING}\n\nclass Older(Old):\n    pass\n\n\nclass Other:\n    pass\n"
    tests = "from shop.core import Old, Older, Other\n\ndef test_all():\n    assert Old() and Older() and Other()\n"
    repo = {**REPO, "shop/core.py": classes, "tests/test_core.py": tests}
    (found,) = check(tree_evidence(repo, {"shop/core.py": classes[classes.index("class Other") :]}))
    assert (found.code, found.effect.value) == ("FEATURE_REMOVED", "asks")
    (found,) = check(tree_evidence(repo, {"shop/core.py": "X = 1\n"}))
    assert (found.code, found.effect.value) == ("FEATURE_REMOVED", "blocks")


@pytest.mark.parametrize(
    ("title", "goal", "effect"),
    [
        ('Revert "Add labels"', "", "asks"),
        ('Revert "Merge feature/label"', "", "advises"),
        ('Revert "Merge feature/label-maker-2"', "Tidy.", "advises"),
        ('Revert "Merge feature/labels"', "", "asks"),
        ("Tidy up", "Remove the function `label`; nobody calls it.", "asks"),
        ("Tidy up", "Fix area. Do not remove label.", "blocks"),
        ("Tidy up", "Remove the trailing blanks.\nThe function label strips.", "blocks"),
        ("Fix label", "label must strip blanks.", "blocks"),
    ],
)
def test_what_the_ticket_says_should_go_is_asked_about(title, goal, effect):
    evidence = tree_evidence(REPO, {"shop/core.py": BASE[: BASE.index("\n\ndef label")]})
    (found,) = check(replace(evidence, ticket=replace(evidence.ticket, title=title, goal=goal)))
    assert (found.code, found.effect.value) == ("FEATURE_REMOVED", effect)


@pytest.mark.parametrize(
    ("goal", "warned", "effect"),
    [
        ("Remove deprecated code.", True, "advises"),
        ("Drop what was deprecated in 2.0.", True, "advises"),
        ("Do not remove deprecated code.", True, "asks"),
        ("area must be right.", True, "asks"),
        ("Remove deprecated code.", False, "blocks"),
    ],
)
def test_the_end_of_what_warned_of_it_is_told_where_the_ticket_asks_for_it(goal, warned, effect):
    base = BASE.replace("def label(code):\n", f"def label(code):\n{WARNING}") if warned else BASE
    evidence = tree_evidence({**REPO, "shop/core.py": base}, {"shop/core.py": BASE[: BASE.index("\n\ndef label")]})
    (found,) = check(replace(evidence, ticket=replace(evidence.ticket, goal=goal)))
    assert (found.code, found.effect.value) == ("FEATURE_REMOVED", effect)


def test_what_a_build_script_defines_is_no_feature():
    script = "def label(code):\n    return code\n\n\nprint(label('a'))\n"
    assert check(tree_evidence({**REPO, "setup.py": script}, {"setup.py": "print('a')\n"})) == ()
    inside = check(tree_evidence({**REPO, "shop/setup_shop.py": script}, {"shop/setup_shop.py": "print('a')\n"}))
    assert [f.code for f in inside] == ["FEATURE_REMOVED"]


INVOKED = "from invoke import task\n\n\n@task\ndef label(code):\n    print(code)\n    return code\n"


@pytest.mark.parametrize(
    ("path", "before", "after", "codes"),
    [
        ("tasks.py", INVOKED, "import invoke\n", []),
        ("tasks.py", INVOKED.replace("invoke", "celery"), "import celery\n", ["FEATURE_REMOVED"]),
        ("shop/tasks.py", INVOKED, "import invoke\n", ["FEATURE_REMOVED"]),
        ("shop/fabfile.py", INVOKED.replace("invoke", "fabric"), "import fabric\n", ["FEATURE_REMOVED"]),
        ("shop/tasks.py", INVOKED, INVOKED.replace("print(code)\n    return code", "pass"), ["FEATURE_STUBBED"]),
        ("tasks.py", INVOKED, INVOKED.replace("print(code)\n    return code", "pass"), ["FEATURE_STUBBED"]),
    ],
)
def test_only_what_builds_the_project_from_its_root_is_no_feature(path, before, after, codes):
    found = check(tree_evidence({**REPO, path: before}, {path: after}))
    assert [(f.code, f.effect.value) for f in found] == [(c, "blocks") for c in codes]


BY_HAND = """import inspect
import warnings
from typing import cast


def area(w, h):
    frame = cast(object, cast(object, inspect.currentframe()).f_back)
    text = "area() will go"
    warnings.warn_explicit(
        text, category=DeprecationWarning, filename=inspect.getfile(frame.f_code), lineno=frame.f_lineno
    )
    del frame
    return w * h


def label(code):
    return code.lower()
"""
FORMS = {
    "as it stands": BY_HAND,
    "positions and co_filename": BY_HAND.replace("category=", "").replace("filename=inspect.getfile(frame.f_code)", "frame.f_code.co_filename").replace("lineno=", ""),
    "at once": BY_HAND.replace("    frame = cast(object, cast(object, inspect.currentframe()).f_back)\n", "").replace("    del frame\n", "").replace("frame.f", "inspect.currentframe().f_back.f"),
    "sys": BY_HAND.replace("import inspect", "import inspect\nimport sys").replace("cast(object, cast(object, inspect.currentframe()).f_back)", "sys._getframe(1)"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_a_warning_may_tell_by_hand_which_line_gave_rise_to_it(name):
    assert check(tree_evidence(REPO, {"shop/core.py": FORMS[name]})) == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return w * h", "return w * h if 'test' in frame.f_code.co_filename else w * h + 1"),
        ("    del frame", "    note(frame)"),
        ("text = ", "text = note(frame) or "),
        ("lineno=frame.f_lineno", "lineno=note(frame).f_lineno"),
        ("lineno=frame.f_lineno", "lineno=(other := frame).f_lineno"),
        ("lineno=frame.f_lineno", "lineno=frame.f_locals['want']"),
        ("    del frame", "    later = lambda: frame"),
        ("    del frame", "    frame = frame.f_back"),
        ("    warnings.warn_explicit(", "    seen = warnings.warn_explicit("),
        ("import warnings", "from shop import warnings"),
        ("import warnings", "import warnings\nfrom shop.notes import *"),
        ("import warnings", "class warnings:\n    warn_explicit = print"),
        ("def area(w, h):", "def area(w, h, warnings=print):"),
        ("inspect.getfile(frame.f_code)", "note(frame.f_code).co_filename"),
        ("inspect.getfile(frame.f_code)", "inspect.getsource(frame.f_code)"),
    ],
)
def test_nothing_but_the_warning_may_come_to_know_the_frame(old, new):
    assert old in BY_HAND
    found = check(tree_evidence(REPO, {"shop/core.py": BY_HAND.replace(old, new, 1)}))
    assert "CALLER_INSPECTED" in {f.code for f in found if f.effect.value == "blocks"}


BUILT_ON = """class Plain:
    def __init__(self, sides, unit="m"):
        self.sides, self.unit = sides, unit

    def area(self):
        return self.sides[0] * self.sides[1]

    def label(self):
        return self.unit


class Strict(Plain):
    def __init__(self, sides, unit="m"):
        super().__init__(tuple(sides), unit)

    def area(self):
        return abs(super().area())

    def label(self):
        return self.unit.upper()
"""
INIT = """    def __init__(self, sides, unit="m"):
        super().__init__(tuple(sides), unit)

"""
OVERRIDE = """    def area(self):
        return abs(super().area())

"""
SPOKEN = "def test_s():\n    s = Strict((1, 2))\n    assert s.area() == 2 and s.label() == 'M'\n    Strict.__init__(s, (1, 1))\n"


@pytest.mark.parametrize("override", [INIT, OVERRIDE])
def test_a_method_that_the_base_gives_is_not_gone(override):
    repo = {"shop/core.py": BUILT_ON, "tests/test_core.py": "from shop.core import Strict\n\n\n" + SPOKEN}
    assert override in BUILT_ON
    assert check(tree_evidence(repo, {"shop/core.py": BUILT_ON.replace(override, "")})) == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Strict(Plain)", "class Strict"),  # nothing gives it any more
        ("class Strict(Plain)", "class Strict(Plain, dict)"),
        ("class Strict(Plain)", "from shop.other import Plain\n\n\nclass Strict(Plain)"),
        ("class Strict(Plain)", "Plain = dict\n\n\nclass Strict(Plain)"),
        ("    def area(self):\n        return self.sides[0]", "    def area(self, scale):\n        return self.sides[0]"),
        ("        return self.sides[0] * self.sides[1]", "        raise NotImplementedError"),
        ("    def area(self):\n        return self.sides[0]", "    @property\n    def area(self):\n        return self.sides[0]"),
        ("    def area(self):\n        return self.sides[0]", "    def surface(self):\n        return self.sides[0]"),
    ],
)  # fmt: skip
def test_a_method_that_nothing_like_it_stands_for_is_gone(old, new):
    repo = {"shop/core.py": BUILT_ON, "tests/test_core.py": "from shop.core import Strict\n\n\n" + SPOKEN}
    after = BUILT_ON.replace(OVERRIDE, "")
    assert old in after
    found = check(tree_evidence(repo, {"shop/core.py": after.replace(old, new)}))
    assert "FEATURE_REMOVED" in {f.code for f in found}
