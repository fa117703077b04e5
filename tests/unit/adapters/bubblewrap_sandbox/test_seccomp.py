"""The filter, run on made-up system calls by a small machine for classic BPF."""

from __future__ import annotations

import errno
import struct

import pytest

from gatekeeper.adapters.bubblewrap_sandbox.seccomp import ARCHITECTURES, filter_for

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
MACHINES = sorted(ARCHITECTURES)


def verdict(program: bytes, arch: int, number: int, *arguments: int) -> int:
    """What the kernel would return. Jumps forward only, so it ends."""
    padded = [a & 0xFFFFFFFFFFFFFFFF for a in [*arguments, *[0] * 6][:6]]
    data = struct.pack("<IIQ6Q", number, arch, 0, *padded)
    steps = [struct.unpack_from("<HBBI", program, at) for at in range(0, len(program), 8)]
    at, a = 0, 0
    while True:
        code, yes, no, k = steps[at]
        at += 1
        if code == 0x20:
            (a,) = struct.unpack_from("<I", data, k)
        elif code == 0x54:
            a &= k
        elif code == 0x06:
            return int(k)
        else:
            hit = {0x15: a == k, 0x35: a >= k, 0x45: bool(a & k)}[code]
            at += yes if hit else no


def ask(machine: str, name: str | int, *arguments: int) -> int:
    known = ARCHITECTURES[machine]
    program = filter_for(machine)
    assert program is not None
    return verdict(program, known.audit, known.numbers[name] if isinstance(name, str) else name, *arguments)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ["ptrace", "bpf", "mount", "unshare", "setns", "keyctl", "userfaultfd", "perf_event_open",
                                  "open_by_handle_at", "pidfd_getfd", "process_vm_readv", "kexec_load", "reboot"])  # fmt: skip
def test_refused(machine: str, name: str) -> None:
    assert ask(machine, name) == ERRNO | errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ["io_uring_setup", "io_uring_enter", "io_uring_register", "clone3"])
def test_as_if_absent(machine: str, name: str) -> None:
    assert ask(machine, name) == ERRNO | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("clone", (0x1200011,), ALLOW),  # fork of glibc
        ("clone", (0x3D0F00,), ALLOW),  # a thread
        *[("clone", (flag | 17,), ERRNO | errno.EPERM) for flag in (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000,
                                                                    0x10000000, 0x20000000, 0x40000000)],
        ("socket", (1, 1, 0), ALLOW),
        ("socket", (2, 1, 0), ALLOW),
        ("socket", (10, 2, 0), ALLOW),
        ("socket", (16, 3, 0), ALLOW),
        ("socket", (17, 3, 0), ERRNO | errno.EAFNOSUPPORT),
        ("socket", (40, 1, 0), ERRNO | errno.EAFNOSUPPORT),
        ("socket", (38, 5, 0), ERRNO | errno.EAFNOSUPPORT),
        ("socketpair", (1, 1, 0), ALLOW),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), ERRNO | errno.EPERM),
        ("ioctl", (0, 0x1_0000_5412), ERRNO | errno.EPERM),  # the kernel looks at the low half only
        ("ioctl", (0, 0x541C), ERRNO | errno.EPERM),
        ("ioctl", (0, 0x5423), ERRNO | errno.EPERM),
        ("personality", (0xFFFFFFFF,), ALLOW),
        ("personality", (0x0040000,), ERRNO | errno.EPERM),
        ("mknodat", (0, 0, 0o010644), ALLOW),
        ("mknodat", (0, 0, 0o100644), ALLOW),
        ("mknodat", (0, 0, 0o020644), ERRNO | errno.EPERM),
        ("mknodat", (0, 0, 0o060644), ERRNO | errno.EPERM),
    ],
)  # fmt: skip
def test_judged_by_an_argument(machine: str, name: str, arguments: tuple[int, ...], answer: int) -> None:
    assert ask(machine, name, *arguments) == answer


def test_calls_that_every_program_makes_pass() -> None:
    for number in (0, 1, 2, 3, 9, 11, 12, 59, 60, 63, 202, 231, 257, 262, 302, 318, 334):
        assert ask("x86_64", number) == ALLOW


def test_other_tables_of_calls_are_deadly() -> None:
    program = filter_for("x86_64")
    assert program is not None
    assert verdict(program, 0x40000003, 11) == KILL  # 32-bit
    assert ask("x86_64", 0x40000000 | 101) == KILL  # x32
    assert ask("aarch64", 0x40000000) == ALLOW


def test_an_unknown_machine_has_no_filter() -> None:
    assert filter_for("riscv64") is None
    assert filter_for("") is None


@pytest.mark.parametrize("machine", MACHINES)
def test_every_jump_stays_inside(machine: str) -> None:
    program = filter_for(machine)
    assert program is not None
    count = len(program) // 8
    assert count < 4096
    for at in range(count):
        code, yes, no, _ = struct.unpack_from("<HBBI", program, at * 8)
        if code not in (0x20, 0x54, 0x06):
            assert at + 1 + max(yes, no) < count
    assert struct.unpack_from("<HBBI", program, (count - 1) * 8)[0] == 0x06
