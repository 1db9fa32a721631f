"""GET …/turns/{mid}/proof: what vouches for a turn, read back from the ledger by those who may."""

import asyncio
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import pytest

from agents.analytics_recorder import record_turn
from orchestrators.activities.proofs import prove_turn
from orchestrators.triggers.proofs import RECORDED_WITHIN
from shared.adapters.records.tickets import Arrival, Settled
from shared.domain.agents import AgentName, MessageIntent
from shared.domain.deltas import Account, ActionResult, ActionStatus, Knowledge, Metadata, Snapshot, TurnState
from shared.domain.drafts import (
    ApprovedReply,
    Check,
    CheckVerdict,
    Draft,
    Review,
    Sentence,
    SentenceKind,
    draft_hash,
)
from shared.domain.envelope import EnvelopeHeader
from shared.domain.ids import (
    ConversationId,
    CustomerId,
    InstanceId,
    MessageId,
    OrderId,
    SourceRef,
    TenantId,
    digest,
    turn_instance_id,
)
from shared.domain.intents import ArticleType
from shared.domain.money import Money
from shared.domain.sources import Order, RetrievedArticle
from shared.domain.text import MaskedText, PublishedText
from shared.domain.ticket import ActionShown, Outcome, SourceShown, TurnResult
from shared.domain.turns import StepTimes
from shared.ports.documents import CustomerScope, TenantScope
from tests.surface.api.conftest import Api, Shop, conversation_id, is_problem, visitor

SENTENCE: Final = "You can return unworn items within 30 days."
CONTENT: Final = f"We like returns. {SENTENCE} Gift cards are final."
TOKEN: Final = "[email:1f6cbf5b]"
AT: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@dataclass
class Told:
    """A conversation in which one message was answered and recorded, as a turn's flow does it."""

    api: Api
    shop: Shop
    conversation: str
    customer: str | None

    @property
    def scope(self) -> TenantScope:
        """The tenant's scope."""
        return TenantScope(TenantId(self.shop.tenant_id))

    @property
    def path(self) -> str:
        """Where the proof is read."""
        return f"/api/v1/conversations/{self.conversation}/turns/m-1/proof"

    def read(self, *, key: str = "secret", headers: dict[str, str] | None = None) -> httpx.Response:
        """Read the proof."""
        return self.shop.call("GET", self.path, key=key, headers=headers)

    def proof(self) -> dict[str, Any]:
        """Return the proof as the tenant's server reads it."""
        answer = self.read()
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def happen(self, *, is_recorded: bool = True) -> None:
        """Accept, answer and record."""
        services, message = self.api.services, MessageId("m-1")
        conversation, customer = ConversationId(self.conversation), CustomerId(self.customer) if self.customer else None
        accepted = await services.tickets.accept(
            self.scope,
            Arrival(
                conversation_id=conversation,
                message_id=message,
                instance_id=turn_instance_id(self.scope.tenant_id, conversation, message),
                masked_text=MaskedText("May I return them?"),
                body_hmac="h",
                channel="api",
                language="en",
                trace_id="f" * 32,
                customer_id=customer,
                secret_hash="",
            ),
        )
        state = self._state(conversation, customer)
        approved = _approved()
        proof = await prove_turn(
            state, approved=approved, articles=services.articles, actions=services.actions, sealer=services.proofs
        )
        result = TurnResult(
            outcome=Outcome.ANSWERED,
            reply=approved.draft.text,
            intent="return_exchange",
            sources=(
                SourceShown(ref="article:returns@1", title="Returns"),
                SourceShown(ref="order:1001", title="#1001"),
            ),
            actions=(ActionShown(type="refund", status="pending_approval", action_id="a1"),),
            verdicts={check.value: True for check in Check},
        )
        settled = await services.tickets.deliver(
            self.scope, conversation, message, accepted.ticket.version, result, proof
        )
        assert settled is Settled.DONE
        if is_recorded:
            row = await services.tickets.turn(self.scope, conversation, message)
            assert row is not None
            await record_turn(
                row,
                StepTimes(),
                _trail(),
                await services.tickets.proof(self.scope, conversation, message),
                at=AT,
                pseudonyms=services.proofs,
                ledger=services.ledger,
                analytics=services.analytics,
            )

    def _state(self, conversation: ConversationId, customer: CustomerId | None) -> TurnState:
        tenant = self.scope.tenant_id
        order = Order(
            order_id=OrderId("1001"),
            customer_id=customer or CustomerId("nobody"),
            status="shipped",
            total=Money(amount_minor=4_200, currency="USD"),
        )
        asked = ActionResult(
            type="refund", status=ActionStatus.PENDING_APPROVAL, action_id="a1", amount_minor=500, currency="USD"
        )
        return TurnState(
            snapshot=Snapshot(
                conversation_id=conversation,
                tenant_id=tenant,
                message=MaskedText("May I return them?"),
                metadata=Metadata(timestamp=AT),
                message_id=MessageId("m-1"),
                instance_id=InstanceId("t-1"),
                customer_id=customer,
                policy_version=2,
            ),
            knowledge=Knowledge(
                articles=(
                    RetrievedArticle(
                        article_id="returns",  # type: ignore[arg-type]
                        version=1,
                        type=ArticleType.POLICY,
                        title=PublishedText("Returns"),
                        content=PublishedText(SENTENCE),
                        relevance=0.9,
                    ),
                )
            ),
            account=Account(orders=(order,)),
            decisions=(asked,),
        )


def _approved() -> ApprovedReply:
    sentences = (
        Sentence(text=MaskedText(SENTENCE), kind=SentenceKind.CLAIM, refs=(SourceRef("article:returns@1"),)),
        Sentence(text=MaskedText(f"We write to {TOKEN}."), kind=SentenceKind.CLAIM, refs=(SourceRef("order:1001"),)),
    )
    draft = Draft(sentences=sentences, language="en", confidence=0.9)
    verdicts = tuple(CheckVerdict(check=check, is_passed=True, reason=f"{check.value} holds") for check in Check)
    return ApprovedReply(draft=draft, review=Review(draft_hash=draft_hash(draft), verdicts=verdicts), scope="", seal="")


def _trail() -> tuple[EnvelopeHeader, ...]:
    return (
        EnvelopeHeader(
            msg_id="msg-1",
            parent_msg_id=None,
            sender_agent=AgentName.SUPERVISOR,
            recipient_agent=AgentName.RESPONSE_COMPOSER,
            intent=MessageIntent.REQUEST,
            confidence=1.0,
            source_refs=(SourceRef("article:returns@1"), SourceRef("order:1001")),
            is_write=False,
            attempt_count=1,
            timestamp=AT,
            text_hash="a" * 64,
        ),
    )


@pytest.fixture
def told(api: Api, shop: Shop) -> Told:
    """Ana's conversation with its article published."""
    publish(shop, CONTENT)
    return tell(api, shop)


def tell(api: Api, shop: Shop, customer: str | None = "ana", *, is_recorded: bool = True) -> Told:
    """Return a conversation in which a message was answered."""
    found = Told(api, shop, conversation_id(), customer)
    asyncio.run(found.happen(is_recorded=is_recorded))
    return found


def publish(shop: Shop, content: str) -> None:
    """Publish the article."""
    article = {"type": "policy", "title": "Returns", "content": content}
    assert shop.call("PUT", "/api/v1/articles/returns", key="admin", json=article).status_code == 200


def edit(api: Api, conversation: str, sql: str, only: str = "") -> None:
    """Change the conversation's ledger in the database, behind the product's back."""
    db = sqlite3.connect(api.data_dir / "vouch.db", timeout=10)
    with db:
        where = f"where container = 'ledger' and partition like ? {only}"
        changed = db.execute(f"{sql} {where}", (f"%|{conversation}",)).rowcount
    db.close()
    assert changed


@pytest.mark.req("CO-03", "KB-10")
def test_each_sentence_is_shown_with_its_sources_down_to_the_characters(told: Told) -> None:
    """Source: design §7 ("article, version, span, text hash")."""
    quoted, recorded = told.proof()["sentences"]

    (source,) = quoted["sources"]
    start = CONTENT.index(SENTENCE)
    assert (quoted["text"], quoted["kind"]) == (SENTENCE, "claim")
    assert source == {
        "ref": "article:returns@1",
        "title": "Returns",
        "version": 1,
        "span": {"start": start, "end": start + len(SENTENCE)},
        "text_hash": digest(SENTENCE),
        "quote": SENTENCE,
        "still_current": True,
    }
    (order,) = recorded["sources"]
    assert (order["ref"], order["version"], order["span"], order["still_current"]) == ("order:1001", None, None, None)
    assert len(order["text_hash"]) == 64


@pytest.mark.req("KB-10")
def test_a_proof_stays_checkable_after_its_article_changed_and_went(api: Api) -> None:
    """The pinned version is immutable; only its being current is over."""
    shop = api.new_shop()
    publish(shop, CONTENT)
    told = tell(api, shop)

    publish(shop, "Nothing can be returned any more.")
    changed = told.proof()["sentences"][0]["sources"][0]
    assert shop.call("DELETE", "/api/v1/articles/returns", key="admin").status_code == 204
    gone = told.proof()["sentences"][0]["sources"][0]

    for source in (changed, gone):
        assert source["still_current"] is False
        assert (source["version"], source["quote"], source["text_hash"]) == (1, SENTENCE, digest(SENTENCE))


@pytest.mark.req("SU-01", "PR-01", "PR-02")
def test_verdicts_actions_and_messages_are_shown(told: Told) -> None:
    """Every check with its reason, every action with its approval, the chain of envelopes."""
    proof = told.proof()

    assert {v["check"]: (v["passed"], v["reason"]) for v in proof["verdicts"]} == {
        check.value: (True, f"{check.value} holds") for check in Check
    }
    (action,) = proof["actions"]
    assert (action["type"], action["decided"], action["status"]) == ("refund", "pending_approval", "pending_approval")
    assert (action["amount_minor"], action["currency"], action["approved_by"]) == (500, "USD", "")
    (message,) = proof["messages"]
    assert (message["msg_id"], message["sender_agent"], message["intent"]) == ("msg-1", "supervisor", "request")
    assert message["source_refs"][0] == "article:returns@1"
    assert message["source_refs"][1].startswith("order:~")
    assert (proof["outcome"], proof["evidence"], proof["is_approved"]) == ("answered", "readable", True)
    assert (proof["policy_version"], proof["language"], proof["trace_id"]) == (2, "en", "f" * 32)


@pytest.mark.req("PV-01")
def test_masked_text_stays_masked_in_a_proof(told: Told) -> None:
    """Whoever checks a proof needs no e-mail address."""
    assert TOKEN in told.proof()["sentences"][1]["text"]


@pytest.mark.req("ME-06")
def test_the_entrys_place_in_an_intact_chain_is_shown(told: Told) -> None:
    """The first entry follows from nothing."""
    chain = told.proof()["ledger"]

    assert chain["position"] == 1
    assert chain["previous_hash"] == "0" * 64
    assert len(chain["entry_hash"]) == 64
    assert chain["intact"] is True


@pytest.mark.req("ME-06")
@pytest.mark.parametrize(
    ("sql", "evidence"),
    [
        ("update documents set body = replace(body, '\"answered\"', '\"escalated\"')", "readable"),
        ("update documents set body = replace(body, 'v1.', 'v1.AAAA')", "broken"),
    ],
    ids=["an edited outcome", "another ciphertext"],
)
def test_a_proof_whose_chain_was_tampered_with_says_so(api: Api, shop: Shop, sql: str, evidence: str) -> None:
    """Changed in the database itself, behind the product's back."""
    publish(shop, CONTENT)
    told = tell(api, shop)

    edit(api, told.conversation, sql)

    proof = told.proof()
    assert proof["ledger"]["intact"] is False
    assert proof["evidence"] == evidence


@pytest.mark.req("ME-06")
def test_an_entry_that_was_taken_out_of_the_chain_is_missed(api: Api, shop: Shop) -> None:
    """Not "come again later": the chain's head knows that there was one."""
    publish(shop, CONTENT)
    told = tell(api, shop)

    edit(api, told.conversation, "delete from documents", "and f_kind = 'entry'")

    assert is_problem(told.read(), "conflict")


@pytest.mark.req("PV-04", "ME-06")
def test_an_erased_customers_proof_says_that_and_its_chain_still_verifies(api: Api, shop: Shop) -> None:
    """Destroying the key is the erasure; verdicts without reasons and pseudonyms stay. Source: design §6, §9."""
    publish(shop, CONTENT)
    told = tell(api, shop, "erased-customer")
    owner = CustomerScope(told.scope.tenant_id, CustomerId("erased-customer"))

    asyncio.run(api.services.data_keys.destroy(owner))
    answer = told.read()

    proof = answer.json()
    assert (proof["evidence"], proof["sentences"], proof["actions"]) == ("erased", [], [])
    assert {v["check"] for v in proof["verdicts"]} == {check.value for check in Check}
    assert {v["reason"] for v in proof["verdicts"]} == {""}
    assert proof["ledger"]["intact"] is True
    for word in (SENTENCE, "order:1001", "erased-customer"):
        assert word not in answer.text


@pytest.mark.req("GW-02", "GW-03")
def test_who_may_read_a_proof(told: Told, api: Api) -> None:
    """The tenant's server and desk; a server that names a customer, that customer's only; nobody else."""
    other = api.new_shop()

    assert told.read(key="desk").json() == told.proof()
    assert told.read(headers={"X-Customer-Id": "ana"}).status_code == 200
    for refused in (told.read(key="publishable", headers=visitor()), told.read(key="admin")):
        assert is_problem(refused, "scope-not-allowed")
    assert is_problem(told.read(key="desk", headers={"X-Customer-Id": "ana"}), "identity-not-allowed")
    foreign = [
        told.read(headers={"X-Customer-Id": "ben"}),
        other.call("GET", told.path),
        other.call("GET", told.path, key="desk"),
        told.shop.call("GET", f"/api/v1/conversations/{conversation_id()}/turns/m-1/proof"),
        told.shop.call("GET", told.path.replace("m-1", "m-2")),
    ]
    assert all(is_problem(answer, "not-found") for answer in foreign)
    assert len({answer.json()["detail"] for answer in foreign}) == 1


@pytest.mark.req("GW-03", "ME-06")
def test_an_unknown_visitors_turn_is_proven_to_the_tenant(api: Api, shop: Shop) -> None:
    """Sealed under the conversation's own key."""
    publish(shop, CONTENT)

    assert tell(api, shop, None).proof()["evidence"] == "readable"


@pytest.mark.req("ME-06", "KB-10")
def test_a_turn_that_is_not_recorded_yet_gets_202_and_the_place_to_look(api: Api, shop: Shop) -> None:
    """The record follows the reply."""
    publish(shop, CONTENT)
    told = tell(api, shop, is_recorded=False)

    answer = told.read()

    assert answer.status_code == 202
    assert answer.headers["location"] == answer.json()["status_url"] == told.path
    assert answer.headers["retry-after"]


@pytest.mark.req("ME-06", "PR-01")
def test_an_entry_cut_off_the_end_with_its_head_rolled_back_is_missed(api: Api, shop: Shop) -> None:
    """What is left of the chain follows from itself; that the turn ended long ago and left no entry does not."""
    publish(shop, CONTENT)
    told = tell(api, shop)
    db = sqlite3.connect(api.data_dir / "vouch.db", timeout=10)
    with db:
        db.execute("delete from documents where container = 'ledger' and partition like ?", (f"%|{told.conversation}",))
    db.close()
    assert told.read().status_code == 202

    end(api, told, ago=RECORDED_WITHIN + timedelta(minutes=1))

    assert is_problem(told.read(), "conflict")


def end(api: Api, told: Told, *, ago: timedelta) -> None:
    """Let the turn have ended so long ago, in the database itself."""
    db = sqlite3.connect(api.data_dir / "vouch.db", timeout=10)
    where = "container = 'tickets' and partition like ? and id = 'turn:m-1'"
    at = (datetime.now(UTC) - ago).isoformat()
    with db:
        changed = db.execute(
            f"update documents set body = json_set(body, '$.done_at', ?) where {where}", (at, f"%|{told.conversation}")
        )
    db.close()
    assert changed.rowcount == 1


@pytest.mark.req("ME-06")
def test_a_proof_outlives_its_ticket(api: Api, shop: Shop) -> None:
    """The ledger is kept longer than the working set; the tenant itself may still read it, a named customer not."""
    publish(shop, CONTENT)
    told = tell(api, shop)
    db = sqlite3.connect(api.data_dir / "vouch.db", timeout=10)
    with db:
        db.execute(
            "delete from documents where container = 'tickets' and partition like ?", (f"%|{told.conversation}",)
        )
    db.close()

    assert told.proof()["evidence"] == "readable"
    assert is_problem(told.read(headers={"X-Customer-Id": "ana"}), "not-found")
