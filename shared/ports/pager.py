"""Who is called when a case waits too long. Source: PR-04 (page on-call)."""

from typing import Protocol

from shared.domain.ids import CaseId, TenantId


class Pager(Protocol):
    """On-call paging."""

    async def page(self, tenant: TenantId, case: CaseId) -> None:
        """Page about an unclaimed case. Raises: Unavailable."""
        ...
