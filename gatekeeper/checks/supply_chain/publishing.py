"""The part of a build script that a person starts to publish: which programs are the well-known ways to do so."""

from __future__ import annotations

import ast
import re
from functools import cache

_SHELL = re.compile(r"\|\s*(?:sudo\s+)?(?:\S*/)?(?:(?:ba|z|da|k)?sh|python[0-9.]*|perl|ruby|node)\b|[<$]\(|`")
_FETCHES = re.compile(r"\b(?:curl|wget|iwr|invoke-webrequest|urlopen|urlretrieve)\b", re.IGNORECASE)


def publishes(call: ast.Call) -> bool:
    """True where the line that the call starts is wholly made of well-known ways to build, publish or tag."""
    line = _line(call)
    return line is not None and all(_known().fullmatch(part.strip()) for part in re.split(r"&&|;", line))


def fetches_and_runs(call: ast.Call) -> bool:
    """True where the line feeds an interpreter from a pipe, or fetches something and goes on with another program."""
    said = " ".join(n.value for n in ast.walk(call) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return bool(_SHELL.search(said)) or bool(_FETCHES.search(said) and re.search(r"&&|;|\n", said))


def reads_git(call: ast.Call) -> bool:
    """True for a line of words that asks git for a version, and for nothing that git would start or write."""
    line = _line(call, also=("stderr", "stdout", "text", "universal_newlines", "encoding", "capture_output", "timeout"))
    words = (line or "").split(" ")
    return (
        words[:1] == ["git"]
        and words[1:2] in (["describe"], ["rev-parse"], ["rev-list"])
        and all(
            re.fullmatch(
                r"--?(?:tags|always|dirty(?:=[\w.+-]+)?|long|short(?:=\d+)?|abbrev(?:=\d+)?|match|exact-match|first-parent|count|verify|HEAD|[0-9])|HEAD|[\w.*\[\]-]+",
                w,
            )
            for w in words[2:]
        )
    )


def _line(call: ast.Call, also: tuple[str, ...] = ()) -> str | None:
    """The line with `{}` for values that are looked up; None where a part of it is made in another way."""
    if not call.args or any(k.arg not in ("shell", "check", "cwd", *also) for k in call.keywords):
        return None
    first = call.args[0]
    if isinstance(first, ast.List | ast.Tuple):
        words = [_template(w) for w in first.elts]
        return (
            None
            if None in words or any(re.search(r"[&;\s]", w or "") for w in words)
            else " ".join(w or "" for w in words)
        )
    return _template(first)


def _template(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Attribute | ast.Name | ast.Subscript):
        return _value(node)
    if isinstance(node, ast.JoinedStr):
        parts = [_value(v.value) if isinstance(v, ast.FormattedValue) else _template(v) for v in node.values]
        return None if None in parts else "".join(p or "" for p in parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        given = list(node.right.elts) if isinstance(node.right, ast.Tuple) else [node.right]
        return _filled(_template(node.left), r"%s", given)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _template(node.left), _template(node.right)
        return None if left is None or right is None else left + right
    plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format"
    if plain and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.keywords:
        return _filled(_template(node.func.value), r"\{\d?\}", node.args)
    return None


def _filled(template: str | None, hole: str, given: list[ast.expr]) -> str | None:
    values = [_value(v) for v in given]
    if template is None or None in values or len(re.findall(hole, template)) != len(values):
        return None
    left = iter(values)
    return re.sub(hole, lambda _: next(left) or "", template)


def _value(node: ast.expr) -> str | None:
    """`{python}` for the interpreter, `{}` for another name or entry of a table."""
    said = ast.unparse(node)
    if said == "sys.executable":
        return "{python}"
    return "{}" if re.fullmatch(r"[A-Za-z_][\w.]*(?:\[['\"]\w+['\"]\])?", said) else None


@cache
def _known() -> re.Pattern[str]:
    python = r"(?:python[23]?|\{python\})"
    build = r"(?:sdist|bdist|bdist_wheel|build|check|clean|upload|register|egg_info|--universal|--sign)"
    files = r"(?:dist|build|\./dist|\./build|dist/\*|build/\*|\.?/?[\w{}]*\*?\.egg-info)"
    return re.compile(
        rf"{python} setup\.py(?: {build})+|{python} -m build(?: (?:--sdist|--wheel|\.|-s|-w))*"
        rf"|(?:{python} -m )?twine (?:upload|check)(?: (?:--sign|-s|--skip-existing|--verbose|dist/[\w.*{{}}-]*))*"
        r"|git push(?: (?:--tags|--follow-tags|--all|-u|-q|origin|upstream|master|main|HEAD|v?\{\}))*"
        r"|git tag(?: (?:-a|-s|-m|-f|['\"]?(?:v|version |release )?[\w.{}-]+['\"]?))*"
        r"|git commit(?: (?:-a|-m|-am|['\"][\w .{}-]*['\"]))*"
        rf"|rm -(?:r|rf|fr)(?: {files})+|(?:open|echo)(?: [\w .{{}}!'-]*)?",
        re.ASCII,
    )
