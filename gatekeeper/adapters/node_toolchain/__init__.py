"""Node.js for suites that need it: the program, and the packages of the base's lock."""

from gatekeeper.adapters.node_toolchain.toolchain import NodeToolchain

__all__ = ["NodeToolchain"]
