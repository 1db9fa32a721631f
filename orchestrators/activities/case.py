"""The steps of a case's wait: look at it, page on-call. Source: PR-04, fault 077."""

import logging

from shared.container import Services
from shared.domain.case import CaseStatus
from shared.domain.turns import CaseInput, CaseStanding
from shared.ports.documents import TenantScope

_log = logging.getLogger(__name__)


async def read_case(case: CaseInput, services: Services) -> CaseStanding:
    """Return where the case stands; a case that is gone is over."""
    found = await services.cases.get(TenantScope(case.tenant_id), case.case_id)
    if found is None:
        return CaseStanding(status="gone", is_waiting=False)
    is_waiting = found.status is CaseStatus.OPEN and not found.is_paged
    due_in_s = (found.due_at - services.clock.now()).total_seconds()
    return CaseStanding(status=found.status.value, is_waiting=is_waiting, due_in_s=due_in_s)


async def page_on_call(case: CaseInput, services: Services) -> bool:
    """Page on-call about an unclaimed case, then note it; False when it was paged or claimed meanwhile.

    In this order a pager that fails is asked again, here or by the sweeper; a crash in between pages twice, never not.
    """
    scope = TenantScope(case.tenant_id)
    found = await services.cases.get(scope, case.case_id)
    if found is None or found.is_paged or found.status is not CaseStatus.OPEN:
        return False
    await services.pager.page(case.tenant_id, case.case_id)
    await services.cases.mark_paged(scope, case.case_id)
    return True
