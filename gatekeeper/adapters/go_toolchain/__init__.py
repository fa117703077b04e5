"""Go for suites that need it: the program, the modules of the base's go.sum, the standard library compiled once."""

from gatekeeper.adapters.go_toolchain.toolchain import GoToolchain

__all__ = ["GoToolchain"]
