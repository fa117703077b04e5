"""What looks like a secret to a pattern and is none: vendors' examples, placeholders, references, hashes.

Two strengths. A token with a vendor's own shape is dropped only where it is a published example or has no randomness;
a value that merely stands behind a word like `password` must look random and must not name itself a stand-in.
"""

from __future__ import annotations

import math
import re
from collections import Counter

GENERIC = frozenset(
    {
        "gatekeeper.assigned",
        "gatekeeper.settings-line",
        "gatekeeper.connection-string",
        "gatekeeper.netrc",
        "betterleaks.generic-credential-uri",
    }
)
"""Rules that know only the context of a value, not its shape."""

_PUBLISHED = re.compile(
    r"EXAMPLE(?:KEY)?$|^AKIAIOSFODNN7|eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9l|^(?:sk|pk|rk)_test_", re.ASCII
)
_STAND_IN = re.compile(
    r"example|change.?me|replace|placeholder|dummy|fake|sample|your[-_.]?|insert|redacted|todo|xxxx|\*\*\*|\.\.\.|"
    r"not[-_.]?(?:a[-_.]?)?(?:real|secret)|for[-_.]?test|test[-_.]|[-_.]test|testing|foobar|lorem|s3cr3t|letmein|qwerty|hunter2|"
    r"correct.?horse|1234567|abcdef|deadbeef|cafebabe|password|passwd|secret|my[-_]?token|<|>|\$\{|\$\(|\{\{|\{[a-z_]\w*[^{}]{0,40}\}|%\(|%s|"
    r"os\.environ|getenv|process\.env|secrets\.|vault:|env:",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"^[A-Za-z_][A-Za-z_]*(?:[._-][A-Za-z_]+)*(?:\(.*)?$|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?:\(.*)?$|^\$|^https?://[^@]*$|^[./~][\w./-]*$"
)
_UUID = re.compile(r"^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$", re.IGNORECASE)
_HASH_WORD = re.compile(
    r"(?:hash|sha[-_]?\d|sha\b|digest|checksum|integrity|etag|fingerprint|public[-_]?key|pub[-_]?key|csrf_?token_?name)",
    re.IGNORECASE,
)
_RUN = re.compile(r"(.)\1{7,}")


def entropy(text: str) -> float:
    """Shannon entropy in bits a character."""
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values()) if text else 0.0


def is_placeholder(rule: str, secret: str, before: str) -> bool:
    """True where the match is no secret. `before` is the text on the same line in front of it."""
    body = secret.strip()
    if _PUBLISHED.search(body) or len(set(body)) < 6:
        return True
    if "PRIVATE KEY" in body:
        return False
    if _RUN.search(body) and entropy(_RUN.sub("", body)) < 3:
        return True
    if rule not in GENERIC:
        return False
    if _STAND_IN.search(body) or _REFERENCE.match(body) or _UUID.match(body):
        return True
    if rule in ("gatekeeper.connection-string", "betterleaks.generic-credential-uri"):
        # `postgres:postgres@localhost` is everybody's development database.
        return entropy(body) < 3.0 or not re.search(r"\d", body)
    if _HASH_WORD.search(before):
        return True
    kinds = sum(bool(re.search(k, body)) for k in (r"[a-z]", r"[A-Z]", r"\d", r"[^A-Za-z0-9]"))
    digits = sum(c.isdigit() for c in body)
    return kinds < 2 or (digits < 2 and kinds < 3) or entropy(body) < (3.3 if len(body) >= 16 else 3.0)
