"""Ids: every kind has its own type, one alphabet and one parser.

Owns how ids look and how derived ids are hashed; never generates random ones (the IdSource port does).
Source: design §3 "Accept first", §7 (ids `[A-Za-z0-9._-]{1,64}`).
"""

import hashlib
import re
from typing import Final, NewType

from shared.domain.errors import SchemaError

TenantId = NewType("TenantId", str)
"""The merchant."""
CustomerId = NewType("CustomerId", str)
"""The shopper, as the merchant names them (Shopify: numeric legacyResourceId)."""
ConversationId = NewType("ConversationId", str)
MessageId = NewType("MessageId", str)
"""Chosen by the sender; makes a send idempotent within its conversation."""
ArticleId = NewType("ArticleId", str)
OrderId = NewType("OrderId", str)
"""An order as the customer and the shop write it, without a leading `#`."""
CaseId = NewType("CaseId", str)
KeyId = NewType("KeyId", str)
InstanceId = NewType("InstanceId", str)
"""Durable orchestration instance."""
TraceId = NewType("TraceId", str)
SourceRef = NewType("SourceRef", str)
"""`article:{id}@{version}`, `order:{id}`, `profile:{customer}` or `policy:{version}`."""

ID_PATTERN: Final = r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"
"""Alphabet and length of every id that arrives from outside. It does not begin with a dot: `.` and `..` are paths.
Source: design §7."""
INSTANCE_DIGEST_CHARS: Final = 40
"""Hex characters of the digest in an instance id; Durable allows 100 in all. Source: design §3."""

_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")


def is_id(text: str) -> bool:
    """Tell whether the text is a well-formed external id."""
    return _ID.fullmatch(text) is not None


def parse_id(text: str, kind: str) -> str:
    """Return the id unchanged.

    Raises: SchemaError naming the kind, never echoing the hostile value, when the alphabet or length is wrong.
    """
    if not is_id(text):
        raise SchemaError(f"{kind} must match {ID_PATTERN}")
    return text


def digest(*parts: str) -> str:
    """Return the SHA-256 hex digest of length-prefixed parts, so that ("ab", "c") and ("a", "bc") differ."""
    h = hashlib.sha256()
    for part in parts:
        raw = part.encode()
        h.update(len(raw).to_bytes(8, "big"))
        h.update(raw)
    return h.hexdigest()


def turn_instance_id(tenant: TenantId, conversation: ConversationId, message: MessageId) -> InstanceId:
    """Return the one orchestration instance id of a message: starting it twice starts it once."""
    return InstanceId("t-" + digest(tenant, conversation, message)[:INSTANCE_DIGEST_CHARS])


def case_id(tenant: TenantId, conversation: ConversationId, message: MessageId) -> CaseId:
    """Return the one case id a turn can open, so that a repeated handoff opens the same case."""
    return CaseId("c-" + digest("case", tenant, conversation, message)[:INSTANCE_DIGEST_CHARS])


def article_ref(article: ArticleId, version: int) -> SourceRef:
    """Return the reference that pins one immutable version of an article."""
    return SourceRef(f"article:{article}@{version}")


def order_ref(order: OrderId) -> SourceRef:
    """Return the reference of an order that belongs to the asking customer."""
    return SourceRef(f"order:{order}")


def approval_case_id(action_id: str) -> CaseId:
    """Return the one case in which a person decides about an action."""
    return CaseId("ac-" + digest("approval", action_id)[:INSTANCE_DIGEST_CHARS])


def action_instance_id(action_id: str) -> InstanceId:
    """Return the one instance that waits for an approved action and runs it."""
    return InstanceId("a-" + action_id)


def action_ref(action_id: str) -> SourceRef:
    """Return the reference of something that was done in this turn."""
    return SourceRef(f"action:{action_id}")
