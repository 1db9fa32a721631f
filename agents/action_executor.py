"""Action executor: does what a verified, unconsumed grant allows, once; decides nothing.

Never acts without a verified grant and never repeats a write it cannot prove undone. Its first action is the CRM note;
refunds, cancellations and returns arrive with the governance work behind the same steps. Source: AX-01…03, S2 §1.
"""

from shared.authority.seal import KeyRing
from shared.authority.verify import VerifiedGrant, verify_grant
from shared.domain.deltas import ActionDelta, ActionResult, ActionStatus
from shared.domain.errors import AuthorityError
from shared.domain.grants import SignedGrant
from shared.domain.ids import ConversationId, CustomerId, TenantId
from shared.domain.intents import ActionType
from shared.ports.clock import Clock
from shared.ports.documents import TenantScope
from shared.ports.integrations import CrmNote, CrmWriter
from shared.ports.writers import ActionClaims


async def execute_action(
    signed: SignedGrant,
    note_text: str,
    *,
    base_version: int,
    tenant: TenantId,
    account: CustomerId,
    conversation: ConversationId,
    action_id: str,
    keys: KeyRing,
    clock: Clock,
    claims: ActionClaims,
    crm: CrmWriter,
) -> ActionDelta:
    """Verify the grant, claim the action, do it, confirm it; a repeated call reports the one effect.

    Raises: AuthorityError when the grant does not verify for exactly this action, or was consumed by another one.
    """
    verified = verify_grant(
        signed,
        tenant_id=tenant,
        account_id=account,
        action_type=ActionType.CRM_NOTE,
        action_id=action_id,
        now=clock.now(),
        keys=keys,
    )
    scope = TenantScope(tenant)
    is_first = await claims.claim(scope, account, action_id, verified.grant.grant_id, conversation)
    if is_first or not await claims.is_done(scope, account, action_id):
        await _write_note(verified, note_text, conversation=conversation, crm=crm)
        await claims.confirm(scope, account, action_id)
    executed = ActionResult(type=ActionType.CRM_NOTE.value, status=ActionStatus.EXECUTED, action_id=action_id)
    return ActionDelta(base_version=base_version, confidence=1.0, actions=(executed,))


async def _write_note(verified: VerifiedGrant, text: str, *, conversation: ConversationId, crm: CrmWriter) -> None:
    """Write the note the grant is for; the writer is idempotent by action id, so a repeat after a crash is safe."""
    grant = verified.grant
    if grant.action_type is not ActionType.CRM_NOTE:
        raise AuthorityError(f"grant {grant.grant_id!r} does not allow a note")
    note = CrmNote(
        action_id=grant.action_id,
        tenant_id=grant.tenant_id,
        customer_id=grant.account_id,
        conversation_id=conversation,
        text=text,
    )
    await crm.add_note(note)
