"""The embedded pager: an error line an operator's log alert can catch. Source: PR-04."""

import logging

from shared.domain.ids import CaseId, TenantId

_log = logging.getLogger("vouch.pager")


class LogPager:
    """Implements Pager by logging ids."""

    async def page(self, tenant: TenantId, case: CaseId) -> None:
        """Log the page."""
        _log.error("case %s of tenant %s is past its SLA and nobody has claimed it", case, tenant)
