"""Ask real OPA for its answer to every document and write policy_parity.json; needs `opa` on PATH.

Run after every edit of the bundle: PYTHONPATH=tests/support python tests/golden/make_policy_parity.py
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from policy_documents import digest, everything

from gatekeeper.adapters.rego_policy.loader import load_bundle
from gatekeeper.config import policy_bundle

GOLDEN = Path(__file__).with_name("policy_parity.json")


def made(opa: str) -> dict[str, Any]:
    """The golden table: the bundle's digest and by document what `sealed` makes of OPA's answer; null is undefined."""
    table: dict[str, Any] = {"bundle": load_bundle(policy_bundle()).id.digest, "plan": {}, "decide": {}}
    for entrypoint, documents in everything().items():
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / "documents.json").write_text(json.dumps({"parity": documents}), encoding="utf-8")
            query = (
                f"{{name: answer | some name, document in data.parity;"
                f" answer := data.gatekeeper.{entrypoint}.v1.result with input as document}}"
            )
            command = [opa, "eval", "--format=raw", "--v1-compatible", "-b", str(policy_bundle())]
            command += ["-d", f"{directory}/documents.json", query]
            output = subprocess.run(command, check=True, capture_output=True, timeout=300).stdout
        given = json.loads(output)
        table[entrypoint] = {n: sealed(given[n]) if n in given else None for n in sorted(documents)}
    return table


def sealed(answer: dict[str, Any]) -> str:
    """The answer's first word for people (verdict or tier) and the digest of the whole answer."""
    return f"{answer.get('verdict', answer.get('tier'))} {digest(answer)}"


def rendered(table: dict[str, Any]) -> str:
    """The file's text: one line an answer with the documents that have it."""
    parts = [f'"bundle": "{table["bundle"]}"']
    for entrypoint in ("plan", "decide"):
        by_answer: dict[str, list[str]] = {}
        for name, answer in table[entrypoint].items():
            by_answer.setdefault(answer or "", []).append(name)
        rows = ",\n".join(f'  "{answer}": "{" ".join(names)}"' for answer, names in sorted(by_answer.items()))
        parts.append(f'"{entrypoint}": {{\n{rows}\n}}')
    return "{" + ",\n".join(parts) + "}\n"


def read() -> dict[str, Any]:
    """The file as `made` gives it."""
    table: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    for entrypoint in ("plan", "decide"):
        rows = table[entrypoint].items()
        table[entrypoint] = {name: answer or None for answer, names in rows for name in names.split()}
    return table


if __name__ == "__main__":
    program = shutil.which("opa")
    assert program is not None, "opa is not on PATH"
    GOLDEN.write_text(rendered(made(program)), encoding="utf-8")
