"""Entry point."""

from __future__ import annotations


def main() -> int:
    """Placeholder while the skeleton stands alone."""
    return 2
