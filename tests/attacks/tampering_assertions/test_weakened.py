"""Ways to make an existing test prove less, each next to an honest change that looks like it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidence_builder import build_evidence, build_ticket

from gatekeeper.checks.weakened_tests import check
from gatekeeper.domain.ticket import Permit, PermitKind
from gatekeeper.domain.verdict import Effect

CODE = "import time\n\ndef area(a, b):\n    return a * b\n\ndef scale(a):\n    return area(a, 2)\n\ndef load(p):\n    return p\n"
TOP = "import time\nimport pytest\nimport contextlib\nimport unittest\nfrom unittest import mock\nfrom shop import area, scale, load\n"


def codes(old: str, new: str, *, top: str = TOP, new_top: str | None = None, **kw):
    ev = build_evidence(
        {"shop.py": CODE, "tests/test_shop.py": top + old},
        {"shop.py": CODE, "tests/test_shop.py": (top if new_top is None else new_top) + new}, **kw,
    )  # fmt: skip
    return [f.code for f in check(ev)]


EQ = "def test_a():\n    assert area(2, 3) == 6\n"
UNIT = "class TestA(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(area(2, 3), 6)\n"
ROWS = "@pytest.mark.parametrize('a,b', [(1, 2), (30, 4)])\ndef test_r(a, b):\n    assert area(a, b) == a * b\n"
NEAR = "def test_n():\n    assert area(2, 3) == pytest.approx(6.0, abs=1e-6)\n"
RAISES = "def test_e():\n    with pytest.raises(ValueError):\n        load(None)\n"


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (EQ, "def test_a():\n    assert area(2, 3)\n", "ASSERTION_WEAKENED"),
        (EQ, "def test_a():\n    assert area(2, 3) > 0\n", "ASSERTION_WEAKENED"),
        (EQ, "def test_a():\n    assert isinstance(area(2, 3), int)\n", "ASSERTION_WEAKENED"),
        (EQ, "def test_a():\n    assert area(2, 3) in (5, 6)\n", "ASSERTION_WEAKENED"),
        (EQ, "def test_a():\n    assert area(2, 3) in {5: 0, 6: 0}\n", "ASSERTION_WEAKENED"),
        (EQ, "def test_a():\n    assert area(2, 3) == 6 or True\n", "ASSERTION_REMOVED"),
        (EQ, "def test_a():\n    area(2, 3)\n", "ASSERTION_REMOVED"),
        (EQ, "def test_a():\n    assert area(2, 3) == 5\n", "EXPECTED_VALUE_EDITED"),
        (EQ, "def test_a():\n    assert area(2, 3) != 6\n", "EXPECTED_VALUE_EDITED"),
        (EQ, "def test_a():\n    assert (area(2, 3) == 6, 'area')\n", "ASSERTION_ALWAYS_TRUE"),
        (EQ, "def test_a():\n    return\n    assert area(2, 3) == 6\n", "ASSERTION_UNREACHABLE"),
        (EQ, "def test_a():\n    if False:\n        assert area(2, 3) == 6\n", "ASSERTION_UNREACHABLE"),
        (EQ, "def test_a():\n    if area(1, 1) == 1:\n        assert area(2, 3) == 6\n", "ASSERTION_UNREACHABLE"),
        (EQ, "def test_a():\n    for _ in []:\n        assert area(2, 3) == 6\n", "ASSERTION_UNREACHABLE"),
        (EQ, "def test_a():\n    assert area(2, 3) == 6\n    yield\n", "ASSERTION_UNREACHABLE"),
        (EQ, "def test_a():\n    try:\n        assert area(2, 3) == 6\n    except Exception:\n        pass\n", "ASSERTION_SWALLOWED"),
        (EQ, "def test_a():\n    with contextlib.suppress(BaseException):\n        assert area(2, 3) == 6\n", "ASSERTION_SWALLOWED"),
        (EQ, "def test_a():\n    with pytest.raises(AssertionError):\n        assert area(2, 3) == 6\n", "ASSERTION_SWALLOWED"),
        (EQ, "def test_a():\n    with pytest.raises((AssertionError, ValueError)):\n        assert area(2, 3) == 6\n", "ASSERTION_SWALLOWED"),
        (RAISES, "def test_e():\n    with pytest.raises(AssertionError):\n        assert load(None)\n", "ASSERTION_SWALLOWED"),
        (EQ, "def test_a():\n    try:\n        assert area(2, 3) == 6\n    finally:\n        return\n", "ASSERTION_SWALLOWED"),
        (EQ, EQ + "def test_a():\n    assert area(2, 4) == 8\n", "ASSERTION_UNREACHABLE"),
        (EQ, "def quiet(f):\n    def inner():\n        try:\n            f()\n        except AssertionError:\n            pass\n    return inner\n@quiet\n" + EQ, "ASSERTION_SWALLOWED"),
        (EQ, "def test_a():\n    area = mock.Mock(return_value=6)\n    assert area(2, 3) == 6\n", "SUBJECT_MOCKED"),
        (EQ, "def test_a():\n    with mock.patch('shop.area', return_value=6):\n        assert area(2, 3) == 6\n", "SUBJECT_MOCKED"),
        (EQ, "@pytest.fixture(autouse=True)\ndef steady(monkeypatch):\n    monkeypatch.setattr('shop.area', lambda a, b: 6)\n" + EQ, "SUBJECT_MOCKED"),
        (EQ, "def area(a, b):\n    return 6\n" + EQ, "SUBJECT_SHADOWED"),
        (EQ, EQ + "def test_new():\n    assert True\n", "TEST_CANNOT_FAIL"),
        (UNIT, UNIT.replace("6", "5"), "EXPECTED_VALUE_EDITED"),
        (UNIT, UNIT.replace("assertEqual(area(2, 3), 6)", "assertIsNotNone(area(2, 3))"), "ASSERTION_WEAKENED"),
        (UNIT, UNIT.replace("assertEqual", "assertNotEqual"), "EXPECTED_VALUE_EDITED"),
        (ROWS, ROWS.replace(", (30, 4)", ""), "PARAMETERS_SHRUNK"),
        (ROWS, ROWS.replace("(30, 4)", "(1, 1)"), "PARAMETERS_SHRUNK"),
        (ROWS, ROWS.replace("(30, 4)", "pytest.param(30, 4, marks=pytest.mark.xfail)"), "PARAMETERS_SHRUNK"),
        (NEAR, NEAR.replace("1e-6", "5"), "ASSERTION_WEAKENED"),
        (NEAR, NEAR.replace("6.0", "7.0"), "EXPECTED_VALUE_EDITED"),
        (RAISES, RAISES.replace("ValueError", "Exception"), "ASSERTION_WEAKENED"),
        ("async " + EQ, "async def test_a():\n    assert area(2, 3) is not None\n", "ASSERTION_WEAKENED"),
        ("X = 6\ndef test_a():\n    assert area(2, 3) == X\n", "X = 7\ndef test_a():\n    assert area(2, 3) == X\n", "EXPECTED_VALUE_EDITED"),
    ],
)  # fmt: skip
def test_a_weakened_test_is_found(old: str, new: str, code: str) -> None:
    assert codes(old, new) == [code]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (EQ, "def test_a():\n    got = area(2, 3)\n    assert got == 6, 'area'\n"),
        (EQ, "def test_a():\n    assert 6 == area(2, 3)\n"),
        ("def test_m():\n    assert area(1, 1) in {1: 1, 2: 2}\n", "def test_m():\n    assert area(1, 1) in {1, 2}\n"),
        (RAISES, "def test_e():\n    with pytest.raises(ValueError):\n        assert load(None)\n"),
        (EQ, "def test_a():\n    assert area(2, 3) == 2 * 3\n"),
        (EQ, "SIX = 6\ndef test_a():\n    expected = SIX\n    assert area(2, 3) == expected\n"),
        (EQ, "def test_a():\n    assert area(2, 3) == 6\n    assert area(1, 1) == 1\n"),
        (EQ, "def check_area(a, b, c):\n    assert area(a, b) == c\ndef test_a():\n    check_area(2, 3, 6)\n"),
        (EQ, "class TestArea:\n    def test_a(self):\n        assert area(2, 3) == 6\n"),
        (EQ, EQ.replace("area", "surface")),
        (EQ, EQ + "def test_b():\n    clock = mock.Mock(return_value=1.0)\n    assert scale(clock()) == 2\n"),
        (EQ, "def test_a(monkeypatch):\n    monkeypatch.setattr(time, 'sleep', print)\n    assert area(2, 3) == 6\n"),
        (EQ, "def test_a():\n    with mock.patch('shop.time.sleep'):\n        assert area(2, 3) == 6\n"),
        (EQ, "@pytest.fixture(autouse=True)\ndef home(tmp_path, monkeypatch):\n    monkeypatch.chdir(tmp_path)\n" + EQ),
        (EQ, "def test_a():\n    try:\n        assert area(2, 3) == 6\n    except AssertionError:\n        print('area')\n        raise\n"),
        (EQ, "def test_a():\n    for a in (2,):\n        assert area(2, 3) == 6\n"),
        (UNIT, EQ),
        (UNIT, UNIT.replace("area(2, 3), 6", "6, area(2, 3)")),
        (ROWS, ROWS.replace("(1, 2), ", "(7, 2), (1, 2), ")),
        (ROWS, ROWS.replace("])", "], ids=['x', 'y'])")),
        (ROWS, ROWS.replace("(1, 2), (30, 4)", "pytest.param(1, 2, id='x'),\n    (30, 4),")),
        (NEAR, NEAR.replace("1e-6", "1e-9")),
        ("def test_t():\n    assert area(2, 3) < 20\n", "def test_t():\n    assert area(2, 3) < 10\n"),
        ("def test_t():\n    assert area(2, 3)\n", EQ.replace("_a", "_t")),
        (RAISES, RAISES.replace("ValueError", "ValueError, match='empty'")),
        (RAISES.replace("ValueError", "Exception"), RAISES),
    ],
)  # fmt: skip
def test_an_honest_change_of_a_test_passes(old: str, new: str) -> None:
    assert codes(old, new) == []


def test_a_permit_covers_exactly_its_test() -> None:
    new = EQ.replace("6", "7")
    for glob, found in (("tests/test_shop.py::test_a", []), ("tests/test_shop.py::test_b", ["EXPECTED_VALUE_EDITED"])):
        ticket = build_ticket(permits=[Permit(PermitKind.CHANGE_EXPECTATIONS, tests=(glob,))])
        assert codes(EQ, new, ticket=ticket) == found


def test_a_new_value_that_the_ticket_states_goes_to_a_person() -> None:
    ticket = replace(build_ticket(), goal="area(2, 3) must be 4711 from now on")
    files = {"shop.py": CODE}
    ev = build_evidence(
        {**files, "tests/test_shop.py": TOP + EQ},
        {**files, "tests/test_shop.py": TOP + EQ.replace("6", "4711")},
        ticket=ticket,
    )
    assert [(f.code, f.effect) for f in check(ev)] == [("EXPECTED_VALUE_EDITED", Effect.ASKS)]


def test_sources_that_cannot_be_read_raise_nothing() -> None:
    deep = "def test_a():\n    assert " + "(" * 150 + "1" + ")" * 150 + "\n"
    for text in (
        "def (",
        "x" * 2_000_000,
        deep,
        "assert " + "-" * 3000 + "1\n",
        "def test_a():\n    assert " + "+".join(["a"] * 5000),
    ):
        assert isinstance(codes(EQ, text), list)


@pytest.mark.parametrize(
    ("glob", "new", "found"),
    [
        # the row that is named may go, and no other one
        ("test_r[30-4]", ROWS.replace(", (30, 4)", ""), []),
        ("test_r[30-*]", ROWS.replace("(30, 4)", "(31, 5)"), []),
        ("test_r[1-2]", ROWS.replace(", (30, 4)", ""), ["PARAMETERS_SHRUNK"]),
        # a permit for a row is none for the body, nor for a test of like name
        ("test_r[1-2]", ROWS.replace("== a * b", "> 0"), ["ASSERTION_WEAKENED"]),
        ("test_r", ROWS.replace("== a * b", "> 0"), []),
        ("test_r_more", ROWS.replace("== a * b", "> 0"), ["ASSERTION_WEAKENED"]),
        ("TestR::test_r", ROWS.replace("== a * b", "> 0"), ["ASSERTION_WEAKENED"]),
    ],
)
def test_a_permit_for_parameters_covers_these_alone(glob: str, new: str, found: list[str]) -> None:
    ticket = build_ticket(permits=[Permit(PermitKind.CHANGE_EXPECTATIONS, tests=(f"tests/test_shop.py::{glob}",))])
    assert codes(ROWS, new, ticket=ticket) == found


@pytest.mark.parametrize(
    ("row", "label"),
    [("pytest.param(30, 4, id='big')", "big"), ("(30, load)", "30-b1"), ("('x', -4)", "x--4")],
)
def test_ids_of_rows_are_those_of_the_runner(row: str, label: str) -> None:
    old = ROWS.replace("(30, 4)", row)
    new = ROWS.replace(", (30, 4)", "")
    for glob, found in (
        (f"tests/test_shop.py::test_r[{label}]", []),
        ("tests/test_shop.py::test_r[1-2]", ["PARAMETERS_SHRUNK"]),
    ):
        ticket = build_ticket(permits=[Permit(PermitKind.REMOVE_TESTS, tests=(glob,))])
        assert codes(old, new, ticket=ticket) == found


CORE = "import time\n\ndef fetch_price(a):\n    return a\n\ndef runtime(a):\n    return a\n\ndef http_get(u):\n    return u\n\ndef total(a):\n    return fetch_price(a) + runtime(a)\n"
FACE = "from store.core import fetch_price, runtime, http_get, total\n\ndef price(a):\n    return fetch_price(a)\n"
ASK = "def test_f():\n    assert face.fetch_price(2) == 2\n"
SUM = "def test_s():\n    assert face.total(2) == 4\n"


def doubled(old: str, patch: str) -> list[str]:
    top = "import sys\nimport pytest\nfrom unittest import mock\nfrom store import core, face\n"
    files = {"store/__init__.py": "", "store/core.py": CORE, "store/face.py": FACE}
    head, _, rest = old.partition("\n")
    name = head.split("(")[0]
    new = f"{name}(monkeypatch):\n    {patch}\n{rest}"
    ev = build_evidence({**files, "tests/test_s.py": top + old}, {**files, "tests/test_s.py": top + new})
    return [f.code for f in check(ev)]


@pytest.mark.parametrize(
    ("old", "patch"),
    [
        # the very function under test, whatever its name says
        (ASK, "monkeypatch.setattr(core, 'fetch_price', lambda a: 2)"),
        (ASK, "monkeypatch.setattr('store.core.fetch_price', lambda a: 2)"),
        # its name in the module that the test goes through
        (ASK, "monkeypatch.setattr(face, 'fetch_price', lambda a: 2)"),
        (ASK, "face.fetch_price = lambda a: 2"),
        (SUM, "mock.patch('store.face.total', return_value=4).start()"),
        # a word that only holds the word of a clock or a folder
        (SUM, "monkeypatch.setattr(core, 'runtime', lambda a: 2)"),
        # the whole module
        (SUM, "monkeypatch.setattr('store.core', mock.Mock())"),
    ],
)
def test_the_subject_replaced_is_found(old: str, patch: str) -> None:
    assert doubled(old, patch) == ["SUBJECT_MOCKED"]


@pytest.mark.parametrize(
    ("old", "patch"),
    [
        (SUM, "monkeypatch.setattr(core, 'http_get', lambda u: '')"),
        (SUM, "monkeypatch.setattr(core, 'fetch_price', lambda a: 2)"),
        (SUM, "monkeypatch.setattr('store.core.time.time', lambda: 0.0)"),
        (SUM, "monkeypatch.setenv('HOME', '/nowhere')"),
        (SUM, "monkeypatch.setattr('os.path.exists', lambda p: True)"),
        (SUM, "monkeypatch.setattr(face, 'http_get', lambda u: '')"),
    ],
)
def test_a_collaborator_replaced_passes(old: str, patch: str) -> None:
    assert doubled(old, patch) == []


@pytest.mark.parametrize(
    "new",
    [
        "def test_a():\n    sender = mock.Mock()\n    assert area(2, 3) == 6\n    load(sender)\n    assert sender.called\n",
        "def test_a():\n    clock = mock.Mock(return_value=0)\n    assert area(2, 3, clock) == 6\n",
    ],
)
def test_a_mock_beside_the_real_code_passes(new: str) -> None:
    assert codes(EQ, new) == []


JOINED = "def test_a():\n    sep = '\\u200d'\n    assert area(2, 3) == f'{load(sep)}'\n"


@pytest.mark.parametrize("test", [JOINED, JOINED.replace("u200d", "n")])
def test_a_text_that_python_can_not_write_back_is_compared_all_the_same(test: str) -> None:
    """What stands in an f-string, or is put there for its name, may hold signs that no quotes are left for."""
    assert codes(test, test + "\n\ndef test_b():\n    assert area(1, 1) == 1\n") == []
    assert codes(test, test.replace("area(2, 3) ==", "area(2, 3) or")) != []
