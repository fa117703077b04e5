"""Environments of the tests: from the base's locks by uv, the gate's own pytest, or one the operator prepared."""

from gatekeeper.adapters.environment_builder.builder import UvEnvironmentBuilder

__all__ = ["UvEnvironmentBuilder"]
