"""The policy engine in process: an OPA bundle evaluated by rego-cpp in a small worker process."""

from gatekeeper.adapters.rego_policy.engine import RegoPolicy

__all__ = ["RegoPolicy"]
