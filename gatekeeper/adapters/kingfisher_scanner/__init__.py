"""Secrets, found in process by Kingfisher with its built-in rules and the gate's own."""

from gatekeeper.adapters.kingfisher_scanner.pepper import load_pepper
from gatekeeper.adapters.kingfisher_scanner.scanner import KingfisherScanner

__all__ = ["KingfisherScanner", "load_pepper"]
