"""The two result objects of the bundle, parsed strictly into domain types. Anything unexpected is POLICY_FAILED."""

from __future__ import annotations

from typing import Any

from gatekeeper.domain.decision import BundleId, Plan, PolicyDecision, PolicyMessage, TierReason
from gatekeeper.domain.ticket import Risk
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import CouldNotCheck

MAX_MESSAGES = 200
MAX_TEXT = 500
_ISOLATION = ("standard", "strong")
_MAX_EXPIRY_S = 90 * 86400


def _failed(what: str) -> CouldNotCheck:
    return CouldNotCheck("POLICY_FAILED", f"The policy's answer is not whole: {what}.")


def plan_of(answer: Any, bundle: BundleId) -> Plan:
    """The plan. Raises `CouldNotCheck` (POLICY_FAILED) for a wrong shape or rules that were not evaluated."""
    table = _table(answer, "the plan")
    expected, evaluated = _counts(table)
    reasons = tuple(
        TierReason(
            tier=_risk(row, "tier"),
            rule=_text(row, "rule"),
            message=_text(row, "message"),
            paths=_texts(row, "paths"),
        )
        for row in _tables(table, "reasons")
    )
    tier = _risk(table, "tier")
    if any(r.tier.rank > tier.rank for r in reasons):
        raise _failed("the tier is lower than one of its reasons")
    expiry = _number(table, "expiry_s")
    if not 0 < expiry <= _MAX_EXPIRY_S:
        raise _failed(f"`expiry_s` is {expiry}, expected 1 to {_MAX_EXPIRY_S}")
    isolation = _text(table, "isolation")
    if isolation not in _ISOLATION:
        raise _failed(f"`isolation` is none of {', '.join(_ISOLATION)}")
    return Plan(
        tier=tier,
        tier_reasons=reasons,
        required_evidence=_texts(table, "required_evidence"),
        approvals=_number(table, "approvals"),
        expiry_s=expiry,
        bundle=bundle,
        rules_expected=expected,
        rules_evaluated=evaluated,
        extra_runs=_texts(table, "extra_runs"),
        isolation=isolation,
    )


def decision_of(answer: Any, bundle: BundleId) -> PolicyDecision:
    """The decision. Raises `CouldNotCheck` (POLICY_FAILED) likewise, and where verdict and messages disagree."""
    table = _table(answer, "the decision")
    expected, evaluated = _counts(table)
    try:
        verdict = Verdict(_text(table, "verdict"))
    except ValueError:
        raise _failed("`verdict` is none of the four words") from None
    violations, questions = _messages(table, "violations"), _messages(table, "questions")
    if verdict is Verdict.ACCEPTED and (violations or questions):
        raise _failed("it accepts although rules are not satisfied")
    if verdict is Verdict.NEEDS_HUMAN and violations:
        raise _failed("it asks a person although rules are violated")
    return PolicyDecision(
        verdict=verdict,
        violations=violations,
        warnings=_messages(table, "warnings"),
        questions=questions,
        waived=_texts(table, "waived"),
        rules_expected=expected,
        rules_evaluated=evaluated,
        bundle=bundle,
    )


def _counts(table: dict[str, Any]) -> tuple[int, int]:
    expected, evaluated = _number(table, "rules_expected"), _number(table, "rules_evaluated")
    if expected == 0 or expected != evaluated:
        raise _failed(f"{evaluated} of {expected} rules were evaluated")
    return expected, evaluated


def _messages(table: dict[str, Any], key: str) -> tuple[PolicyMessage, ...]:
    return tuple(
        PolicyMessage(
            code=_text(row, "code"),
            message=_text(row, "message"),
            rule=_text(row, "rule"),
            role=_text(row, "role") if "role" in row else "",
            count=_number(row, "count") if "count" in row else 0,
        )
        for row in _tables(table, key)
    )


def _table(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _failed(f"{what} is not an object")
    return value


def _list(table: dict[str, Any], key: str) -> list[Any]:
    value = table.get(key)
    if not isinstance(value, list) or len(value) > MAX_MESSAGES:
        raise _failed(f"`{key}` is not a list of at most {MAX_MESSAGES}")
    return value


def _tables(table: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return [_table(row, f"an entry of `{key}`") for row in _list(table, key)]


def _text(table: dict[str, Any], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str):
        raise _failed(f"`{key}` is not a text")
    return value[:MAX_TEXT]


def _texts(table: dict[str, Any], key: str) -> tuple[str, ...]:
    values = _list(table, key)
    if not all(isinstance(v, str) for v in values):
        raise _failed(f"`{key}` is not a list of texts")
    return tuple(v[:MAX_TEXT] for v in values)


def _number(table: dict[str, Any], key: str) -> int:
    value = table.get(key)
    # rego-cpp and OPA print a whole number as an integer; a fraction or a negative number is a fault of a rule.
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _failed(f"`{key}` is not a whole number of 0 or more")
    return value


def _risk(table: dict[str, Any], key: str) -> Risk:
    try:
        return Risk(_text(table, key))
    except ValueError:
        raise _failed(f"`{key}` is none of low, medium, high") from None
