"""The inventory of a test module: names, bodies, rows, hiders."""

from __future__ import annotations

from gatekeeper.formats.python_source import read_module


def test_names_of_functions_methods_and_async_tests():
    module = read_module(
        "def test_a(): pass\nclass TestB:\n    async def test_c(self): pass\n    def helper(self): pass\n"
    )
    assert list(module.tests) == ["test_a", "TestB::test_c"]


def test_fixtures_are_no_tests():
    module = read_module("@pytest.fixture\ndef test_data():\n    return 1\n")
    assert module.tests == {}


def test_method_equals_the_function_it_became():
    module = read_module(
        'class TestA:\n    def test_b(self, x):\n        """Doc."""\n        assert x\n\ndef test_b(x):\n    assert x  # same\n'
    )
    assert module.tests["TestA::test_b"].body == module.tests["test_b"].body


def test_rows_do_not_depend_on_ids_and_marks():
    plain = read_module("@pytest.mark.parametrize('a', [1, 2])\ndef test_a(a): pass\n")
    named = read_module(
        "@pytest.mark.parametrize('a', [pytest.param(1, id='x'), pytest.param(2, marks=m)])\ndef test_a(a): pass\n"
    )
    assert plain.tests["test_a"].rows == named.tests["test_a"].rows


def test_rows_that_code_makes_are_unknown():
    module = read_module("@pytest.mark.parametrize('a', rows())\ndef test_a(a): pass\n")
    assert module.tests["test_a"].rows is None


def test_equal_definitions_are_no_duplicates():
    module = read_module("def test_a():\n    assert 1\n\ndef test_a():\n    assert 1  # again\n")
    assert module.duplicates == ()
