"""Records the histories of this release: one instance of each kind of turn and of a case's wait, on the real host.

    python -m tests.replay.record            write what is missing for host.json's defaultVersion
    python -m tests.replay.record --again    write all of them anew, while that version is not released

A released version's histories are never written again: live instances have decided as they did. Code that no longer
replays them needs a new defaultVersion and keeps the old branch until they are drained (fault 080, functions.md §10.9).
Everything in them is invented: the shop and the scripted models are those of tests/flows.
"""

import argparse
import asyncio
import json
import secrets
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from local.host_json import read_host_json
from local.serve import default_app_dir
from orchestrators.triggers.starting import case_instance_id
from shared.domain.case import Case
from shared.domain.ids import CaseId, ConversationId, MessageId, action_instance_id, approval_case_id
from shared.domain.intents import CustomerIntent
from tests.flows.running import SCOPE, Flows, running_flows
from tests.flows.scripted import Gate
from tests.flows.shop import (
    ASKS_FOR_CANCELLATION,
    FALSE_DRAFT,
    GROUNDED,
    QUESTION,
    TENANT,
    TRUE_DRAFT,
    UNRELATED,
    understood,
)
from tests.waiting import until

HISTORIES: Final = Path(__file__).parent / "histories"
"""Folder with one folder a version."""

Scenario = Callable[[Flows], Awaitable[str]]
"""Plays one instance and returns its id."""


async def answered(flows: Flows) -> str:
    """A question that is answered at once."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)
    return await _turn(flows, QUESTION)


async def revised(flows: Flows) -> str:
    """A draft with a wrong figure, then a true one."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(FALSE_DRAFT, TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED, GROUNDED)
    return await _turn(flows, QUESTION)


async def escalated(flows: Flows) -> str:
    """No source answers: the search is widened once, then a person."""
    flows.cast.classifier.then(understood(CustomerIntent.PRODUCT_QUESTION))
    return await _turn(flows, UNRELATED)


async def acted(flows: Flows) -> str:
    """A change of an own order: authorised, noted, proposed to a person."""
    flows.cast.classifier.then(understood(CustomerIntent.ORDER_CANCEL))
    return await _turn(flows, ASKS_FOR_CANCELLATION)


async def action_waiting(flows: Flows) -> str:
    """An action that waits for a person's decision, with its event and its timer pending."""
    action = await _asked(flows)
    await until(lambda: bool(_timers_of(flows, action_instance_id(action))), "the action waits")
    return action_instance_id(action)


async def action_approved(flows: Flows) -> str:
    """An action a person approves: the wait's last history, done and told."""
    action = await _asked(flows)
    await flows.desk("approve", approval_case_id(action), {})
    await flows.ended(action_instance_id(action))
    return action_instance_id(action)


async def clarified(flows: Flows) -> str:
    """An unclear message that is asked about."""
    flows.cast.classifier.then(understood(CustomerIntent.GENERAL_INQUIRY, confidence=0.4))
    return await _turn(flows, "it does the thing again")


async def reissued(flows: Flows) -> str:
    """A ticket that changed under the draft: a second snapshot, then the answer."""
    where = ConversationId(f"c-{secrets.token_hex(6)}")

    async def review(request: object) -> tuple[Any, ...]:
        await flows.edit_ticket(where)
        return GROUNDED

    flows.cast.classifier.then(understood(), understood())
    flows.cast.composer.then(TRUE_DRAFT, TRUE_DRAFT)
    flows.cast.reviewer.then(review, GROUNDED)
    return await _turn(flows, QUESTION, where)


async def superseded(flows: Flows) -> str:
    """A message that a newer one overtakes while its reply is composed."""
    gate = Gate()
    flows.cast.classifier.then(understood(), understood(confidence=1.0, is_social=True))
    flows.cast.composer.then(TRUE_DRAFT, gate=gate)
    flows.cast.reviewer.then(GROUNDED)
    first = await flows.post(QUESTION)
    await gate.reached()
    await flows.send("thanks", conversation=first.conversation)
    gate.open()
    await flows.result(first)
    return first.instance


async def case_waiting(flows: Flows) -> str:
    """A case's wait with its event and its timer pending: what a deployment finds in flight."""
    case = await _open_case(flows, due_in_s=3_600)
    await until(lambda: bool(_timers(flows, case)), "the flow waits")
    return case_instance_id(case)


async def case_paged(flows: Flows) -> str:
    """A case nobody claimed in time."""
    case = await _open_case(flows, due_in_s=-1)
    await flows.case_flow(case)
    return case_instance_id(case)


SCENARIOS: Final[dict[str, Scenario]] = {
    scenario.__name__: scenario
    for scenario in (
        answered,
        revised,
        escalated,
        acted,
        clarified,
        reissued,
        superseded,
        case_waiting,
        case_paged,
        action_waiting,
        action_approved,
    )
}
"""Every kind of instance, by the name of its file."""


async def record(names: Sequence[str], folder: Path) -> None:
    """Play the scenarios and write each history as one JSON file, an event a line."""
    with tempfile.TemporaryDirectory() as data_dir:
        async with running_flows(Path(data_dir)) as flows:
            for name in names:
                flows.begin()
                instance = await SCENARIOS[name](flows)
                await flows.end()
                events = flows.host.store.export_history(instance)
                lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in events)
                (folder / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
                print(f"{name}: {len(events)} events")


def main() -> None:
    """Record what the arguments ask for."""
    parser = argparse.ArgumentParser(description="Record the histories of this release.")
    parser.add_argument("--again", action="store_true", help="overwrite those of a version that is not released yet")
    is_again = parser.parse_args().again
    folder = HISTORIES / str(read_host_json(default_app_dir()).default_version)
    names = [name for name in SCENARIOS if is_again or not (folder / f"{name}.json").exists()]
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(record(names, folder))


async def _turn(flows: Flows, text: str, conversation: str | None = None) -> str:
    sent = await flows.post(text, conversation=conversation)
    await flows.result(sent)
    return sent.instance


async def _open_case(flows: Flows, *, due_in_s: float) -> CaseId:
    now, case = flows.base.clock.now(), CaseId(f"c-{secrets.token_hex(8)}")
    await flows.base.cases.open(
        SCOPE,
        Case(
            id=case,
            tenant_id=TENANT,
            conversation_id=ConversationId(f"c-{secrets.token_hex(6)}"),
            message_id=MessageId("m-1"),
            opened_at=now,
            due_at=now + timedelta(seconds=due_in_s),
        ),
    )
    await flows.wait_for(case)
    return case


async def _asked(flows: Flows) -> str:
    """Let a newcomer ask to cancel an order of theirs and return the action that waits for it."""
    await flows.newcomer()
    order = await flows.order()
    flows.cast.classifier.then(understood(CustomerIntent.ORDER_CANCEL))
    sent = await flows.post(f"please cancel order {order.order_id}", customer=flows.customer)
    result = await flows.result(sent)
    action = next(a.action_id for a in result.actions if a.type == "cancel_order")
    await flows.found(action_instance_id(action))
    return action


def _timers(flows: Flows, case: CaseId) -> object:
    return _timers_of(flows, case_instance_id(case))


def _timers_of(flows: Flows, instance: str) -> object:
    live = flows.host.engine.lives.peek(instance)
    return live.timers if live is not None else None


if __name__ == "__main__":
    main()
