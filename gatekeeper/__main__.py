"""`gatekeeper`, `gk` and `python -m gatekeeper`: what loads longest is started before anything else is imported."""

import gc
import os
import sys

OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""A short process that reads syntax trees makes many objects and hardly a cycle; at Python's own 700 the collector takes
a quarter of the time of the checks."""


def main() -> int:
    """Run the command line; returns the exit status."""
    words = sys.argv[1:]
    check = words[:1] == ["check"]
    if check:
        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 20, 20)
    if check and not {"-h", "--help"}.intersection(words):
        from gatekeeper.wiring.early import begin

        begin()
    from gatekeeper.cli.main import main as run

    code = run()
    if check:
        _leave(code)
    return code


def _leave(code: int) -> None:
    """End without taking the interpreter apart, which is a twentieth of a check; pipes to children close all the same.

    What cannot be written, and threads that must be joined, end the long way.
    """
    import threading

    if any(not t.daemon and t is not threading.main_thread() for t in threading.enumerate()):
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
