"""Frozen types and pure rules. No I/O, no clock, no randomness; imports nothing but errors."""
