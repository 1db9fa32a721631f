"""Snapshots of the tenants' keyword indexes: which one a cold instance may start from, when a new one is due.

Never decides what is served: whatever is loaded is brought up to the knowledge version first. Holds article text, so
erasing a tenant must call `forget`. Source: design §6 "Keyword index", KB-13, fault 022.
"""

import asyncio
import re
from typing import Final

from shared.ports.articles import KnowledgeHead
from shared.ports.documents import TenantScope
from shared.ports.snapshots import Snapshots
from shared.retrieval.figures import SearchCounters
from shared.retrieval.index_file import DamagedSnapshot, of_bytes, to_bytes
from shared.retrieval.tenant_index import TenantIndex

MIN_ARTICLES: Final = 200
"""Articles below which an index is built faster than a snapshot pays for. Source: measured; 50 ms to build."""
DUE_CHANGES: Final = 500
"""Changes after which a new snapshot is due. Unit: knowledge versions. Value ours: 0.2 s of a cold start."""
DUE_SHARE: Final = 0.05
"""… or this share of the articles, when that is more: a snapshot of 100,000 articles is worth 5,000 changes. Ours."""
KEPT: Final = 2
"""Snapshots kept of a tenant: an instance may be reading the older one. Value ours."""

_NAME: Final = re.compile(r"keywords-(\d{12})")


class IndexSnapshots:
    """The snapshots of every tenant, behind one port."""

    def __init__(self, snapshots: Snapshots, *, counters: SearchCounters | None = None) -> None:
        self._snapshots = snapshots
        self._counters = counters or SearchCounters()

    async def newest(self, scope: TenantScope, head: KnowledgeHead) -> TenantIndex | None:
        """Return the newest whole snapshot that the head allows: not newer than it, not behind its last purge.

        Raises: Unavailable when the snapshots cannot be read.
        """
        for seq in reversed(await self._seqs(scope)):
            if seq > head.seq:
                # Of a store that was put back to an earlier day: once the head has passed it, it would be believed.
                await self._snapshots.delete(scope, _name(seq))
                continue
            if seq < head.purged_seq:
                break
            data = await self._snapshots.get(scope, _name(seq))
            if data is None:
                continue
            try:
                index = await asyncio.to_thread(of_bytes, scope.tenant_id, data)
            except DamagedSnapshot:
                self._counters.snapshots_refused += 1
                continue
            if index.seq == seq:
                return index
        return None

    async def keep(self, scope: TenantScope, index: TenantIndex) -> int:
        """Write a snapshot if one is due and remove those it replaces; nothing may change the index meanwhile.

        Returns the knowledge version of the newest one. Raises: Unavailable.
        """
        seqs = await self._seqs(scope)
        if seqs and not is_due(index, seqs[-1]):
            return seqs[-1]
        seq = index.seq
        await self._snapshots.put(scope, _name(seq), await asyncio.to_thread(to_bytes, scope.tenant_id, index))
        self._counters.snapshots_kept += 1
        for old in sorted({*seqs, seq})[:-KEPT]:
            await self._snapshots.delete(scope, _name(old))
        return seq

    async def forget(self, scope: TenantScope) -> None:
        """Remove every snapshot of the tenant. Raises: Unavailable."""
        for name in await self._snapshots.list(scope):
            await self._snapshots.delete(scope, name)

    async def _seqs(self, scope: TenantScope) -> list[int]:
        found = (_NAME.fullmatch(name) for name in await self._snapshots.list(scope))
        return sorted(int(match.group(1)) for match in found if match is not None)


def is_due(index: TenantIndex, last_seq: int | None) -> bool:
    """Tell whether enough has changed since the last snapshot for a new one to pay."""
    if len(index) < MIN_ARTICLES:
        return False
    return last_seq is None or abs(index.seq - last_seq) >= max(DUE_CHANGES, DUE_SHARE * len(index))


def _name(seq: int) -> str:
    return f"keywords-{seq:012d}"
