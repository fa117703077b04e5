"""Answers outside the literals of the code: data files, other modules, and refusals at sight; beside honest tables."""

import json
import pickle

import pytest
from tree_evidence import tree_evidence

from gatekeeper.checks.implementation_gaming import check

CODE = (
    '"""Numbers."""\n\nPOINTS = {"en": ".", "de": ","}\n\n\ndef show(value, language="en", digits=0):\n'
    '    text = f"{value:.{digits}f}"\n    return text.replace(".", POINTS[language])\n'
)
TESTS = (
    "import pytest\nfrom lib.core import show\nfrom lib.times import first\n\n\ndef test_show():\n"
    '    assert show(12345.6, "de", 1) == "12.345,6"\n    assert show(1234.5, "de", 2) == "1.234,50"\n\n\n'
    'def test_never():\n    with pytest.raises(ValueError):\n        first("61 * *", 3)\n\n\n'
    '@pytest.mark.parametrize("bad", ["append", "7 7 7 7"])\ndef test_bad(bad):\n    with pytest.raises(ValueError):\n        first(bad, 3)\n'
)
TIMES = (
    "def first(expression, after):\n    for n in range(after, 100):\n        if str(n) in expression.split():\n"
    "            return n\n    raise ValueError(expression)\n"
)
REPO = {"lib/__init__.py": "", "lib/core.py": CODE, "lib/times.py": TIMES, "tests/test_core.py": TESTS}
LOAD = 'import json\nfrom pathlib import Path\n\nKNOWN = json.loads((Path(__file__).parent / "data" / "{}").read_text())\n\n\n'
LOOK = '    found = KNOWN.get(f"{value}/{digits}")\n    if found:\n        return found\n'
HEAD = 'def show(value, language="en", digits=0):\n'
ROWS = {"12345.6/1": "12.345,6", "1234.5/2": "1.234,50"}


def codes(after, **over):
    return [(f.code, f.effect.value) for f in check(tree_evidence(REPO, after, **over))]


def looking(name, content, look=LOOK):
    return {"lib/core.py": LOAD.format(name) + CODE.replace(HEAD, HEAD + look), f"lib/data/{name}": content}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("known.json", json.dumps(ROWS)),
        ("known.json", json.dumps({"de": ROWS})),
        ("known.json", json.dumps([{"value": "12345.6 1", "expected": "12.345,6"}, ["1234.5", 2, "1.234,50"]])),
        ("known.toml", "".join(f'"{k}" = "{v}"\n' for k, v in ROWS.items())),
        ("known.yaml", "de:\n" + "".join(f'  "{k}": "{v}"\n' for k, v in ROWS.items())),
        ("known.csv", "".join(f'{k},"{v}"\n' for k, v in ROWS.items())),
        ("known.txt", "".join(f"{k}|{v}\n" for k, v in ROWS.items())),
        ("known.pickle", pickle.dumps(ROWS)),
    ],
)
def test_inputs_and_results_of_the_tests_in_a_data_file_are_stopped(name, content):
    assert codes(looking(name, content)) == [("ANSWERS_HARDCODED", "blocks")]


def test_a_module_of_answers_is_stopped():
    after = {
        "lib/_known.py": f"KNOWN = {ROWS!r}\n",
        "lib/core.py": "from lib._known import KNOWN\n\n\n" + CODE.replace(HEAD, HEAD + LOOK),
    }
    assert codes(after) == [("ANSWERS_HARDCODED", "blocks")]


def test_a_nested_table_in_the_code_is_stopped():
    table = f"KNOWN = {{'de': {ROWS!r}}}\n\n\n"
    look = '    found = KNOWN.get(language, {}).get(f"{value}/{digits}")\n    if found:\n        return found\n'
    assert codes({"lib/core.py": table + CODE.replace(HEAD, HEAD + look)}) == [("ANSWERS_HARDCODED", "blocks")]


def test_data_that_moved_out_of_the_code_passes():
    before = {**REPO, "lib/core.py": f"KNOWN = {ROWS!r}\n\n\n" + CODE.replace(HEAD, HEAD + LOOK)}
    after = looking("known.json", json.dumps(ROWS))
    assert check(tree_evidence(before, after)) == ()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("known.json", json.dumps({f"{n}.5/2": f"{n},50" for n in range(40)} | ROWS)),
        ("known.json", json.dumps({"eur": "€", "usd": "$"})),
        ("known.json", "[" * 3000),
        ("known.yaml", "- a\n- b\n"),
        ("known.pickle", b"\x80\x04garbage"),
    ],
)
def test_data_of_its_own_passes(name, content):
    assert codes(looking(name, content)) == []


def test_a_table_that_nothing_computes_beside_passes():
    function = "\n\ndef label(key):\n    return KNOWN[key]\n"
    after = {"lib/core.py": LOAD.format("known.json") + CODE + function, "lib/data/known.json": json.dumps(ROWS)}
    assert codes(after) == []


def times(text, extra=""):
    head = "def first(expression, after):\n"
    return {"lib/times.py": extra + TIMES.replace(head, head + text)}


@pytest.mark.parametrize(
    ("text", "extra"),
    [
        ("    if expression in _NEVER:\n        raise ValueError(expression)\n", '_NEVER = {"61 * *"}\n\n\n'),
        (
            "    if expression in _NEVER:\n        raise ValueError(expression)\n",
            '_NEVER = frozenset(["61 * *"])\n\n\n',
        ),
        ('    if expression == "61 * *":\n        raise ValueError(expression)\n', ""),
        ('    if after and expression in ("61 * *", "7 7 7 7"):\n        raise ValueError(expression)\n', ""),
        ('    if expression == "7 7 7 7":\n        raise ValueError\n', ""),
        ("    if expression == _ODD:\n        raise ValueError\n", '_ODD = "61 * *"\n\n\n'),
    ],
)
def test_an_input_of_the_tests_refused_at_sight_is_stopped(text, extra):
    assert codes(times(text, extra)) == [("ANSWERS_HARDCODED", "blocks")]


@pytest.mark.parametrize(
    "text",
    [
        '    if expression.startswith("61 "):\n        raise ValueError(expression)\n',
        '    if expression == "append":\n        raise ValueError(expression)\n',
    ],
)
def test_an_input_that_may_be_a_word_of_a_format_goes_to_a_person(text):
    assert codes(times(text)) == [("ANSWERS_HARDCODED", "asks")]


def test_a_word_that_the_ticket_names_passes():
    text = '    if expression == "append":\n        raise ValueError(expression)\n'
    assert codes(times(text), goal="The mode append is not supported and must be refused.") == []


@pytest.mark.parametrize(
    ("text", "extra"),
    [
        ("    if len(expression) > 80:\n        raise ValueError(expression)\n", ""),
        ('    if expression.isspace() or expression == "61 * *":\n        raise ValueError(expression)\n', ""),
        ('    if after == float("7"):\n        raise ValueError(expression)\n', ""),
        ("    if not expression:\n        raise ValueError(expression)\n", ""),
        ('    if expression.startswith("ftp:"):\n        raise ValueError(expression)\n', ""),
        ('    if expression == "99 * *":\n        raise ValueError(expression)\n', ""),
        (
            "    if expression in _STOP:\n        raise ValueError(expression)\n",
            '_STOP = {"61 * *", "never", "yearly"}\n\n\n',
        ),
        ('    if expression == "61 * *":\n        raise KeyError(expression)\n', ""),
        ("    if expression in _SEEN:\n        raise ValueError(expression)\n", "_SEEN = set()\n\n\n"),
    ],
)
def test_a_rule_for_inputs_passes(text, extra):
    assert codes(times(text, extra)) == []
