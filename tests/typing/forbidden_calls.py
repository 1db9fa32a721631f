"""Never run: each call below is wrong, and its ignore must stay needed. A rule that stops biting fails `mypy`.

Source: conventions "Make the wrong call untypable".
"""

from agents.account_context import read_account
from agents.action_executor import execute_action
from shared.adapters.records.tickets import TicketRecords
from shared.domain.deltas import Snapshot
from shared.domain.drafts import Draft
from shared.domain.grants import SignedGrant
from shared.domain.ids import ConversationId, MessageId, TenantId, turn_instance_id
from shared.domain.text import MaskedText
from shared.domain.turns import DeliverInput
from shared.ports.clock import Clock
from shared.ports.documents import Container, Documents, TenantScope
from shared.ports.integrations import CrmWriter
from shared.ports.models import ClassifyRequest, Embedder
from shared.ports.readers import AccountReader, TicketHistoryReader


async def models_take_masked_text_never_raw(embedder: Embedder) -> None:
    """PV-01."""
    await embedder.embed(["my mail is ana@x.example"])  # type: ignore[list-item]
    ClassifyRequest(message="my mail is ana@x.example")  # type: ignore[arg-type]


def ids_do_not_mix(tenant: TenantId, conversation: ConversationId, message: MessageId) -> None:
    """Ids are NewTypes."""
    turn_instance_id(conversation, tenant, message)  # type: ignore[arg-type]
    turn_instance_id("t1", conversation, message)  # type: ignore[arg-type]


def senders_take_an_approved_reply_never_a_draft(draft: Draft) -> None:
    """SU-03."""
    DeliverInput(turn=None, state=None, base_version=1, approved=draft)  # type: ignore[arg-type]


async def there_is_no_store_call_without_a_scope(documents: Documents) -> None:
    """ME-07."""
    await documents.read(Container.TICKETS, "t1", "t1|c1", "ticket")  # type: ignore[arg-type]
    await documents.read(Container.TICKETS, None, "t1|c1", "ticket")  # type: ignore[arg-type]


async def orders_need_a_customer_scope(accounts: AccountReader, scope: TenantScope) -> None:
    """AC-01, fault 069."""
    await accounts.recent_orders(scope, 3)  # type: ignore[arg-type]


async def agents_take_ports_by_name(
    snapshot: Snapshot, accounts: AccountReader, history: TicketHistoryReader, clock: Clock
) -> None:
    """Conventions: ports are keyword-only."""
    await read_account(snapshot, 1, None, accounts, history, clock)  # type: ignore[call-arg]


async def the_executor_needs_a_signed_grant(crm: CrmWriter) -> None:
    """AX-02."""
    await execute_action(None, "note", crm=crm)  # type: ignore[call-arg, arg-type]


async def replies_of_people_are_masked_too(tickets: TicketRecords, scope: TenantScope, c: ConversationId) -> None:
    """Stored text is masked text (design §3)."""
    await tickets.add_person_reply(scope, c, "call 555", author="p", reply_id="r")  # type: ignore[arg-type]


def snapshots_are_read_only(snapshot: Snapshot) -> None:
    """PR-03."""
    snapshot.metadata.routing["queue"] = "other"  # type: ignore[index]
    snapshot.context.history[0] = None  # type: ignore[index]
    snapshot.message = MaskedText("other")  # type: ignore[misc]


def values_are_frozen(text: MaskedText, grant: SignedGrant) -> None:
    """Conventions: data is frozen."""
    text.value = "raw"  # type: ignore[misc]
    grant.seal = "forged"  # type: ignore[misc]
