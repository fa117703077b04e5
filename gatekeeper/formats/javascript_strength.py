"""How much an assertion of JavaScript holds on to: what its matcher compares, and whether it can fail at all."""

from __future__ import annotations

import re

GLUE = "\x1f"
"""Between the words of a subject or an expectation."""
EXACT = 10
SNAPSHOT = 8
_RANKS: tuple[tuple[int, re.Pattern[str]], ...] = (
    (3, re.compile(r"assert\.(?:notEqual|notStrictEqual|notDeepEqual|notDeepStrictEqual|doesNotMatch)|.*\bnot\..*|.*\bnot\.?(?:be|exist)?.*")),
    (EXACT, re.compile(
        r"assert\.(?:equal|strictEqual|deepEqual|deepStrictEqual|same|deepSame)"
        r"|(?:resolves\.|rejects\.)?(?:toBe|toEqual|toStrictEqual|toHaveBeenCalledWith|toHaveBeenCalledTimes|toHaveBeenNthCalledWith"
        r"|toHaveBeenLastCalledWith|toHaveReturnedWith|toMatchInlineSnapshot|toThrowErrorMatchingInlineSnapshot)"
        r"|(?:(?:to|be|been|is|that|which|and|has|have|with|at|of|same|but|does|still|also|should|deep|strict|eventually)\.)*(?:equal|equals|eq|eql|eqls)"
    )),
    (SNAPSHOT, re.compile(r".*toMatchSnapshot|.*toThrowErrorMatchingSnapshot|assert\.(?:snapshot|fileSnapshot)|.*\bmembers")),
    (7, re.compile(r".*toBeCloseTo|.*\bcloseTo|.*approximately|assert\.closeTo")),
    (6, re.compile(r".*toMatchObject|assert\.partialDeepStrictEqual|.*toContainEqual|.*toHaveProperty|.*\bproperty|assert\.(?:throws|rejects)|.*toThrow(?:Error)?|.*\bthrow\w*|.*rejectedWith")),
    (5, re.compile(r".*toContain|.*\binclude\w*|.*\bcontain\w*|assert\.match|.*toMatch|.*\bmatch")),
    (4, re.compile(r".*toBe(?:Greater|Less)Than\w*|.*toHaveLength|.*lengthOf|.*\b(?:above|below|least|most|within|isAbove|isBelow)")),
    (3, re.compile(r".*toBeInstanceOf|.*toBeTypeOf|.*\b(?:instanceof|instanceOf|an?|isArray|isObject|isString|isNumber|isFunction)")),
    (9, re.compile(r".*toBe(?:Null|Undefined|NaN)|.*\b(?:true|false|null|undefined|NaN|isTrue|isFalse|isNull|isUndefined)")),
)  # fmt: skip
_DERIVED = re.compile(
    r"typeof\x1f|Array\x1f\.\x1fisArray\x1f|Object\x1f\.\x1f(?:keys|entries)\x1f|Boolean\x1f\(|!\x1f!|Number\x1f\.\x1fis\w+"
)
_LENGTH = re.compile(r"\x1f\??\.\x1f(?:length|size)$")
_LOOSE_VALUE = re.compile(
    r"(?:expect|vi|jest|sinon\x1f\.\x1fmatch)\x1f\.\x1f(?:not\x1f\.\x1f)?(anything|any|objectContaining|arrayContaining|stringContaining|stringMatching)\b|match\x1f\.\x1fany"
)


def compared(subject: str, matcher: str, expected: str) -> tuple[str, str, str]:
    """`assert.ok(a === b)` and `expect(a === b).toBe(true)` are equalities of a and b."""
    words = subject.split(GLUE)
    truth = matcher in ("assert", "assert.ok", "toBeTruthy", "assert.isTrue", "assert.isOk") or (
        expected == "true" and matcher in ("toBe", "toEqual", "toStrictEqual", "assert.equal", "assert.strictEqual")
    )
    if truth and "&&" not in words and "||" not in words and "?" not in words:
        for mark in ("===", "=="):
            at = [i for i, w in enumerate(words) if w == mark and _balanced(words[:i])]
            if len(at) == 1:
                return GLUE.join(words[: at[0]]), "assert.equal", GLUE.join(words[at[0] + 1 :])
        if words[:2] == ["isDeepStrictEqual", "("] or words[1:4] == [".", "isDeepStrictEqual", "("]:
            inner = words[words.index("(") + 1 : -1]
            at = [i for i, w in enumerate(inner) if w == "," and _balanced(inner[:i])]
            if len(at) == 1:
                return GLUE.join(inner[: at[0]]), "assert.deepEqual", GLUE.join(inner[at[0] + 1 :])
    if matcher.startswith("assert.") and written(subject) and not written(expected) and expected:
        return expected, matcher, subject  # the two sides the other way round
    return subject, matcher, expected


def _balanced(words: list[str]) -> bool:
    return sum(w in ("(", "[", "{") for w in words) == sum(w in (")", "]", "}") for w in words)


def written(text: str) -> bool:
    """Nothing in it is computed."""
    words = text.split(GLUE)
    return bool(text) and "(" not in words and not any(re.match(r"[A-Za-z_$]", w) and w not in ("true", "false", "null", "undefined", "NaN") and words[i + 1 : i + 2] != [":"] for i, w in enumerate(words))  # fmt: skip


def rank(subject: str, matcher: str, expected: str) -> int:
    """Strength from 0 (always holds) to 10 (an equality with a value that is written down)."""
    if written(subject) and (not expected or written(expected)):
        return 0
    if subject == expected:
        return 0
    names = set(re.findall(r"[A-Za-z_$][\w$]*(?=\x1f\()", subject))
    if (
        expected
        and names & set(re.findall(r"[A-Za-z_$][\w$]*(?=\x1f\()", expected))
        and subject.split(GLUE, 1)[0] == expected.split(GLUE, 1)[0]
    ):
        return 2  # the code agrees with itself whatever it does
    found = next((r for r, p in _RANKS if p.fullmatch(matcher)), 2)
    if found >= EXACT and (_DERIVED.match(subject) or _LENGTH.search(subject)):
        found = 4
    if found > 5 and (m := _LOOSE_VALUE.search(expected)):
        found = 3 if m[1] in ("anything", "any", None) and _LOOSE_VALUE.match(expected) else 6
    if found == 6 and not expected and re.search(r"throw|reject", matcher, re.IGNORECASE):
        found = 4
    if matcher in ("assert", "assert.ok") and re.search(
        r"\x1f(?:<|>|<=|>=|\.\x1f(?:includes|startsWith|endsWith|test|has|some|every))(?:\x1f|$)", subject
    ):
        found = 4
    return found
