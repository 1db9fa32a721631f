"""The double-spend and crash matrix: every kind of action, every point at which things can go wrong.

Each cell ends with one effect or none, never two, and the action's row says which. Refunds and cancellations die by
SIGKILL in a process of their own over a store on disk; the others die in this one. `pytest -s` prints the table, and
build/action_matrix.txt holds it. Source: AX-02…04, design §9, faults 070, 072.
"""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, NoReturn

import pytest

from local.fault_plan import FaultPlan, PlanFile
from shared.adapters.embedded.system import SystemClock
from shared.adapters.records.actions import ActionRecords
from shared.adapters.records.shop_billing import ShopBilling
from shared.domain.actions import SETTLED, Action, ActionState
from shared.domain.errors import AuthorityError, VouchError
from shared.domain.grants import MAX_GRANT_TTL_S, SignedGrant
from shared.domain.intents import ActionType
from shared.domain.lanes import LEASE_S
from tests.acting.child import ROUNDS
from tests.acting.conftest import STORE
from tests.acting.stage import ANA, ANA_OF_T2, PROPOSALS, Stage, status_for, usd
from tests.acting.yielding import YieldingDocuments
from tests.conftest import FixedClock

ROOT: Final = Path(__file__).resolve().parents[2]
WRITTEN_TO: Final = ROOT / "build" / "action_matrix.txt"
IN_A_PROCESS: Final = frozenset({ActionType.REFUND, ActionType.CANCEL_ORDER})
"""What dies by SIGKILL."""
LATER_S: Final = LEASE_S + 1
"""How much later the next instance comes: the dead one's lane is free by then. Unit: seconds."""
GIVE_UP_S: Final = 60
"""A child that takes longer hangs."""
_PORTS: Final = {ActionType.CRM_NOTE: ("crm", "add_note"), ActionType.TICKET_UPDATE: ("desk", "update")}

Point = tuple[str, str, str]
"""Port, operation and fault of the plan that kills there."""


def crash_points(type_: ActionType) -> dict[str, tuple[Point, int]]:
    """Return each point with how many effects the outside shows when the process died there."""
    port, operation = _PORTS.get(type_, ("billing", type_.value))
    before_mint = ("actions", "under_way", "crash_after")
    return {
        "before mint": (before_mint, 0),
        "after mint": (("actions", "start", "crash"), 0),
        "after consume": (("actions", "start", "crash_after"), 0),
        "before call": ((port, operation, "crash"), 0),
        "after call": ((port, operation, "crash_after"), 1),
        "after record": (("actions", "finish", "crash_after"), 1),
    }


POINTS: Final = tuple(crash_points(ActionType.REFUND))
MISUSES: Final = (
    "duplicate delivery",
    "concurrent twin",
    "expired grant",
    "tampered field",
    "wrong tenant",
    "replay after success",
)
Cells = dict[tuple[ActionType, str], str]


@pytest.fixture(scope="module")
def cells() -> Iterator[Cells]:
    """What each cell came to; written down as a table at the end."""
    found: Cells = {}
    yield found
    table = as_table(found)
    WRITTEN_TO.parent.mkdir(exist_ok=True)
    WRITTEN_TO.write_text(table)
    print(f"\n{table}")


def as_table(cells: Cells) -> str:
    """Return the cells as aligned text: effects the outside shows, and the state of the row."""
    columns = (*POINTS, *MISUSES)
    rows = [("effects → after restart, row", *columns)]
    rows += [(type_.value, *(cells.get((type_, column), "–") for column in columns)) for type_ in ActionType]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    killed = ", ".join(sorted(type_.value for type_ in IN_A_PROCESS))
    return "\n".join((*lines, f"The first six columns kill the run there; {killed} by SIGKILL.", ""))


# -- crashes -----------------------------------------------------------------------------------------------------------


@pytest.mark.req("AX-02", "AX-03", "AX-04")
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("type_", ActionType)
async def test_a_crash_anywhere_ends_in_one_effect_and_a_row_that_says_so(
    stage: Stage, clock: FixedClock, tmp_path: Path, cells: Cells, type_: ActionType, point: str
) -> None:
    """Dead at the named point, then another instance comes: what was not done is done, what was done stays one."""
    (port, operation, fault), shown = crash_points(type_)[point]
    plan = {"faults": [{"port": port, "operation": operation, "fault": fault}]}
    clock.at = SystemClock().now()  # processes of their own have no other time
    await stage.seed(ANA, status_for(type_))
    action = await stage.approved(ANA, PROPOSALS[type_])

    if type_ in IN_A_PROCESS:
        assert _child(tmp_path, action, 0.0, plan).returncode == -signal.SIGKILL
    else:
        await _die_here(stage, action, plan)
    at_death = await stage.effects()
    clock.forward(seconds=LATER_S)
    if type_ in IN_A_PROCESS:
        assert _child(tmp_path, action, LATER_S, {}).returncode == 0
    else:
        await _to_its_end(stage.elsewhere(), action, "two")
    effects, state = await stage.effects(), (await stage.stands(action)).state

    cells[type_, point] = f"{at_death} → {effects} {state.value}"
    assert at_death == shown
    assert (effects, state) == (1, ActionState.EXECUTED)


def _child(folder: Path, action: Action, later_s: float, plan: dict[str, object]) -> "subprocess.CompletedProcess[str]":
    file = str(folder / STORE)
    command = [sys.executable, "-m", "tests.acting.child", file, action.action_id, str(later_s), json.dumps(plan)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=GIVE_UP_S)


class Died(BaseException):
    """The end of a run in this process: nothing of the product catches it."""


async def _die_here(stage: Stage, action: Action, plan: dict[str, object]) -> None:
    struck = FaultPlan(PlanFile.model_validate(plan), crash=_die).attach(stage)
    with pytest.raises(Died):
        await stage.perform(action)
    struck.detach()


def _die() -> NoReturn:
    raise Died


async def _to_its_end(stage: Stage, action: Action, holder: str) -> Action:
    for _ in range(ROUNDS):
        action = await stage.perform(action, holder)
        if action.state in SETTLED:
            break
    return action


# -- misuse ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("AX-02", "AX-03", "AX-05", "ME-07")
@pytest.mark.parametrize("misuse", MISUSES)
@pytest.mark.parametrize("type_", ActionType)
async def test_a_grant_used_twice_late_altered_or_elsewhere_has_one_effect_or_none(
    stage: Stage, clock: FixedClock, cells: Cells, type_: ActionType, misuse: str
) -> None:
    """Twice is once; late, altered and elsewhere are never, and the row stays as it was."""
    for scope in (ANA, ANA_OF_T2):
        await stage.seed(scope, status_for(type_))
    action = await stage.approved(ANA, PROPOSALS[type_])

    await _MISUSES[misuse](stage, clock, action)

    effects, state = await stage.effects(), (await stage.stands(action)).state
    cells[type_, misuse] = f"{effects} {state.value}"
    is_done = misuse in ("duplicate delivery", "concurrent twin", "replay after success")
    assert (effects, state) == ((1, ActionState.EXECUTED) if is_done else (0, ActionState.APPROVED))
    assert await stage.effects(ANA_OF_T2) == 0


async def _delivered_twice(stage: Stage, clock: FixedClock, action: Action) -> None:
    """The same grant at once, several times, over a store that interleaves them; then whoever is left goes on."""
    signed, racing = await stage.granted(action), _racing(stage)
    await asyncio.gather(*(racing.execute(signed, action) for _ in range(4)), return_exceptions=True)
    await _to_its_end(stage, action, "one")


async def _twins(stage: Stage, clock: FixedClock, action: Action) -> None:
    """Two instances at once, each with a grant of its own as soon as the lane is its."""

    async def run(holder: str) -> None:
        for _ in range(ROUNDS):
            with suppress(VouchError):
                await racing.perform(action, holder)

    racing = _racing(stage)
    await asyncio.gather(run("one"), run("two"))


async def _too_late(stage: Stage, clock: FixedClock, action: Action) -> None:
    signed = await stage.granted(action)
    clock.forward(seconds=MAX_GRANT_TTL_S)
    await _refused(stage.execute(signed, action))


async def _altered(stage: Stage, clock: FixedClock, action: Action) -> None:
    """Every field in turn, under the seal of the true ones."""
    signed = await stage.granted(action)
    for field, value in (
        ("grant_id", "another"),
        ("account_id", "ben"),
        ("action_type", next(t for t in ActionType if t is not action.type)),
        ("action_id", "0" * 40),
        ("payload_hash", "0" * 64),
        ("amount", usd(1)),
        ("fence", 7),
        ("policy_version", 7),
        ("approved_by", "person:mallory"),
    ):
        grant = signed.grant.model_copy(update={field: value})
        await _refused(stage.execute(SignedGrant(grant=grant, seal=signed.seal), action))


async def _elsewhere(stage: Stage, clock: FixedClock, action: Action) -> None:
    """One tenant's grant on the other's same action, as it is and with the tenant written over."""
    theirs = await stage.approved(ANA_OF_T2, PROPOSALS[action.type])
    signed = await stage.granted(action)
    moved = signed.grant.model_copy(update={"tenant_id": ANA_OF_T2.tenant_id, "action_id": theirs.action_id})
    await _refused(stage.execute(signed, theirs))
    await _refused(stage.execute(SignedGrant(grant=moved, seal=signed.seal), theirs))


async def _replayed(stage: Stage, clock: FixedClock, action: Action) -> None:
    signed = await stage.granted(action)
    done = await stage.execute(signed, action)
    for later_s in (0, MAX_GRANT_TTL_S):
        clock.forward(seconds=later_s)
        assert await stage.execute(signed, action) == done


_MISUSES: Final[dict[str, Callable[[Stage, FixedClock, Action], Awaitable[None]]]] = {
    "duplicate delivery": _delivered_twice,
    "concurrent twin": _twins,
    "expired grant": _too_late,
    "tampered field": _altered,
    "wrong tenant": _elsewhere,
    "replay after success": _replayed,
}


async def _refused(execution: Awaitable[Action]) -> None:
    with pytest.raises(AuthorityError):
        await execution


def _racing(stage: Stage) -> Stage:
    """Return the stage over a store that lets others in between any two calls."""
    documents = YieldingDocuments(stage.documents)
    shop = ShopBilling(documents, stage.clock)  # type: ignore[arg-type]
    actions = ActionRecords(documents, stage.clock)  # type: ignore[arg-type]
    return replace(stage, actions=actions, billing=shop, billing_records=shop)
