"""Measuring what tests can tell: the program that runs inside a sandbox, and what it is given."""
