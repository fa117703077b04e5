"""The policy engine on a real OPA server: one that the operator names, or one that this adapter starts for itself."""

from gatekeeper.adapters.opa_policy.client import NamedServer
from gatekeeper.adapters.opa_policy.engine import OpaPolicy
from gatekeeper.adapters.opa_policy.server import find_opa

__all__ = ["NamedServer", "OpaPolicy", "find_opa"]
