"""Images that the change starts from: of owners that nobody used before, or no longer fixed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.globs import matches
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.tree import Tree, text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import workflow_yaml
from gatekeeper.formats.package_lists.images import Image, container_file, image, run_lines

_KNOWN = frozenset({
    "library", "ghcr.io/astral-sh", "gcr.io/distroless", "mcr.microsoft.com", "mcr.microsoft.com/devcontainers", "mcr.microsoft.com/playwright",
    "public.ecr.aws/docker", "public.ecr.aws/lambda", "quay.io/pypa", "cimg", "docker", "nvidia", "nvcr.io/nvidia", "mambaorg", "condaforge",
    "continuumio", "bitnami", "grafana", "prom", "hashicorp", "distroless", "cgr.dev/chainguard", "registry.access.redhat.com/ubi8",
    "registry.access.redhat.com/ubi9", "mcr.microsoft.com/dotnet", "rust-lang", "tonistiigi",
})  # fmt: skip
"""Owners whose images everybody uses."""


def is_container_file(path: str) -> bool:
    """Dockerfile and Containerfile, with a word before or behind."""
    name = path.rsplit("/", 1)[-1].lower()
    return name.startswith(("dockerfile", "containerfile")) or name.endswith((".dockerfile", ".containerfile"))


def is_compose(path: str) -> bool:
    """Files that say which services run beside each other."""
    return re.fullmatch(r"(?:docker-)?compose(?:[-_.].*)?\.ya?ml", path.rsplit("/", 1)[-1].lower()) is not None


def changed_images(evidence: Evidence, path: str, before: str, after: str, *, ci: bool) -> Iterable[Finding]:
    """At most one finding about the images that one file names."""
    old, new = set(_named(path, before, ci=ci)), list(_named(path, after, ci=ci))
    names = {i.name: i for i in old}
    fresh = [i for i in new if (i.name, i.tag, i.digest) not in {(o.name, o.tag, o.digest) for o in old}]
    if not fresh:
        return
    loose = [i for i in fresh if not i.digest]
    if loose and any(o.digest for o in old) and is_container_file(path):
        yield finding("IMAGE_UNPINNED", f"{path} starts from {loose[0].name}, which is no longer pinned by digest.", path=path, line=loose[0].line)  # fmt: skip
        return
    permitted = any(
        matches(g, path) for kind in (PermitKind.CHANGE_CI, PermitKind.ADD_DEPENDENCY) for p in evidence.ticket.permits_of(kind) for g in p.paths
    ) or any(i.name in p.names for i in fresh for p in evidence.ticket.permits_of(PermitKind.ADD_DEPENDENCY))  # fmt: skip
    places = {i.place for i in old} | _KNOWN
    foreign = [i for i in fresh if i.place not in places]
    if foreign and not permitted:
        places |= _everywhere(evidence.base)
        foreign = [i for i in foreign if i.place not in places]
    if foreign and not permitted:
        yield finding(
            "IMAGE_FOREIGN", f"{path} runs {', '.join(sorted({i.name for i in foreign})[:5])} of an owner that this repository did not use before.",
            path=path, line=foreign[0].line,
        )  # fmt: skip
        return
    moving = [
        i for i in loose if i.tag in ("", "latest") and i.name in names and names[i.name].tag not in ("", "latest")
    ]
    if moving and not permitted:
        yield finding(
            "IMAGE_UNPINNED", f"{path} starts from {moving[0].name} of whatever version is the newest.", path=path, line=moving[0].line, effect=Effect.ASKS
        )  # fmt: skip


def _named(path: str, content: str, *, ci: bool) -> Iterator[Image]:
    if is_container_file(path):
        yield from container_file(content)
    if ci or is_compose(path):
        for at, value in workflow_yaml.walk(workflow_yaml.load(content)):
            keys = [k for k in at if not k.isdigit()]
            if (
                keys
                and isinstance(value, str)
                and (keys[-1] == "image" or keys[-2:] == ["container", "image"] or keys[-1] == "container")
            ):
                yield from image(value)
    if not is_container_file(path):
        yield from run_lines(content)


def _everywhere(tree: Tree) -> set[str]:
    """Owners of all images that the tree names."""
    found = set[str]()
    for path in tree.entries:
        ci = path.startswith((".github/", ".gitlab", ".circleci/"))
        if ci or is_container_file(path) or is_compose(path) or path.endswith((".sh", "Makefile")):
            found |= {i.place for i in _named(path, text(tree, path) or "", ci=ci)}
    return found
