"""Command line, one module a command group. Heavy imports stay inside the command functions."""
