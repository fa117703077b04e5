"""Who calls: a bearer token or a client certificate, looked up by its digest. The secret itself is never kept or logged."""

from __future__ import annotations

import hashlib
import ssl
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from gatekeeper.domain.principal import Caller, Role
from gatekeeper.domain.records import CredentialRecord
from gatekeeper.errors import RequestRefused
from gatekeeper.workflow.service.service import Service

MAX_TOKEN = 512
MAX_CACHED = 1024
_ROLES = {r.value: r for r in Role}


def digest_of_call(metadata: Iterable[tuple[str, str | bytes]], auth_context: Mapping[str, Iterable[bytes]]) -> str:
    """sha256 of what the caller showed, hexadecimal; a token goes before a certificate.

    Raises `RequestRefused` (CREDENTIAL_MISSING, CREDENTIAL_INVALID).
    """
    shown = [value for key, value in metadata if key == "authorization"]
    if len(shown) > 1:
        raise RequestRefused("CREDENTIAL_INVALID", "The call shows several credentials; one is expected.")
    if shown:
        value = shown[0] if isinstance(shown[0], str) else shown[0].decode("ascii", "replace")
        scheme, _, token = value.partition(" ")
        if scheme.lower() != "bearer" or not 1 <= len(token) <= MAX_TOKEN or not token.isascii() or " " in token:
            raise RequestRefused("CREDENTIAL_INVALID", "The authorization header must be: Bearer TOKEN.")
        return hashlib.sha256(token.encode("ascii")).hexdigest()
    for pem in auth_context.get("x509_pem_cert", ()):
        try:
            return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem.decode("ascii"))).hexdigest()
        except (ValueError, UnicodeError):
            raise RequestRefused("CREDENTIAL_INVALID", "The client certificate cannot be read.") from None
    raise RequestRefused("CREDENTIAL_MISSING", "The call shows neither a token nor a client certificate.")


def caller_of(record: CredentialRecord | None, now: float) -> Caller:
    """Whom a stored credential proves. Unknown, expired and revoked ones are told apart by nobody outside.

    Raises `RequestRefused` (CREDENTIAL_INVALID).
    """
    good = (
        record is not None
        and (record.revoke_time is None or record.revoke_time > now)
        and (record.expire_time is None or record.expire_time > now)
        and record.principal.kind in ("human", "agent", "service")
    )
    if record is None or not good:
        raise RequestRefused("CREDENTIAL_INVALID", "The credential is unknown, expired or revoked.")
    return Caller(
        principal=record.principal,
        # A role that this version does not know gives nothing.
        roles=frozenset(_ROLES[r] for r in record.roles if r in _ROLES),
        delegators=record.delegators,
        credential=record.id,
        emails=frozenset(e.strip().casefold() for e in record.emails),
    )


class Credentials:
    """Looks credentials up. A good one is believed for `cache_s` seconds, so that is how late a revocation can come."""

    def __init__(self, service: Service, cache_s: float) -> None:
        self._service = service
        self._cache_s = cache_s
        self._cached: OrderedDict[str, tuple[Caller, float]] = OrderedDict()

    def cached(self, digest: str) -> Caller | None:
        """The caller, where this digest was looked up a moment ago."""
        found = self._cached.get(digest)
        return found[0] if found is not None and found[1] > time.monotonic() else None

    def look_up(self, digest: str) -> Caller:
        """The caller behind a digest, from the store. Raises `RequestRefused` (CREDENTIAL_INVALID)."""
        with self._service.records.reading() as tx:
            record = tx.credential(digest)
        return caller_of(record, self._service.clock.now())

    def keep(self, digest: str, caller: Caller) -> None:
        """Believe it for a while. Call it in the event loop."""
        self._cached.pop(digest, None)
        self._cached[digest] = (caller, time.monotonic() + self._cache_s)
        while len(self._cached) > MAX_CACHED:
            self._cached.popitem(last=False)
