"""Makefiles and shell scripts of any form are read in bounded time, and a text is as strict as itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.formats.makefile import read_makefile
from gatekeeper.formats.shell_checks import code_lines, lost_checks

LINES = st.lists(
    st.one_of(
        st.sampled_from([
            "test: a b", "\tsh x.sh", "\t-$(A)", "A = $(B)$(B)", "B = $(A)", "B += $(B) x", "ifdef A", "else", "endif",
            "include Makefile", "define A", "endef", ".IGNORE:", "if [ a = b ]; then", "fi", "f() {", "}", "<<EOF", "EOF",
            "exit 1", "[ $a = b ] || exit 1", "done", "for a in b; do",
        ]),
        st.text(max_size=40),
    ),
    max_size=40,
)  # fmt: skip


@given(LINES)
def test_any_makefile_is_read(lines):
    source = "\n".join(lines)
    made = read_makefile("Makefile", {"Makefile": source}.get)
    assert made is not None
    assert all(c.text for c in made.commands(made.goals(())))
    assert made.commands(("test",)) == read_makefile("Makefile", {"Makefile": source}.get).commands(("test",))


@given(LINES)
def test_a_script_is_as_strict_as_itself(lines):
    source = "\n".join(lines)
    assert lost_checks(source, source) == []
    assert lost_checks(source, source + "\n# a note\n") == []
    assert len(code_lines(source)) <= len(source.splitlines())


def test_values_that_grow_without_end_are_cut():
    source = (
        "A0 = xxxxxxxxxx\n"
        + "".join(f"A{i + 1} = $(A{i})$(A{i})$(A{i})$(A{i})\n" for i in range(30))
        + "test:\n"
        + "\t$(A30)\n" * 200
    )
    made = read_makefile("Makefile", {"Makefile": source}.get)
    assert all(len(c.text) <= 2000 for c in made.commands(("test",)))
