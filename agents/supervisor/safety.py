"""The safety check of an outgoing draft; no verdict is a failed verdict. Source: SU-01, SU-03."""

import asyncio
from typing import Final

from shared.domain.drafts import Check, CheckVerdict, Draft
from shared.domain.errors import VouchError
from shared.ports.models import SafetyScreen

SCREEN_TIMEOUT_S: Final = 5.0
"""Longest wait for the screen. Unit: seconds. Source: ours, inside the supervisor's 15 s."""


async def check_safety(draft: Draft, screen: SafetyScreen, *, timeout_s: float = SCREEN_TIMEOUT_S) -> CheckVerdict:
    """Return whether the screen lets the draft pass; an error or a late answer blocks."""
    try:
        async with asyncio.timeout(timeout_s):
            found = await screen.screen((draft.text,))
    except (VouchError, TimeoutError, OSError) as error:
        return CheckVerdict(check=Check.SAFETY, is_passed=False, reason=f"no safety verdict ({type(error).__name__})")
    reason = f"blocked: {', '.join(found.categories)}" if found.is_blocked else ""
    return CheckVerdict(check=Check.SAFETY, is_passed=not found.is_blocked, reason=reason, evidence=found.categories)
