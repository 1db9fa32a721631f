"""Twins that act at the same time, one step of one of them at a time: the schedule says which, and what goes wrong.

Every call of a store or a shop waits at a gate. The far side is as bad as the design allows: what was asked may land
long after the caller was cut off, up to the moment at which we hold that it no longer can, or never.
Source: AX-02…04, design §9, fault 070.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.actions import ActionRecords
from shared.domain.actions import SETTLED, Action, Effect, OrderProposal, Quote
from shared.domain.errors import Unavailable, VouchError
from shared.domain.intents import ActionType
from shared.domain.lanes import CALL_DEADLINE_S, CALL_MARGIN_S
from shared.domain.verified import VerifiedGrant
from shared.ports.documents import Container, CustomerScope, Operation, Scope, Stored
from tests.acting.stage import ANA, Stage

LEAPS_S: Final = (0.5, 2, 5, 16, 21, 61, 301)
"""How far time may move in one step: within a call, past its deadline, past the lane's lease, past a grant's life."""
ROUNDS: Final = 40
"""Rounds of a run that is left alone until it must have ended. Each takes two seconds, as the flow's pauses do."""

KINDS: Final = 60
"""One step in so many is a crash, a leap of time, a cut connection, a landing, a sweep; all others let a task on.
Of 9 to 140, a number whose plays found most of seven mutations of the rules."""
SETTLING: Final = 12
"""Turns of the event loop in which every task reaches its next gate."""

_actor: ContextVar[str] = ContextVar("actor", default="")


class Gates:
    """Where tasks wait to be let on."""

    def __init__(self) -> None:
        self.open: list[tuple[str, asyncio.Future[None]]] = []
        self.is_free = False

    async def passing(self) -> None:
        """Wait for the schedule."""
        if self.is_free or not _actor.get():
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.open.append((_actor.get(), waiting))
        await waiting


class GatedDocuments:
    """A store whose writes wait at a gate before they happen and before their caller hears of it."""

    def __init__(self, inner: SqliteDocuments, gates: Gates) -> None:
        self._inner, self._gates = inner, gates
        self.read, self.query = inner.read, inner.query

    async def batch(
        self, container: Container, scope: Scope, partition: str, operations: Sequence[Operation]
    ) -> tuple[Stored | None, ...]:
        """Gated on both sides: between what was read and the write, and between the write and what follows."""
        await self._gates.passing()
        done = await self._inner.batch(container, scope, partition, operations)
        await self._gates.passing()
        return done


@dataclass(slots=True)
class Flight:
    """A call on its way."""

    action: Action
    call_ends_at: datetime
    lands_before: datetime
    is_landed: bool = False
    is_cut: bool = False


class SlowShop:
    """A shop that answers when the schedule says so; `keyed` says whether it does one thing once for one key."""

    def __init__(self, stage: Stage, gates: Gates, *, is_keyed: bool) -> None:
        self._stage, self._gates, self._is_keyed = stage, gates, is_keyed
        self.flights: list[Flight] = []
        self.done: list[tuple[Action, Effect]] = []
        """Everything that was done, in order."""
        self.overlaps = 0
        """Calls that began while another action's call could still do something: the lane forbids them."""

    @property
    def keyed(self) -> frozenset[ActionType]:
        """All or nothing."""
        return frozenset(ActionType) if self._is_keyed else frozenset()

    async def quote(self, scope: CustomerScope, proposal: OrderProposal) -> Quote | None:
        """What is left of the order."""
        await self._gates.passing()
        quote = await self._stage.billing_records.quote(scope, proposal)
        assert quote is not None
        is_paid = any(action.proposal == proposal for action, _ in self.done)
        return quote.model_copy(update={"is_possible": False, "reason": "nothing is left"}) if is_paid else quote

    async def find_effect(self, scope: CustomerScope, action: Action) -> Effect | None:
        """What was done, as the shop knew it when it was asked; the answer travels back."""
        await self._gates.passing()
        found = self._effect(action)
        await self._gates.passing()
        return found

    async def refund(self, verified: VerifiedGrant, proposal: object) -> Effect:
        """Send the call off; it lands, is cut or runs out of time as the schedule has it."""
        action = await self._stage.actions.get(ANA, verified.grant.action_id)
        assert action is not None
        assert action.started_at is not None
        now = self._stage.clock.now()
        others = [f for f in self.flights if f.action.action_id != action.action_id and now < f.lands_before]
        self.overlaps += sum(1 for other in others if not self._is_spent(other))
        flight = Flight(
            action,
            action.started_at + timedelta(seconds=CALL_DEADLINE_S),
            action.started_at + timedelta(seconds=CALL_DEADLINE_S + CALL_MARGIN_S),
        )
        self.flights.append(flight)
        while True:
            await self._gates.passing()
            if self._gates.is_free and not flight.is_landed:
                self.land(flight)
            if self._stage.clock.now() >= flight.call_ends_at:
                raise TimeoutError
            if flight.is_cut:
                raise Unavailable("the connection was cut")
            effect = self._effect(action)
            if flight.is_landed and effect is not None:
                return effect

    def land(self, flight: Flight) -> None:
        """Do what was asked."""
        if not self._is_spent(flight):
            effect = Effect(reference=f"r{len(self.done)}", at=self._stage.clock.now())
            self.done.append((flight.action, effect))
        flight.is_landed = True

    def times_done(self, action: Action) -> int:
        """Return how often the action was done."""
        return sum(1 for other, _ in self.done if other.action_id == action.action_id)

    def _is_spent(self, flight: Flight) -> bool:
        """Tell whether the call can do nothing any more: it has, or the shop keys it and has done it."""
        return flight.is_landed or (self._is_keyed and self._effect(flight.action) is not None)

    def _effect(self, action: Action) -> Effect | None:
        return next((effect for other, effect in self.done if other.action_id == action.action_id), None)


@dataclass(slots=True)
class Play:
    """A schedule at work on instances that run the same actions."""

    stage: Stage
    shop: SlowShop
    gates: Gates
    move: Callable[[float], None]
    """Moves the clock on, seconds."""
    running: dict[str, tuple[Action | None, "asyncio.Task[None]"]] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    """Who goes first: the smallest number."""
    sweeps: int = 0

    def start(self, action: Action, holder: str) -> None:
        """Let an instance run the action; what it was handed before a crash it has again."""
        self.running[holder] = (action, asyncio.get_running_loop().create_task(self._run(action, holder)))

    def sweep(self, scope: CustomerScope) -> None:
        """Let somebody without a lane find out what became of the account's calls."""
        self.sweeps += 1
        task = asyncio.get_running_loop().create_task(self._sweep(scope, f"sweeper-{self.sweeps}"))
        self.running[f"sweeper-{self.sweeps}"] = (None, task)

    async def step(self, choice: int) -> None:
        """Do one of the things that can happen now, mostly letting on whoever goes first.

        One goes on as far as it can while the others stand still, until somebody is put last: two mishaps a play are
        enough for most races, and a fair turn for everybody would never let one of them sleep through the others' work.
        """
        kind, which = choice % KINDS, choice // KINDS
        now = self.stage.clock.now()
        can: list[Callable[[], None]] = []
        match kind:
            case 0:
                can = [partial(self._crash, actor) for actor in self.running]
            case 1:
                can = [partial(self.move, leap) for leap in LEAPS_S]
            case 2:
                can = [partial(setattr, f, "is_cut", True) for f in self.shop.flights if not f.is_cut]
            case 3:
                can = [
                    partial(self.shop.land, f) for f in self.shop.flights if not f.is_landed and now < f.lands_before
                ]
            case 4:
                can = [partial(self.sweep, ANA)]
            case 5 | 6:
                can = [partial(self._put_last, actor) for actor in self._first()]
        can = can or [partial(_let, waiting) for actor in self._first() for waiting in self._waiting(actor)]
        if can:
            can[which % len(can)]()
        await self._settle()

    async def play_out(self, actions: Sequence[Action]) -> list[Action]:
        """Kill everything, let nothing more land, and run each action undisturbed until it has ended."""
        for _, task in self.running.values():
            task.cancel()
        await asyncio.gather(*(task for _, task in self.running.values()), return_exceptions=True)
        self.gates.is_free = True
        self.move(LEAPS_S[-1])
        for _ in range(ROUNDS):
            for action in actions:
                await self._round(action, "last")
            self.move(2.0)
        return [await self.stage.stands(action) for action in actions]

    async def _run(self, action: Action, holder: str) -> None:
        """Do as a durable flow does: first what was under way when the process died, then round after round."""
        _actor.set(holder)
        handed = self.stage.handed.get(holder)
        if handed is not None:
            with suppress(VouchError):
                await self.stage.execute(handed, action)
        while not await self._round(action, holder):
            await self.gates.passing()

    async def _sweep(self, scope: CustomerScope, name: str) -> None:
        _actor.set(name)
        for action in await self.stage.actions.under_way(scope):
            await self.gates.passing()
            await self.stage.reconcile(action)

    async def _round(self, action: Action, holder: str) -> bool:
        try:
            return (await self.stage.perform(action, holder)).state in SETTLED
        except VouchError:
            return False

    def _first(self) -> list[str]:
        """Return whoever goes first of those that wait, if anybody does."""
        waiting = [actor for actor, _ in self.gates.open]
        return sorted(set(waiting), key=lambda actor: self.places.get(actor, 0))[:1]

    def _waiting(self, actor: str) -> "list[asyncio.Future[None]]":
        return [waiting for other, waiting in self.gates.open if other == actor]

    def _put_last(self, actor: str) -> None:
        self.places[actor] = max(self.places.values(), default=0) + 1

    def _crash(self, actor: str) -> None:
        """Kill an instance where it stands; the host starts it again."""
        action, task = self.running.pop(actor)
        task.cancel()
        if action is not None:
            self.start(action, actor)

    async def _settle(self) -> None:
        """Let everybody go on until they wait at a gate again."""
        for _ in range(SETTLING):
            await asyncio.sleep(0)
        self.gates.open = [(actor, waiting) for actor, waiting in self.gates.open if not waiting.done()]
        for actor, (_, task) in list(self.running.items()):
            if task.done():
                del self.running[actor]
                task.result()


def gated(stage: Stage, *, is_keyed: bool) -> tuple[Stage, SlowShop, Gates]:
    """Return the stage with gates before its store, and a slow shop behind its billing."""
    gates = Gates()
    shop = SlowShop(stage, gates, is_keyed=is_keyed)
    documents = GatedDocuments(stage.documents, gates)
    records = ActionRecords(documents, stage.clock)  # type: ignore[arg-type]
    return replace(stage, actions=records, billing=shop, billing_records=shop), shop, gates  # type: ignore[arg-type]


def _let(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
