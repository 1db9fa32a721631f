"""The sync's dead letters tried again: what failed for a reason that has gone goes through. Source: fault 085."""

from typing import Final

from shared.container import Services
from shared.domain.catalog_work import Hint, Subject
from shared.ports.documents import TenantScope

SYNC_FEED: Final = "sync_catalog"
"""Under which name the dead letters of the sync are kept."""
MOST: Final = 100
"""Most letters of one tenant tried at a time. Value ours."""


async def replay_sync(scope: TenantScope, parts: Services) -> int:
    """Have the worker look again at what it gave up on, and return how much that was.

    Raises: Unavailable, RateLimited, VersionConflict; whatever was not reached stays on record.
    """
    letters = await parts.dead_letters.unresolved(scope, SYNC_FEED, limit=MOST)
    for letter in letters:
        subject, _, id = letter.item_id.partition("-")
        await parts.catalog_queue.hint(scope, Hint(Subject(subject), id, None, ""))
        await parts.dead_letters.resolve(scope, SYNC_FEED, letter.item_id)
    return len(letters)
