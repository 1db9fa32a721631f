"""Notices: what we tell a customer later, in answer to no message: how an action they asked for has ended.

One batch a notice, told once. It moves neither owner nor status: a conversation a person has is that person's to speak
in, and news of an ended one does not open it again. Source: design §9 "Approvals", faults 005, 110.
"""

from shared.adapters.records.codec import to_document
from shared.adapters.records.settling import Settling
from shared.adapters.records.ticket_rows import CAS_ATTEMPTS
from shared.domain.errors import NotFound, VersionConflict
from shared.domain.ids import ConversationId
from shared.domain.text import MaskedText
from shared.domain.ticket import NoticeRow, OutboxRow, Owner
from shared.ports.documents import Create, Replace, TenantScope


class Notices(Settling):
    """The write that tells a customer something between turns."""

    async def add_notice(
        self, scope: TenantScope, conversation: ConversationId, text: MaskedText, notice_id: str
    ) -> bool:
        """Append the notice and its outbox row in one batch; True when the customer is told, now or before.

        False, and nothing is written, when a person owns the conversation or it is gone. A resolved or closed one is
        still told and stays what it is: the customer was promised to hear here.
        """
        for _ in range(CAS_ATTEMPTS):
            if await self._read(scope, conversation, f"notice:{notice_id}") is not None:
                return True
            try:
                stored, ticket = await self._ticket(scope, conversation)
            except NotFound:
                return False
            if ticket.owner is Owner.PERSON:
                return False
            now, seq = self._clock.now(), ticket.last_seq + 1
            moved = ticket.model_copy(update={"last_seq": seq, "version": ticket.version + 1, "updated_at": now})
            row = NoticeRow(
                id=f"notice:{notice_id}",
                tenant_id=scope.tenant_id,
                conversation_id=conversation,
                customer_id=ticket.customer_id,
                seq=seq,
                text=text,
                at=now,
            )
            out = OutboxRow(
                id=f"out:n{seq}",
                tenant_id=scope.tenant_id,
                conversation_id=conversation,
                customer_id=ticket.customer_id,
                seq=seq,
                text=text,
                at=now,
            )
            operations = (
                Replace(to_document(moved), stored.etag),
                Create(to_document(row)),
                Create(to_document(out)),
            )
            if await self._try_batch(scope, conversation, operations):
                return True
        raise VersionConflict(f"conversation {conversation!r} is changing too fast for a notice")
