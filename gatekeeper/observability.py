"""Logging set-up: the standard library's logging, one line a record, nothing secret and no control characters in it.

Below `domain` in the layers, so the neutralising of characters is repeated here in its smallest form.
"""

from __future__ import annotations

import logging
import re
import sys

from gatekeeper.errors import UsageError

_SECRET = re.compile(
    r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|sk-[A-Za-z0-9_-]{20,}|"
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]+|npm_[A-Za-z0-9]{30,}|AIza[\w-]{30,}|hf_[A-Za-z0-9]{30,}|"
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
)
_NAMED = re.compile(
    r"(?i)(\b(?:[\w-]*(?:password|passwd|secret|token|api[_-]?key)|authorization)[\"']?\s*[:=]\s*(?:bearer\s+|basic\s+)?[\"']?)[^\s\"',;}]{6,}"
)
_URL = re.compile(r"(?i)(\b[a-z][a-z0-9+.-]*://[^\s:/@]*):[^\s/@]+@")


def redacted(text: str) -> str:
    """`text` with everything that looks like a credential replaced."""
    text = _SECRET.sub("[redacted]", text)
    text = _URL.sub(r"\1:[redacted]@", text)
    return _NAMED.sub(r"\1[redacted]", text)


class RedactingFormatter(logging.Formatter):
    """Formats, then redacts and escapes the whole line, tracebacks included: nothing can slip in through arguments."""

    def format(self, record: logging.LogRecord) -> str:
        """One record as one line of printable text."""
        line = redacted(super().format(record))
        return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in line)


LEVELS = ("debug", "info", "warning", "error")


def set_up_logging(level: str = "warning") -> None:
    """Send the gate's log to standard error at `level`, one of `LEVELS`; another word is a `UsageError`.

    Calling it again replaces the handler, never doubles it.
    """
    if level.lower() not in LEVELS:
        raise UsageError("USAGE", f"GATEKEEPER_LOG is {level[:40]!r}; expected one of {', '.join(LEVELS)}.")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logger = logging.getLogger("gatekeeper")
    logger.handlers[:] = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False
