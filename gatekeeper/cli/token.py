"""`gatekeeper token`: credentials of the service, on the store of this machine.

Whoever runs it can write the database file, so no credential is asked for; each creation and revocation is in the audit
log under the name of the operating system's user. A secret is shown once and stored nowhere.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gatekeeper.domain.principal import Principal, Role
from gatekeeper.errors import UsageError

if TYPE_CHECKING:
    from gatekeeper.domain.records import CredentialRecord

ISSUER = "gatekeeper"
"""Issuer of principals that the operator names here."""
MAX_NAME, MAX_COMMENT, MAX_LIFE_S = 256, 1000, 10 * 366 * 86_400
_LIFE = re.compile(r"([1-9][0-9]{0,5})([dhm])")
_SECONDS = {"d": 86_400, "h": 3600, "m": 60}
_ADDRESS = re.compile(r"[^\s@]+@[^\s@]+")


class Kind(StrEnum):
    """What acts with the credential."""

    HUMAN = "human"
    AGENT = "agent"
    SERVICE = "service"


class Format(StrEnum):
    """How lists are printed."""

    TEXT = "text"
    JSON = "json"


SubjectOption = Annotated[str, typer.Option(help="Who it is for, as in `ann` or `agent-7`.")]
KindOption = Annotated[Kind, typer.Option(help="human, agent or service.")]
RoleOption = Annotated[list[Role], typer.Option(help="agent, reviewer, operator or enforcer; can be repeated.")]
EmailOption = Annotated[
    list[str] | None, typer.Option(help="Address under which it commits: nobody decides on own work. Can be repeated.")
]
ForOption = Annotated[
    list[str] | None, typer.Option("--for", help="Subject that it may act for; without it, for any. Can be repeated.")
]
CommentOption = Annotated[str, typer.Option(help="Words for the list.")]
IssuerOption = Annotated[
    str, typer.Option(help="Issuer of the identity; principals are compared by issuer and subject.")
]
ExpiresOption = Annotated[str, typer.Option(help="How long it is valid: 30d, 12h, 90m or never.")]
FormatOption = Annotated[Format, typer.Option("--format", help="text or json.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Credentials of the service.", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name="token")

    @group.command()
    def create(
        subject: SubjectOption,
        kind: KindOption,
        role: RoleOption,
        email: EmailOption = None,
        delegator: ForOption = None,
        expires: ExpiresOption = "90d",
        comment: CommentOption = "",
        issuer: IssuerOption = ISSUER,
        output: Annotated[
            Path | None, typer.Option(help="New file (mode 0600) for the secret; by default it is printed.")
        ] = None,
    ) -> int:
        """Make a token and show it, this once."""
        from gatekeeper.formats.credentials import RANDOM_BYTES, new_token, token_digest

        secret = new_token(os.urandom(RANDOM_BYTES))
        record = new_record(
            token_digest(secret), subject=subject, kind=kind, roles=role, emails=email or [], delegators=delegator,
            expires=expires, comment=comment, issuer=issuer,
        )  # fmt: skip
        with _secret_file(output, secret):
            add(record, "token.create")
        where = "the secret is shown only now" if output is None else f"the secret is in {str(output)!r}"
        _tell(f"created {record.id} for {record.principal.id}; {where}")
        if Role.REVIEWER in role and not email and "@" not in subject:
            _tell(
                "warning: without --email this reviewer can approve nothing: nobody could tell whether they wrote the "
                "change. Revoke it, and make one with --email ADDRESS under which they commit."
            )
        if output is None:
            print(secret)
        return 0

    @group.command()
    def add_certificate(
        certificate: Annotated[Path, typer.Option(help="The client's certificate, PEM.")],
        subject: SubjectOption,
        kind: KindOption,
        role: RoleOption,
        email: EmailOption = None,
        delegator: ForOption = None,
        expires: ExpiresOption = "never",
        comment: CommentOption = "",
        issuer: IssuerOption = ISSUER,
    ) -> int:
        """Let the holder of a client certificate in. Its own validity counts as well."""
        from gatekeeper.formats.credentials import MAX_PEM, certificate_digest

        try:
            with certificate.open("rb") as file:
                pem = file.read(MAX_PEM + 1)
        except OSError as error:
            raise _usage(
                f"{str(certificate)!r} cannot be read: {error.strerror}.",
                "Name a PEM file, for instance --certificate agent.crt.",
            ) from None
        record = new_record(
            certificate_digest(pem), subject=subject, kind=kind, roles=role, emails=email or [], delegators=delegator,
            expires=expires, comment=comment, issuer=issuer,
        )  # fmt: skip
        add(record, "certificate.add")
        _tell(f"created {record.id} for {record.principal.id}")
        return 0

    @group.command("list")
    def list_credentials(form: FormatOption = Format.TEXT) -> int:
        """Show all credentials, revoked and expired ones included; no secrets."""
        with open_records() as records, records.reading() as tx:
            found = tx.credentials()
        now = _now()
        if form is Format.JSON:
            print(json.dumps({"credentials": [_row(c, now) for c in found]}, indent=2))
        else:
            for c in found:
                row = _row(c, now)
                print(f"{c.id}  {row['state']:8}{row['expires']:>21}  {c.principal.kind} {_shown(c.principal.id)}"
                      f"  {','.join(row['roles'])}  {_shown(c.comment)}".rstrip())  # fmt: skip
        return 0

    @group.command()
    def revoke(id: Annotated[str, typer.Argument(help="Id of the credential, from `token list`.")]) -> int:  # noqa: A002
        """End a credential now. The server notices within seconds."""
        with open_records() as records, records.transaction() as tx:
            found = next((c for c in tx.credentials() if c.id == id), None)
            if found is None:
                raise UsageError("CREDENTIAL_UNKNOWN", f"There is no credential {id!r}.")
            if found.revoke_time is not None:
                _tell(f"{id} was revoked before")
                return 0
            now = _now()
            tx.save_credential(replace(found, revoke_time=now))
            tx.audit(
                "credential.revoke",
                f"credentials/{id}",
                operator(),
                time=now,
                details={"principal": found.principal.id},
            )
        _tell(f"revoked {id} of {found.principal.id}")
        return 0


def new_record(
    digest: str,
    *,
    subject: str,
    kind: str,
    roles: Sequence[Role],
    emails: Sequence[str],
    delegators: Sequence[str] | None,
    expires: str,
    comment: str,
    issuer: str,
) -> CredentialRecord:
    """A credential from what the operator wrote. Raises `UsageError`."""
    for name, text in (("--subject", subject), ("--issuer", issuer), *(("--for", d) for d in delegators or [])):
        if not text or len(text) > MAX_NAME or not text.isprintable() or text != text.strip() or "#" in text:
            raise _usage(
                f"{name} needs 1 to {MAX_NAME} printable characters without #, not {text!r}.",
                f"Give for instance {name} agent-7.",
            )
    if len(comment) > MAX_COMMENT or not (comment.isprintable()):
        raise _usage(f"--comment takes at most {MAX_COMMENT} printable characters.", "Write one short line.")
    for email in emails:
        if len(email) > MAX_NAME or not email.isprintable() or not _ADDRESS.fullmatch(email):
            raise _usage(
                f"--email needs an address, not {email!r}.",
                "Give it as commits have it, for instance --email rita@example.org.",
            )
    if Role.REVIEWER in roles and kind != Kind.HUMAN:
        raise _usage(
            f"The role reviewer is for people: --kind is {str(kind)!r}.", "Give --kind human, or another --role."
        )
    from gatekeeper.wiring.machine import new_id

    now = _now()
    life = seconds(expires)
    from gatekeeper.domain.records import CredentialRecord

    return CredentialRecord(
        id=new_id()[:16],
        digest=digest,
        principal=Principal(issuer, subject, str(kind)),
        roles=frozenset(str(r) for r in roles),
        create_time=now,
        expire_time=None if life is None else now + life,
        delegators=None if not delegators else frozenset(delegators),
        emails=frozenset(e.lower() for e in emails),
        comment=comment,
    )


def seconds(text: str) -> int | None:
    """`30d`, `12h`, `90m` in seconds, None for `never`. Raises `UsageError`."""
    if text == "never":
        return None
    found = _LIFE.fullmatch(text)
    life = int(found[1]) * _SECONDS[found[2]] if found else 0
    if not 0 < life <= MAX_LIFE_S:
        raise _usage(
            f"--expires is {text[:80]!r}; expected a number of days, hours or minutes (10 years at most), or never.",
            "Give for instance --expires 30d, 12h, 90m or never.",
        )
    return life


def add(record: CredentialRecord, action: str) -> None:
    """Store a credential with its audit entry. Raises `UsageError` for a principal or secret that is known otherwise."""
    with open_records() as records, records.transaction() as tx:
        for known in tx.credentials():
            if known.principal.id == record.principal.id and known.principal.kind != record.principal.kind:
                raise _usage(
                    f"{record.principal.id} is known as {known.principal.kind} (credential {known.id}): one name is one "
                    "principal.",
                    f"Choose another --subject, or give --kind {known.principal.kind}.",
                )
        try:
            tx.add_credential(record)
        except KeyError:
            raise _usage("This certificate is registered already.", "Look for it in `gatekeeper token list`.") from None
        details = {
            "principal": record.principal.id,
            "kind": record.principal.kind,
            "roles": sorted(record.roles),
            "expire_time": record.expire_time,
            "delegators": None if record.delegators is None else sorted(record.delegators),
            "emails": sorted(record.emails),
            "digest": record.digest,
        }
        tx.audit(action, f"credentials/{record.id}", operator(), time=record.create_time, details=details)


def operator() -> Principal:
    """Who runs the command, as the operating system names them."""
    import pwd

    uid = os.getuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        name = str(uid)
    return Principal("os", name, "human")


@contextlib.contextmanager
def open_records() -> Iterator[Any]:
    """The store of this machine, closed at the end."""
    from gatekeeper.config import paths
    from gatekeeper.wiring.server import service_records

    records = service_records(paths())
    try:
        yield records
    finally:
        records.close()


@contextlib.contextmanager
def _secret_file(path: Path | None, secret: str) -> Iterator[None]:
    """Write the secret to a new private file first: a token that nobody can read would be of no use."""
    if path is None:
        yield
        return
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise _usage(
            f"{str(path)!r} exists; a secret never overwrites a file.", "Name a file that is not there with --output."
        ) from None
    except OSError as error:
        raise _usage(
            f"{str(path)!r} cannot be made: {error.strerror}.",
            "Name a file in a directory of yours, for instance --output token.",
        ) from None
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secret + "\n")
            file.flush()
            os.fsync(handle)
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise


def _usage(message: str, next_action: str) -> UsageError:
    return UsageError("USAGE", message, next_action=next_action)


def _row(c: CredentialRecord, now: float) -> dict[str, Any]:
    state = "valid"
    if c.revoke_time is not None:
        state = "revoked"
    elif c.expire_time is not None and c.expire_time <= now:
        state = "expired"
    return {
        "id": c.id,
        "state": state,
        "principal": {"issuer": c.principal.issuer, "subject": c.principal.subject, "kind": c.principal.kind},
        "roles": sorted(c.roles),
        "created": timestamp(c.create_time),
        "expires": "never" if c.expire_time is None else timestamp(c.expire_time),
        "revoked": None if c.revoke_time is None else timestamp(c.revoke_time),
        "acts_for": None if c.delegators is None else sorted(c.delegators),
        "emails": sorted(c.emails),
        "comment": c.comment,
    }


def timestamp(seconds_since_epoch: float) -> str:
    """A time as RFC 3339, UTC, whole seconds."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds_since_epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _shown(text: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def _now() -> float:
    from gatekeeper.wiring.machine import SystemClock

    return SystemClock().now()


def _tell(text: str) -> None:
    """Words beside the result."""
    import sys

    print(_shown(text), file=sys.stderr)
