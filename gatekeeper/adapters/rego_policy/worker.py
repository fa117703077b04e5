"""The worker process that evaluates Rego: started by path with an empty environment.

It exists because the interpreter has no time-out, some rules take quadratic time, and a fault in it is a segmentation
fault. The first message loads the bundle (`modules`, `data`, `entrypoints`, limits); each further one is
`{entrypoint, input}`. The parent kills on time-out.
"""

import json
import sys

WALL_S = 60.0
"""Bound on one message where the parent is gone; the parent's own limit is far lower."""


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
    sys.path += sys.argv[1:3]
    # Before the first message, which comes when the gate has read the bundle; and its allocator must be there before
    # memory is limited.
    import regopy  # noqa: F401

    from gatekeeper.worker_process import limit, serve

    policy: list[_Policy] = []

    def handle(message: dict) -> object:  # type: ignore[type-arg]  # plain JSON, checked by the parent
        if policy:
            return policy[0].evaluate(message["entrypoint"], message["input"])
        limit(int(message["memory_mib"]))
        policy.append(_Policy(message))
        return "loaded"

    serve(handle, wall_s=WALL_S)


if __name__ == "__main__":
    main()
