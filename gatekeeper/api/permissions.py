"""The one table of rpcs: who may call, how large a request may be, how long a call may take."""

from __future__ import annotations

from gatekeeper.domain.principal import Caller, Role
from gatekeeper.errors import RequestRefused
from gatekeeper.records import dataclass

KIB = 1024
_ALL = frozenset(Role)
_AGENT, _REVIEWER, _OPERATOR = frozenset({Role.AGENT}), frozenset({Role.REVIEWER}), frozenset({Role.OPERATOR})
_WORKERS = _AGENT | _REVIEWER | _OPERATOR


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds for one rpc."""

    roles: frozenset[Role]
    max_request: int = 4 * KIB
    """Bytes of one message of the request."""
    timeout_s: float = 30.0
    """Longest time of a call; the default where the client sets no deadline."""


RULES: dict[str, Rule] = {
    "RepositoryService.RegisterRepository": Rule(_OPERATOR, 64 * KIB),
    "RepositoryService.GetRepository": Rule(_ALL),
    "RepositoryService.ListRepositories": Rule(_ALL),
    "TicketService.CreateTicket": Rule(_WORKERS, 320 * KIB),
    "TicketService.GetTicket": Rule(_ALL),
    "TicketService.ListTickets": Rule(_ALL),
    "TicketService.ApproveTicket": Rule(_REVIEWER, 320 * KIB),
    "TicketService.RejectTicket": Rule(_REVIEWER, 16 * KIB),
    "TicketService.AmendTicket": Rule(_WORKERS, 320 * KIB),
    "ChangeService.GetChange": Rule(_ALL),
    "ChangeService.ListChanges": Rule(_ALL),
    "ChangeService.AbandonChange": Rule(_WORKERS, 16 * KIB),
    "ChangeService.RaiseQuestion": Rule(_AGENT, 16 * KIB),
    "VerificationService.Submit": Rule(_AGENT, 1280 * KIB),
    "VerificationService.GetVerification": Rule(_ALL),
    "VerificationService.ListVerifications": Rule(_ALL),
    "VerificationService.WatchVerification": Rule(_ALL, timeout_s=3600.0),
    "VerificationService.CancelVerification": Rule(_WORKERS, 16 * KIB),
    "ReviewService.CreateReview": Rule(_REVIEWER, 640 * KIB),
    "AttestationService.GetAttestation": Rule(_ALL),
    "AttestationService.ListAttestations": Rule(_ALL),
    # A chunk of 1 MiB and the bytes around it.
    "ArtifactService.UploadArtifact": Rule(_WORKERS, 1024 * KIB + 64, timeout_s=600.0),
    "ArtifactService.GetArtifact": Rule(_WORKERS, timeout_s=600.0),
    "UsageService.ReportUsage": Rule(_AGENT | _OPERATOR, 64 * KIB),
    "EventService.ListEvents": Rule(_OPERATOR),
    "AuditService.ListAuditEntries": Rule(_OPERATOR),
}
"""By `Service.Method`. What is not listed here is not served."""


def require_role(name: str, caller: Caller) -> None:
    """Raises `RequestRefused`: ROLE_REQUIRED, or HUMAN_REQUIRED where only people count and the reviewer is a program."""
    rule = RULES[name]
    held = caller.roles & rule.roles
    if not held:
        words = ", ".join(sorted(rule.roles))
        raise RequestRefused("ROLE_REQUIRED", f"{name} needs one of the roles: {words}.", roles=words, rpc=name)
    if held == _REVIEWER and rule.roles != _ALL and caller.principal.kind != "human":
        raise RequestRefused(
            "HUMAN_REQUIRED" if rule.roles == _REVIEWER else "ROLE_REQUIRED",
            f"The role reviewer counts for people alone, and {caller.principal.subject} is a program.",
            rpc=name,
        )
