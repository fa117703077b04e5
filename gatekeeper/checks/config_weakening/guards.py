"""Hooks, owners and the gate's own settings: switched off, shortened or bypassed."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from gatekeeper.checks.config_weakening.limits import permitted
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.instruments import SETTINGS_FILE
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import workflow_yaml

_BYPASS = re.compile(r"\bgit\b[^\n;|&]*\s(?:commit|push|merge|rebase|am|cherry-pick)\b[^\n;|&]*--no-verify|\bgit\s+commit\s+(?:-\w+\s+)*-\w*n\w*(?=\s|$)|--no-verify\b|core\.hooksPath|\bHUSKY(?:_SKIP_HOOKS)?=[01]\b|\bSKIP=\S+\s+git\b|pre-commit\s+uninstall|rm\s+(?:-\w+\s+)*\.git/hooks|chmod\s+-x\s+\.git/hooks", re.IGNORECASE)  # fmt: skip
_RUFF = frozenset({"ruff", "ruff-check"})
_FORMAT = frozenset({"ruff-format", "black"})
_SUCCESSORS = {
    **dict.fromkeys(
        ("flake8", "pyupgrade", "isort", "reorder-python-imports", "pydocstyle", "autoflake", "pycodestyle", "pyflakes", "ruff",
         "python-check-blanket-noqa", "python-use-type-annotations", "debug-statements", "python-no-log-warn", "python-no-eval"),
        _RUFF,
    ),
    **dict.fromkeys(("black", "black-jupyter", "yapf", "autopep8", "blacken-docs", "double-quote-string-fixer", "add-trailing-comma"), _FORMAT),
    "fix-encoding-pragma": frozenset({"pyupgrade", *_RUFF}), "setup-cfg-fmt": frozenset({"pyproject-fmt", "validate-pyproject"}),
    "pip-compile-multi-verify": frozenset({"pip-compile", "uv-lock"}), "pip-compile": frozenset({"uv-lock", "pip-compile"}),
    "check-byte-order-marker": frozenset({"fix-byte-order-marker"}), "mypy": frozenset({"pyright", "basedpyright", "ty"}),
    "ruff-check": _RUFF, "requirements-txt-fixer": frozenset({"uv-lock"}),
}  # fmt: skip
"""Hooks and those that do the same and more: one of them in place of the other is no loss."""
_TIDYING = frozenset({
    "trailing-whitespace", "end-of-file-fixer", "mixed-line-ending", "requirements-txt-fixer", "file-contents-sorter", "pretty-format-json",
    "pretty-format-yaml", "fix-byte-order-marker", "check-byte-order-marker", "fix-encoding-pragma", "pyproject-fmt", "setup-cfg-fmt", "tox-ini-fmt",
    "prettier", "black", "black-jupyter", "blacken-docs", "isort", "reorder-python-imports", "yapf", "autopep8", "docformatter", "ruff-format",
    "add-trailing-comma", "double-quote-string-fixer", "pyupgrade", "codespell", "typos", "rst-backticks", "rst-directive-colons",
    "rst-inline-touching-normal", "markdownlint", "mdformat", "doc8", "check-manifest", "pip-compile", "pip-compile-multi-verify", "uv-lock",
    "poetry-lock", "sphinx-lint", "interrogate", "changelog", "commitizen", "towncrier-check", "forbid-tabs", "remove-tabs", "remove-crlf", "absolufy-imports",
})  # fmt: skip
"""Hooks that lay out, sort or spell; none of them finds a fault of the code, a secret or a foreign file."""
_PURPOSES = (
    frozenset({"codespell", "typos"}), frozenset({"markdownlint", "mdformat"}), frozenset({"docformatter", "ruff-format"}),
    frozenset({"pip-compile", "pip-compile-multi-verify", "uv-lock", "poetry-lock"}), frozenset({"forbid-tabs", "remove-tabs"}),
    frozenset({"black", "black-jupyter", "yapf", "autopep8", "ruff-format"}), frozenset({"setup-cfg-fmt", "pyproject-fmt", "tox-ini-fmt"}),
    frozenset({"fix-byte-order-marker", "check-byte-order-marker"}), frozenset({"reorder-python-imports", "isort", "absolufy-imports"}),
    frozenset({"pretty-format-json", "pretty-format-yaml", "prettier"}), frozenset({"mixed-line-ending", "remove-crlf"}),
)  # fmt: skip
"""Hooks of one purpose: one of them for another is a matter of taste."""
_IDLE = re.compile(
    r"(?:/(?:usr/)?bin/)?(?:true|:|(?:echo|printf)\b[^;&|]*|exit 0)|(?:ba|da|z)?sh -c ['\"]?(?:true|:|exit 0)['\"]?",
    re.IGNORECASE,
)
"""What a hook runs that finds nothing whatever there is."""
_NEGATED = re.compile(r"\b(?:never|not|don't|dont|do not|avoid|forbid\w*|refuse\w*|without|must not|no longer|prohibit\w*|instead of|reject\w*|ban\w*|disallow\w*|detect\w*)\b", re.IGNORECASE)  # fmt: skip
_TEXTS = (".md", ".rst", ".txt", ".sh", ".yml", ".yaml", ".toml", ".cfg", ".ini", ".json", ".bash")


def weakened_guards(evidence: Evidence) -> tuple[Finding, ...]:
    """Bypassed hooks (a person decides), removed hooks, owners and gate settings."""
    return (*_bypassed(evidence), *_hooks(evidence), *_owners(evidence), *_gate(evidence))


def _bypass(line: str) -> bool:
    return bool(_BYPASS.search(line)) and not _NEGATED.search(_BYPASS.sub(" ", line))


def _bypassed(evidence: Evidence) -> list[Finding]:
    for command in evidence.claim.commands:
        if _BYPASS.search(command.cmd[:10_000]):
            return [
                finding(
                    "HOOKS_BYPASSED",
                    "The claim's own list of commands goes past the repository's hooks.",
                    evidence=command.cmd[:300],
                )
            ]
    for commit in evidence.change.commits:
        row = next((r for r in commit.message[:50_000].splitlines() if _bypass(r)), None)
        if row is not None:
            return [
                finding(
                    "HOOKS_BYPASSED",
                    f"The message of {commit.oid[:12]} speaks of going past the repository's hooks.",
                    evidence=row[:300],
                )
            ]
    for changed in evidence.change.paths:
        name = changed.path.rsplit("/", 1)[-1]
        if changed.new is None or not (name.lower().endswith(_TEXTS) or name in ("Makefile", "justfile", ".gitconfig")):
            continue
        had = set((text(evidence.base, changed.path) or "").splitlines())
        for number, row in enumerate((text(evidence.merged, changed.path) or "")[:1_000_000].splitlines(), 1):
            if row not in had and len(row) < 2000 and _bypass(row):
                return [finding("HOOKS_BYPASSED", f"{changed.path} tells people or tools to go past the repository's hooks.", path=changed.path, line=number, evidence=row[:300])]  # fmt: skip
    return []


def _hooks(evidence: Evidence) -> list[Finding]:
    out = []
    for changed in evidence.change.paths:
        path = changed.path
        if changed.old is None or permitted(evidence, path):
            continue
        name = path.rsplit("/", 1)[-1]
        before, after = text(evidence.base, path), text(evidence.merged, path)
        if name in (".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.yml"):
            kept = _hook_ids(after)
            lost = sorted(h for h in _hook_ids(before) - kept if not kept & _SUCCESSORS.get(h, frozenset()))
            if lost:
                # Whether files are tidied before a commit or after it no test can tell; whether that is wanted, people can,
                # and where another hook for the same purpose came with it they did.
                came, tidy = kept - _hook_ids(before), bool(kept) and set(lost) <= _TIDYING
                swapped = all(any(h in p and came & p for p in _PURPOSES) for h in lost)
                effect = (Effect.ADVISES if swapped else Effect.ASKS) if tidy else None
                said = f"{path} no longer runs {', '.join(lost[:8])}."
                out.append(finding("HOOK_REMOVED", said, path=path, effect=effect))
        elif changed.new is None and (path.startswith((".husky/", ".githooks/", "hooks/"))):
            out.append(finding("HOOK_REMOVED", f"The hook {path} is gone.", path=path))
    return out


def _hook_ids(content: str | None) -> set[str]:
    leaves = workflow_yaml.walk(workflow_yaml.load(content))
    skipped = {str(v) for at, v in leaves if "skip" in at}
    idle = {at[:-1] for at, v in leaves if at and at[-1] == "entry" and _IDLE.fullmatch(str(v).strip())}
    idle |= {at[:-2] for at, v in leaves if len(at) > 1 and at[-2] == "args" and v in ("--version", "--help")}
    manual = {at[:-2] for at, v in leaves if len(at) > 1 and "stages" in at and v == "manual"}
    return {str(v) for at, v in leaves if at and at[-1] == "id" and at[:-1] not in manual | idle} - skipped


def _owners(evidence: Evidence) -> list[Finding]:
    def owners(content: str | None) -> dict[str, set[str]]:
        rows = [r.split("#")[0].split() for r in (content or "").splitlines()]
        return {r[0]: set(r[1:]) for r in rows if r}

    out = []
    for changed in evidence.change.paths:
        if changed.path.rsplit("/", 1)[-1] != "CODEOWNERS" or changed.old is None or permitted(evidence, changed.path):
            continue
        before, after = owners(text(evidence.base, changed.path)), owners(text(evidence.merged, changed.path))
        lost = [p for p, who in before.items() if who and not who & after.get(p, set())]
        unowned = [p for p, who in after.items() if p not in before and not who]
        if lost or unowned:
            out.append(
                finding(
                    "OWNERS_WEAKENED",
                    f"{changed.path} takes the owners from {', '.join((lost + unowned)[:5])}.",
                    path=changed.path,
                )
            )
        elif before != after:
            out.append(
                finding(
                    "OWNERS_WEAKENED", f"{changed.path} changes who must review.", path=changed.path, effect=Effect.ASKS
                )
            )
    return out


def _gate(evidence: Evidence) -> list[Finding]:
    out = []
    for changed in evidence.change.paths:
        path = changed.path
        if permitted(evidence, path):
            continue
        if path == SETTINGS_FILE:
            lost = _gate_lost(text(evidence.base, path), text(evidence.merged, path)) if changed.old else []
            effect = None if lost else Effect.ASKS
            out.append(finding("GATE_SETTINGS_CHANGED", f"{path} demands less: {'; '.join(lost[:5])}." if lost else f"{path} says how this gate works; a person looks at every change of it.", path=path, effect=effect))  # fmt: skip
        elif path.rsplit("/", 1)[-1] in (
            ".semgrepignore",
            ".gitleaksignore",
            ".gitleaks.toml",
            ".secrets.baseline",
            ".snyk",
        ):
            had = set((text(evidence.base, path) or "").splitlines())
            rows = [
                r
                for r in (text(evidence.merged, path) or "").splitlines()
                if r.strip() and not r.startswith("#") and r not in had
            ]
            if rows:
                out.append(
                    finding(
                        "LIMIT_LOWERED",
                        f"{path} hides more from a scanner.",
                        path=path,
                        evidence="\n".join(rows[:10])[:500],
                    )
                )
    return out


def _gate_lost(before: str | None, after: str | None) -> list[str]:
    def table(content: str | None) -> dict[str, Any]:
        try:
            return tomllib.loads((content or "")[:1_000_000])
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}

    def suites(doc: dict[str, Any]) -> dict[str, Any]:
        rows = doc.get("suite")
        return {str(s.get("name")): s for s in rows if isinstance(s, dict)} if isinstance(rows, list) else {}

    old, new = table(before), table(after)
    lost = [f"suite {n} is gone" for n in suites(old) if n not in suites(new)]
    for key in ("shared", "generated", "vendored"):
        a, b = (str(d.get(key, d.get("scope") if key == "shared" else None)) for d in (old, new))
        if a != b:
            lost.append(f"{key} {a[:60]} -> {b[:60]}")
    if old.get("instruments") and str(old.get("instruments")) != str(new.get("instruments")):
        lost.append("instruments changed")
    return lost
