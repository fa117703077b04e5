"""Any text in: mutants parse, differ in changed lines alone, and nothing but the typed errors comes out."""

from __future__ import annotations

import ast
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.errors import InputError
from gatekeeper.formats.measurement_lines import parse_measurement
from gatekeeper.formats.python_mutants import changed_code, mutants, round_robin
from gatekeeper.formats.python_mutants.source import lines_of

NAMES = st.sampled_from(
    ["a", "b", "self.x", "f(a)", "a[1:b]", "1", "-2", "'s'", "None", "True", "[a, b]", "{'k': a}", "f'{a}'", "é"]
)
SIGNS = st.sampled_from([" < ", " == ", " and ", " + ", " // ", " in ", " is not ", " or ", " | "])
EXPRESSIONS = st.recursive(
    NAMES,
    lambda inner: st.one_of(
        st.tuples(inner, SIGNS, inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
        inner.map(lambda e: f"(not {e})"),
        inner.map(lambda e: f"g({e}, key={e})"),
        inner.map(lambda e: f"(\n        {e}\n    )"),
        inner.map(lambda e: f"[x for x in a if {e}]"),
        inner.map(lambda e: f"(a if {e} else b)"),
    ),
    max_leaves=6,
)
STATEMENTS = st.one_of(
    EXPRESSIONS.map(lambda e: f"return {e}"),
    EXPRESSIONS.map(lambda e: f"y = {e}"),
    EXPRESSIONS.map(lambda e: f"self.y += {e}"),
    EXPRESSIONS.map(lambda e: f"if {e}: y = {e}"),
    EXPRESSIONS.map(lambda e: f"raise ValueError({e})"),
    EXPRESSIONS.map(lambda e: f"while {e}:\n        break"),
    EXPRESSIONS.map(lambda e: f"try:\n        g({e})\n    except (KeyError, OSError):\n        pass"),
    EXPRESSIONS.map(lambda e: f"for z in {e}:\n        continue"),
    EXPRESSIONS.map(lambda e: f"g({e})  # a comment"),
)
BODIES = st.lists(STATEMENTS, min_size=1, max_size=6)


def module(body: list[str], end: str) -> str:
    text = 'LIMIT = 3\n\n\ndef f(a, b=2):\n    """Doc."""\n' + "".join(f"    {s}\n" for s in body)
    return text.replace("\n", end)


@settings(max_examples=60, deadline=None)
@given(BODIES, BODIES, st.sampled_from(["\n", "\r\n"]))
def test_mutants_parse_and_touch_changed_lines_alone(old: list[str], new: list[str], end: str) -> None:
    before, after = module(old, end), module([*old[:2], *new], end)
    code = changed_code("m.py", before.encode(), after.encode())
    assert code is not None
    rows = mutants(code)
    for mutant in rows:
        text = mutant.applied(after)
        assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(after))
        left, right = lines_of(after), lines_of(text)
        assert len(left) == len(right)
        assert {n for n, (x, y) in enumerate(zip(left, right, strict=True), 1) if x != y} <= set(code.lines)
    assert sorted(round_robin(rows), key=repr) == sorted(rows, key=repr)


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.text(max_size=300), st.binary(max_size=300), st.text(alphabet="def f(a):\n return+-<>'\"[]#\\", max_size=80)
    )
)
def test_any_bytes_are_read_or_not_and_never_crash(given_text: str | bytes) -> None:
    data = given_text if isinstance(given_text, bytes) else given_text.encode("utf-8", "surrogatepass")
    code = changed_code("m.py", b"x = 1\n", data)
    if code is not None:
        for mutant in mutants(code)[:20]:
            ast.parse(mutant.applied(code.text.text))


ROWS = st.fixed_dictionaries(
    {"k": st.sampled_from(["start", "cover", "probe", "control", "mutant", "skip", "elsewhere", "error", "end", "x"])},
    optional={
        "p": st.one_of(st.integers(-2, 5), st.lists(st.integers(-1, 4), max_size=3)),
        "m": st.integers(-2, 5),
        "n": st.one_of(st.integers(-2, 9), st.floats(), st.none()),
        "r": st.sampled_from(["ran", "killed", "survived", "timeout", "budget", "none", "fine"]),
        "t": st.one_of(st.text(max_size=9), st.lists(st.text(max_size=5), max_size=3)),
        "i": st.one_of(st.booleans(), st.none()),
        "what": st.text(max_size=9),
        "pytest": st.text(max_size=5),
        "python": st.text(max_size=5),
        "passed": st.integers(0, 3),
        "excluded": st.integers(0, 3),
    },
)


@settings(max_examples=150, deadline=None)
@given(st.lists(ROWS, max_size=6), st.binary(max_size=20))
def test_hostile_results_are_read_or_refused(rows: list[dict[str, object]], tail: bytes) -> None:
    data = b"".join(json.dumps(r).encode() + b"\n" for r in rows) + tail
    try:
        found = parse_measurement(data, probes=3, mutants=3)
    except InputError as error:
        if error.code != "MEASUREMENT_MALFORMED":
            raise
    else:
        assert set(found.trials) <= {0, 1, 2}
        assert set(found.probes) <= {0, 1, 2}
