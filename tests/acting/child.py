"""A process that does one action and may be killed on the way.

Run: `python -m tests.acting.child FILE ACTION_ID LATER_S PLAN`. Opens the store as any instance would, runs the action
as a run of it does, and prints how it stands. PLAN is a fault plan of the local host; LATER_S moves the clock on, as if
the process were started so many seconds later. Source: AX-03.
"""

import asyncio
import sys
from datetime import datetime, timedelta
from pathlib import Path

from local.fault_plan import parse_plan
from shared.adapters.embedded.system import SystemClock
from shared.domain.actions import SETTLED
from tests.acting.stage import ANA, open_stage

ROUNDS = 5
"""Rounds in which an undisturbed run has ended."""


class LaterClock:
    """This machine's time, so many seconds on."""

    def __init__(self, later_s: float) -> None:
        self._later = timedelta(seconds=later_s)

    def now(self) -> datetime:
        """Return the moment."""
        return SystemClock().now() + self._later


async def run(file: Path, action_id: str, later_s: float, plan: str) -> str:
    """Run the action to its end and return its state."""
    stage = open_stage(file, clock=LaterClock(later_s))
    action = await stage.actions.get(ANA, action_id)
    assert action is not None
    parse_plan(plan).attach(stage)
    for _ in range(ROUNDS):
        action = await stage.perform(action, holder=f"instance-{later_s}")
        if action.state in SETTLED:
            break
    await stage.documents.close()
    return action.state.value


if __name__ == "__main__":
    _, file, action_id, later_s, plan = sys.argv
    print(asyncio.run(run(Path(file), action_id, float(later_s), plan)))
