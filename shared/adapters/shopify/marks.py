"""How a write of ours is known again at the shop: the mark it carries, and the key the shop tells repeats by.

Both are made of the action's id alone, so a repeat after a crash, by whichever process, bears the same ones. A mark is
proof of a write and no permission for one. Pure. Source: AX-03, fault 070, apis.md §1.10.
"""

from typing import Final
from uuid import UUID, uuid5

_MARK: Final = "vouch:"
_NAMESPACE: Final = UUID("6f1c2c52-6a0f-4f0e-9c57-2f6c8f5a1d3b")
"""Namespace of our keys; changing it would let a refund under way be paid again. Value ours."""


def to_mark(action_id: str) -> str:
    """Return the word by which the action's write is found again in a note."""
    return f"{_MARK}{action_id}"


def bears_mark(note: str | None, action_id: str) -> bool:
    """Tell whether the note holds exactly this action's mark, as a word of its own."""
    return to_mark(action_id) in (note or "").split()


def is_marked(note: str | None) -> bool:
    """Tell whether the note holds the mark of any action."""
    return any(word.startswith(_MARK) for word in (note or "").split())


def to_key(action_id: str) -> str:
    """Return the idempotency key: a UUID, the same for every try of the action (apis.md §1.10, UUIDv5)."""
    return str(uuid5(_NAMESPACE, action_id))
