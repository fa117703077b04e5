"""Where the tests find OPA: pinned by `make opa`, else on the PATH; where it is missing, a skip that CI does not accept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gatekeeper.adapters.opa_policy import find_opa
from gatekeeper.config import libexec


def opa_program() -> Path:
    """The program; a visible skip where there is none, a failure under CI."""
    found = find_opa(libexec())
    if found is None:
        words = "opa is missing; `make opa` builds it"
        if os.environ.get("CI") == "true" or os.environ.get("GATEKEEPER_REQUIRE_OPA") == "1":
            pytest.fail(words)
        pytest.skip(words)
    return found
