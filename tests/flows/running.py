"""The real app on the embedded host, in the test's own process, and everything a test may look at.

Real stores, records, retrieval and checks; only the models are scripted. Source: conventions "Tests".
"""

import json
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import httpx
from azure.functions.meta import Datum

from local.indexing import Fn, index
from local.operations import Ended
from local.product import ProductChanges
from local.replay_check import replay_check
from local.scribe import AlreadyActive
from local.serve import Host, default_app_dir, running_host
from local.worker import Call, Worker, datum
from orchestrators.names import ActivityName, EventName, FlowName
from orchestrators.triggers.starting import case_instance_id
from shared import container
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.action_rows import from_row, to_row
from shared.adapters.records.codec import from_stored, to_document
from shared.adapters.records.ledger import LedgerRecords
from shared.adapters.records.shop import ShopRecords
from shared.domain.actions import Action, ActionState, RefundProposal
from shared.domain.anomalies import COLD_START
from shared.domain.api_key import DeskRole, KeyScope
from shared.domain.case import Case
from shared.domain.governance import Governance
from shared.domain.ids import (
    CaseId,
    ConversationId,
    CustomerId,
    MessageId,
    OrderId,
    action_instance_id,
    turn_instance_id,
)
from shared.domain.intents import ActionType
from shared.domain.ledger import LedgerEntry, TurnRecord, is_intact
from shared.domain.money import Money
from shared.domain.sources import BillingEvent, Order, Profile
from shared.domain.ticket import OutboxRow, Ticket, TurnResult, TurnRow
from shared.ports.documents import (
    Container,
    CustomerScope,
    Query,
    TenantScope,
    Where,
    conversation_partition,
    customer_partition,
)
from shared.settings import Settings
from tests.flows.scripted import Cast
from tests.flows.shop import ANA, ANAS_ORDER, ARTICLES, POLICY, TENANT
from tests.waiting import GIVE_UP_S, until

SCOPE: Final = TenantScope(TENANT)


class WatchedWorker(Worker):
    """The host's worker, remembering what each activity was called with."""

    def __init__(self, fns: Mapping[str, Fn]) -> None:
        super().__init__(fns)
        self.payloads: list[tuple[str, dict[str, Any]]] = []

    async def invoke(self, fn: Fn, data: Mapping[str, Datum], call: Call = Call()) -> Datum | None:  # noqa: B008 - frozen
        """Run one function as the host does."""
        if fn.kind == "activityTrigger":
            self.payloads.append((fn.name, _payload(data[fn.argument].value)))
        return await super().invoke(fn, data, call)


@dataclass(frozen=True, slots=True)
class Sent:
    """A message on its way: who holds it and which instance works on it."""

    conversation: ConversationId
    message: MessageId
    status: int
    body: dict[str, Any]

    @property
    def instance(self) -> str:
        """The turn's instance."""
        return turn_instance_id(TENANT, self.conversation, self.message)


@dataclass(slots=True)
class Flows:
    """The running app."""

    host: Host
    worker: WatchedWorker
    base: container.Services
    http: httpx.AsyncClient
    keys: dict[str, str]
    data_dir: Path
    cast: Cast = field(default_factory=Cast)
    before: set[str] = field(default_factory=set)
    customer: CustomerId = ANA
    """Whose orders and actions a test is about."""

    # -- the stage -----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Put a fresh cast on, and remember which instances are not this test's."""
        self.cast = Cast()
        self.customer = ANA
        self.before = set(self._instances())
        self.play_with()

    def play_with(self, **ports: object) -> None:
        """Put the cast, and other ports of the test, into the container."""
        given: dict[str, Any] = {
            "classifier": self.cast.classifier,
            "escalation_model": self.cast.escalation,
            "screen": self.cast.screen,
            "composer": self.cast.composer,
            "reviewer": self.cast.reviewer,
            **ports,
        }
        container.use(replace(self.base, **given))

    async def end(self) -> None:
        """Check that the script was played and that every instance of the test replays through today's flows."""
        self.cast.assert_complete()
        for instance, name in self._instances().items():
            if instance not in self.before:
                assert self.replayed(instance, name) == (), name

    def replayed(self, instance: str, name: str) -> tuple[str, ...]:
        """Return what today's flow would do otherwise than the finished instance did; nothing while it runs."""
        row = self.host.operations.find(instance)
        if row is None or not row.is_final or row.status == "Terminated":
            return ()
        return replay_check(self.host.store.export_history(instance), self.worker.fns[name].call)

    def _instances(self) -> dict[str, str]:
        found: dict[str, str] = {}
        after = None
        while page := self.host.store.instances(after=after):
            found.update({row.id: row.name for row in page})
            after = (page[-1].created_at, page[-1].id)
        return found

    # -- the customer --------------------------------------------------------------------------------------------------

    async def post(
        self, text: str, *, conversation: str | None = None, customer: str | None = ANA, message: str | None = None
    ) -> Sent:
        """Send a message and do not wait for its turn."""
        where, message = conversation or f"c-{secrets.token_hex(6)}", message or f"m-{secrets.token_hex(6)}"
        headers = {"X-Api-Key": self.keys["secret"], "Prefer": "respond-async"}
        headers |= {"X-Customer-Id": customer} if customer else {}
        response = await self.http.post(
            f"/api/v1/conversations/{where}/messages", json={"text": text, "message_id": message}, headers=headers
        )
        assert response.status_code in {200, 202}, response.text
        return Sent(ConversationId(where), MessageId(message), response.status_code, response.json())

    async def send(self, text: str, *, conversation: str | None = None, customer: str | None = ANA) -> TurnResult:
        """Send a message and return what became of it."""
        return await self.result(await self.post(text, conversation=conversation, customer=customer))

    async def result(self, sent: Sent) -> TurnResult:
        """Return the turn's result once its flow has completed."""
        assert await self.ended(sent.instance) == "Completed", self.host.operations.find(sent.instance)
        result = (await self.turn(sent)).result
        assert result is not None, "the flow ended and the turn did not"
        return result

    async def ended(self, instance: str) -> str:
        """Return the status an instance ended with."""
        await self.found(instance)
        row = await self.host.operations.wait(instance, GIVE_UP_S)
        assert row.is_final, f"{instance} is still {row.status}"
        return row.status

    # -- the desk ------------------------------------------------------------------------------------------------------

    async def desk(self, verb: str, case: str, body: dict[str, Any] | None = None) -> httpx.Response:
        """Act as the person at the desk."""
        headers = {"X-Api-Key": self.keys["desk"]}
        return await self.http.post(f"/api/v1/desk/cases/{case}/{verb}", json=body, headers=headers)

    async def case(self, id: str | None) -> Case:
        """Return a case of the queue."""
        found = await self.base.cases.get(SCOPE, CaseId(str(id)))
        assert found is not None, f"case {id} is not in the queue"
        return found

    async def case_flow(self, case: CaseId) -> str:
        """Return the status the case's wait ended with."""
        return await self.ended(case_instance_id(case))

    async def let_pass(self, case: CaseId) -> None:
        """Let the case's time run out: its wait looks at the store when it is hinted."""
        stored = await self.base.documents.read(Container.CASES, SCOPE, TENANT, case)
        assert stored is not None
        late = from_stored(Case, stored).model_copy(update={"due_at": self.base.clock.now()})
        await self.base.documents.replace(Container.CASES, SCOPE, TENANT, to_document(late), etag=stored.etag)
        await self.found(case_instance_id(case))
        with suppress(Ended):  # a case that has ended by itself has looked
            await self.host.operations.raise_event(case_instance_id(case), EventName.CASE_CHANGED.value, "{}")

    async def edit_ticket(self, conversation: ConversationId, **update: object) -> None:
        """Change the ticket as another part of the product would: conditionally, and with a new version."""
        documents, partition = self.base.documents, conversation_partition(SCOPE, conversation)
        stored = await documents.read(Container.TICKETS, SCOPE, partition, "ticket")
        assert stored is not None
        ticket = from_stored(Ticket, stored)
        edited = ticket.model_copy(update={"version": ticket.version + 1, **update})
        await documents.replace(Container.TICKETS, SCOPE, partition, to_document(edited), etag=stored.etag)

    # -- the shop ------------------------------------------------------------------------------------------------------

    async def newcomer(self) -> None:
        """Go on with a customer nobody has paid before: ceilings count an account's sum."""
        self.customer = CustomerId(f"new-{secrets.token_hex(4)}")
        scope = CustomerScope(TENANT, self.customer)
        await ShopRecords(self.base.documents).put_customer(scope, Profile(customer_id=self.customer, name="New"))

    async def order(self, number: str | None = None, **other: object) -> Order:
        """Give the customer an order of their own, like the shop's first one but for what is said."""
        id = OrderId(number or str(secrets.randbelow(10**9)))
        made = ANAS_ORDER.model_copy(update={"order_id": id, "customer_id": self.customer, **other})
        await put_paid(ShopRecords(self.base.documents), CustomerScope(TENANT, self.customer), made)
        return made

    async def order_now(self, id: OrderId) -> Order:
        """Return the customer's order as the shop has it."""
        found = await self.base.accounts.order(CustomerScope(TENANT, self.customer), id)
        assert found is not None
        return found

    async def govern(self, **settings: object) -> None:
        """Save the shop's policy with this governance."""
        current = await self.base.tenants.policy(SCOPE)
        governed = POLICY.model_copy(update={"governance": Governance.model_validate(settings)})
        await self.base.tenants.save_policy(SCOPE, governed, over_version=current.version, author="test")

    async def paid_before(self, amount_minor: int, times: int = COLD_START) -> None:
        """Let the shop have paid other customers so often: the anomaly monitor has a past to compare with."""
        now = self.base.clock.now()
        for place in range(times):
            scope = CustomerScope(TENANT, CustomerId(f"past-{amount_minor}-{secrets.token_hex(4)}"))
            action = Action(
                id=f"action:past-{place}",
                tenant_id=TENANT,
                customer_id=scope.customer_id,
                action_id=f"past-{place}",
                type=ActionType.REFUND,
                ordinal=1,
                proposal=RefundProposal(order_id=OrderId("1")),
                state=ActionState.EXECUTED,
                amount=Money(amount_minor=amount_minor, currency="USD"),
                policy_version=1,
                conversation_id=ConversationId("past"),
                message_id=MessageId("past"),
                requested_at=now,
                updated_at=now,
                expires_at=now,
                is_told=True,
            )
            await self.base.documents.create(Container.ACTIONS, scope, customer_partition(scope), to_row(action))

    async def action(self, id: str) -> Action:
        """Return an action of the customer's."""
        found = await self.base.actions.get(CustomerScope(TENANT, self.customer), id)
        assert found is not None, f"action {id} is not there"
        return found

    async def edit_action(self, id: str, **update: object) -> None:
        """Change an action behind everybody's back."""
        scope = CustomerScope(TENANT, self.customer)
        stored = await self.base.documents.read(Container.ACTIONS, scope, customer_partition(scope), f"action:{id}")
        assert stored is not None
        edited = from_row(stored).model_copy(update=update)
        await self.base.documents.replace(
            Container.ACTIONS, scope, customer_partition(scope), to_row(edited), etag=stored.etag
        )

    async def action_state(self, id: str, state: ActionState) -> None:
        """Return once the action has come to that state."""

        async def came() -> bool:
            return (await self.action(id)).state is state

        await until(came, f"action {id} is {state}")

    async def action_told(self, id: str) -> None:
        """Return once everybody who asked for the action has been told how it ended."""

        async def came() -> bool:
            return (await self.action(id)).is_told

        await until(came, f"action {id} is told")

    async def case_status(self, id: CaseId, status: str) -> None:
        """Return once the case stands so."""

        async def came() -> bool:
            return (await self.case(id)).status.value == status

        await until(came, f"case {id} is {status}")

    async def hint(self, id: str) -> None:
        """Tell the action's instance to look at the store; one that has ended has looked."""
        with suppress(Ended):
            await self.host.operations.raise_event(action_instance_id(id), EventName.ACTION_CHANGED.value, "{}")

    async def action_ended(self, id: str) -> Action:
        """Return the action once its own instance has seen it through."""
        assert await self.ended(action_instance_id(id)) == "Completed"
        return await self.action(id)

    # -- the records ---------------------------------------------------------------------------------------------------

    async def ticket(self, conversation: str) -> Ticket:
        """Return the conversation's ticket."""
        found = await self.base.tickets.ticket(SCOPE, ConversationId(conversation))
        assert found is not None
        return found

    async def turn(self, sent: Sent) -> TurnRow:
        """Return the row of a message."""
        found = await self.base.tickets.turn(SCOPE, sent.conversation, sent.message)
        assert found is not None
        return found

    async def outbox(self, conversation: str) -> tuple[OutboxRow, ...]:
        """Return what was sent to the customer, in order."""
        rows = await self._rows(
            Container.TICKETS, conversation_partition(SCOPE, ConversationId(conversation)), "outbox"
        )
        return tuple(sorted((OutboxRow.model_validate(row) for row in rows), key=lambda row: row.seq))

    async def chain(self, conversation: str) -> tuple[LedgerEntry, ...]:
        """Return the conversation's ledger, which must be intact."""
        chain = await LedgerRecords(self.base.documents).chain(SCOPE, ConversationId(conversation))
        assert is_intact(chain)
        return chain.entries

    async def record(self, sent: Sent) -> TurnRecord:
        """Return the turn's figures."""
        id = f"turn:{sent.conversation}:{sent.message}"
        stored = await self.base.documents.read(Container.ANALYTICS, SCOPE, TENANT, id)
        assert stored is not None, f"no record {id}"
        return from_stored(TurnRecord, stored)

    async def notes(self, conversation: str, customer: str = ANA) -> list[dict[str, Any]]:
        """Return the CRM notes a conversation led to."""
        partition = customer_partition(CustomerScope(TENANT, ANA))
        rows = await self._rows(Container.SHOP, partition, "note")
        return [row for row in rows if row["conversation_id"] == conversation]

    async def grants(self) -> list[str]:
        """Return the ids of the account's consumed grants."""
        partition = customer_partition(CustomerScope(TENANT, ANA))
        return [str(row["id"]) for row in await self._rows(Container.ACTIONS, partition, "grant")]

    async def _rows(self, kind: Container, partition: str, what: str) -> list[dict[str, Any]]:
        scope = SCOPE if kind is Container.TICKETS else CustomerScope(TENANT, ANA)
        page = await self.base.documents.query(
            kind, scope, Query(partition, where=(Where("kind", "=", what),), limit=500)
        )
        return [dict(item.body) for item in page.items]

    # -- the engine ----------------------------------------------------------------------------------------------------

    def calls(self, sent: Sent, activity: ActivityName) -> list[dict[str, Any]]:
        """Return the payloads an activity was called with for this conversation's turns."""
        return [given for name, given in self.worker.payloads if name == activity and sent.message in json.dumps(given)]

    def requests(self, sent: Sent, activity: ActivityName) -> list[dict[str, Any]]:
        """Return the payloads of the envelopes an agent was asked in."""
        return [json.loads(call["envelope"])["payload"] for call in self.calls(sent, activity)]

    async def start(self, flow: FlowName, instance: str, value: dict[str, Any]) -> None:
        """Start an instance as the app's client does."""
        await self.host.operations.start(flow.value, instance, json.dumps(json.dumps(value)))

    async def wait_for(self, case: CaseId) -> None:
        """Start the case's flow as the change feed does; that it runs already is success."""
        try:
            await self.start(FlowName.HUMAN_HANDOFF, case_instance_id(case), {"tenant_id": TENANT, "case_id": case})
        except AlreadyActive:
            pass

    async def found(self, instance: str) -> None:
        """Return once somebody has started the instance."""
        await until(lambda: self.host.operations.find(instance) is not None, f"{instance} was started")

    def is_quiet(self) -> bool:
        """Tell whether no activity runs and no mail waits, timers apart."""
        return self.host.engine.activities.running == 0 and not self.host.store.inboxes()

    async def called(self, sent: Sent, activity: ActivityName, *, times: int) -> None:
        """Return once the activity has been called that often for the turn."""
        await until(lambda: len(self.calls(sent, activity)) >= times, f"{activity} was called {times} times")

    async def repeat_agent(self, activity: ActivityName, payload: dict[str, Any]) -> dict[str, Any]:
        """Run an agent's activity once more and return the outcome its answer carries."""
        answer = json.loads(await self.repeat(activity, payload))
        outcome: dict[str, Any] = answer["payload"]["outcome"]
        return outcome

    async def repeat(self, activity: ActivityName, payload: dict[str, Any]) -> Any:
        """Run an activity once more, as a crash before its commit makes the host do."""
        fn = self.worker.fns[activity.value]
        result = await self.worker.invoke(fn, {fn.argument: datum(json.dumps(payload), "string")})
        return None if result is None else json.loads(str(result.value))

    async def sweep(self) -> None:
        """Run the sweeper now."""
        await self.host.run_once(self.worker.fns["sweep"])


def _payload(text: str) -> dict[str, Any]:
    value = json.loads(text)
    return json.loads(value) if isinstance(value, str) else value


@asynccontextmanager
async def running_flows(data_dir: Path) -> AsyncIterator[Flows]:
    """Run the app over a fresh data directory with the invented shop in it."""
    services = container.build(Settings(data_dir=data_dir))
    container.use(services)
    worker = WatchedWorker(index(default_app_dir()))
    try:
        keys = await _open_shop(services)
        async with (
            running_host(default_app_dir(), data_dir, change_source=ProductChanges(), worker=worker) as host,
            httpx.AsyncClient(base_url=host.url, timeout=GIVE_UP_S) as http,
        ):
            yield Flows(host, worker, services, http, keys, data_dir)
    finally:
        container.use(None)
        if isinstance(services.documents, SqliteDocuments):
            await services.documents.close()


async def _open_shop(services: container.Services) -> dict[str, str]:
    """Write the shop and return its keys."""
    await services.tenants.create(TENANT, name=POLICY.shop_name)
    await services.tenants.save_policy(SCOPE, POLICY, over_version=1, author="test")
    for article in ARTICLES:
        await services.articles.put(SCOPE, article)
        await services.articles.reembed(SCOPE, article.article_id, services.embedder)
    shop, customer = ShopRecords(services.documents), CustomerScope(TENANT, ANA)
    await shop.put_customer(customer, Profile(customer_id=ANA, name="Ana"))
    await put_paid(shop, customer, ANAS_ORDER)
    issued = {}
    for scope in (KeyScope.SECRET, KeyScope.DESK):
        role = DeskRole.APPROVER if scope is KeyScope.DESK else None
        issued[scope.value] = (await services.keys.issue(SCOPE, scope, owner="test", role=role))[1]
    return issued


async def put_paid(shop: ShopRecords, customer: CustomerScope, order: Order) -> None:
    """Write the order and the charge of it."""
    assert order.placed_at is not None
    charge = BillingEvent(
        event_id=f"charge-{order.order_id}",
        kind="charge",
        amount=order.total,
        order_id=order.order_id,
        at=order.placed_at,
    )
    await shop.put_order(customer, order)
    await shop.put_billing_event(customer, charge)
