"""What exactly is sealed for each purpose; shared by minting and verifying so that they cannot differ."""

from typing import Final

from shared.domain.drafts import Draft, Review, draft_hash
from shared.domain.grants import Grant

APPROVAL: Final = "reply-approval/1"
GRANT: Final = "action-grant/1"


def approval_payload(draft: Draft, review: Review, scope: str) -> dict[str, object]:
    """Return what an approval's seal covers: this draft, these verdicts, this turn."""
    verdicts = sorted([v.check.value, v.is_passed] for v in review.verdicts)
    return {"draft": draft_hash(draft), "review": review.draft_hash, "verdicts": verdicts, "scope": scope}


def grant_payload(grant: Grant) -> dict[str, object]:
    """Return what a grant's seal covers: all of it."""
    return grant.model_dump(mode="json")
