"""Resource names as people write them, made whole: `acme/shop` is `owners/acme/repositories/shop`.

Nothing here proves that a thing exists; the server does. Raises `UsageError` for what cannot be a name.
"""

from __future__ import annotations

import re

from gatekeeper.errors import UsageError

_SEGMENT = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_REPOSITORY = re.compile(rf"owners/({_SEGMENT})/repositories/({_SEGMENT})")
_SHORT = re.compile(rf"({_SEGMENT})/({_SEGMENT})")
_CHILD = re.compile(rf"({_SEGMENT}/{_SEGMENT}|owners/{_SEGMENT}/repositories/{_SEGMENT})[:#]({_SEGMENT})")
_VERIFICATION = re.compile(
    rf"owners/{_SEGMENT}/repositories/{_SEGMENT}/changes/{_SEGMENT}/verifications/{_SEGMENT}",
)


def repository_name(text: str) -> str:
    """`owners/acme/repositories/shop` for that or for `acme/shop`."""
    if _REPOSITORY.fullmatch(text):
        return text
    if short := _SHORT.fullmatch(text):
        return f"owners/{short[1]}/repositories/{short[2]}"
    raise UsageError("INPUT_MALFORMED", f"{text[:200]!r} names no repository; expected owner/repository.")


def ticket_name(text: str, repository: str = "") -> str:
    """Full name of a ticket: given whole, as `acme/shop#T-1`, or as `T-1` beside its repository."""
    return _child("tickets", "ticket", text, repository)


def change_name(text: str, repository: str = "") -> str:
    """Full name of a change: given whole, as `acme/shop#42`, or as `42` beside its repository."""
    return _child("changes", "change", text, repository)


def verification_name(text: str) -> str:
    """The name of a verification; only the whole one exists."""
    if not _VERIFICATION.fullmatch(text):
        raise UsageError(
            "INPUT_MALFORMED",
            f"{text[:300]!r} names no verification; expected owners/O/repositories/R/changes/C/verifications/V, "
            "as `submit` prints it.",
        )
    return text


def is_verification(text: str) -> bool:
    """True for the whole name of a verification."""
    return _VERIFICATION.fullmatch(text) is not None


def attestation_name(text: str, repository: str = "") -> str:
    """Full name of an attestation: given whole, or its digest beside its repository."""
    return _child("attestations", "attestation", text, repository)


def repository_of(name: str) -> str:
    """The repository in the name of anything that lies in one."""
    found = re.match(rf"owners/{_SEGMENT}/repositories/{_SEGMENT}(?=/|$)", name)
    if not found:
        raise UsageError("INPUT_MALFORMED", f"{name[:200]!r} lies in no repository.")
    return found[0]


def change_of(name: str) -> str:
    """The change in the name of a verification or review."""
    found = re.match(rf"owners/{_SEGMENT}/repositories/{_SEGMENT}/changes/{_SEGMENT}(?=/|$)", name)
    if not found:
        raise UsageError("INPUT_MALFORMED", f"{name[:200]!r} lies in no change.")
    return found[0]


def ref_name(text: str) -> str:
    """`refs/heads/main` for that or for `main`."""
    return text if text.startswith("refs/") else f"refs/heads/{text}"


def _child(folder: str, what: str, text: str, repository: str) -> str:
    if re.fullmatch(rf"owners/{_SEGMENT}/repositories/{_SEGMENT}/{folder}/{_SEGMENT}", text):
        return text
    if parts := _CHILD.fullmatch(text):
        return f"{repository_name(parts[1])}/{folder}/{parts[2]}"
    if repository and re.fullmatch(_SEGMENT, text):
        return f"{repository_name(repository)}/{folder}/{text}"
    where = "" if repository else ", owner/repository#id"
    raise UsageError(
        "INPUT_MALFORMED",
        f"{text[:200]!r} names no {what}; expected owners/O/repositories/R/{folder}/ID{where}"
        + (" or the bare id." if repository else ", or the bare id together with --repo."),
    )
