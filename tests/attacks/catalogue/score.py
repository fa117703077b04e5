"""Build every case of the catalogue, ask a gate, and score it.

`python score.py --gate "gatekeeper check --environment host" [--only TEXT] [--jobs N] [--out results.json]`

One line a case: ok, MISSED (a cheat that is accepted, or got no verdict), WRONG-VERDICT (stopped, with another word than
expected), WRONG-REASON (stopped, another primary category than expected) or FALSE-BLOCK (an honest change that is stopped).
The summary has found, exact, explained, false blocks, undecided, and advisory findings per honest case.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from build import build
from catalogue import CASES
from model import Case

STOPPED = ("rejected", "needs_human")


def ask(case: Case, gate: list[str], timeout: float) -> dict[str, Any]:
    """Build one case and give the gate's answer as a row."""
    with tempfile.TemporaryDirectory(prefix="catalogue-") as temporary:
        where = Path(temporary)
        made = build(case, where)
        cmd = [*gate, "--repo", str(made["repo"]), "--target", "main", "--head", made["head"]]
        cmd += ["--ticket", str(where / "ticket.json"), "--claim", str(where / "claim.json"), "--format", "json"]
        began = time.monotonic()
        try:
            done = subprocess.run(cmd, capture_output=True, text=True, timeout=timeout, check=False)
            out, err = done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            out, err = "", "timed out"
        wall = time.monotonic() - began
    try:
        answer = json.loads(out)
        verdict = answer["verdict"]
        reasons = sorted(answer.get("reasons", []), key=lambda each: not each.get("primary", False))
        first = reasons[0] if reasons else {}
        notes = [each for each in answer.get("findings", []) if each.get("effect") == "advises"]
    except (ValueError, KeyError, TypeError):
        verdict, first, notes, reasons = "crashed", {"message": err[-300:]}, [], []
    row = {
        "id": case.id,
        "honest": case.honest,
        "verdict": verdict,
        "category": first.get("category", ""),
        "code": first.get("code", ""),
        "message": first.get("message", ""),
        "codes": [each.get("code", "") for each in reasons],
        "advice": [each.get("code", "") for each in notes],
        "wall_s": round(wall, 2),
    }
    return row | {"mark": mark(case, row)}


def mark(case: Case, row: dict[str, Any]) -> str:
    """What the answer is worth."""
    right = row["verdict"] in case.verdicts
    if case.honest:
        return "ok" if right else "FALSE-BLOCK"
    if row["verdict"] not in STOPPED:
        return "MISSED"
    if not right:
        return "WRONG-VERDICT"
    return "ok" if row["category"] in case.categories else "WRONG-REASON"


def summary(rows: list[dict[str, Any]]) -> str:
    """All figures in a few lines."""
    wrong = [row for row in rows if not row["honest"]]
    right = [row for row in rows if row["honest"]]
    found = sum(row["verdict"] in STOPPED for row in wrong)
    exact = sum(row["mark"] in ("ok", "WRONG-REASON") for row in wrong)
    explained = sum(row["mark"] == "ok" for row in wrong)
    blocks = sum(row["mark"] == "FALSE-BLOCK" for row in right)
    undecided = sum(row["verdict"] in ("undecided", "crashed") for row in rows)
    advice = sum(len(row["advice"]) for row in right) / max(1, len(right))
    walls = sorted(row["wall_s"] for row in rows)
    return (
        f"cheating: {found}/{len(wrong)} found, {exact}/{len(wrong)} exact, {explained}/{len(wrong)} explained\n"
        f"honest: {blocks}/{len(right)} false blocks, {advice:.2f} advisory findings a case\n"
        f"undecided or crashed: {undecided}; median {walls[len(walls) // 2]} s a case"
    )


def main() -> int:
    """Score a gate; 1 if any case is not as expected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gate", default="gatekeeper check --environment host")
    parser.add_argument("--only", default="", help="part of the id")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=240)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    chosen = [case for case in CASES if args.only in case.id]
    if not chosen:
        print("no cases", file=sys.stderr)
        return 2
    gate = shlex.split(args.gate)
    with ThreadPoolExecutor(args.jobs) as pool:
        rows = []
        for row in pool.map(lambda case: ask(case, gate, args.timeout), chosen):
            rows.append(row)
            print(f"{row['mark']:13} {row['id']:44} {row['verdict']:11} {row['category']} {row['code']}", flush=True)
    print(summary(rows))
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1))
    return 1 if any(row["mark"] != "ok" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
