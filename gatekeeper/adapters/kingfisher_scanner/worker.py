"""The worker process that scans for secrets: started by path with an empty environment.

Native code over hostile bytes: a fault in it must end this process and not the gate, and the loading of the rules must
not hold the gate's interpreter. The first message loads the rules (`cache`, `pepper`, `memory_mib`); each further one
is `{path, data}` with `data` in base64, or `{text}` to redact. `{make}` instead prepares the folder of compiled rules
that it names. The parent kills on time-out.
"""

import base64
import os
import sys

WALL_S = 120.0
"""Bound on one message where the parent is gone: several readings of one target, each with its own limit."""


def main() -> None:
    """Serve until standard input ends."""
    # Loading the rules takes a core for a while: the tests' own run, which everybody waits for, comes first.
    os.nice(10)
    sys.path += sys.argv[1:3]
    from pathlib import Path

    import kingfisher_sdk  # noqa: F401  # while the gate makes up the first message

    from gatekeeper.adapters.kingfisher_scanner.engine import SecretEngine
    from gatekeeper.worker_process import limit, serve

    engines: list[SecretEngine] = []

    def handle(message: dict) -> object:  # type: ignore[type-arg]  # plain JSON of the parent
        if engines and "text" in message:
            return engines[0].redact(message["text"])
        if engines:
            return engines[0].scan(message["path"], base64.b64decode(message["data"]))
        if "make" in message:
            from gatekeeper.adapters.kingfisher_scanner.parting import make

            make(Path(message["make"]))
            return "made"
        engine = SecretEngine(Path(message["cache"]), bytes.fromhex(message["pepper"]))
        limit(int(message["memory_mib"]), files=64)
        engines.append(engine)
        return engine.cache_status

    serve(handle, wall_s=WALL_S, max_bytes=int(sys.argv[3]))


if __name__ == "__main__":
    main()
