"""The system-call filter of the sandbox as classic BPF, assembled with the standard library.

It takes away what tests do not need and attacks do: debugging other processes, kernel interfaces with a long record of
faults (bpf, perf, io_uring, userfaultfd, keys), new namespaces, mounts, device nodes, pushing input into a terminal.
Programs that call ptrace, unshare, chroot or mount fail with EPERM and say so.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from gatekeeper.records import dataclass

# Offsets into struct seccomp_data.
_NR, _ARCH, _ARGS = 0, 4, 16

_LD, _JEQ, _JGE, _JSET, _AND, _RET = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000

_NEW_NAMESPACES = 0x7E020080
"""Every CLONE_NEW* flag of clone(2): NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; and NEWTIME."""

_SOCKET_FAMILIES = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6, AF_NETLINK (glibc's getaddrinfo and getifaddrs use the last)."""

_TERMINAL_IOCTLS = (0x5412, 0x541C, 0x5423)
"""TIOCSTI, TIOCLINUX, TIOCSETD: input for, and drivers of, a terminal that is not the test's own."""

_PERSONALITY_QUERY = 0xFFFFFFFF

_COMMON: Mapping[str, int] = MappingProxyType(
    {
        "open_tree": 428,
        "move_mount": 429,
        "fsopen": 430,
        "fsconfig": 431,
        "fsmount": 432,
        "fspick": 433,
        "pidfd_getfd": 438,
        "mount_setattr": 442,
        "quotactl_fd": 443,
        "open_tree_attr": 467,
        "io_uring_setup": 425,
        "io_uring_enter": 426,
        "io_uring_register": 427,
        "clone3": 435,
    }
)


def _numbers(text: str) -> dict[str, int]:
    pairs = (item.split("=") for item in text.split())
    return {**_COMMON, **{name: int(number) for name, number in pairs}}


@dataclass(frozen=True)
class Architecture:
    """System-call numbers of one machine, and the value that the kernel reports for it."""

    audit: int
    numbers: Mapping[str, int]
    x32: bool = False
    """The machine has a second table of calls behind one bit, which the filter must close."""


ARCHITECTURES: Mapping[str, Architecture] = MappingProxyType(
    {
        "x86_64": Architecture(
            0xC000003E,
            _numbers(
                "ptrace=101 process_vm_readv=310 process_vm_writev=311 kcmp=312 add_key=248 request_key=249 keyctl=250 "
                "bpf=321 perf_event_open=298 userfaultfd=323 mount=165 umount2=166 pivot_root=155 chroot=161 "
                "setns=308 unshare=272 open_by_handle_at=304 init_module=175 finit_module=313 delete_module=176 "
                "create_module=174 kexec_load=246 kexec_file_load=320 reboot=169 swapon=167 swapoff=168 "
                "settimeofday=164 clock_settime=227 adjtimex=159 clock_adjtime=305 syslog=103 acct=163 quotactl=179 "
                "iopl=172 ioperm=173 lookup_dcookie=212 nfsservctl=180 uselib=134 sysctl=156 vhangup=153 "
                "sethostname=170 setdomainname=171 fanotify_init=300 modify_ldt=154 "
                "clone=56 personality=135 socket=41 socketpair=53 ioctl=16 mknod=133 mknodat=259"
            ),
            x32=True,
        ),
        "aarch64": Architecture(
            0xC00000B7,
            _numbers(
                "ptrace=117 process_vm_readv=270 process_vm_writev=271 kcmp=272 add_key=217 request_key=218 keyctl=219 "
                "bpf=280 perf_event_open=241 userfaultfd=282 mount=40 umount2=39 pivot_root=41 chroot=51 "
                "setns=268 unshare=97 open_by_handle_at=265 init_module=105 finit_module=273 delete_module=106 "
                "kexec_load=104 kexec_file_load=294 reboot=142 swapon=224 swapoff=225 "
                "settimeofday=170 clock_settime=112 adjtimex=171 clock_adjtime=266 syslog=116 acct=89 quotactl=60 "
                "lookup_dcookie=18 nfsservctl=42 vhangup=58 sethostname=161 setdomainname=162 fanotify_init=262 "
                "clone=220 personality=92 socket=198 socketpair=199 ioctl=29 mknodat=33"
            ),
        ),
    }
)

# Calls judged by an argument, and those answered as if the kernel did not have them (libraries then fall back).
_BY_ARGUMENT = frozenset({"clone", "personality", "socket", "socketpair", "ioctl", "mknod", "mknodat"})
_ABSENT = frozenset({"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"})


def _op(code: int, k: int, jt: int = 0, jf: int = 0) -> bytes:
    return struct.pack("<HBBI", code, jt, jf, k)


def _refuse(number: int) -> bytes:
    return _op(_RET, _ERRNO | number)


def _argument(index: int) -> bytes:
    """Load the low half of an argument: every one looked at here is an int for the kernel."""
    return _op(_LD, _ARGS + 8 * index)


def _call(number: int, body: Sequence[bytes]) -> list[bytes]:
    """`body` for the call of that number; it must end in a return."""
    return [_op(_JEQ, number, 0, len(body)), *body]


def _bodies() -> dict[str, list[bytes]]:
    """What to do with the calls that are judged by an argument."""
    allow, perm, family = _op(_RET, _ALLOW), _refuse(errno.EPERM), _refuse(errno.EAFNOSUPPORT)
    sockets = [_argument(0)]
    for position, known in enumerate(_SOCKET_FAMILIES):
        sockets.append(_op(_JEQ, known, len(_SOCKET_FAMILIES) - position))
    sockets += [family, allow]
    terminals = [_argument(1)]
    for position, request in enumerate(_TERMINAL_IOCTLS):
        terminals.append(_op(_JEQ, request, len(_TERMINAL_IOCTLS) - position))
    terminals += [allow, perm]

    def node(argument: int) -> list[bytes]:
        kinds = [_argument(argument), _op(_AND, 0o170000), _op(_JEQ, 0o020000, 2), _op(_JEQ, 0o060000, 1)]
        return [*kinds, allow, perm]

    return {
        "clone": [_argument(0), _op(_JSET, _NEW_NAMESPACES, 1), allow, perm],
        "personality": [_argument(0), _op(_JEQ, _PERSONALITY_QUERY, 1), perm, allow],
        "socket": sockets,
        "socketpair": sockets,
        "ioctl": terminals,
        "mknod": node(1),
        "mknodat": node(2),
    }


def filter_for(machine: str) -> bytes | None:
    """The filter program for `machine` (as `platform.machine()` says), or None where its calls are not known."""
    known = ARCHITECTURES.get(machine)
    if known is None:
        return None
    program = [_op(_LD, _ARCH), _op(_JEQ, known.audit, 1), _op(_RET, _KILL), _op(_LD, _NR)]
    if known.x32:
        program += [_op(_JGE, 0x40000000, 0, 1), _op(_RET, _KILL)]
    bodies = _bodies()
    for name, number in sorted(known.numbers.items(), key=lambda item: item[1]):
        if name in _BY_ARGUMENT:
            program += _call(number, bodies[name])
        else:
            program += _call(number, [_refuse(errno.ENOSYS if name in _ABSENT else errno.EPERM)])
    program.append(_op(_RET, _ALLOW))
    return b"".join(program)


def host_filter() -> bytes | None:
    """The filter program for this machine, or None."""
    return filter_for(platform.machine())
