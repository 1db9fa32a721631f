"""The vault: tokens and the contacts they stand for, encrypted, one conversation at a time.

Owns the shapes of what is stored (mask rows, key rows) and who may do what: a holder of MaskReader restores, a holder
of MaskWriter masks, the stores behind them see ciphertext only. Never holds a plain value in a row.
Source: PV-01, PV-02, design §6 rows `masks` and `vault_keys`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, Protocol

from pydantic import Field

from shared.domain.ids import ConversationId, CustomerId, TenantId
from shared.domain.text import MaskedText
from shared.domain.wire_model import Wire
from shared.ports.documents import CustomerScope, TenantScope

MASK_TTL_DAYS: Final = 7
"""Days a mapping lives; written once, never prolonged. Source: PV-02, S1 "PII protection"."""
RENEW_BELOW_H: Final = 48
"""Hours: a value mentioned with less left than this gets a new token. Source: design §6 row `masks`."""


class ContactKind(StrEnum):
    """What kind of contact a value is; the word is the prefix of its token."""

    EMAIL = "email"
    PHONE = "phone"


@dataclass(frozen=True, slots=True)
class TokenMapping:
    """One token and what it stands for, as the customer wrote it. Personal: never logged, never stored plain."""

    token: str
    kind: ContactKind
    value: str

    def __repr__(self) -> str:
        """Name the token only, so that a trace or an assertion shows no value."""
        return f"TokenMapping({self.token})"


@dataclass(frozen=True, slots=True)
class Masked:
    """A masked text and the mapping of each token the masking put into it, once."""

    text: MaskedText
    mappings: tuple[TokenMapping, ...]


@dataclass(frozen=True, slots=True)
class ConversationScope:
    """The right to one conversation's mappings; the customer once their identity is proven."""

    tenant_id: TenantId
    conversation_id: ConversationId
    customer_id: CustomerId | None = None

    @property
    def owner(self) -> TenantScope | CustomerScope:
        """Whose data key protects what is written now."""
        if self.customer_id is None:
            return TenantScope(self.tenant_id)
        return CustomerScope(self.tenant_id, self.customer_id)


class MaskRow(Wire):
    """One mapping as stored, in partition `tenant|conversation` of container `masks`."""

    id: str
    """HMAC of value and generation, so that two writers of one value meet at one row."""
    token: str
    kind: Literal["email", "phone"]
    ciphertext: str
    """The value under the data key `key_id`, bound to tenant, conversation and token."""
    key_id: str
    generation: int = Field(ge=1)
    created_at: datetime
    expires_at: datetime
    """MASK_TTL_DAYS after created_at; the store deletes the row then."""
    customer_id: CustomerId | None = None


class KeyRow(Wire):
    """One wrapped data key, in partition `tenant` of container `vault_keys`. Deleting it shreds what it encrypted."""

    id: str
    """`data:tenant`, `data:customer:{customer}` or `data:conversation:{conversation}`."""
    key_id: str
    """Fresh for each key, so that a key made after destruction is not taken for the old one."""
    wrapped: str
    created_at: datetime
    customer_id: CustomerId | None = None
    conversation_id: ConversationId | None = None


class MaskRows(Protocol):
    """Storage of mask rows. Raises (every method): Unavailable, RateLimited."""

    async def list(self, scope: ConversationScope) -> tuple[MaskRow, ...]:
        """Return every row of the conversation, in no particular order; expired ones may still be among them."""
        ...

    async def create(self, scope: ConversationScope, row: MaskRow) -> MaskRow:
        """Store the row if its id is absent; return the row that is stored now, which may be another's."""
        ...

    async def delete_all(self, scope: ConversationScope) -> int:
        """Delete every row of the conversation, for erasure; return how many there were."""
        ...


class KeyRows(Protocol):
    """Storage of wrapped data keys. Raises (every method): Unavailable, RateLimited."""

    async def read(self, scope: TenantScope, id: str) -> KeyRow | None:
        """Return the key row, or None."""
        ...

    async def find(self, scope: TenantScope, key_id: str) -> KeyRow | None:
        """Return the row of the key with that id, whosever it is, or None."""
        ...

    async def create(self, scope: TenantScope, row: KeyRow) -> KeyRow:
        """Store the row if its id is absent; return the row that is stored now."""
        ...

    async def delete(self, scope: TenantScope, id: str) -> bool:
        """Delete the row for good; tell whether there was one."""
        ...


class KeyWrapper(Protocol):
    """The master key, which never leaves its place: Key Vault, or a key file on a laptop."""

    async def wrap(self, key: bytes, *, bound_to: str) -> str:
        """Return the data key encrypted under the master key, as text that names the master key's version.

        `bound_to` names tenant and row; an adapter whose service knows no associated data may leave it out.
        Raises: Unavailable.
        """
        ...

    async def unwrap(self, wrapped: str, *, bound_to: str) -> bytes:
        """Return the data key. Raises: Unavailable; AuthorityError when it was wrapped by another key or moved."""
        ...


class MaskReader(Protocol):
    """Gives values back to readers who are entitled to them; checking that they are is the caller's."""

    async def restore_text(self, scope: ConversationScope, text: MaskedText, *, language: str) -> str:
        """Return approved text with its values, ready to deliver; altered tokens are restored when unambiguous.

        Raises: RestoreError (a GroundingError) when a token could mean none or several values: hold the text.
        """
        ...

    async def restore_stored(
        self, scope: ConversationScope, texts: Sequence[MaskedText], *, language: str
    ) -> tuple[str, ...]:
        """Return stored messages as they were written, with one read for all. Never guesses; no text makes it raise."""
        ...


class MaskWriter(Protocol):
    """Masks inbound text. Holding it gives no way to restore another conversation's values."""

    async def mask_message(
        self, scope: ConversationScope, text: str, *, regions: tuple[str, ...], exempt: frozenset[str]
    ) -> Masked:
        """Return the masked text; its mappings are stored before this returns."""
        ...
