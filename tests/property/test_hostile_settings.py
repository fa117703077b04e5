"""Settings and workflows with text that no encoding writes: the checks answer, and do not fall over their own report."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from tree_evidence import tree_evidence

from gatekeeper.checks import config_weakening, declared_scope, instruction_drift, supply_chain

ODD = st.text(st.characters() | st.sampled_from("\ud800\udbff\udc00\udc80\udfff\x00\x85\u2028"), max_size=12)
CI = "on: push\njobs:\n  t:\n    steps:\n      - run: {}\n"
CHECKS = (config_weakening.check, declared_scope.check, instruction_drift.check, supply_chain.check)


@given(ODD, ODD)
def test_spelled_out_surrogates(one, other):
    said, again = json.dumps(one), json.dumps(other)
    before = {
        ".github/workflows/a.yml": CI.format(json.dumps(f"pytest {one}")),
        "package.json": f'{{"dependencies": {{{said}: "1"}}}}',
        ".eslintrc.json": f'{{"rules": {{{said}: "error"}}}}',
        ".mcp.json": "{}",
    }
    after = {
        ".github/workflows/a.yml": CI.format(json.dumps(f"pytest {other} || true")),
        "package.json": f'{{"dependencies": {{{again}: "git+https://e.example/{other!a}"}}}}',
        ".eslintrc.json": f'{{"rules": {{{again}: "off"}}}}',
        ".mcp.json": f"{{{said}: {again}}}",
    }
    evidence = tree_evidence(before, after)
    for check in CHECKS:
        for found in check(evidence):
            json.dumps([found.message, found.evidence], ensure_ascii=False).encode()
