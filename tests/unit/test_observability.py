from __future__ import annotations

import logging

from gatekeeper.observability import RedactingFormatter, redacted


def test_credentials_and_control_characters_do_not_reach_the_log():
    token = "ghp_" + "a1B2" * 9
    record = logging.LogRecord("gatekeeper", 20, "f", 1, "got %s \x1b[31m\nforged line", (token,), None)
    line = RedactingFormatter("%(message)s").format(record)
    assert token not in line
    assert "\x1b" not in line
    assert "\n" not in line


def test_named_values_and_urls():
    assert redacted("password=hunter22 x") == "password=[redacted] x"
    assert redacted("postgres://u:pw123@h/d") == "postgres://u:[redacted]@h/d"
    assert redacted("the token count is 5") == "the token count is 5"
