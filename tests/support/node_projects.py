"""Small projects in JavaScript under Node.js's runners, and changes of them judged by `gatekeeper check`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

GATE = [sys.executable, "-m", "gatekeeper"]

BUGGY = "export const add = (a, b) => a - b;\nexport const twice = (a) => a * 2;\n"
FIXED = BUGGY.replace("a - b", "a + b")
TESTS = """import { describe, it, test } from 'node:test';
import assert from 'node:assert/strict';
import { twice } from '../src/math.js';

describe('twice', () => {
  it('doubles', () => {
    assert.equal(twice(4), 8);
  });
  it('keeps zero', () => {
    assert.equal(twice(0), 0);
  });
});

test('negative numbers', () => {
  assert.equal(twice(-3), -6);
});
"""
NEW_TEST = """import { test } from 'node:test';
import assert from 'node:assert/strict';
import { add } from '../src/math.js';

test('adds', () => {
  assert.equal(add(1, 2), 3);
});
"""
PROJECT = {
    "package.json": '{"name": "math", "version": "1.0.0", "type": "module", "scripts": {"test": "node --test"}}\n',
    "src/math.js": BUGGY,
    "test/math.test.js": TESTS,
    ".gatekeeper.toml": '[[suite]]\nname = "unit"\nrunner = "node"\n',
    "README.md": "Sums.\n",
}
TITLES = ("twice > doubles", "twice > keeps zero", "negative numbers")


def junit(passed: Iterable[str]) -> str:
    """What `node --test --test-reporter=junit` writes for tests of these titles."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<testsuites>"]
    for title in passed:
        *suites, name = title.split(" > ")
        lines += [f'<testsuite name="{s}" time="0.1" disabled="0" errors="0" tests="1" failures="0" skipped="0" hostname="h">' for s in suites]  # fmt: skip
        lines += [f'<testcase name="{name}" time="0.1" classname="test"/>', *("</testsuite>" for _ in suites)]
    return "\n".join([*lines, "</testsuites>"])


def node_or_skip() -> None:
    """Node.js is there; else a visible skip, or a failure in CI."""
    if shutil.which("node") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("Node.js is missing, and CI has to have it")
        pytest.skip("Node.js is not installed")


class Judge:
    """One repository with a base, and changes of it judged one by one."""

    def __init__(self, repo: Any, base: Mapping[str, str]) -> None:
        self.repo = repo
        self.place = Path(repo.path).parent
        repo.commit(base, "Import")

    def __call__(
        self,
        files: Mapping[str, str | None],
        *,
        report: str | None = None,
        permits: Iterable[Mapping[str, Any]] = (),
        command: str = "npm test",
        environment: str = "host",
        goal: str = "add(1, 2) is 3",
    ) -> tuple[int, dict[str, Any]]:
        """(exit status, answer)."""
        self.repo.branch("agent")
        head = self.repo.commit(files, "Fix add")
        ticket = {
            "id": "T-1", "title": "add is wrong", "goal": goal, "allowed": ["**"], "forbidden": [], "risk": "low",
            "permits": list(permits),
        }  # fmt: skip
        claim = {"head_sha": head, "commands": [{"cmd": command, "exit_code": 0}], "summary": "Fixed."}
        if report is not None:
            claim["junit_xml"] = report
        (self.place / "ticket.json").write_text(json.dumps(ticket))
        (self.place / "claim.json").write_text(json.dumps(claim))
        done = subprocess.run(
            [*GATE, "check", "-q", "--repo", str(self.repo.path), "--target", "main", "--head", head, "--ticket",
             str(self.place / "ticket.json"), "--claim", str(self.place / "claim.json"), "--environment", environment,
             "--format", "json"],
            capture_output=True, text=True, timeout=900, check=False,
        )  # fmt: skip
        lines = done.stdout.splitlines()
        assert len(lines) == 1, (done.stdout, done.stderr)
        return done.returncode, json.loads(lines[0])


def codes(answer: Mapping[str, Any], *effects: str) -> set[str]:
    """Codes of the findings, of these effects alone where any are named."""
    return {f["code"] for f in answer["findings"] if not effects or f["effect"] in effects}


def counts(answer: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Outcomes by role."""
    return {r["role"]: r["counts"] for r in answer["runs"]}
