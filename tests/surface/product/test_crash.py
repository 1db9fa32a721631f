"""Kill -9 at any point of a turn, start again: one reply, one outbox row, one ledger entry for each message.

Points are seeded: just before or after a commit of the host, just before or after a write of the store, or a moment.
The client repeats what it got no answer to, with the same message id; every second point it does not, and what was
accepted ends by itself. Source: design §8 "Kill the process anywhere", AX-03, issue "Crash".
"""

import asyncio
import json
import random
import shutil
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import pytest_asyncio

from local.faults import VARIABLE, CrashPoint
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.system import SystemClock
from shared.adapters.records.cases import CaseRecords
from shared.adapters.records.ledger import LedgerRecords
from shared.domain.case import CaseStatus
from shared.domain.ids import ConversationId
from shared.domain.ledger import is_intact
from shared.ports.documents import Container, Query, TenantScope, Where
from tests.surface.product.process import DiedBeforeReady, Product, started
from tests.surface.product.product import HOLLIN, rows_of
from tests.surface.product.storefront import Sent, Storefront

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEED: Final = 20_260_303
IN_CI: Final = 12
IN_SOAK: Final = 200
SCOPE: Final = TenantScope(HOLLIN)
ENDS_WITHIN_S: Final = 75.0
"""Longest an accepted turn may take to end after a restart: the sweeper's grace and interval, and a slow machine."""
STRIKES_WITHIN_S: Final = 3.0
"""Longest a planned blow may take to fall after the last reply: recording and the change feed come after it."""
PASSAGES: Final = {
    CrashPoint.BEFORE_START_COMMIT: 3,
    CrashPoint.START_COMMIT: 3,
    CrashPoint.BEFORE_EPISODE_COMMIT: 15,
    CrashPoint.EPISODE_COMMIT: 15,
    CrashPoint.BEFORE_ACTIVITY_COMMIT: 20,
    CrashPoint.ACTIVITY_COMMIT: 20,
}
"""How often the three lines pass each point of the host, at least."""
STORE_CALLS: Final = {"batch": 12, "create": 3, "read": 55, "query": 9}
"""How often the three lines call each operation of the store, at least."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message of the scenario."""

    conversation: str
    message: str
    text: str
    customer: str | None
    outcomes: frozenset[str]


LINES: Final = (
    Line("c-knowledge", "m-1", "How do gift cards work?", None, frozenset({"answered"})),
    Line("c-order", "m-2", "Where is my order 1003?", "maya-lindqvist", frozenset({"answered"})),
    Line("c-person", "m-3", "I want to talk to a human", "tom-okafor", frozenset({"escalated"})),
)


@dataclass(frozen=True, slots=True)
class Blow:
    """Where the process is killed."""

    number: int
    environment: dict[str, str]
    plan: dict[str, Any] | None
    after_ms: int | None

    @property
    def is_repeated(self) -> bool:
        """Tell whether the client repeats what it got no answer to."""
        return self.number % 2 == 0

    def __str__(self) -> str:
        where = self.plan["faults"][0] if self.plan else self.environment or f"{self.after_ms}ms"
        return f"{self.number}-" + "-".join(str(v) for v in (where.values() if isinstance(where, dict) else [where]))


def blows(count: int) -> list[Blow]:
    """Return seeded blows of all three kinds; the first of a longer list are the shorter one's."""
    dice = random.Random(SEED)
    found = []
    for number in range(count):
        match number % 3:
            case 0:
                point = dice.choice(list(PASSAGES))
                at = f"{point.value}:{dice.randint(1, PASSAGES[point])}"
                found.append(Blow(number, {VARIABLE: at}, None, None))
            case 1:
                operation = dice.choice(("batch", "batch", "batch", "create", "read", "query"))
                call = dice.randint(1, STORE_CALLS[operation])
                fault = dice.choice(("crash", "crash_after"))
                rule = {"port": "documents", "operation": operation, "fault": fault, "calls": [call]}
                found.append(Blow(number, {}, {"seed": number, "faults": [rule]}, None))
            case _:
                found.append(Blow(number, {}, None, dice.randint(5, 700)))
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def template(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Path]:
    """A data directory with the demo shops, seeded once."""
    folder = tmp_path_factory.mktemp("crash") / "template"
    folder.mkdir()
    async with started(folder) as product:
        assert await product.stop() == 0
    yield folder


@pytest.mark.req("AX-03", "ME-06", "GW-04")
@pytest.mark.parametrize("blow", blows(IN_CI), ids=str)
async def test_a_killed_turn_ends_once(blow: Blow, template: Path, tmp_path: Path) -> None:
    """Nothing lost, nothing doubled."""
    await _strike_and_check(blow, template, tmp_path)


@pytest.mark.soak
@pytest.mark.req("AX-03", "ME-06", "GW-04")
@pytest.mark.parametrize("blow", blows(IN_SOAK)[IN_CI:], ids=str)
async def test_a_killed_turn_ends_once_wherever_the_blow_falls(blow: Blow, template: Path, tmp_path: Path) -> None:
    """The long run of the same rule."""
    await _strike_and_check(blow, template, tmp_path)


async def _strike_and_check(blow: Blow, template: Path, tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    shutil.copytree(template, data_dir)
    assert await _is_struck(blow, data_dir, tmp_path), "the planned blow never fell: this point proves nothing"
    documents = SqliteDocuments(data_dir / "vouch.db", clock=SystemClock())
    try:
        async with started(data_dir) as product, httpx.AsyncClient(timeout=90) as http:
            shop = _shop(http, product)
            ends = await asyncio.gather(*(_ended(shop, line, is_repeated=blow.is_repeated) for line in LINES))
            for line in LINES:
                await _until_recorded(documents, line)
            assert await product.stop() == 0
        for line, sent in zip(LINES, ends, strict=True):
            assert sent.outcome in line.outcomes, sent.body
            assert sent.reply
            await _check_rows(documents, line)
    finally:
        await documents.close()


async def _is_struck(blow: Blow, data_dir: Path, tmp_path: Path) -> bool:
    """Run the scenario until the process is dead; tell whether the planned blow was what killed it."""
    arguments: tuple[str, ...] = ()
    if blow.plan is not None:
        plan = tmp_path / "plan.json"
        plan.write_text(json.dumps(blow.plan))
        arguments = ("--faults", str(plan))
    try:
        async with started(data_dir, *arguments, environment=blow.environment) as product:
            async with httpx.AsyncClient(timeout=90) as http:
                shop = _shop(http, product)
                sending = [asyncio.ensure_future(_sent(shop, line, product)) for line in LINES]
                if blow.after_ms is not None:
                    await asyncio.wait(sending, timeout=blow.after_ms / 1000)
                    product.kill()
                await asyncio.gather(*sending)
            if blow.after_ms is None:
                await asyncio.wait({asyncio.ensure_future(product.process.wait())}, timeout=STRIKES_WITHIN_S)
            is_struck = product.process.returncode == -signal.SIGKILL or blow.after_ms is not None
            product.kill()
            return is_struck
    except DiedBeforeReady:
        return True


def _shop(http: httpx.AsyncClient, product: Product) -> Storefront:
    """Return clients that know, across a restart, the visitor's secret of each conversation."""
    secrets = {line.conversation: line.conversation.ljust(43, "x") for line in LINES}
    return Storefront(http, product.url, product.demo["tenants"][0]["keys"], secrets)


async def _sent(shop: Storefront, line: Line, product: Product) -> Sent | None:
    """Send the line; None when the process died under it."""
    sending = asyncio.ensure_future(_send(shop, line))
    dying = asyncio.ensure_future(product.process.wait())
    await asyncio.wait((sending, dying), return_when=asyncio.FIRST_COMPLETED)
    dying.cancel()
    try:
        return await sending
    except httpx.TransportError:
        return None


async def _send(shop: Storefront, line: Line) -> Sent:
    return await shop.send(line.text, customer=line.customer, conversation=line.conversation, message=line.message)


async def _ended(shop: Storefront, line: Line, *, is_repeated: bool) -> Sent:
    """Return the finished turn; what was never accepted is sent again, as its client would."""
    if is_repeated:
        sent = await _send(shop, line)
        if sent.status == 200:
            return sent
    loop = asyncio.get_running_loop()
    deadline = loop.time() + ENDS_WITHIN_S
    while loop.time() < deadline:
        sent = await shop.turn(line.conversation, line.message, customer=line.customer)
        if sent.status == 200:
            return sent
        if sent.status == 404:
            await _send(shop, line)
        await asyncio.sleep(0.1)
    raise AssertionError(f"the turn of {line.text!r} never ended: {sent.status} {sent.body}")


async def _until_recorded(documents: SqliteDocuments, line: Line) -> None:
    """Wait for the flow's last step, which follows the reply."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + ENDS_WITHIN_S
    while loop.time() < deadline:
        if await rows_of(documents, Container.LEDGER, HOLLIN, line.conversation) and await _records(documents, line):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"the turn of {line.text!r} was never recorded")


async def _check_rows(documents: SqliteDocuments, line: Line) -> None:
    rows = await rows_of(documents, Container.TICKETS, HOLLIN, line.conversation)
    turns = [row for row in rows if row["kind"] == "turn"]
    assert [(turn["id"], turn["status"]) for turn in turns] == [(f"turn:{line.message}", "done")]
    assert [row["id"] for row in rows if row["kind"] == "outbox"] == [f"out:{turns[0]['seq']}"]
    chain = await LedgerRecords(documents).chain(SCOPE, ConversationId(line.conversation))
    assert [entry.message_id for entry in chain.entries] == [line.message]
    assert is_intact(chain)
    assert len(await _records(documents, line)) == 1
    cases, _ = await CaseRecords(documents, SystemClock()).queue(SCOPE, tuple(CaseStatus), 100)
    is_handed_over = "escalated" in line.outcomes
    assert len([case for case in cases if case.conversation_id == line.conversation]) == int(is_handed_over)


async def _records(documents: SqliteDocuments, line: Line) -> tuple[Any, ...]:
    where = (Where("kind", "=", "turn"), Where("conversation_id", "=", line.conversation))
    return (await documents.query(Container.ANALYTICS, SCOPE, Query(HOLLIN, where))).items
