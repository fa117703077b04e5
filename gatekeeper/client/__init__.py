"""A small typed client of the gate's API, for orchestrators. docs/cli.md has the command line that is built on it.

    from gatekeeper.client import Client, accepted

Answers are the generated messages of `gatekeeper.api.v1`: always what the API says, with every field typed and
documented for editors. Enums become the gate's words with `verdict_of`, `state_of`, `change_state_of` and
`ticket_state_of`; a value from a newer server is None there, never a pass. Errors are `GatekeeperError`: `ApiError` for a call that failed,
`UsageError` for arguments that cannot work.
"""

from gatekeeper.api.v1.artifact_pb2 import Artifact
from gatekeeper.api.v1.attestation_pb2 import Attestation
from gatekeeper.api.v1.change_pb2 import Change, Question
from gatekeeper.api.v1.event_pb2 import Event
from gatekeeper.api.v1.finding_pb2 import Finding, Need
from gatekeeper.api.v1.repository_pb2 import Repository
from gatekeeper.api.v1.review_pb2 import Review
from gatekeeper.api.v1.run_pb2 import Run
from gatekeeper.api.v1.ticket_pb2 import Ticket
from gatekeeper.api.v1.usage_report_pb2 import ModelUsage, UsageReport
from gatekeeper.api.v1.verification_pb2 import Verification
from gatekeeper.client.aio import AsyncClient
from gatekeeper.client.client import Client
from gatekeeper.client.failure import ApiError
from gatekeeper.client.patience import Patience
from gatekeeper.client.words import accepted, change_state_of, is_final, state_of, ticket_state_of, verdict_of
from gatekeeper.domain.lifecycle import ChangeState, TicketState, VerificationState
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import GatekeeperError, UsageError

__all__ = [
    "ApiError",
    "Artifact",
    "AsyncClient",
    "Attestation",
    "Change",
    "ChangeState",
    "Client",
    "Event",
    "Finding",
    "GatekeeperError",
    "ModelUsage",
    "Need",
    "Patience",
    "Question",
    "Repository",
    "Review",
    "Run",
    "Ticket",
    "TicketState",
    "UsageError",
    "UsageReport",
    "Verdict",
    "Verification",
    "VerificationState",
    "accepted",
    "change_state_of",
    "is_final",
    "state_of",
    "ticket_state_of",
    "verdict_of",
]
