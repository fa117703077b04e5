"""Errors of usage say what to write: the option by name and an example, never the help page alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from gatekeeper import cli
from gatekeeper.cli.main import build
from gatekeeper.errors import UsageError, reason

SOURCES = sorted(Path(next(iter(cli.__path__))).glob("*.py"))
COMMIT = "a" * 40


def run(*words: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        build(words[0])(list(words), standalone_mode=False)
    assert caught.value.code == "USAGE"
    assert caught.value.next_action != reason("USAGE").next_action
    return caught.value


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_no_usage_error_of_a_command_leaves_its_next_step_to_the_help_page(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "UsageError":
            first = node.args[0]
            if isinstance(first, ast.Constant) and first.value == "USAGE":
                assert any(k.arg == "next_action" for k in node.keywords), f"{path.name}:{node.lineno}"


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["check", "--repo", ".", "--head", COMMIT, "--ticket", "no-such-file"], "ticket.json"),
        (["check", "--repo", ".", "--head", COMMIT, "--ticket", "{}", "--claim", "no-such-file"], "--claim claim.json"),
        (["check", "--repo", ".", "--head", COMMIT, "--ticket", "{}", "--trust", "no-such-file"], "--trust trust.toml"),
        (["check", "--repo", ".", "--head", COMMIT, "--ticket", "{}", "--environment", "hots"], "--environment host"),
        (["verify", "--repo", ".", "--commit", COMMIT, "--ref", "main", "--trust", "{}"], "--ref refs/heads/main"),
        (["review", "--repo", ".", "--head", COMMIT], "--ticket ticket.json"),
        (["review", "--repo", ".", "--head", COMMIT, "--retry"], "acme/shop#42 --retry"),
        (["key", "new", "--out", "k.pem"], "--name ada@example.org"),
        (["key", "trust", "--repo", ".", "--allow-mode", "locla"], "--allow-mode local"),
        (["token", "create", "--subject", "a", "--kind", "agent", "--role", "agent", "--expires", "soon"], "--expires 30d"),
        (["serve", "--listen", "127.0.0.1:0", "--tls-key", "k.pem"], "--tls-certificate server.crt"),
        (["flakes", "own", "t", "--owner", "a\nb"], "--owner ada@example.org"),
        (["claim"], "gatekeeper claim -- python -m pytest -q"),
    ],
)  # fmt: skip
def test_the_next_step_shows_the_option_as_it_is_written(words, option, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ticket").write_text("{}")
    monkeypatch.setenv("GATEKEEPER_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("GATEKEEPER_CONFIG_DIR", str(tmp_path / "config"))
    words = ["ticket" if w == "{}" else w for w in words]
    if words[0] == "claim":
        import subprocess

        subprocess.run(["git", "init", "-q", "."], check=True)
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    if words[0] == "check":
        # `check` tells its own errors, in the format that was asked for.
        assert build("check")(words, standalone_mode=False) == 2
        told = capsys.readouterr().err
        assert option in told
        assert "[USAGE]" in told
        return
    assert option in run(*words).next_action
