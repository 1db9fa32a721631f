"""The review of one draft: five checks of ours and a model's second opinion that can only add a block.

A check that errors, a model that does not answer and a verdict that is missing all block. Source: SU-01…03, design §5.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from agents.supervisor.grounding import check_grounding
from agents.supervisor.language_check import check_language
from agents.supervisor.policy import check_policy
from agents.supervisor.safety import check_safety
from agents.supervisor.tone import check_tone
from shared.domain.deltas import Account, Knowledge, ReviewDelta, TurnState
from shared.domain.drafts import Check, CheckVerdict, Draft, Review, draft_hash
from shared.domain.errors import SchemaError, VouchError
from shared.domain.policy import TenantPolicy
from shared.ports.models import ReviewModel, ReviewRequest, SafetyScreen

MODEL_TIMEOUT_S: Final = 10.0
"""Longest wait for the reviewing model. Unit: seconds. Source: ours, inside the supervisor's 15 s."""

_FAULTS: Final = (
    VouchError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RuntimeError,
    OSError,
)
"""What a broken check may raise; each turns into a failed verdict. Anything else ends the activity: also no send."""


async def review_draft(
    state: TurnState,
    *,
    base_version: int,
    model: ReviewModel,
    screen: SafetyScreen,
    policy: TenantPolicy,
    allowed_promises: frozenset[str] = frozenset(),
    model_timeout_s: float = MODEL_TIMEOUT_S,
) -> ReviewDelta:
    """Return every required check's verdict on the state's draft.

    `allowed_promises`: ActionType values this turn really does, and "handoff" when a person takes over.
    Raises: SchemaError when there is no draft to review.
    """
    draft = state.draft
    if draft is None:
        raise SchemaError("no draft to review")
    opinion, safety = await asyncio.gather(
        _ask(model, state, draft, policy, model_timeout_s), check_safety(draft, screen)
    )
    is_called_grounded = any(v.check is Check.GROUNDING and v.is_passed for v in opinion)
    ours = (
        _guarded(
            Check.GROUNDING,
            lambda: check_grounding(
                state, draft, policy, allowed_promises=allowed_promises, has_model_support=is_called_grounded
            ),
        ),
        _guarded(Check.POLICY, lambda: check_policy(state, draft, policy)),
        safety,
        _guarded(Check.TONE, lambda: check_tone(state, draft, policy)),
        _guarded(Check.LANGUAGE, lambda: check_language(state, draft, policy)),
    )
    verdicts = tuple(_with_blocks(verdict, opinion) for verdict in ours)
    passed = sum(v.is_passed for v in verdicts) / len(verdicts)
    review = Review(
        draft_hash=draft_hash(draft), verdicts=verdicts, confidence=draft.confidence if passed == 1 else 0.0
    )
    return ReviewDelta(base_version=base_version, review=review, confidence=review.confidence, source_refs=draft.refs)


async def _ask(
    model: ReviewModel, state: TurnState, draft: Draft, policy: TenantPolicy, timeout_s: float
) -> tuple[CheckVerdict, ...]:
    """Return the model's verdicts; silence, an error and an empty answer are a block."""
    request = ReviewRequest(
        draft=draft,
        knowledge=state.knowledge or Knowledge(),
        account=state.account or Account(),
        customer_words=state.snapshot.message,
        policy=policy,
    )
    try:
        async with asyncio.timeout(timeout_s):
            verdicts = await model.review(request)
    except _FAULTS as error:
        return (_block(Check.GROUNDING, f"no opinion from the reviewing model ({type(error).__name__})"),)
    return verdicts or (_block(Check.GROUNDING, "the reviewing model gave no verdict"),)


def _guarded(check: Check, run: Callable[[], CheckVerdict]) -> CheckVerdict:
    try:
        return run()
    except _FAULTS as error:
        return _block(check, f"the check failed ({type(error).__name__})")


def _with_blocks(verdict: CheckVerdict, opinion: tuple[CheckVerdict, ...]) -> CheckVerdict:
    blocks = [v for v in opinion if v.check is verdict.check and not v.is_passed]
    if not blocks:
        return verdict
    reasons = "; ".join(filter(None, (verdict.reason, *(b.reason for b in blocks))))
    evidence = tuple(dict.fromkeys((*verdict.evidence, *(e for b in blocks for e in b.evidence))))
    return CheckVerdict(check=verdict.check, is_passed=False, reason=reasons, evidence=evidence)


def _block(check: Check, reason: str) -> CheckVerdict:
    return CheckVerdict(check=check, is_passed=False, reason=reason)
