"""Code that runs at build, install or start, and foreign code that CI runs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gatekeeper.checks.supply_chain.build_scripts import BUILD_SCRIPTS
from gatekeeper.checks.supply_chain.ci_lines import changed_lines
from gatekeeper.checks.supply_chain.executed_files import code_imported_by_build, code_run_by_build
from gatekeeper.checks.supply_chain.hook_files import changed_hook_files
from gatekeeper.checks.supply_chain.images import changed_images, is_compose, is_container_file
from gatekeeper.checks.supply_chain.installs import changed_installs
from gatekeeper.checks.supply_chain.registries import changed_registries
from gatekeeper.checks.supply_chain.setup_script import changed_script
from gatekeeper.checks.supply_chain.start_files import OPENED, changed_start_files
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.globs import matches
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import workflow_yaml
from gatekeeper.formats.package_lists import read
from gatekeeper.formats.python_requirements import Manifest

_KNOWN_BACKENDS = ("setuptools", "hatchling", "flit_core", "poetry", "pdm", "uv_build", "maturin", "scikit_build_core", "mesonpy", "flit", "poetry_dynamic_versioning", "whey", "enscons", "jupyter_packaging", "sipbuild", "pbr")  # fmt: skip
_PLATFORM = frozenset({"actions", "github"})
_KNOWN_OWNERS = _PLATFORM | {
    "astral-sh", "aws-actions", "azure", "codecov", "conda-incubator", "coverallsapp", "docker", "google-github-actions", "hynek",
    "mamba-org", "ossf", "pre-commit", "pre-commit-ci", "pypa", "re-actors", "readthedocs", "sigstore", "slsa-framework", "tox-dev", "wntrblm", "zizmorcore",
}  # fmt: skip
"""Owners of actions that everybody uses; one of theirs that is pinned to a commit needs nobody's attention."""
_SHA = re.compile(r"[0-9a-f]{40}|sha256:[0-9a-f]{64}")
_PIPE = re.compile(r"\b(?:curl|wget|fetch|iwr|invoke-webrequest)\b[^\n;]{0,500}\|\s*(?:sudo\s+(?:-\S{1,40}\s+){0,5})?(?:\S{0,100}/)?(?:env\s+)?(?:ba|z|da|k)?(?:sh|python[0-9.]*|node|perl|ruby|iex)\b|(?:\b(?:ba|z)?sh|\bsource|(?<=\s)\.)\s+(?:-c\s+)?[\"']?[<$]\(\s*(?:curl|wget)|\beval\s+[\"']?\$\(\s*(?:curl|wget)", re.IGNORECASE)  # fmt: skip
_INSTALLER = (
    r"(?:curl|wget)(?:\s+(?:-[fsSLq]+|-q?O\s?-|--proto\s+[\"']?=https[\"']?|--tlsv1\.[23]|--retry\s+\d+|--(?:fail|silent|show-error|location|quiet|https-only)))*"
    r"\s+[\"']?https://(?:astral\.sh/uv/(?:[\d.]+/)?install\.sh|sh\.rustup\.rs/?|install\.python-poetry\.org/?|pdm-project\.org/install-pdm\.py"
    r"|get\.pnpm\.io/install\.sh|bun\.sh/install|deno\.land/install\.sh|just\.systems/install\.sh)[\"']?\s*\|\s*(?:(?:ba)?sh|python3?)"
    r"(?:\s+-(?:s(?:\s+--)?)?(?:\s+[\w./=-]+)*)?\s*(?:[;&)\"'#].*)?"
)
"""The whole of the documented way to install a tool that everybody knows, from its maker over TLS: one address and nothing else."""
_CARGO = (".cargo/config.toml", ".cargo/config")
_BACKSLASH = re.compile(r"\\\r?\n")


def changed_execution(evidence: Evidence) -> tuple[Finding, ...]:
    """Build hooks, start-up hooks, install scripts, actions, images and downloads piped into a shell."""
    out: list[Finding] = [
        *code_run_by_build(evidence),
        *changed_hook_files(evidence),
        *changed_start_files(evidence),
    ]
    for changed in evidence.change.paths:
        if changed.new is None or changed.new.mode[:3] != "100":
            continue
        path = changed.path
        name = path.rsplit("/", 1)[-1].lower()
        if name.endswith(".pth") or name in ("sitecustomize.py", "usercustomize.py"):
            out.append(
                finding(
                    "START_HOOK_ADDED",
                    f"{path} runs at every start of the interpreter once it is on the path.",
                    path=path,
                )
            )
            continue
        after = text(evidence.merged, path) or ""
        before = text(evidence.base, path) or ""
        if name in ("pyproject.toml", "package.json", "cargo.toml") or path.lower().endswith(_CARGO):
            out += _manifest(path, before, after)
        elif name in BUILD_SCRIPTS and "/" not in path:
            out += changed_script(evidence, path, before, after)
        out += changed_registries(path, before, after)
        ci = _is_ci(path)
        if ci or is_container_file(path) or name.endswith(".sh") or name in ("makefile", "justfile", *OPENED):
            piped = _downloads(path, before, after)
            # Beside CI, a documented installer of a known tool is nothing to ask about.
            out += piped if name not in OPENED else (f for f in piped if f.effect is not Effect.ASKS)
            out += changed_lines(path, before, after)
            out += changed_installs(evidence, path, before, after, ci=ci)
        if ci:
            out += _actions(evidence, path, before, after)
        if (
            ci
            or is_container_file(path)
            or is_compose(path)
            or name.endswith(".sh")
            or name in ("makefile", "justfile")
        ):
            out += changed_images(evidence, path, before, after, ci=ci)
    if all(f.code != "BUILD_HOOK_ADDED" for f in out):
        out += code_imported_by_build(evidence)
    return tuple(out)


def _is_ci(path: str) -> bool:
    lower = path.lower()
    return lower.endswith((".yml", ".yaml")) and (
        lower.startswith((".github/", ".circleci/", ".gitlab"))
        or lower.rsplit("/", 1)[-1]
        in ("action.yml", "action.yaml", "azure-pipelines.yml", ".travis.yml", "bitbucket-pipelines.yml")
    )


def _manifest(path: str, before: str, after: str) -> Iterable[Finding]:
    old, new = (read(path, before) if before else None) or Manifest(), read(path, after)
    if new is None:
        return
    backend = str(new.build.get("build-backend") or "")
    local = new.build.get("backend-path")
    foreign = bool(backend) and not backend.startswith(_KNOWN_BACKENDS)
    if (local and local != old.build.get("backend-path")) or (foreign and backend != old.build.get("build-backend")):
        yield finding(
            "BUILD_BACKEND_CHANGED",
            f"{path} builds with {backend or 'a backend'}{' from ' + str(local) if local else ''}, which runs on every install.",
            path=path, line=_line(after, "backend-path" if local else "build-backend"),
        )  # fmt: skip
    hooks = [
        h for h in new.build.get("hooks", ()) if h not in old.build.get("hooks", ()) and h not in ("vcs", "version")
    ]
    if hooks:
        yield finding("BUILD_BACKEND_CHANGED", f"{path} adds build hooks: {', '.join(hooks)[:200]}.", path=path)
    scripts, earlier = new.build.get("scripts", {}), old.build.get("scripts", {})
    changed = {k: str(v)[:200] for k, v in scripts.items() if earlier.get(k) != v}
    if changed:
        key = next(iter(changed))
        yield finding("INSTALL_SCRIPT_ADDED", f"{path} runs `{changed[key]}` on install ({key}).", path=path, line=_line(after, f'"{key}"'))  # fmt: skip


def _line(content: str, needle: str) -> int:
    return next((i for i, row in enumerate(content.splitlines(), 1) if needle in row), 1)


def _downloads(path: str, before: str, after: str) -> Iterable[Finding]:
    had = {m.group(0) for m in _PIPE.finditer(_BACKSLASH.sub(" ", before[:1_000_000]))}
    whole = _BACKSLASH.sub(" ", after[:1_000_000])
    fresh = [m for m in _PIPE.finditer(whole) if m.group(0) not in had]
    if fresh:
        first = fresh[0].group(0)
        effect = Effect.ASKS if all(_installs(whole, m) for m in fresh) else None
        yield finding("DOWNLOAD_EXECUTED", f"{path} feeds a download into an interpreter: {first[:200]}", path=path, line=_line(after, first[:30]), effect=effect)  # fmt: skip


def _installs(whole: str, found: re.Match[str]) -> bool:
    """The command up to the end of its line, for what follows the interpreter may be told to it."""
    end = whole.find("\n", found.end())
    return re.fullmatch(_INSTALLER, whole[found.start() : end if end >= 0 else None].rstrip()) is not None


def _uses(content: str) -> dict[str, str]:
    leaves = workflow_yaml.walk(workflow_yaml.load(content))
    return {v.strip(): v for at, v in leaves if at and at[-1] == "uses" and isinstance(v, str)}


def _actions(evidence: Evidence, path: str, before: str, after: str) -> Iterable[Finding]:
    old, new = set(_uses(before)), set(_uses(after))
    everywhere = set(old)
    for other in evidence.base.entries:
        if _is_ci(other) and other != path:
            everywhere |= set(_uses(text(evidence.base, other) or ""))
    had = {u.partition("@")[0].lower(): u.partition("@")[2] for u in old}
    strict = bool(everywhere) and all(
        _SHA.fullmatch(u.partition("@")[2]) for u in everywhere if not u.startswith(("./", "docker:"))
    )
    # Where a repository takes its actions by the tag of a version, one more by such a tag is how it works.
    by_tag = any(
        re.fullmatch(r"v?\d[\w.-]*", ref) for u in everywhere if not _SHA.fullmatch(ref := u.partition("@")[2])
    )
    permitted = any(matches(g, path) for p in evidence.ticket.permits_of(PermitKind.CHANGE_CI) for g in p.paths)
    bad, foreign = [], []
    for use in sorted(new - everywhere):
        owner, _, ref = use.partition("@")
        if use.startswith("./"):
            continue
        pinned = bool(_SHA.search(ref if "@" in use else use))
        was = had.get(owner.lower())
        if not pinned and (was is None or _SHA.fullmatch(was)) and (strict or was is not None or ref in ("main", "master", "HEAD", "latest", "")):  # fmt: skip
            bad.append(use)
        elif was is None and owner.split("/")[0].lower() not in {
            *(u.split("/")[0].lower() for u in everywhere), *(_KNOWN_OWNERS if pinned or (by_tag and re.fullmatch(r"v?\d[\w.-]*", ref)) else _PLATFORM),
        }:  # fmt: skip
            foreign.append(use)
    if bad:
        yield finding("CI_ACTION_UNPINNED", f"{path} runs {', '.join(bad[:5])}: whoever moves that tag or branch runs code in CI.", path=path, line=_line(after, bad[0]))  # fmt: skip
    elif foreign and not permitted:
        yield finding("CI_ACTION_FOREIGN", f"{path} runs {', '.join(foreign[:5])} of an owner that this repository did not use before.", path=path, line=_line(after, foreign[0]), effect=Effect.ASKS)  # fmt: skip
