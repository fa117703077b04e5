"""Names of resources (DESIGN section 5), refs, commits and digests: hostile text to checked text. Pure."""

from __future__ import annotations

import re
from enum import StrEnum

from gatekeeper.errors import InputError

SEGMENT = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_REPOSITORY = rf"owners/{SEGMENT}/repositories/{SEGMENT}"
_SHA256 = r"[0-9a-f]{64}"


class Kind(StrEnum):
    """What a name can name, with the words for people."""

    OWNER = "owners/{owner}"
    REPOSITORY = "owners/{owner}/repositories/{repository}"
    TICKET = "owners/{owner}/repositories/{repository}/tickets/{ticket}"
    CHANGE = "owners/{owner}/repositories/{repository}/changes/{key}"
    VERIFICATION = "owners/{owner}/repositories/{repository}/changes/{key}/verifications/{verification}"
    REVIEW = "owners/{owner}/repositories/{repository}/changes/{key}/reviews/{review}"
    ATTESTATION = "owners/{owner}/repositories/{repository}/attestations/{sha256}"
    ARTIFACT = "artifacts/{sha256}"


_PATTERNS = {
    Kind.OWNER: re.compile(rf"owners/{SEGMENT}"),
    Kind.REPOSITORY: re.compile(_REPOSITORY),
    Kind.TICKET: re.compile(rf"{_REPOSITORY}/tickets/{SEGMENT}"),
    Kind.CHANGE: re.compile(rf"{_REPOSITORY}/changes/{SEGMENT}"),
    Kind.VERIFICATION: re.compile(rf"{_REPOSITORY}/changes/{SEGMENT}/verifications/{SEGMENT}"),
    Kind.REVIEW: re.compile(rf"{_REPOSITORY}/changes/{SEGMENT}/reviews/{SEGMENT}"),
    Kind.ATTESTATION: re.compile(rf"{_REPOSITORY}/attestations/{_SHA256}"),
    Kind.ARTIFACT: re.compile(rf"artifacts/{_SHA256}"),
}
_SEGMENT = re.compile(SEGMENT)
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DIGEST = re.compile(_SHA256)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
# git-check-ref-format, and nothing that a shell, a log or a terminal takes for something else.
_REF = re.compile(r"refs(/[A-Za-z0-9_+@=,#%()!][A-Za-z0-9._+@=,#%()!-]*)+")
MAX_REF = 512


def malformed(field: str, expected: str) -> InputError:
    """The error for one field. The value is left out: it is hostile, and the caller knows it."""
    return InputError("INPUT_MALFORMED", f"The field {field} must be {expected}.", field=field)


def resource_name(kind: Kind, text: str, field: str) -> str:
    """`text`, when it is a name of that kind. Raises `InputError` (INPUT_MALFORMED)."""
    if not _PATTERNS[kind].fullmatch(text):
        raise malformed(field, f"a resource name like {kind.value}")
    return text


def segment(text: str, field: str) -> str:
    """`text`, when it can be a segment of a name."""
    if not _SEGMENT.fullmatch(text):
        raise malformed(field, f"one segment of a resource name, matching {SEGMENT}")
    return text


def commit(text: str, field: str) -> str:
    """`text`, when it is a full commit id."""
    if not _COMMIT.fullmatch(text):
        raise malformed(field, "a full commit id, 40 or 64 lower-case hexadecimal digits")
    return text


def sha256(text: str, field: str) -> str:
    """`text`, when it is a sha256."""
    if not _DIGEST.fullmatch(text):
        raise malformed(field, "a sha256, 64 lower-case hexadecimal digits")
    return text


def request_id(text: str, field: str = "request_id") -> str:
    """A UUID in lower case."""
    if not _UUID.fullmatch(text):
        raise malformed(field, "a UUID such as 6b1f3c1e-8a55-4c57-9a0e-0f6f3f0d2b11")
    return text.lower()


def ref(text: str, field: str) -> str:
    """`text`, when it is a fully qualified ref that git accepts."""
    parts = text.split("/")
    if (
        len(text) > MAX_REF
        or len(parts) < 3
        or not _REF.fullmatch(text)
        or ".." in text
        or "@{" in text
        or any(p.endswith((".lock", ".")) for p in parts)
    ):
        raise malformed(field, f"a fully qualified ref of at most {MAX_REF} characters, for instance refs/heads/main")
    return text


def repository_of(name: str) -> str:
    """Repository of a checked name of anything inside one."""
    return "/".join(name.split("/", 4)[:4])


def change_of(name: str) -> str:
    """Change of a checked name of a verification or review."""
    return "/".join(name.split("/", 6)[:6])


def last_segment(name: str) -> str:
    """What a checked name ends with."""
    return name.rsplit("/", 1)[-1]
