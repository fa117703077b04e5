"""The worker process that evaluates Rego: started by path with an empty environment, imports nothing of the gate.

It exists because the interpreter has no time-out, some rules take quadratic time, and a fault in it is a segmentation
fault. Messages are a 4-byte big-endian length and one JSON object, on standard input and output. The first message
loads the bundle (`modules`, `data`, `entrypoints`, limits); each further one is `{entrypoint, input}`. Every answer is
`{"ok": value}` or `{"error": text}`. The parent kills on time-out; the alarm here ends the worker also where the
parent is gone.
"""

import json
import os
import resource
import signal
import struct
import sys

MAX_MESSAGE_BYTES = 8 * 1024 * 1024
"""Cap on one message in either direction; a length above it ends the worker."""


def _read(stream: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(stream, min(size, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _receive(stream: int) -> dict:  # type: ignore[type-arg]  # plain JSON, checked by the parent
    (size,) = struct.unpack(">I", _read(stream, 4))
    if size > MAX_MESSAGE_BYTES:
        raise EOFError
    document = json.loads(_read(stream, size))
    if not isinstance(document, dict):
        raise EOFError  # noqa: TRY004  # ends the worker like a closed stream
    return document


def _send(stream: int, answer: dict) -> None:  # type: ignore[type-arg]  # plain JSON
    body = json.dumps(answer).encode()
    if len(body) > MAX_MESSAGE_BYTES:
        body = json.dumps({"error": "the answer is too large"}).encode()
    view = memoryview(struct.pack(">I", len(body)) + body)
    while view:
        view = view[os.write(stream, view) :]


def _limit(memory_mib: int) -> None:
    """No core dumps, no written files, no new descriptors to speak of, bounded memory."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
    # The interpreter's allocator reserves address space when it is loaded, so the cap lies above what is there already.
    with open("/proc/self/statm", encoding="ascii") as sizes:
        present = int(sizes.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (present + (memory_mib << 20),) * 2)


class _Policy:
    """One interpreter and its compiled bundle; one thread uses it."""

    def __init__(self, load: dict) -> None:  # type: ignore[type-arg]  # plain JSON
        from regopy import Interpreter, LogLevel

        self.interpreter = Interpreter()
        self.interpreter.log_level = LogLevel.NONE
        # Without this a built-in that fails is undefined in silence, and a rule that denies would vanish with it.
        self.interpreter.strict_built_in_errors = True
        self.interpreter.add_data_json(json.dumps(load["data"]))
        for name, source in load["modules"]:
            try:
                self.interpreter.add_module(name, source)
            except Exception as error:
                raise ValueError(f"{name}: {_first_message(str(error))}") from None
        self.bundle = self.interpreter.build(None, load["entrypoints"])
        if not self.bundle.ok():
            raise ValueError("the modules do not compile together")

    def evaluate(self, entrypoint: str, document: object) -> object:
        """The value of the entrypoint. Raises `ValueError` where it is undefined or the evaluation fails."""
        self.interpreter.set_input(document)
        output = self.interpreter.query_bundle_entrypoint(self.bundle, entrypoint)
        if not output.ok():
            raise ValueError("the evaluation failed")
        values = [value for result in output.results for value in result.expressions]
        if len(output.results) != 1 or len(values) != 1:
            raise ValueError("the entrypoint is undefined")
        return values[0]


def _first_message(text: str) -> str:
    """The first message of an error tree of rego-cpp, else the beginning of the text."""
    _, found, rest = text.partition("(errormsg ")
    line = (rest if found else text).partition("\n")[0]
    return line.partition(":")[2].rstrip(")")[:300] if found else line[:300]


def main() -> None:
    """Serve until standard input ends."""
    answers = os.dup(1)
    null = os.open("/dev/null", os.O_RDWR)
    for stream in (1, 2):
        os.dup2(null, stream)  # the interpreter prints errors on its own; that must not mix with the answers
    sys.path.append(sys.argv[1])
    policy = None
    wall_s = 60.0
    while True:
        try:
            message = _receive(0)
        except (EOFError, ValueError, struct.error):
            return
        signal.setitimer(signal.ITIMER_REAL, wall_s)
        try:
            if policy is None:
                wall_s = float(message["wall_s"]) + 1.0
                signal.setitimer(signal.ITIMER_REAL, wall_s)
                import regopy  # noqa: F401  # its allocator must be there before memory is limited

                _limit(int(message["memory_mib"]))
                policy = _Policy(message)
                answer: dict = {"ok": "loaded"}  # type: ignore[type-arg]  # plain JSON
            else:
                answer = {"ok": policy.evaluate(message["entrypoint"], message["input"])}
        except MemoryError:
            os._exit(3)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {str(error)[:500]}"}
        signal.setitimer(signal.ITIMER_REAL, 0)
        _send(answers, answer)


if __name__ == "__main__":
    main()
