"""Whatever bytes come as a git bundle, reading them ends in an answer or a typed refusal, never in more memory than caps."""

from __future__ import annotations

import io
import zlib

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.adapters.git_mirror.bundle import MAX_UNPACKED, header, weigh
from gatekeeper.errors import InputError

CODES = {"BUNDLE_MALFORMED", "BUNDLE_TOO_LARGE"}
OID = "0123456789abcdef" * 2 + "01234567"


def entry(kind: int, size: int, body: bytes) -> bytes:
    low, size = size & 15, size >> 4
    head = bytearray([kind << 4 | low | (0x80 if size else 0)])
    while size:
        low, size = size & 0x7F, size >> 7
        head.append(low | (0x80 if size else 0))
    return bytes(head) + body


lines = st.one_of(
    st.sampled_from(
        [b"\n", b"PACK", f"-{OID} x\n".encode(), f"{OID} refs/heads/x\n".encode(), b"@object-format=sha1\n"]
    ),
    st.binary(max_size=60).map(lambda b: b + b"\n"),
    st.binary(max_size=60),
)
headers = st.builds(
    lambda magic, rows: magic + b"".join(rows),
    st.sampled_from([b"# v2 git bundle\n", b"# v3 git bundle\n", b"# v4 git bundle\n", b""]),
    st.lists(lines, max_size=8),
)
honest = st.lists(st.tuples(st.sampled_from([1, 2, 3, 4]), st.binary(max_size=300)), max_size=6)


def pack(count: int, body: bytes) -> bytes:
    return b"PACK" + (2).to_bytes(4, "big") + count.to_bytes(4, "big") + body + bytes(20)


@given(headers)
def test_any_header(content: bytes) -> None:
    try:
        found = header(io.BytesIO(content))
    except InputError as error:
        if error.code not in CODES:
            raise
    else:
        assert found.tips
        assert all(len(oid) == 40 for oid in (*found.tips, *found.prerequisites))
        assert content[: found.pack].endswith(b"\n\n")


@given(honest)
def test_an_honest_pack_weighs_what_it_holds(objects: list[tuple[int, bytes]]) -> None:
    body = b"".join(entry(kind, len(data), zlib.compress(data)) for kind, data in objects)
    assert weigh(io.BytesIO(pack(len(objects), body)), 0) == sum(len(data) for _, data in objects)


@given(honest, st.data())
def test_a_bent_pack_is_answered_or_refused(objects: list[tuple[int, bytes]], data: st.DataObject) -> None:
    body = b"".join(entry(kind, len(content), zlib.compress(content)) for kind, content in objects)
    content = bytearray(pack(len(objects), body))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(0, len(content)))]
    try:
        assert weigh(io.BytesIO(bytes(content)), 0) <= MAX_UNPACKED
    except InputError as error:
        if error.code not in CODES:
            raise


@given(st.integers(0, 7), st.integers(0, 1 << 62), st.binary(max_size=200))
def test_any_claim_of_one_entry(kind: int, size: int, stream: bytes) -> None:
    for body in (stream, zlib.compress(stream), bytes(20) + zlib.compress(stream), b"\x05" + zlib.compress(stream)):
        try:
            weigh(io.BytesIO(pack(1, entry(kind, size, body))), 0)
        except InputError as error:
            if error.code not in CODES:
                raise
