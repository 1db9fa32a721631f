"""What a customer asks to be done: noted once under a grant, proposed to a person, and nothing without a grant."""

import json
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from orchestrators.activities.agents import note_action_id
from orchestrators.names import ActivityName
from shared.authority.mint import SealMint
from shared.domain.deltas import ActionStatus, TurnState
from shared.domain.drafts import Draft, Sentence, SentenceKind
from shared.domain.errors import ErrorClass
from shared.domain.grants import SignedGrant
from shared.domain.human_triggers import HumanTrigger
from shared.domain.ids import CustomerId
from shared.domain.intents import ActionType, CustomerIntent
from shared.domain.phrases import Phrase, phrase
from shared.domain.text import MaskedText
from shared.domain.ticket import Outcome
from shared.ports.models import ComposeRequest
from shared.wire import pack
from tests.flows.running import Flows, Sent
from tests.flows.shop import ANA, ASKS_FOR_CANCELLATION, GROUNDED, TENANT, understood

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True, slots=True)
class ClockAt:
    """A clock that stands."""

    at: datetime

    def now(self) -> datetime:
        """Return its moment."""
        return self.at


async def asked_to_cancel(flows: Flows) -> Sent:
    """Run a turn in which ana asks to cancel her own order."""
    flows.cast.classifier.then(understood(CustomerIntent.ORDER_CANCEL))
    sent = await flows.post(ASKS_FOR_CANCELLATION)
    await flows.result(sent)
    return sent


async def another_turn(flows: Flows) -> dict[str, Any]:
    """Return the state of a turn like ana's that nobody has granted anything."""
    sent = await asked_to_cancel(flows)
    state: dict[str, Any] = json.loads(flows.calls(sent, ActivityName.EXECUTE)[0]["state"])
    fresh = {"message_id": f"m-{secrets.token_hex(6)}", "conversation_id": f"c-{secrets.token_hex(6)}"}
    return {**state, "snapshot": {**state["snapshot"], **fresh}}


def minted(flows: Flows, state: dict[str, Any], **other: Any) -> SignedGrant:
    """Mint the grant of that turn's note, with something else about it."""
    mint = SealMint(keys=flows.base.seal_keys, clock=other.pop("clock", flows.base.clock), ids=flows.base.ids)
    asked: dict[str, Any] = {
        "tenant_id": TENANT,
        "account_id": ANA,
        "action_type": ActionType.CRM_NOTE,
        "action_id": note_action_id(TurnState.model_validate(state)),
        "amount": None,
        "policy_version": 1,
    }
    return mint.seal_grant(**(asked | other))


@pytest.mark.req("AX-01", "AX-02", "SU-04", "AX-05", "GO-03")
async def test_a_change_of_an_own_order_is_noted_under_a_grant_and_proposed_to_a_person(flows: Flows) -> None:
    """The supervisor grants the note and nothing else; the change itself waits in the case for a person."""
    before = await flows.grants()

    sent = await asked_to_cancel(flows)

    result = await flows.result(sent)
    assert result.outcome is Outcome.ESCALATED
    assert result.triggers == (HumanTrigger.ACTION_NEEDS_PERSON,)
    shown = {(a.type, a.status) for a in result.actions}
    assert shown == {("cancel_order", "pending_approval"), ("crm_note", "executed")}
    case = await flows.case(result.case_id)
    assert [(a.type, a.status) for a in case.proposed] == [("cancel_order", ActionStatus.PENDING_APPROVAL)]
    assert len(await flows.notes(sent.conversation)) == 1
    assert len(await flows.grants()) == len(before) + 1
    granted = SignedGrant.model_validate_json(flows.calls(sent, ActivityName.EXECUTE)[0]["grant"]).grant
    assert (granted.account_id, granted.action_type, granted.amount) == (ANA, ActionType.CRM_NOTE, None)


@pytest.mark.req("AX-03")
async def test_an_execution_that_is_repeated_writes_one_note(flows: Flows) -> None:
    """A crash between effect and commit runs the activity again: the same action, reported once, done once."""
    sent = await asked_to_cancel(flows)
    payload, consumed = flows.calls(sent, ActivityName.EXECUTE)[0], await flows.grants()

    again = [await flows.repeat(ActivityName.EXECUTE, payload) for _ in range(2)]

    assert [json.loads(r["value"])["actions"][0]["status"] for r in again] == ["executed", "executed"]
    assert len(await flows.notes(sent.conversation)) == 1
    assert await flows.grants() == consumed


@pytest.mark.req("AX-02", "AX-05", "SU-04")
@pytest.mark.parametrize("flaw", ["forged", "altered", "expired", "other_account", "other_action", "other_type"])
async def test_a_grant_that_does_not_verify_writes_nothing(flows: Flows, flaw: str) -> None:
    """Seal, life, account and action must all be this turn's; refused means no note and no consumed grant."""
    state = await another_turn(flows)
    good = minted(flows, state)
    grants = {
        "forged": good.model_copy(update={"seal": "local:" + "0" * 64}),
        "altered": good.model_copy(
            update={"grant": good.grant.model_copy(update={"expires_at": good.grant.expires_at - timedelta(seconds=1)})}
        ),
        "expired": minted(flows, state, clock=ClockAt(flows.base.clock.now() - timedelta(minutes=10))),
        "other_account": minted(flows, state, account_id=CustomerId("ben")),
        "other_action": minted(flows, state, action_id="0" * 40),
        "other_type": minted(flows, state, action_type=ActionType.REFUND),
    }
    consumed = await flows.grants()

    refused = await flows.repeat(ActivityName.EXECUTE, {"state": json.dumps(state), "grant": pack(grants[flaw])})

    assert refused["ok"] is False
    assert refused["error"]["error_class"] == ErrorClass.AUTHORITY
    assert await flows.notes(state["snapshot"]["conversation_id"]) == []
    assert await flows.grants() == consumed


@pytest.mark.req("AX-02", "AX-03")
async def test_a_good_grant_writes_and_is_used_up(flows: Flows) -> None:
    """The control of the test above: the same call with the turn's own grant has its effect, once."""
    state = await another_turn(flows)
    payload = {"state": json.dumps(state), "grant": pack(minted(flows, state))}

    first = await flows.repeat(ActivityName.EXECUTE, payload)
    second = await flows.repeat(ActivityName.EXECUTE, {**payload, "grant": pack(minted(flows, state))})

    assert (first["ok"], second["ok"]) == (True, True)
    assert len(await flows.notes(state["snapshot"]["conversation_id"])) == 1


@pytest.mark.req("AX-02", "GW-03")
async def test_a_visitor_nobody_knows_gets_nothing_noted_about_an_order(flows: Flows) -> None:
    """No identity, no account, no grant: the neutral "I can't find that order" for everybody's orders alike."""

    def compose(request: ComposeRequest) -> Draft:
        text = MaskedText(phrase(Phrase.ORDER_NOT_FOUND_PLAIN, "en"))
        return Draft(sentences=(Sentence(text=text, kind=SentenceKind.NOTICE),), language="en", confidence=0.9)

    flows.cast.classifier.then(understood(CustomerIntent.ORDER_CANCEL))
    flows.cast.composer.then(compose)
    flows.cast.reviewer.then(GROUNDED)

    sent = await flows.post(ASKS_FOR_CANCELLATION, customer=None)
    result = await flows.result(sent)

    assert (result.outcome, result.actions) == (Outcome.ANSWERED, ())
    assert flows.calls(sent, ActivityName.AUTHORISE) == []
    assert flows.calls(sent, ActivityName.EXECUTE) == []
