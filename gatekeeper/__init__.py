"""Gatekeeper: a verification gate for changes written by coding agents (not OPA Gatekeeper)."""

__version__ = "0.1.0"
