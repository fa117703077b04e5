"""A submission as callers write it, turned into the request of the API. Pure but for reading the files it is given."""

from __future__ import annotations

import uuid

from gatekeeper.api.v1.artifact_pb2 import Artifact
from gatekeeper.api.v1.verdict_pb2 import PURPOSE_MERGE_GROUP, PURPOSE_PRE_MERGE
from gatekeeper.api.v1.verifications_pb2 import SubmitRequest
from gatekeeper.client.content import MAX_INLINE, Content, Source, content
from gatekeeper.client.names import ref_name, repository_name, ticket_name
from gatekeeper.records import dataclass


@dataclass(frozen=True)
class Submission:
    """A request that is ready, and what must be uploaded before it is sent."""

    request: SubmitRequest
    uploads: tuple[Content, ...]


def submission(
    *,
    repository: str,
    change: str,
    head: str,
    ticket: str,
    target: str,
    claim: Source | str | None,
    bundle: bytes | str | Source | None,
    ticket_digest: str,
    merge_group: str,
    on_behalf_of: str,
    request_id: str | None,
) -> Submission:
    """See `Client.submit`."""
    parent = repository_name(repository)
    request = SubmitRequest(
        parent=parent,
        change_key=change,
        target_ref=ref_name(target),
        head_commit=head,
        ticket=ticket_name(ticket, parent),
        ticket_digest=ticket_digest,
        purpose=PURPOSE_MERGE_GROUP if merge_group else PURPOSE_PRE_MERGE,
        merge_group=merge_group,
        on_behalf_of=on_behalf_of,
        request_id=request_id or new_request_id(),
    )
    uploads: list[Content] = []
    if claim is not None:
        document = content(claim, Artifact.KIND_CLAIM)
        if document.size <= MAX_INLINE:
            request.claim_document = document.read()
        else:
            uploads.append(document)
            request.claim_artifact = document.name
    if bundle is not None:
        objects = content(bundle, Artifact.KIND_GIT_BUNDLE)
        uploads.append(objects)
        request.bundle_artifact = objects.name
    return Submission(request, tuple(uploads))


def new_request_id() -> str:
    """A UUID that makes one request idempotent."""
    return str(uuid.uuid4())
