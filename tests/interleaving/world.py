"""One shop with two customers, played in any order; and what must hold after every step.

Real records, retrieval aside; real supervisor checks, grants, lanes and billing of the embedded shop; calm scripted
models that say what the message asks them to. Source: faults 004, 005, 012, 014, 035, 070, 072, 082, 083.
"""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from orchestrators.triggers.feeding import await_cases
from orchestrators.triggers.starting import hint_case, start_turn, wake_action
from orchestrators.triggers.sweeping import sweep
from shared import container
from shared.adapters.records.action_rows import from_row, to_row
from shared.adapters.records.codec import from_stored
from shared.adapters.records.shop import ShopRecords
from shared.adapters.records.tickets import Arrival
from shared.domain.actions import Action, ActionOp, ActionRef, ActionState, RefundProposal
from shared.domain.anomalies import COLD_START
from shared.domain.case import Case, CaseStatus
from shared.domain.deltas import Classification, Escalation, Knowledge
from shared.domain.drafts import Check, CheckVerdict, Draft, Sentence, SentenceKind
from shared.domain.errors import StalenessError
from shared.domain.governance import CEILINGS, Governance, Phase
from shared.domain.human_triggers import HumanTrigger
from shared.domain.ids import ConversationId, CustomerId, MessageId, OrderId, TenantId, turn_instance_id
from shared.domain.intents import ActionType, ArticleType, CustomerIntent
from shared.domain.money import Money
from shared.domain.phrases import done_sentence
from shared.domain.policy import TenantPolicy
from shared.domain.sources import BillingEvent, Order, OrderLine, Profile, RetrievalPath, RetrievedArticle
from shared.domain.text import MaskedText, PublishedText
from shared.domain.ticket import OutboxRow, Owner, Ticket, TurnRow
from shared.domain.tiers import Tier
from shared.domain.transitions import TicketOp
from shared.ports.documents import (
    Container,
    CustomerScope,
    PlatformScope,
    Query,
    TenantScope,
    Where,
    customer_partition,
)
from shared.ports.models import ClassifyRequest, ComposeRequest, ReviewRequest, ScreenVerdict
from tests.contracts.manual_clock import ManualClock
from tests.interleaving.engine import Engine

CUSTOMERS: Final = (CustomerId("ana"), CustomerId("ben"))
PRICES: Final = (1_900, 2_400, 9_900)
"""Two orders under the ceilings of phase consolidation, one above; together above the rolling one."""
FACT: Final = "You can return unworn items within 30 days of delivery."
LIE: Final = "You can return unworn items within 90 days of delivery."
MESSAGES: Final = ("refund", "cancel", "question", "lie", "human", "hello", "mumble", "threat")
"""What a customer may say; each names what the scripted models make of it."""
_LONG: Final = 14 * 24 * 3600.0


class _Models:
    """IntentClassifier, EscalationModel, SafetyScreen, ComposerModel, ReviewModel, ArticleSearch: by the message."""

    async def classify(self, request: ClassifyRequest) -> Classification:
        text = request.message.value.split("\n")[-1]
        intents = {"refund": CustomerIntent.REFUND, "cancel": CustomerIntent.ORDER_CANCEL}
        intents |= {"human": CustomerIntent.HUMAN_AGENT, "hello": CustomerIntent.GENERAL_INQUIRY}
        found = next((intent for word, intent in intents.items() if word in text), CustomerIntent.RETURN_EXCHANGE)
        confidence = 0.3 if "mumble" in text else 0.95
        return Classification(
            customer_intent=found, confidence=confidence, is_social="hello" in text, social="greeting"
        )

    async def assess(self, request: Any) -> Escalation:
        is_threat = "threat" in request.message.value
        return Escalation(triggers=(HumanTrigger.LEGAL,) if is_threat else ())

    async def screen(self, texts: Sequence[object]) -> ScreenVerdict:
        return ScreenVerdict(is_blocked=False)

    async def compose(self, request: ComposeRequest) -> Draft:
        done = [(text, a.ref) for a in request.actions if (text := done_sentence(a, "en"))]
        if done:
            parts = tuple(Sentence(text=MaskedText(t), kind=SentenceKind.CLAIM, refs=(ref,)) for t, ref in done)
            return Draft(sentences=parts, language="en", confidence=0.9)
        text = LIE if "lie" in request.snapshot.message.value else FACT
        refs = tuple(a.ref for a in request.knowledge.articles)
        claim = Sentence(text=MaskedText(text), kind=SentenceKind.CLAIM, refs=refs)
        return Draft(sentences=(claim,), language="en", confidence=0.9)

    async def review(self, request: ReviewRequest) -> tuple[CheckVerdict, ...]:
        return (CheckVerdict(check=Check.GROUNDING, is_passed=True),)

    async def search(self, scope: TenantScope, query: MaskedText, **how: Any) -> Knowledge:
        article = RetrievedArticle(
            article_id="returns",  # type: ignore[arg-type]  # an ArticleId by any name
            version=1,
            type=ArticleType.POLICY,
            title=PublishedText("Returns"),
            content=PublishedText(FACT),
            relevance=1.0,
        )
        return Knowledge(articles=(article,), path=RetrievalPath.HYBRID, confidence=0.95, for_intent=how.get("intent"))


class _EverCurrent:
    """The articles of this shop never change: their changes are the subject of other tests."""

    def __init__(self, inner: object) -> None:
        self._inner = inner

    async def stale_refs(self, scope: TenantScope, refs: object) -> tuple[()]:
        return ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class World:
    """A tenant of its own on shared services, its engine, and the rules it must keep."""

    def __init__(self, base: container.Services, clock: ManualClock) -> None:
        models: Any = _Models()
        given: dict[str, Any] = {
            "classifier": models,
            "escalation_model": models,
            "screen": models,
            "composer": models,
            "reviewer": models,
            "shadow_reviewer": models,
            "search": models,
            "articles": _EverCurrent(base.articles),
            "pager": _Pager(),
        }
        self.parts = replace(base, **given)
        self.clock = clock
        self.engine = Engine(clock)
        self.tenant = TenantId(f"t-{secrets.token_hex(6)}")
        self.scope = TenantScope(self.tenant)
        self.seen_out: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.owners: dict[str, Owner] = {}
        container.use(self.parts)

    async def open(self, phase: Phase) -> None:
        """Open the shop."""
        container.use(self.parts)
        await self.parts.tenants.create(self.tenant, name="Mill", tier=Tier.STARTER)
        policy = TenantPolicy(shop_name="Mill", governance=Governance(phase=phase))
        await self.parts.tenants.save_policy(self.scope, policy, over_version=1, author="test")
        shop = ShopRecords(self.parts.documents)
        for customer in CUSTOMERS:
            scope = CustomerScope(self.tenant, customer)
            await shop.put_customer(scope, Profile(customer_id=customer, name=customer))
            for place, price in enumerate(PRICES):
                order = self._order(customer, place, price)
                await shop.put_order(scope, order)
                await shop.put_billing_event(scope, self._charge(order))
        for place in range(COLD_START):
            await self._past(place)

    # -- what happens --------------------------------------------------------------------------------------------------

    async def say(self, customer: int, chat: int, what: str, order: int) -> None:
        """Accept a message and start its turn, unless the starter dies in between."""
        who = CUSTOMERS[customer]
        conversation, message = ConversationId(f"{who}-{chat}"), MessageId(secrets.token_hex(6))
        named = f" order {_number(who, order)}" if what in ("refund", "cancel") else ""
        arrival = Arrival(
            conversation_id=conversation,
            message_id=message,
            instance_id=turn_instance_id(self.tenant, conversation, message),
            masked_text=MaskedText(f"please {what}{named}"),
            body_hmac=message,
            channel="web",
            language="en",
            trace_id="",
            customer_id=who,
            secret_hash="",
        )
        accepted = await self.parts.tickets.accept(self.scope, arrival)
        await start_turn(self.engine, accepted.row, self.parts)  # type: ignore[arg-type]  # the engine is the client

    async def step(self, place: int, *, is_twice: bool) -> None:
        """Do one of the things that could be done now."""
        ready = self.engine.ready()
        if ready:
            instance, task = ready[place % len(ready)]
            await instance.do(task, is_twice=is_twice)

    async def feed(self) -> None:
        """Let the change feed of cases come, as often as it likes."""
        await await_cases([_Document(case) for case in await self._cases()], self.engine)  # type: ignore[arg-type]

    async def desk(self, verb: str, place: int) -> None:
        """Let a person do something about a case; what is not possible then is refused and changes nothing."""
        cases = await self._cases()
        if not cases:
            return
        case = cases[place % len(cases)]
        try:
            await self._desk(verb, case)
        except StalenessError:
            return

    async def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.advance(seconds)

    async def sweep(self) -> None:
        """Let the sweeper come."""
        await sweep(self.engine, self.parts)  # type: ignore[arg-type]  # the engine is the client

    async def come_to_rest(self) -> None:
        """Let everything go on until nothing is left to do, long after the last deadline."""
        for _ in range(6):
            for _ in range(2_000):
                if not self.engine.ready():
                    break
                await self.step(0, is_twice=False)
            await self.feed()
            await self.pass_time(_LONG / 3)
            await self.sweep()
        while self.engine.ready():
            await self.step(0, is_twice=False)

    # -- what must hold ------------------------------------------------------------------------------------------------

    async def check(self) -> None:
        """Hold every rule against the store as it is now."""
        await self.check_talk()
        await self._check_money()

    async def check_talk(self) -> None:
        """Hold what was said against who owns the conversation; cheap enough for every step."""
        tickets = await self._all(Container.TICKETS, "ticket", Ticket)
        turns = {
            f"out:{row.seq}|{row.conversation_id}": row for row in await self._all(Container.TICKETS, "turn", TurnRow)
        }
        for out in await self._all(Container.TICKETS, "outbox", OutboxRow):
            key = f"{out.id}|{out.conversation_id}"
            if key not in self.seen_out:
                self.seen_out[key] = out.text.value
                self._check_sent(out, turns.get(key))
            assert self.seen_out[key] == out.text.value, "what was sent is changed"
        for ticket in tickets:
            before = self.versions.get(ticket.conversation_id, -1)
            assert ticket.version >= before, "the version fell"
            self.versions[ticket.conversation_id] = ticket.version
            self.owners[ticket.conversation_id] = ticket.owner

    async def check_rest(self) -> None:
        """Hold what must be true in the end: nobody waits unseen, nothing is half done."""
        await self.check()
        for case in await self._cases():
            is_seen = case.status is not CaseStatus.OPEN or case.is_paged
            assert is_seen, f"case {case.id} {case.triggers} waits unseen"
        for row in await self._all(Container.TICKETS, "turn", TurnRow):
            assert row.result is not None, f"turn {row.message_id} never ended"
        for action in await self._actions():
            assert action.state in (ActionState.EXECUTED, ActionState.REFUSED, ActionState.EXPIRED), action.state
            assert await self._is_told(action), f"nobody was told of action {action.action_id}: {action.state}"

    async def _is_told(self, action: Action) -> bool:
        """Tell whether everybody who asked knows how it ended, or is a person's who sees it on their case."""
        if action.is_told:
            return True
        askers = {asker.conversation_id for asker in action.askers}
        tickets = [t for t in await self._all(Container.TICKETS, "ticket", Ticket) if t.conversation_id in askers]
        theirs = {t.case_id for t in tickets if t.owner is Owner.PERSON}
        shown = [c.proposed for c in await self._cases() if c.id in theirs]
        return bool(shown) and all(any(p.action_id == action.action_id for p in proposed) for proposed in shown)

    def _check_sent(self, out: OutboxRow, turn: TurnRow | None) -> None:
        assert LIE not in out.text.value, "an unapproved draft was sent"
        if out.id.startswith("out:p"):
            return
        was_persons = self.owners.get(out.conversation_id) is Owner.PERSON
        is_handoff = turn is not None and turn.result is not None and turn.result.case_id is not None
        assert not was_persons or is_handoff, "the bot spoke where a person owns the conversation"
        if FACT in out.text.value:
            assert turn is not None
            assert turn.result is not None
            assert set(turn.result.verdicts) == {check.value for check in Check}
            assert all(turn.result.verdicts.values())

    async def _check_money(self) -> None:
        ceiling = CEILINGS[Phase.CONSOLIDATION, Tier.STARTER]
        for customer in CUSTOMERS:
            scope = CustomerScope(self.tenant, customer)
            alone = 0
            paid: dict[OrderId, int] = {}
            for action in await self._actions(scope):
                if action.state is not ActionState.EXECUTED or action.effect is None:
                    continue
                assert action.starts >= 1
                amount = action.effect.amount.amount_minor if action.effect.amount else 0
                assert action.approved_by, "done without an approval"
                if action.type in (ActionType.REFUND, ActionType.CANCEL_ORDER):
                    order: OrderId = action.proposal.order_id  # type: ignore[union-attr]  # both have one
                    paid[order] = paid.get(order, 0) + amount
                    if action.approved_by.startswith("policy:"):
                        assert amount <= ceiling.single_minor, "above the single ceiling"
                        alone += amount
            assert alone <= ceiling.rolling_minor, "above the rolling ceiling"
            for place, price in enumerate(PRICES):
                order = _number(customer, place)
                real = await self.parts.accounts.order(scope, order)
                assert real is not None
                refunded = real.refunded.amount_minor if real.refunded else 0
                assert refunded == paid.get(order, 0) <= price, (order, refunded, paid)

    # -- reading -------------------------------------------------------------------------------------------------------

    async def _desk(self, verb: str, case: Case) -> None:
        parts = self.parts
        if verb == "claim":
            await parts.cases.claim(self.scope, case.id, "eve")
        elif verb in ("release", "resolve") and case.action_id is None:
            status = CaseStatus.RELEASED if verb == "release" else CaseStatus.RESOLVED
            await parts.cases.close(self.scope, case.id, status)
            ticket = await parts.tickets.ticket(self.scope, case.conversation_id)
            if ticket is not None and ticket.owner is Owner.PERSON and ticket.case_id == case.id:
                op = TicketOp.RELEASE if verb == "release" else TicketOp.RESOLVE
                await parts.tickets.move(self.scope, case.conversation_id, op)
        elif verb == "reply" and case.status is CaseStatus.CLAIMED and case.action_id is None:
            await parts.tickets.add_person_reply(
                self.scope,
                case.conversation_id,
                MaskedText("A word of mine."),
                author="eve",
                reply_id=secrets.token_hex(4),
            )
        elif verb in ("approve", "reject") and case.action_id is not None and case.customer_id is not None:
            scope = CustomerScope(self.tenant, case.customer_id)
            op = ActionOp.APPROVE if verb == "approve" else ActionOp.REFUSE
            action = await parts.actions.get(scope, case.action_id)
            amount = action.amount if action is not None else None
            await parts.actions.decide(
                scope, case.action_id, op, reason="a person said so", by="person:eve", amount=amount
            )
            ref = ActionRef(tenant_id=self.tenant, account_id=case.customer_id, action_id=case.action_id)
            await wake_action(self.engine, ref)  # type: ignore[arg-type]  # the engine is the client
        await hint_case(self.engine, case.id)  # type: ignore[arg-type]  # the engine is the client

    async def _cases(self) -> list[Case]:
        return await self._all(Container.CASES, "case", Case)

    async def _actions(self, scope: CustomerScope | None = None) -> list[Action]:
        actions = await self._all(Container.ACTIONS, "action", Action)
        real = [a for a in actions if a.conversation_id != "past"]
        return [a for a in real if scope is None or a.customer_id == scope.customer_id]

    async def _all(self, where: Container, kind: str, model: type[Any]) -> list[Any]:
        rows = [Where("kind", "=", kind), Where("tenant_id", "=", self.tenant)]
        query = Query(None, where=tuple(rows), limit=1_000, reason="a test looks at everything")
        page = await self.parts.documents.query(where, PlatformScope("a test looks at everything"), query)
        if model is Action:
            return [from_row(stored) for stored in page.items]
        return [from_stored(model, stored) for stored in page.items]

    def _order(self, customer: CustomerId, place: int, price: int) -> Order:
        money = Money(amount_minor=price, currency="USD")
        return Order(
            order_id=_number(customer, place),
            customer_id=customer,
            status="processing",
            lines=(OrderLine(title="Linen shirt", sku="LS-1", quantity=1, unit_price=money),),
            total=money,
        )

    def _charge(self, order: Order) -> BillingEvent:
        return BillingEvent(
            event_id=f"charge-{order.order_id}",
            kind="charge",
            amount=order.total,
            order_id=order.order_id,
            at=self.clock.now(),
        )

    async def _past(self, place: int) -> None:
        scope, now = CustomerScope(self.tenant, CustomerId(f"past-{place}")), self.clock.now()
        action = Action(
            id="action:past",
            tenant_id=self.tenant,
            customer_id=scope.customer_id,
            action_id="past",
            type=ActionType.REFUND,
            ordinal=1,
            proposal=RefundProposal(order_id=OrderId("1")),
            state=ActionState.EXECUTED,
            amount=Money(amount_minor=2_000, currency="USD"),
            policy_version=1,
            conversation_id=ConversationId("past"),
            message_id=MessageId("past"),
            requested_at=now,
            updated_at=now,
            expires_at=now + timedelta(days=1),
            is_told=True,
        )
        await self.parts.documents.create(Container.ACTIONS, scope, customer_partition(scope), to_row(action))


class _Pager:
    """On-call that always answers."""

    async def page(self, tenant: object, case: object) -> None:
        """Take note."""


class _Document(dict[str, Any]):
    """A case as the change feed brings it."""

    def __init__(self, case: Case) -> None:
        super().__init__(case.model_dump(mode="json"))


def _number(customer: CustomerId, place: int) -> OrderId:
    return OrderId(f"{1 + CUSTOMERS.index(customer)}00{place}")
