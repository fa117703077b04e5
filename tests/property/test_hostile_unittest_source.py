"""Any text is read, and a module leaves out nothing of itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.formats.unittest_source import read_unittest

PARTS = st.lists(
    st.sampled_from([
        "import unittest\n", "class A(unittest.TestCase):\n    def test_a(self): pass\n", "class B(A):\n    def setUp(self): self.skipTest('x')\n",
        "del A\n", "A = 1\n", "A.test_a.__unittest_skip__ = True\n", "def load_tests(a, b, c): return b\n", "if x:\n    raise SkipTest\n",
        "for a in b:\n    del a[0]\n", "def load_tests(*a): pass\n", "from x import A\n", "x = {}\n",
    ]),
    max_size=12,
)  # fmt: skip


@given(st.text(max_size=300))
def test_any_text_is_read(text):
    assert read_unittest(text) == read_unittest(text)


@given(PARTS)
def test_what_it_collects_is_defined(parts):
    source = "".join(parts)
    found = read_unittest(source)
    assert found is not None
    assert all(f"class {name.partition('::')[0]}" in source for name in found.tests)
    assert all(0 < s.line <= source.count("\n") + 1 for s in found.skips)
