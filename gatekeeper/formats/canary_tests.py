"""Tests of the gate that must fail, err or be skipped: a module for pytest, and what each of its tests must come to.

They are made from a random token: names, numbers and their order are not known before. A tested process in which they
come to something else has been bent; one in which they do not has not been, or knows them apart from the others.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from gatekeeper.domain.testrun import Outcome
from gatekeeper.records import dataclass

_FAILED, _ERRORED, _SKIPPED, _PASSED = Outcome.FAILED, Outcome.ERRORED, Outcome.SKIPPED, Outcome.PASSED

# {f} is a name for a test function, {x} another name, {n} and {m} are different numbers.
_ALWAYS: tuple[tuple[str, Mapping[str, Outcome]], ...] = (
    ("def {f}():\n    assert {n} == {m}\n", {"{f}": _FAILED}),
    ("def {f}():\n    raise KeyError({n})\n", {"{f}": _FAILED}),
    ("def {f}():\n    values = sorted([{n}, {m}])\n    assert values == [{n}], values\n", {"{f}": _FAILED}),
    ("@pytest.fixture\ndef {x}():\n    assert {n} < 0\n\n\ndef {f}({x}):\n    pass\n", {"{f}": _ERRORED}),
    ("@pytest.mark.skip(reason='{n}')\ndef {f}():\n    raise ValueError({m})\n", {"{f}": _SKIPPED}),
    (
        "class Test{x}(unittest.TestCase):\n    def test_{x}(self):\n        self.assertEqual({n}, {m})\n",
        {"Test{x}::test_{x}": _FAILED},
    ),
    (
        "@pytest.mark.parametrize('{x}', [{n}, {m}])\ndef {f}({x}):\n    assert {x} == {n}\n",
        {"{f}[{n}]": _PASSED, "{f}[{m}]": _FAILED},
    ),
    ("def {f}():\n    assert len([{n}, {m}]) == 2\n", {"{f}": _PASSED}),
)
_SOMETIMES: tuple[tuple[str, Mapping[str, Outcome]], ...] = (
    ("def {f}():\n    with pytest.raises(ValueError):\n        int('{n}')\n", {"{f}": _FAILED}),
    ("def {f}():\n    assert not isinstance({n}, int)\n", {"{f}": _FAILED}),
    ("def {f}():\n    assert object() == object()\n", {"{f}": _FAILED}),
    ("def {f}():\n    assert str({n}) in [str({m})]\n", {"{f}": _FAILED}),
    ("def {f}():\n    raise SystemExit(0)\n", {"{f}": _FAILED}),
    ("def {f}():\n    assert [] or None\n", {"{f}": _FAILED}),
    ("def {f}():\n    class Wrong(AssertionError):\n        pass\n\n    raise Wrong({n})\n", {"{f}": _FAILED}),
    ("def {f}():\n    if {n} != {m}:\n        pytest.fail('{n}')\n", {"{f}": _FAILED}),
    (
        "@pytest.fixture\ndef {x}():\n    yield\n    raise OSError({n})\n\n\ndef {f}({x}):\n    pass\n",
        {"{f}": _ERRORED},
    ),
    ("def {f}():\n    unittest.mock.Mock().assert_called_once_with({n})\n", {"{f}": _FAILED}),
    ("def {f}():\n    pytest.skip('{n}')\n", {"{f}": _SKIPPED}),
)
_MOST_PATTERNS = 20


@dataclass(frozen=True)
class Canaries:
    """One module of them."""

    source: bytes
    expected: tuple[tuple[str, Outcome], ...]
    """(name within the module, as in test ids; what it must come to)."""


def canaries(token: str, function_patterns: Sequence[str] = ()) -> Canaries:
    """The module for one token. `function_patterns` are pytest's `python_functions`; prefixes or globs."""
    form = _form(function_patterns)
    bits = _Bits(token)
    extra = [t for t in _SOMETIMES if bits.number(2)]
    rows = [(bits.number(1 << 30), index, t) for index, t in enumerate([*_ALWAYS, *extra])]
    blocks, expected = [], []
    for _, _, (code, outcomes) in sorted(rows, key=lambda r: r[:2]):
        first = 1000 + bits.number(1_000_000)
        words = {
            "f": form.replace("*", bits.word()),
            "x": bits.word().capitalize(),
            "n": str(first),
            "m": str(first + 1 + bits.number(1000)),
        }
        blocks.append(_filled(code, words))
        expected += [(_filled(name, words), outcome) for name, outcome in outcomes.items()]
    text = "import unittest\nimport unittest.mock\n\nimport pytest\n\n\n" + "\n\n".join(blocks)
    return Canaries(text.encode(), tuple(expected))


def word(token: str, label: str = "") -> str:
    """A name of lower-case letters that follows from the token alone."""
    return _Bits(f"{token} {label}").word()


class _Bits:
    """Numbers that follow from a token."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._count = 0

    def number(self, below: int) -> int:
        self._count += 1
        digest = hashlib.sha256(f"{self._token} {self._count}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % below

    def word(self) -> str:
        return "".join(chr(ord("a") + self.number(26)) for _ in range(9 + self.number(4)))


def _form(patterns: Sequence[str]) -> str:
    """A name with one `*` in it that the first usable pattern matches; those of pytest are prefixes or globs."""
    for pattern in patterns[:_MOST_PATTERNS]:
        if re.fullmatch(r"[A-Za-z_]\w{0,60}", pattern) and pattern.isidentifier():
            return f"{pattern}_*"
        if re.fullmatch(r"(?=[A-Za-z_*])\w{0,60}\*\w{0,60}", pattern) and pattern.replace("*", "x").isidentifier():
            return pattern
    return "test_*"


def _filled(text: str, words: Mapping[str, str]) -> str:
    return re.sub(r"\{([fxnm])\}", lambda found: words[found[1]], text)
