"""Tests that keep their name and prove less: each test of the base against its counterpart in the merge result."""

from gatekeeper.checks.weakened_tests.judge import check

__all__ = ["check"]
