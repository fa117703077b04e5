"""Bytes to domain types and back: size-capped, strict, fuzzed. Every refusal is an `InputError`."""
