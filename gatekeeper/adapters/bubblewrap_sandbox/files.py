"""How many files a run has made: counted from outside, because bubblewrap can bound a file system's bytes but not its files.

Empty files are nothing to a limit on bytes, and a million of them take a gigabyte of the kernel's memory, and minutes to
take down. The kernel counts them by file system; every one that can be written inside is asked, through the first
process's view of it. A question costs microseconds.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

EVERY_S = 0.2
"""Between two looks. A program makes at most some ten thousand files in that time."""
SCRATCH = ("/tmp", "/dev/shm")  # noqa: S108 - places inside the sandbox


def made(first_process: int, places: Sequence[str]) -> int:
    """Files in use on the file systems at `places`, as the sandbox's first process sees them.

    One that cannot be asked counts nothing: the sandbox is being built or taken down, or the kernel keeps its view private.
    """
    count, seen = 0, set()
    for place in places:
        with contextlib.suppress(OSError):
            path = f"/proc/{first_process}/root{place}"
            device = os.stat(path).st_dev
            if device not in seen:
                seen.add(device)
                state = os.statvfs(path)
                count += state.f_files - state.f_ffree
    return count
