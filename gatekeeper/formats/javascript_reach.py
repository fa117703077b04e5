"""Whether an assertion of a JavaScript test runs whenever the test does, read from the blocks around it."""

from __future__ import annotations

from enum import StrEnum

from gatekeeper.formats.javascript_tokens import Kind, Token

_MAX_AROUND = 40
_OPERATORS = {
    ".", "?.", "+", "-", "*", "/", "%", "**", "=", "==", "===", "!=", "!==", "<", ">", "<=", ">=", "&&", "||", "??", "?", ":",
    ",", "=>", "(", "[", "{", "!", "in", "of", "instanceof", "new", "await", "typeof", "...",
}  # fmt: skip
_CONTINUES = {
    ".", "?.", "+", "-", "*", "/", "%", "**", "==", "===", "!=", "!==", "<", ">", "<=", ">=", "&&", "||", "??", "?", ":", "=>",
    "instanceof", "in",
}  # fmt: skip
_LATER = {"setTimeout", "setImmediate", "queueMicrotask", "nextTick", "on", "once", "addEventListener", "then", "catch", "finally", "setInterval"}  # fmt: skip
_PROMISES = ("resolves", "rejects", "eventually", "doesNotReject", "rejectedWith", "fulfilled")


class State(StrEnum):
    """Whether an assertion runs whenever its test does."""

    LIVE = "live"
    CONDITIONAL = "conditional"
    DEAD = "dead"
    UNAWAITED = "unawaited"
    CAUGHT = "caught"


def value_end(body: tuple[Token, ...], pairs: dict[int, int], start: int, most: int = 1_000_000) -> int:
    """Where an expression ends: at `;` or `,`, a closing bracket, or a new line that does not go on with it."""
    index, steps = start, 0
    while index < len(body) and steps < most:
        steps += 1
        token = body[index]
        if token.kind is Kind.MARK and token.text in (";", ",", ")", "]", "}"):
            return index
        if (
            index > start
            and token.line > body[index - 1].line
            and token.text not in _CONTINUES
            and body[index - 1].text not in _OPERATORS
        ):
            return index
        index = pairs.get(index, index) + 1
    return index


def state(
    body: tuple[Token, ...],
    pairs: dict[int, int],
    opened: dict[int, int],
    index: int,
    end: int,
    matcher: str,
    calls: set[str],
) -> tuple[State, bool]:
    """(whether what stands at `index` and ends before `end` runs, whether in a loop); `calls`: names that are called."""
    state, looped = State.LIVE, False
    at = index - 1
    while at >= 0 and body[at].text in ("await", "return", "void"):
        at -= 1
    prior = body[at].text if at >= 0 else ""
    if prior == "=>" and (name := _opener(body, opened, at + 1)) and name[1:] not in calls:
        state = State.DEAD
    if prior in ("&&", "||", "??", "?", "else") or (
        prior == ")" and at in opened and body[opened[at] - 1].text in ("if", "while")
    ):
        state = State.CONDITIONAL
    outer = _first_block(body)
    around = [a for a, b in pairs.items() if outer < a < index < b and body[a].text in ("{", "(")]
    for start in sorted(around)[-_MAX_AROUND:]:
        word = _opener(body, opened, start)
        if body[start].text == "(":
            if (
                word in _LATER
                and any(t.text in ("=>", "function") for t in body[start:index])
                and not _kept(body, start)
            ):
                state = State.UNAWAITED if state is State.LIVE else state
            elif word in ("forEach", "map", "each"):
                looped = True
            continue
        if word == "for":
            looped = True
            head = opened.get(start - 1)
            if head is not None and [t.text for t in body[start - 3 : start - 1]] == ["[", "]"]:
                state = State.DEAD
        elif word in ("if", "else", "switch", "while", "catch"):
            state = State.CONDITIONAL if state is State.LIVE else state
            head = opened.get(start - 1)
            if (
                head is not None
                and word in ("if", "while")
                and body[head + 1].text in ("false", "0", "null")
                and start - head <= 3
            ):
                state = State.DEAD
        elif word.startswith("=") and word[1:] and word[1:] not in calls:
            state = State.DEAD
        state = _left(body, pairs, opened, start, index) or state
    if outer >= 0:
        state = _left(body, pairs, opened, outer, index) or state
    if state is State.LIVE and _caught(body, pairs, index, end):
        state = State.CAUGHT
    promise = any(p in matcher.split(".") for p in _PROMISES) and state is State.LIVE
    if promise and not awaited(body, index, end):
        state = State.UNAWAITED
    return state, looped


def awaited(body: tuple[Token, ...], index: int, end: int) -> bool:
    """Somebody gets the promise of what stands between `index` and `end`."""
    before = body[index - 1].text if index else ""
    if before == "." and index > 1:
        before = body[index - 3].text if index > 2 else ""
    return before in ("await", "return", "=>", "(", "[", ",", "=", "yield") or (
        end < len(body) and body[end].text == "."
    )


_TELLS = {"expect", "assert", "throw", "fail", "reject", "done", "next"}


def _caught(body: tuple[Token, ...], pairs: dict[int, int], index: int, end: int) -> bool:
    """Its failure ends in a `catch` that does nothing with it."""
    if end + 1 < len(body) and body[end].text == "." and body[end + 1].text == "catch" and end + 2 in pairs:
        said = body[end + 3 : pairs[end + 2]]
        return not any(t.text in _TELLS for t in said if t.kind is Kind.NAME) and len(said) > 1
    for start in sorted(a for a, b in pairs.items() if a < index < b and body[a].text == "{")[-_MAX_AROUND:]:
        if start and body[start - 1].text == "try" and pairs[start] + 1 < len(body) and body[pairs[start] + 1].text == "catch":  # fmt: skip
            place = pairs[start] + 2
            place = pairs[place] + 1 if place in pairs and body[place].text == "(" else place
            said = body[place : pairs.get(place, place)]
            if place in pairs and not any(t.text in _TELLS for t in said if t.kind is Kind.NAME):
                return True
    return False


def _first_block(body: tuple[Token, ...]) -> int:
    """Index of the brace of the test's own function; -1 for a function without one."""
    for index, token in enumerate(body):
        if token.kind is Kind.MARK and token.text == "{" and index and body[index - 1].text in ("=>", ")"):
            return index
    return -1


def _opener(body: tuple[Token, ...], opened: dict[int, int], start: int) -> str:
    """What stands in front of a bracket: if, else, for, ..., a called name, or `=name` of a function bound to a name."""
    before = start - 1
    if before < 0:
        return ""
    if body[start].text == "(":
        return body[before].text if body[before].kind is Kind.NAME else ""
    if body[before].text == ")" and before in opened:
        head = opened[before] - 1
        word = body[head].text if head >= 0 else ""
        if word in ("if", "for", "while", "switch", "catch"):
            return word
        if word == "await" and head and body[head - 1].text == "for":
            return "for"
        return f"={word}" if head and body[head - 1].text == "function" else ""
    if body[before].text == "=>":
        at = opened[before - 1] if body[before - 1].text == ")" and before - 1 in opened else before - 1
        at -= body[at - 1].text == "async"
        return f"={body[at - 2].text}" if at > 1 and body[at - 1].text == "=" else ""
    return body[before].text if body[before].text in ("else", "catch", "try", "finally", "do") else ""


def _kept(body: tuple[Token, ...], start: int) -> bool:
    """The promise that a call of then, catch or finally gives back is awaited, returned or held; timers never are."""
    if body[start - 1].text not in ("then", "catch", "finally"):
        return any(t.text in ("Promise", "done", "resolve") for t in body)
    line = start
    while line > 0 and body[line].text not in (";", "{", "}"):
        line -= 1
        if body[line].text in ("await", "return", "=", "=>", "yield"):
            return True
    return False


def _left(
    body: tuple[Token, ...], pairs: dict[int, int], opened: dict[int, int], start: int, index: int
) -> State | None:
    """Whether a block may leave, or always leaves, before the assertion."""
    state: State | None = None
    at = start + 1
    while at < index:
        token, inner = body[at], pairs.get(at)
        if inner is not None and inner > index:
            break
        if inner is not None:
            if token.text == "{" and _opener(body, opened, at) in ("if", "else") and _leaves(body[at + 1 : inner]):
                state = State.CONDITIONAL
            at = inner + 1
            continue
        prior = body[at - 1]
        if token.kind is Kind.NAME and token.text in ("return", "break", "continue") and prior.text != ".":
            if value_end(body, pairs, at + 1) > index:
                break
            if prior.text == "else" or (
                prior.text == ")" and at - 1 in opened and body[opened[at - 1] - 1].text == "if"
            ):
                state = State.CONDITIONAL
            elif prior.text in (";", "{", "}") or prior.line < token.line:
                return State.DEAD
        at += 1
    return state


def _leaves(part: tuple[Token, ...]) -> bool:
    """A statement of its own, in no function in it, that leaves."""
    return any(t.text == "return" and t.kind is Kind.NAME for t in part) and not any(
        t.text in ("=>", "function") for t in part
    )
