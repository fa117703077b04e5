"""Secrets, found by Kingfisher in a worker process with its built-in rules and the gate's own.

Nothing is imported here: the worker loads modules of this package and must not load the gate's with them.
"""
