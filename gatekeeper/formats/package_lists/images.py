"""Images that container files, compose files and lines of a shell start from."""

from __future__ import annotations

import re

from gatekeeper.records import dataclass

MAX_TEXT = 400_000


@dataclass(frozen=True, slots=True)
class Image:
    """One image as it is named."""

    place: str
    """Registry and owner, such as `ghcr.io/owner`; `library` for an image that Docker keeps itself."""
    name: str
    """Place and repository without tag or digest."""
    tag: str
    digest: str
    line: int = 1


def container_file(text: str) -> tuple[Image, ...]:
    """What `FROM` and `COPY --from` name, with the defaults of `ARG` put in; stages of the file itself are none."""
    known: dict[str, str] = {}
    stages: set[str] = set()
    found: list[Image] = []
    for number, raw in enumerate(re.sub(r"[\\`][ \t]*\r?\n", " ", text[:MAX_TEXT]).splitlines(), 1):
        row = raw.strip()
        set_ = re.match(r"(?i)ARG\s+(\w{1,100})=[\"']?([^\s\"']{1,300})", row)
        if set_:
            known[set_[1]] = set_[2]
        first = re.match(r"(?i)FROM\s+(?:--\S+\s+)*(\S{1,500})(?:\s+AS\s+(\S+))?", row)
        copied = re.match(r"(?i)(?:COPY|ADD)\s+(?:--\S+\s+)*--from=(\S{1,500})", row)
        mounted = re.findall(r"--mount=\S*?from=([^\s,]{1,300})", row)
        for named in [*([first[1]] if first else []), *([copied[1]] if copied else []), *mounted]:
            whole = re.sub(r"\$\{?(\w+)(?::?-([^}]*))?\}?", lambda m: known.get(m[1], m[2] or m[0]), named.strip("\"'"))
            if whole.lower() not in stages and not whole.isdigit() and whole != "scratch":
                found += image(whole, number)
        if first and first[2]:
            stages.add(first[2].lower())
    return tuple(found)


def run_lines(text: str) -> tuple[Image, ...]:
    """Images that lines of a shell pull or run."""
    valued = r"(?:(?:-[eivpwuh]|--(?:name|volume|env|env-file|workdir|entrypoint|network|user|publish|mount|platform|add-host|hostname|memory|cpus|gpus|label))(?:\s{1,9}|=)\S{1,200}|--?[\w-]{1,40}(?:=\S{1,200})?)"
    command = (
        rf"\b(?:docker|podman)\s{{1,9}}(?:run|pull|create)((?:\s{{1,9}}{valued}){{0,20}})\s{{1,9}}([\w./:@-]{{1,300}})"
    )
    whole = re.sub(r"\\\r?\n", " ", text[:MAX_TEXT])
    return tuple(
        one for m in list(re.finditer(command, whole))[:200] for one in image(m[2], whole.count("\n", 0, m.start()) + 1)
    )


def image(spec: str, line: int = 1) -> list[Image]:
    """The image that a name means; none for one that holds a variable."""
    if "$" in spec or not re.fullmatch(r"[\w./:@+-]{1,500}", spec):
        return []
    rest, _, digest = spec.removeprefix("docker://").partition("@")
    head, _, tail = rest.rpartition("/")
    name, _, tag = tail.partition(":")
    parts = [p for p in head.split("/") if p]
    if parts[:1] == ["docker.io"] or parts[:1] == ["index.docker.io"]:
        parts = parts[1:]
    place = "/".join(parts[:2] if parts and re.search(r"[.:]|^localhost$", parts[0]) else parts[:1]) or "library"
    return [Image(place.lower(), "/".join([*parts, name]).lower(), tag, digest, line)]
