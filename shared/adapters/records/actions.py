"""Action records: everything the store knows of actions, behind three ports, so that each holder has its own part.

Source: AX-01…04, design §6 row actions, §9.
"""

from collections import OrderedDict

from shared.adapters.records.action_claims import Claiming
from shared.adapters.records.action_decisions import Deciding
from shared.adapters.records.action_reading import ActionReading
from shared.adapters.records.action_sweeps import Sweeping
from shared.domain.actions import Action, ActionOp, Effect
from shared.ports.clock import Clock
from shared.ports.documents import CustomerScope, Documents


class ActionRecords(ActionReading, Deciding, Claiming, Sweeping):
    """Implements ActionReader, ActionDecisions and ActionClaims, and what the sweeper looks for."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        super().__init__(documents, clock)
        self._past = OrderedDict()

    async def found(self, scope: CustomerScope, action_id: str, *, by: str, effect: Effect | None) -> Action:
        """Write what a person found, and let the shop's next payment be compared with this one too."""
        action = await super().found(scope, action_id, by=by, effect=effect)
        self._remember(action)
        return action

    async def finish(
        self,
        scope: CustomerScope,
        action_id: str,
        op: ActionOp,
        *,
        grant_id: str,
        effect: Effect | None = None,
        reason: str = "",
    ) -> Action:
        """Write what came of a start, and let the shop's next payment be compared with this one too."""
        action = await super().finish(scope, action_id, op, grant_id=grant_id, effect=effect, reason=reason)
        self._remember(action)
        return action
