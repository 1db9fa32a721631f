"""What a turn leaves on disk and in the log: tokens, never the addresses a customer wrote."""

import json
import logging

import pytest

from shared.domain.intents import CustomerIntent
from shared.domain.ticket import Outcome
from tests.flows.running import Flows
from tests.flows.shop import GROUNDED, TRUE_DRAFT, understood

pytestmark = pytest.mark.asyncio(loop_scope="module")

MAIL = "ana.lind@post.example"
PHONE = "+1 202 555 0143"


@pytest.mark.req("PV-01", "PV-02")
@pytest.mark.parametrize("intent", [CustomerIntent.RETURN_EXCHANGE, CustomerIntent.HUMAN_AGENT])
async def test_fault_045_histories_rows_and_logs_hold_no_address_a_customer_wrote(
    flows: Flows, intent: CustomerIntent, caplog: pytest.LogCaptureFixture
) -> None:
    """The message is masked before anything durable sees it; models see tokens; each stored byte is searched."""
    caplog.set_level(logging.DEBUG)
    flows.cast.classifier.then(understood(intent))
    if intent is CustomerIntent.RETURN_EXCHANGE:
        flows.cast.composer.then(TRUE_DRAFT)
        flows.cast.reviewer.then(GROUNDED)

    sent = await flows.post(f"can I return unworn items? mail me at {MAIL} or call {PHONE}")
    result = await flows.result(sent)

    assert result.outcome in {Outcome.ANSWERED, Outcome.ESCALATED}
    seen = flows.cast.classifier.seen[0].message.value
    assert MAIL not in seen
    assert "[email" in seen.lower()
    history = json.dumps(flows.host.store.export_history(sent.instance))
    stored = b"".join(path.read_bytes() for path in flows.data_dir.rglob("*") if path.is_file())
    payloads = json.dumps(flows.worker.payloads)
    for raw in (MAIL, "ana.lind", "post.example", PHONE, "555 0143", "5550143"):
        assert raw not in history
        assert raw not in payloads
        assert raw.encode() not in stored
        assert raw not in caplog.text
