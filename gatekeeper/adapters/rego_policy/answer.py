"""Where this adapter takes the reading of answers from: every engine of the policy reads them alike."""

from gatekeeper.formats.policy_answer import decision_of, plan_of

__all__ = ["decision_of", "plan_of"]
