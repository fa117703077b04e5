"""Runs the tests on mutants of changed lines: the gate's own program inside one sandbox.

    gatekeeper_measure.py JOB    JOB is a file of JSON, made by `gatekeeper.workflow.measuring.job`

This file stands there with the modules of `gatekeeper.workflow.measuring.inside` beside it in a folder.
"""

from __future__ import annotations

import importlib
import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    sys.exit(importlib.import_module("gatekeeper_measuring.main").main())
