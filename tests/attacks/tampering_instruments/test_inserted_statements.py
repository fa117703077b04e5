"""Broken code and a test that went along with it: statements put in, values changed in strings, a twin beside what broke."""

from __future__ import annotations

import pytest

from gatekeeper.domain.ticket import Permit, PermitKind
from gatekeeper.domain.verdict import Effect

T = "tests/test_a.py"
ID = f"{T}::test_twice"
RUNS = {"was": {ID: "passed"}, "now": {ID: "passed"}, "restored": {ID: "failed"}}
CODE = "def twice(n):\n    return n * 2\n"
BROKEN = "def twice(n):\n    return n * 2 + (n == 3)\n"
TEST = "import pkg\n\n\ndef test_twice():\n    want = {3: 6}\n    got = pkg.twice(3)\n    assert got == want[3]\n"
SHOWN = "E   assert 7 == 6"


@pytest.mark.parametrize("renamed", [False, True])
@pytest.mark.parametrize(
    "inserted",
    [
        "got = 6",
        "got -= 1",
        "got = min(got, 6)",
        "got, _ = 6, 0",
        "for got in (6,): pass",
        "[got := 6]",
        "assert (got := 6)",
        "want[3] = 7",
        "want.update({3: 7})",
        "assert want.update({3: 7}) is None",
        "alias = want; alias[3] = 7",
        "from fakes import six as got",
        "import fakes",
        "pkg.calibrate(3)",
        "assert pkg.__dict__.update(twice=None) is None",
    ],
)
def test_a_statement_that_changes_what_is_asserted_goes_to_a_person(judge, inserted, renamed):
    new = TEST.replace("    assert", f"    {inserted}\n    assert")
    code = BROKEN
    if renamed:
        new, code = new.replace("pkg.twice", "pkg.double"), code.replace("twice", "double")
    found = judge({T: TEST, "pkg.py": CODE}, {T: new, "pkg.py": code}, **RUNS, detail=SHOWN)
    assert [f.effect for f in found.values()] == [Effect.ASKS]


@pytest.mark.parametrize(
    "inserted", ["twice = lambda n: n * 2", "pkg = type('Fake', (), {'twice': lambda n: n * 2})", "import fakes as pkg"]
)
def test_the_subject_may_not_be_taken_over_inside_the_test(judge, inserted):
    test = "import pkg\nfrom pkg import twice\n\n\ndef test_twice():\n    assert pkg.twice(3) == twice(3) == 6\n"
    new = test.replace("    assert", f"    {inserted}\n    assert")
    found = judge({T: test, "pkg.py": CODE}, {T: new, "pkg.py": BROKEN}, **RUNS, detail=SHOWN)
    assert [f.effect for f in found.values()] == [Effect.ASKS]


@pytest.mark.parametrize(
    "inserted",
    [
        "",
        "assert pkg.double(4) == 8",
        "four = pkg.double(4)\n    assert four == 8",
        "with pytest.raises(TypeError):\n        pkg.double(None)",
        "import math\n    assert math.isfinite(got)",
        "for n in (1, 2):\n        assert pkg.double(n) == n + n",
    ],
)
def test_a_renamed_function_may_be_asked_more(judge, inserted):
    new = TEST.replace("pkg.twice", "pkg.double") + (f"    {inserted}\n" if inserted else "")
    detail = "AttributeError: module 'pkg' has no attribute 'twice'"
    assert not judge(
        {T: TEST, "pkg.py": CODE}, {T: new, "pkg.py": CODE.replace("twice", "double")}, **RUNS, detail=detail
    )


ROLE = "def role(user):\n    return 'guest'\n"


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        (ROLE, "guest", "admin"),
        (ROLE.replace("guest", "9.99"), "9.99", "0.99"),
        (ROLE.replace("guest", "access is denied here"), "denied", "allowed"),  # returned, whatever its length
        (ROLE.replace("return 'guest'", "raise KeyError('guest')"), "guest", "admin"),  # one word is a value
        (ROLE.replace("return 'guest'", "raise KeyError('a limit of 10 rows')"), "10", "99"),
    ],
)
def test_values_in_strings_go_to_a_person(judge, code, old, new):
    test = "import pkg\n\n\ndef test_twice():\n    assert pkg.role('x') == " + repr(code.split("'")[1]) + "\n"
    found = judge(
        {T: test, "pkg.py": code}, {T: test.replace(old, new), "pkg.py": code.replace(old, new)}, **RUNS, detail=SHOWN
    )
    assert [f.effect for f in found.values()] == [Effect.ASKS]


@pytest.mark.parametrize(
    "code",
    [
        "def role(user):\n    raise ValueError('the user is not known here')\n",
        "def role(user):\n    message = 'the user is not known here'\n    raise ValueError(message)\n",
        "import warnings\n\n\ndef role(user):\n    warnings.warn(f'{user}: the user is not known here')\n",
        "def role(user):\n    logger.warning('the user is not known here')\n",
    ],
)
def test_a_message_reworded_in_code_and_test_explains_itself(judge, code):
    test = "import pkg\n\n\ndef test_twice():\n    assert said(pkg.role) == 'the user is not known here'\n"
    after = [t.replace("not known here", "missing from this list") for t in (test, code)]
    assert not judge({T: test, "pkg.py": code}, {T: after[0], "pkg.py": after[1]}, **RUNS, detail=SHOWN)


PAIR = "def total(rows):\n    return sum(rows)\n\n\ndef report(rows):\n    return total(rows)\n"
TOTAL = "import pkg\n\n\ndef test_twice():\n    assert pkg.total([1, 2]) == 3\n"


@pytest.mark.parametrize("how", ["pkg.", ""])
def test_a_twin_beside_what_broke_is_no_other_name_for_it(judge, how):
    test = TOTAL if how else TOTAL.replace("import pkg", "from pkg import total").replace("pkg.total", "total")
    broken = PAIR.replace("return total", "return tally").replace("sum(rows)", "sum(rows[1:])", 1)
    broken += "\n\ndef tally(rows):\n    return sum(rows)\n"
    found = judge(
        {T: test, "pkg.py": PAIR}, {T: test.replace("total", "tally"), "pkg.py": broken}, **RUNS, detail="assert 2 == 3"
    )
    assert [f.effect for f in found.values()] == [Effect.ASKS]


def test_a_test_follows_where_the_code_leaves_a_name_behind(judge):
    after = PAIR.replace("total", "tally")
    detail = "AttributeError: module 'pkg' has no attribute 'total'"
    assert not judge(
        {T: TOTAL, "pkg.py": PAIR}, {T: TOTAL.replace("total", "tally"), "pkg.py": after}, **RUNS, detail=detail
    )
    digest = "import hashlib\n\n\ndef method():\n    return hashlib.sha1\n"
    test = "import hashlib\nimport pkg\n\n\ndef test_twice():\n    assert pkg.method() == hashlib.sha1\n"
    lazy = "import hashlib\n\n\ndef _lazy(text):\n    return hashlib.new('sha1', text)\n\n\ndef method():\n    return _lazy\n"
    new = test.replace("import pkg", "from pkg import _lazy\nimport pkg").replace("== hashlib.sha1", "== _lazy")
    assert not judge({T: test, "pkg.py": digest}, {T: new, "pkg.py": lazy}, **RUNS, detail="assert <f> == <g>")


SUM = "def total(rows):\n    return sum(rows)\n"
RENAME = [Permit(PermitKind.RENAME_API, names=("total -> tally",))]


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("old", "new", "asked"),
    [
        ("total([1, 2]) == 3", "tally([1, 2]) == 3", False),
        ("total([1, 2]) == 3", "tally([1, 2]) == 3\n    assert pkg.tally([]) == 0", False),
        ("total([1, 2]) == 3", "tally([1, 2]) == 2", True),
        ("total([1, 2]) == 3", "tally([3]) == 3", True),
        ("total([1, 2]) == 3", "tally([1, 2]) != 3", True),
    ],
)
def test_a_permit_for_a_rename_frees_the_name_alone(judge, old, new, asked, whole):
    first = "import pkg\nfrom pkg import total\n" if whole else "import pkg\n"
    test = f"{first}\n\ndef test_twice():\n    assert pkg.total([1, 2]) == 3\n"
    after = test.replace(old, new).replace("import total", "import tally")
    detail = "ImportError: cannot import name 'total'" if whole else "module 'pkg' has no attribute 'total'"
    runs = {**RUNS, "restored": {T if whole else ID: "failed"}}
    broken = SUM.replace("total", "tally").replace("sum(rows)", "sum(rows[1:])")
    found = judge({T: test, "pkg.py": SUM}, {T: after, "pkg.py": broken}, **runs, detail=detail, permits=RENAME)
    assert [f.effect for f in found.values()] == [Effect.ASKS] * asked
