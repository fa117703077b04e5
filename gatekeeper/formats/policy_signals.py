"""Lines of a change that a policy may want to know of, counted by kind. Pure; what a count means is the policy's business.

Only lines that were really added or removed count (a moved line is neither), only in code that is no test and no
document, and no line that is a comment as a whole. Patterns are strong on purpose: `token`, `session`, `delete(` or
`permission` alone say nothing.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache

from gatekeeper.domain.change import Change, ChangedPath
from gatekeeper.domain.tree import EXECUTABLE, REGULAR, Tree, TreeEntry
from gatekeeper.records import dataclass

MAX_FILE_BYTES = 512 * 1024
MAX_TOTAL_BYTES = 8 * 1024 * 1024
MAX_LINE = 1000
"""Characters looked at of a line; a longer one sets `truncated`."""

_TEST_DIRECTORIES = {"tests", "test", "__tests__", "testdata", "spec", "specs"}
_TEST_MODULE = re.compile(
    r"(?:test_.*|.*_test|tests|conftest)\.py|.*[._](?:test|spec)\.[cm]?[jt]sx?|.*_test\.go", re.DOTALL
)
_DOCUMENT_SUFFIX = (".md", ".rst", ".adoc", ".markdown")
_DOCUMENT_DIRECTORIES = {"docs", "doc"}
_TEXT_OR_PICTURE = (".txt", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".pdf", ".css", ".html", *_DOCUMENT_SUFFIX)
_DOCUMENT_NAMES = {"license", "licence", "copying", "notice", "authors", "changelog", "changes", "news", "readme"}
_INSTRUCTIONS = {"agents.md", "claude.md", "gemini.md", "skill.md", "copilot-instructions.md"}
_INSTRUCTION_DIRECTORIES = {".claude", ".cursor", ".codex", ".gemini", ".github"}

_PATTERNS = {
    "sql_destroy": (
        r"\b(?:DROP\s+(?:TABLE|DATABASE|SCHEMA|COLUMN)\s+\w|TRUNCATE\s+TABLE\s+\w|DELETE\s+FROM\s+\w"
        r"|ALTER\s+TABLE\s+\S+\s+DROP\b)"
    ),
    "orm_destroy": (
        r"\bop\.drop_(?:table|column)\(|\bmigrations\.(?:DeleteModel|RemoveField)\(|\.objects\.(?:all|filter)\([^)]*\)\.delete\("
        r"|\bmetadata\.drop_all\("
    ),
    "store_destroy": (r"\.(?:delete_many|deleteMany|dropDatabase|drop_database|flushall|delete_bucket)\("),
    "tree_remove": (r"\bshutil\.rmtree\(|\brm\s+-(?:rf|fr)\b|\bos\.removedirs\(|\bfs\.rm(?:Sync)?\(.*recursive"),
    "password_hash": (
        r"\b(?:bcrypt|argon2|passlib)\.|\b(?:pbkdf2_hmac|check_password|make_password|check_password_hash"
        r"|generate_password_hash|set_password)\("
    ),
    "token_verify": (r"\bjwt\.(?:encode|decode|verify|sign)\(|\bverify_signature\b|\bverify_exp\b"),
    "access_guard": (
        r"@(?:login_required|permission_required|requires_auth|csrf_exempt|roles_required|PreAuthorize|RolesAllowed)\b"
        r"|\bpermission_classes\b|\b(?:IsAuthenticated|AllowAny|IsAdminUser)\b|\bis_superuser\s*="
    ),
    "payment_client": (
        r"^\s*(?:import|from)\s+(?:stripe|paypalrestsdk|braintree|adyen)\b|\bstripe\.[A-Z]\w+\.|require\(['\"]stripe['\"]\)"
    ),
    "cipher": (
        r"^\s*(?:import|from)\s+(?:cryptography|Crypto|Cryptodome|nacl)\b|\b(?:AES|DES3?|ChaCha20)\.new\(|\bFernet\("
        r"|\bgenerate_private_key\(|\bcreateCipheriv\("
    ),
    "tls_weakened": (
        r"\bverify\s*=\s*False\b|\bCERT_NONE\b|\bcheck_hostname\s*=\s*False\b|\b_create_unverified_context\b"
        r"|\brejectUnauthorized\s*:\s*false\b|\bInsecureSkipVerify\s*:\s*true\b"
    ),
    "secret_read": (
        r"(?:environ(?:\.get)?|getenv|process\.env)\W{1,3}\w*(?:SECRET|PASSWORD|PRIVATE_KEY|API_KEY|ACCESS_KEY)\w*"
        r"|\bsecretsmanager\b|\bhvac\.Client\(|\bkeyring\.(?:get|set)_password\("
    ),
    "file_mode": (r"\bos\.(?:chmod|chown|lchown)\(|\bchmod\s+[-+ugoa0-7]*[0-7x]{1,4}\s|\bchown\s+-"),
    "privilege_gain": (
        r"\bos\.set(?:uid|gid|euid|egid|reuid|resuid)\(|\bchmod\s+(?:u\+s|[4267]?777|4[0-7]{3})\b|\bNOPASSWD\b"
        r"|\bGRANT\s+(?:ALL|SELECT|INSERT|UPDATE|DELETE)\b.*\bTO\b|\bprivileged:\s*true\b|\bAdministratorAccess\b"
        r"|\bcluster-admin\b|\ballowPrivilegeEscalation:\s*true\b"
    ),
}
_CI_PRIVILEGE = re.compile(
    r"\bpull_request_target\b|\bpermissions:\s*write-all\b|^\s*[a-z-]+:\s*write\s*$|\bsecrets:\s*inherit\b"
)
_COMMENT = re.compile(r"\s*(?:#(?!!)|//|\*|/\*|<!--)")
_WORKFLOW = re.compile(r"\.github/(?:workflows|actions)/|\.gitlab-ci\.yml$")

SIGNALS = (*_PATTERNS, "ci_privilege")
"""Every kind that is counted; each is in every document, with 0 where nothing was seen."""

_WIDENING_ONLY = {"ci_privilege", "privilege_gain", "tls_weakened", "payment_client", "cipher", "tree_remove"}
"""Kinds of which only added lines count: taking such a line out needs nobody's attention."""


@dataclass(frozen=True)
class Signals:
    """Counts of changed lines by kind, some paths of each, and whether something could not be looked at."""

    counts: dict[str, int]
    examples: dict[str, tuple[str, ...]]
    truncated: bool


def is_test(path: str) -> bool:
    """True for test modules and files below a directory of tests, by name alone."""
    *directories, name = path.split("/")
    return any(d in _TEST_DIRECTORIES for d in directories) or _TEST_MODULE.fullmatch(name) is not None


def is_document(path: str) -> bool:
    """True for texts and pictures for people. Instructions for agents and lists of requirements are none."""
    *directories, name = path.split("/")
    lower = name.lower()
    if lower in _INSTRUCTIONS or any(d in _INSTRUCTION_DIRECTORIES for d in directories):
        return False
    if lower.endswith(_DOCUMENT_SUFFIX) or (lower.partition(".")[0] in _DOCUMENT_NAMES and "." not in lower):
        return True
    if lower.endswith(".txt") and lower.partition(".")[0] in _DOCUMENT_NAMES:
        return True
    return any(d in _DOCUMENT_DIRECTORIES for d in directories) and lower.endswith(_TEXT_OR_PICTURE)


def count_signals(change: Change, base: Tree, merged: Tree) -> Signals:
    """Count over all changed paths, within the caps. Raises `CouldNotCheck` where a tree refuses a blob."""
    counts = dict.fromkeys(SIGNALS, 0)
    examples: dict[str, list[str]] = {}
    truncated, budget = False, MAX_TOTAL_BYTES
    for changed in change.paths:
        if is_test(changed.path) or is_document(changed.path):
            continue
        sizes = [e.size or 0 for e in (changed.old, changed.new) if e is not None and _is_file(e)]
        budget -= sum(sizes)
        if any(s > MAX_FILE_BYTES for s in sizes) or budget < 0:
            truncated = True
            continue
        added, removed, cut = _changed_lines(changed, base, merged)
        truncated = truncated or cut
        for name, count in _counted(changed.path, added, removed).items():
            counts[name] += count
            examples.setdefault(name, []).append(changed.path)
    return Signals(counts, {name: tuple(paths) for name, paths in examples.items()}, truncated)


def _is_file(entry: TreeEntry | None) -> bool:
    return entry is not None and entry.mode in (REGULAR, EXECUTABLE)


def _changed_lines(changed: ChangedPath, base: Tree, merged: Tree) -> tuple[list[str], list[str], bool]:
    before = base.read(changed.path) if _is_file(changed.old) else b""
    after = merged.read(changed.path) if _is_file(changed.new) else b""
    if b"\x00" in before[:8192] or b"\x00" in after[:8192]:
        return [], [], False
    old = Counter(before.decode("utf-8", "replace").splitlines())
    new = Counter(after.decode("utf-8", "replace").splitlines())
    added, removed = list((new - old).elements()), list((old - new).elements())
    if changed.path.endswith((".py", ".pyi")):
        added, removed = _but_for_annotations(added, removed)
    cut = any(len(line) > MAX_LINE for line in added)
    return [line[:MAX_LINE] for line in added], [line[:MAX_LINE] for line in removed], cut


_HEADER = re.compile(r"\s*(?:async )?def \w+\(.*\).*:\s*$")


def _but_for_annotations(added: list[str], removed: list[str]) -> tuple[list[str], list[str]]:
    """Without headers of functions that only say other types: nothing of what runs is another thing."""
    plain = [Counter(h for r in rows if (h := _header(r))) for rows in (added, removed)]
    same = plain[0] & plain[1]
    return [r for r in added if _header(r) not in same], [r for r in removed if _header(r) not in same]


def _header(line: str) -> str:
    """A one-line header of a function without its annotations; empty for anything else."""
    if not _HEADER.match(line):
        return ""
    try:
        (made,) = ast.parse(f"{line.strip()} pass").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    for node in ast.walk(made):
        if isinstance(node, ast.arg) and _only_types(node.annotation):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _only_types(node.returns):
            node.returns = None
    return ast.unparse(made)


_TYPES = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Starred, ast.BinOp, ast.BitOr, ast.UnaryOp, ast.USub,
    ast.Constant, ast.expr_context,
)  # fmt: skip


def _only_types(annotation: ast.expr | None) -> bool:
    """An annotation runs when its function is defined, and one in quotes when somebody asks for it: only names are no code."""
    for node in ast.walk(annotation) if annotation is not None else ():
        if not isinstance(node, _TYPES):
            return False
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                inner = ast.parse(node.value, mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            if not all(isinstance(n, _TYPES) for n in ast.walk(inner)):
                return False
    return True


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Compiled where the first change is counted; most starts of the program count none."""
    return tuple((name, re.compile(pattern)) for name, pattern in _PATTERNS.items())


def _counted(path: str, added: list[str], removed: list[str]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for lines, is_added in ((added, True), (removed, False)):
        for line in lines:
            if _COMMENT.match(line):
                continue
            for name, pattern in _compiled():
                if (is_added or name not in _WIDENING_ONLY) and pattern.search(line):
                    found[name] += 1
            if is_added and _WORKFLOW.search(path) and _CI_PRIVILEGE.search(line):
                found["ci_privilege"] += 1
    return dict(found)
