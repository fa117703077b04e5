"""Mutants of the changed lines of a Python module: small faults that a test which looks should notice.

Pure: text in, texts out. `changed_code` finds what a change really changes, `mutants` makes the faults, best ones first.
"""

from gatekeeper.formats.python_mutants.changed import ChangedCode, Statement, changed_code, whole_code
from gatekeeper.formats.python_mutants.mutants import Mutant, mutants, round_robin

__all__ = ["ChangedCode", "Mutant", "Statement", "changed_code", "mutants", "round_robin", "whole_code"]
