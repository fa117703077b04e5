"""Packages that lines of CI, of container files and of scripts install by name, beside every list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gatekeeper.checks.supply_chain.dependency_permits import permitted, permitted_source
from gatekeeper.checks.supply_chain.images import is_container_file
from gatekeeper.checks.supply_chain.popular import COMPANIONS, DEVELOPMENT, POPULAR, TOOLS, lookalike
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.tree import Tree, text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import workflow_yaml
from gatekeeper.formats.package_lists import family, is_list, read
from gatekeeper.formats.package_lists.install_lines import installed
from gatekeeper.formats.python_requirements import Dependency

_OF_NODE = frozenset({
    "biome", "@biomejs/biome", "cspell", "eslint", "jest", "vitest", "prettier", "tsc", "typescript", "playwright", "stylelint", "markdownlint",
    "markdownlint-cli", "markdownlint-cli2", "pyright", "semantic-release", "commitlint", "@commitlint/cli", "rimraf", "vite", "webpack",
    "wrangler", "turbo", "nx", "lerna", "husky", "lint-staged", "tsx", "ts-node", "mocha", "c8", "nyc", "yarn", "pnpm", "npm", "corepack",
    "rollup", "esbuild", "tap", "ava", "cypress", "knip", "publint", "changeset", "@changesets/cli", "jscpd", "sass", "serve", "http-server",
})  # fmt: skip
"""Tools of Node that everybody knows."""
_OF_GO = (
    "golang" + ".org/x/",
    "github.com/golangci/",
    "honnef.co/go/",
    "google.golang" + ".org/",
    "mvdan.cc/gofumpt",
    "gotest.tools/",
)


def changed_installs(evidence: Evidence, path: str, before: str, after: str, *, ci: bool) -> Iterable[Finding]:
    """At most one finding about the packages that the lines of one file newly install."""
    old = {(kind, d.name) for kind, d in _lines(before, ci=ci)}
    fresh = [(kind, d) for kind, d in _lines(after, ci=ci) if (kind, d.name) not in old]
    fresh = [
        (k, d)
        for k, d in fresh
        if not (permitted_source(evidence.ticket, d) if d.source else permitted(evidence.ticket, d.name, path))
    ]
    fresh = (
        [(k, d) for k, d in fresh if d.source or not _everybody(k, d.name)] if not is_container_file(path) else fresh
    )
    if not fresh:
        return
    known = _known(evidence.base, {k for k, _ in fresh})
    fresh = [(k, d) for k, d in fresh if (k, d.name) not in known]
    if not fresh:
        return
    rows = [d for _, d in fresh]
    direct = [d for d in rows if d.source]
    names = ", ".join(sorted({d.name for d in rows})[:8])
    line = next((i for i, row in enumerate(after.splitlines(), 1) if rows[0].name[:60] in row), 1)
    if direct:
        yield finding(
            "DEPENDENCY_DIRECT_SOURCE", f"{path} installs {direct[0].source[:200]}.", path=path, line=line, effect=Effect.ASKS, key=names
        )  # fmt: skip
        return
    likeness = [
        f" {d.name} looks like {near}."
        for k, d in fresh
        if k == "python" and (near := lookalike(d.name, {n for f, n in known if f == k}))
    ]
    # An image is what users run; a line of CI or of a script runs where developers are.
    weighty = is_container_file(path) and not all(_everybody(k, d.name) for k, d in fresh)
    yield finding(
        "DEPENDENCY_ADDED", f"{path} installs {names}, which no permit of the ticket names.{likeness[0] if likeness else ''}", path=path, line=line,
        key=names, effect=None if likeness or weighty else Effect.ASKS,
    )  # fmt: skip


def _everybody(kind: str, name: str) -> bool:
    if kind == "python":
        return name in DEVELOPMENT | POPULAR | TOOLS | COMPANIONS or name in (
            "pip",
            "setuptools",
            "wheel",
            "python",
            "conda",
        )
    return (kind == "npm" and name in _OF_NODE) or (kind == "go" and name.startswith(_OF_GO))


def _lines(content: str, *, ci: bool) -> Iterator[tuple[str, Dependency]]:
    leaves = workflow_yaml.walk(workflow_yaml.load(content)) if ci else []
    # A folded text of YAML is one line for the shell.
    said = (
        "\n".join(str(v) for at, v in leaves if isinstance(v, str) and at[-1:] not in (("name",), ("description",)))
        if leaves
        else content
    )
    yield from installed("\n".join(row for row in said.splitlines() if not row.lstrip().startswith("#")))


def _known(tree: Tree, kinds: set[str]) -> set[tuple[str, str]]:
    """What the target's lists hold and its own lines install already."""
    found = set[tuple[str, str]]()
    for path in tree.entries:
        name = path.rsplit("/", 1)[-1].lower()
        if is_list(path) and family(path) in kinds and (made := read(path, text(tree, path) or "")) is not None:
            found |= {(family(path), d.name) for d in made.dependencies} | {(family(path), made.own_name)}
        ci = path.startswith(".github/") or name in (
            ".gitlab-ci.yml",
            ".travis.yml",
            "appveyor.yml",
            ".appveyor.yml",
            "azure-pipelines.yml",
        )
        if (
            ci
            or is_container_file(path)
            or name.endswith((".sh", ".yml", ".yaml", ".md", ".rst"))
            or name in ("makefile", "tox.ini", "justfile")
        ):
            found |= {(k, d.name) for k, d in _lines(text(tree, path) or "", ci=ci)}
    return found
