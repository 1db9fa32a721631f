"""Action records: a grant is consumed and its action stored in one batch, before anything is called.

Source: AX-03, design §6 row actions, design §9 (action ids).
"""

from shared.adapters.records.codec import from_stored, to_document
from shared.domain.errors import AlreadyExists
from shared.domain.ids import ConversationId, CustomerId, TenantId
from shared.domain.wire_model import Wire
from shared.ports.documents import (
    Container,
    Create,
    CustomerScope,
    Documents,
    Replace,
    Stored,
    TenantScope,
    customer_partition,
)


class _ActionRow(Wire):
    """An action of one account: claimed before its call, confirmed after its effect."""

    id: str
    kind: str = "action"
    tenant_id: TenantId
    customer_id: CustomerId
    conversation_id: ConversationId
    grant_id: str
    is_done: bool = False


class _GrantRow(Wire):
    """A consumed grant: its existence is the consumption."""

    id: str
    kind: str = "grant"
    tenant_id: TenantId
    customer_id: CustomerId


class ActionRecords:
    """Implements ActionClaims, one partition an account."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def claim(
        self, scope: TenantScope, account: CustomerId, action_id: str, grant_id: str, conversation: ConversationId
    ) -> bool:
        """Consume the grant and store the action before its call; False when either was used before."""
        customer = CustomerScope(scope.tenant_id, account)
        action = _ActionRow(
            id=f"action:{action_id}",
            tenant_id=scope.tenant_id,
            customer_id=account,
            conversation_id=conversation,
            grant_id=grant_id,
        )
        grant = _GrantRow(id=f"grant:{grant_id}", tenant_id=scope.tenant_id, customer_id=account)
        try:
            await self._documents.batch(
                Container.ACTIONS,
                customer,
                customer_partition(customer),
                (Create(to_document(grant)), Create(to_document(action))),
            )
        except AlreadyExists:
            return False
        return True

    async def is_done(self, scope: TenantScope, account: CustomerId, action_id: str) -> bool:
        """Tell whether the action's effect has been confirmed."""
        stored = await self._read(scope, account, action_id)
        return stored is not None and from_stored(_ActionRow, stored).is_done

    async def confirm(self, scope: TenantScope, account: CustomerId, action_id: str) -> None:
        """Record that the effect happened; repeating it changes nothing."""
        stored = await self._read(scope, account, action_id)
        if stored is None:
            return
        row = from_stored(_ActionRow, stored)
        if not row.is_done:
            customer = CustomerScope(scope.tenant_id, account)
            done = to_document(row.model_copy(update={"is_done": True}))
            await self._documents.batch(
                Container.ACTIONS, customer, customer_partition(customer), (Replace(done, stored.etag),)
            )

    async def _read(self, scope: TenantScope, account: CustomerId, action_id: str) -> Stored | None:
        customer = CustomerScope(scope.tenant_id, account)
        partition = customer_partition(customer)
        return await self._documents.read(Container.ACTIONS, customer, partition, f"action:{action_id}")
