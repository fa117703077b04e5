"""Code risks, found by semgrep's own engine with the gate's rules alone."""

from gatekeeper.adapters.semgrep_scanner.scanner import SemgrepScanner

__all__ = ["SemgrepScanner"]
