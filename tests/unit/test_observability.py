from __future__ import annotations

import logging

import pytest

from gatekeeper.cli import main as program
from gatekeeper.errors import UsageError
from gatekeeper.observability import RedactingFormatter, redacted, set_up_logging


@pytest.fixture(autouse=True)
def quiet_again():
    """Every test leaves the logger as it was."""
    logger = logging.getLogger("gatekeeper")
    before = (logger.handlers[:], logger.level, logger.propagate)
    yield
    logger.handlers[:], logger.propagate = before[0], before[2]
    logger.setLevel(before[1])


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


def test_the_handler_redacts_arguments_and_tracebacks(capsys):
    token = "ghp_" + "a1B2" * 9
    set_up_logging("debug")
    set_up_logging("debug")  # the handler is replaced, not doubled
    log = logging.getLogger("gatekeeper.any.part")
    log.debug("sent %s", {"password": "hunter22"})
    log.error("fault", exc_info=ValueError(f"bad {token}\n\x1b[2J"))
    told = capsys.readouterr().err
    assert "hunter22" not in told
    assert token not in told
    assert "\x1b" not in told
    assert len(told.splitlines()) == 2
    assert "ValueError" in told


def test_levels():
    set_up_logging("INFO")
    assert logging.getLogger("gatekeeper").level == logging.INFO
    with pytest.raises(UsageError, match="debug, info"):
        set_up_logging("loud")


def test_the_program_is_quiet_unless_asked(monkeypatch, capsys):
    def crash():
        raise RuntimeError("with token=abcdef123456")

    logging.getLogger("gatekeeper").handlers[:] = []
    monkeypatch.setattr(program, "build", lambda: lambda **_: crash())
    monkeypatch.delenv("GATEKEEPER_LOG", raising=False)
    monkeypatch.delenv("GATEKEEPER_DEBUG", raising=False)
    assert program.main() == 3
    assert logging.getLogger("gatekeeper").handlers == []
    told = capsys.readouterr().err
    assert "Traceback" not in told
    assert "internal fault" in told
    assert "abcdef123456" not in told
    monkeypatch.setenv("GATEKEEPER_LOG", "debug")
    assert program.main() == 3
    told = capsys.readouterr().err
    assert "ERROR gatekeeper.cli internal fault" in told
    assert "Traceback" in told
    monkeypatch.setenv("GATEKEEPER_LOG", "loud")
    assert program.main() == 2
