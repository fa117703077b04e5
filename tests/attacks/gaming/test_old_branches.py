"""What only a Python long gone would run may know mocks; beside it branches that only look like that."""

import pytest
from tree_evidence import tree_evidence

from gatekeeper.checks.implementation_gaming import check

HEAD = "import sys\n\n\n"
OLD = "def awaited(func):\n    if sys.version_info >= (3, 8):\n        return inspect(func)\n    else:\n        from unittest.mock import AsyncMock\n\n        return isinstance(func, AsyncMock)\n"
BELOW = (
    OLD.replace(">= (3, 8)", "< (3, 8)")
    .replace("        return inspect(func)\n    else:\n", "")
    .replace("isinstance(func, AsyncMock)", "isinstance(func, AsyncMock)\n    return inspect(func)")
)


def codes(source):
    return [
        f.code
        for f in check(tree_evidence({"lib/core.py": "def inspect(f):\n    return f\n"}, {"lib/core.py": source}))
    ]


@pytest.mark.parametrize("source", [HEAD + OLD, HEAD + BELOW, HEAD + OLD.replace("(3, 8)", "(3,)"), HEAD + OLD.replace("(3, 8)", "(3, 9)")])  # fmt: skip
def test_a_branch_of_a_python_long_gone_is_never_run(source):
    assert codes(source) == []


@pytest.mark.parametrize(
    "source",
    [
        HEAD + OLD.replace("(3, 8)", "(3, 99)"),
        HEAD + OLD.replace("(3, 8)", "(3, 10)"),
        HEAD + OLD.replace("(3, 8)", "(4,)"),
        HEAD + OLD.replace(">= (3, 8)", "< (3, 8)"),
        HEAD + OLD.replace(">= (3, 8)", "== (3, 8)"),
        HEAD + OLD.replace("(3, 8)", "(3, 8, 20)"),
        HEAD + OLD.replace("(3, 8)", "(True, 8)"),
        HEAD + OLD.replace("(3, 8)", "least()"),
        HEAD + OLD.replace("sys.version_info", "me.version_info"),
        HEAD + BELOW.replace("< (3, 8)", ">= (3, 8)"),
        HEAD.replace("import sys", "from lib import sys") + OLD,
        HEAD.replace("import sys", "import lib.fake as sys") + OLD,
        HEAD + "sys = object()\n" + OLD,
        HEAD + "from lib import *\n" + OLD,
        HEAD + "globals()['sys'] = object()\n" + OLD,
        HEAD + OLD.replace("awaited(func)", "awaited(func, sys=None)"),
        HEAD + "for sys in ():\n    pass\n" + OLD,
        HEAD + "class sys:\n    version_info = (3, 0)\n" + OLD,
        HEAD + OLD.replace("unittest.mock", "pytest"),
        OLD,
    ],
)
def test_a_branch_that_may_run_is_told(source):
    assert codes(source) == ["TEST_RUNNER_IN_CODE"]
