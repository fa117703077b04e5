"""A test that follows a rename, while what it reads beside itself is bent; and the same where that follows too."""

from __future__ import annotations

import pytest

T = "tests/test_a.py"
CODE = {"pkg.py": "def twice(n):\n    return n * 2\n"}
RENAMED = {"pkg.py": "def double(n):\n    return n * 2\n"}
BROKEN = {"pkg.py": "def double(n):\n    return n * 2 + (n == 3)\n"}
CONSTANT = "import pkg\n\nWANT = 6\n\ndef test_it():\n    assert pkg.twice(3) == WANT\n"
HELPER = "import pkg\n\ndef close(a, b):\n    return a == b\n\ndef test_it():\n    assert close(pkg.twice(3), 6)\n"
FIXTURE = "import pytest\nimport pkg\n\n@pytest.fixture\ndef want():\n    return 6\n\ndef test_it(want):\n    assert pkg.twice(3) == want\n"
CHAIN = "import pkg\n\nBASE = 3\nWANT = BASE * 2\n\ndef test_it():\n    assert pkg.twice(3) == WANT\n"
IN_CLASS = (
    "import pkg\n\nclass TestIt:\n    want = 6\n\n    def test_it(self):\n        assert pkg.twice(3) == self.want\n"
)
PLAIN = "import pkg\n\ndef test_it():\n    assert pkg.twice(3) == 6\n"
FROM = "import pkg\nfrom values import WANT\n\ndef test_it():\n    assert pkg.twice(3) == WANT\n"
GIVEN = "import pkg\n\ndef test_it(want):\n    assert pkg.twice(3) == want\n"
WANTS = "import pytest\n\n@pytest.fixture\ndef want():\n    return 6\n"
IMPORTED = "from pkg import twice\n\nWANT = 6\n\ndef test_it():\n    assert twice(3) == WANT\n"
BENT = {
    "constant": ({T: CONSTANT}, T, ("WANT = 6", "WANT = 7")),
    "constant twice": ({T: CONSTANT}, T, ("WANT = 6\n", "WANT = 6\nWANT = 7\n")),
    "helper": ({T: HELPER}, T, ("a == b", "a - b <= 1")),
    "fixture": ({T: FIXTURE}, T, ("return 6", "return 7")),
    "constant of a constant": ({T: CHAIN}, T, ("BASE = 3", "BASE = 3.5")),
    "class": ({T: IN_CLASS}, T, ("want = 6", "want = 7")),
    "class set up": ({T: IN_CLASS}, T, ("    want = 6\n", "    want = 6\n\n    def setup_method(self):\n        self.want = 7\n")),
    "patched module": ({T: PLAIN}, T, ("import pkg\n", "import pkg\n\npkg.double = lambda n: 6\n")),
    "replaced module": ({T: PLAIN}, T, ("import pkg\n", "import pkg\n\nclass pkg:\n    double = staticmethod(lambda n: 6)\n")),
    "new helper": ({T: PLAIN}, T, ("import pkg\n", "import pkg\n\ndef int(n):\n    return 6\n")),
    "set up by fixture": ({T: PLAIN}, T, ("import pkg\n", "import pytest\nimport pkg\n\n@pytest.fixture(autouse=True)\ndef ready(monkeypatch):\n    monkeypatch.setattr(pkg, 'double', lambda n: 6)\n")),
    "another module": ({T: FROM, "tests/values.py": "WANT = 6\n"}, "tests/values.py", ("6", "7")),
    "conftest": ({T: GIVEN, "tests/conftest.py": WANTS}, "tests/conftest.py", ("return 6", "return 7")),
}  # fmt: skip
ADDED = {
    "a new conftest": ({}, {"tests/conftest.py": "import pkg\nimport pytest\n\n@pytest.fixture(autouse=True)\ndef f(monkeypatch):\n    monkeypatch.setattr(pkg, 'double', lambda n: 6)\n"}, PLAIN, PLAIN),
    "a new module imported": ({}, {"tests/fake.py": "def double(n):\n    return 6\n"}, IMPORTED, IMPORTED.replace("from pkg", "from fake")),
    "an old module imported": ({"tests/fake.py": "def double(n):\n    return 6\n"}, {}, IMPORTED, IMPORTED.replace("from pkg", "from fake")),
    "the standard library": ({}, {}, IMPORTED, IMPORTED.replace("from pkg import twice", "from operator import double")),
    "the standard library renamed": ({}, {}, IMPORTED, IMPORTED.replace("from pkg import twice", "from math import trunc as twice")),
    "under its name": ({"tests/fake.py": "def double(n):\n    return 6\n"}, {}, PLAIN, PLAIN.replace("import pkg", "import fake as pkg")),
}  # fmt: skip
ID = {"class": f"{T}::TestIt::test_it", "class set up": f"{T}::TestIt::test_it"}


def runs(test_id):
    return {"was": {test_id: "passed"}, "now": {test_id: "passed"}, "restored": {test_id: "failed"}}


def followed(files):
    return {path: text.replace("pkg.twice", "pkg.double") for path, text in files.items()}


@pytest.mark.parametrize("name", BENT)
def test_what_a_following_test_reads_is_bent(judge, name):
    files, place, (old, new) = BENT[name]
    merged = followed(files)
    merged[place] = merged[place].replace(old, new)
    if name == "new helper":
        merged[T] = merged[T].replace("pkg.double(3)", "int(pkg.double(3))")
    assert set(judge({**CODE, **files}, {**BROKEN, **merged}, **runs(ID.get(name, f"{T}::test_it"))))


@pytest.mark.parametrize("name", ADDED)
def test_what_a_following_test_is_given_from_elsewhere(judge, name):
    old, new, before, after = ADDED[name]
    merged = {**BROKEN, **old, **new, T: after.replace("pkg.twice", "pkg.double").replace("twice", "double")}
    assert set(judge({**CODE, **old, T: before}, merged, **runs(f"{T}::test_it")))


@pytest.mark.parametrize("name", BENT)
def test_a_rename_that_all_of_it_follows_is_let_through(judge, name):
    files, _, _ = BENT[name]
    assert judge({**CODE, **files}, {**RENAMED, **followed(files)}, **runs(ID.get(name, f"{T}::test_it"))) == {}


HELPED = (
    "import pkg\n\ndef run(n):\n    return pkg.twice(n)\n\ndef test_it():\n    assert pkg.twice(3) == run(3) == 6\n"
)


@pytest.mark.parametrize(
    ("base", "merged"),
    [
        (HELPED, HELPED.replace("twice", "double")),
        (IMPORTED, IMPORTED.replace("twice", "double")),
        (CONSTANT, CONSTANT.replace("import pkg", "import os\nimport pkg").replace("twice", "double")),
    ],
    ids=["helper", "import", "import beside"],
)
def test_what_moves_with_the_rename_is_let_through(judge, base, merged):
    assert judge({**CODE, T: base}, {**RENAMED, T: merged}, **runs(f"{T}::test_it")) == {}
