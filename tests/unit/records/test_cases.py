"""Case records on a real store: claims and closes that race with each other and with what the bot adds."""

import asyncio

import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.cases import CaseRecords
from shared.domain.case import Case, CaseStatus
from shared.domain.deltas import ActionResult, ActionStatus
from shared.domain.errors import StalenessError
from shared.domain.ids import CaseId, ConversationId, MessageId
from shared.domain.text import MaskedText
from shared.ports.documents import TenantScope
from tests.conftest import FixedClock

K1 = CaseId("k1")


@pytest.fixture
async def cases(documents: SqliteDocuments, clock: FixedClock, tenant: TenantScope) -> CaseRecords:
    """Case records with one open case."""
    records = CaseRecords(documents, clock)
    await records.open(
        tenant,
        Case(
            id=K1,
            tenant_id=tenant.tenant_id,
            conversation_id=ConversationId("c1"),
            message_id=MessageId("m1"),
            opened_at=clock.now(),
            due_at=clock.now(),
        ),
    )
    return records


@pytest.mark.req("HD-01")
async def test_of_two_people_who_claim_at_once_one_gets_the_case(cases: CaseRecords, tenant: TenantScope) -> None:
    """The other hears that it is taken."""
    claims = await asyncio.gather(*(cases.claim(tenant, K1, p) for p in ("dana", "eli")), return_exceptions=True)

    assert [type(claim) for claim in claims].count(StalenessError) == 1
    assert [claim.claimed_by for claim in claims if isinstance(claim, Case)] in (["dana"], ["eli"])


@pytest.mark.req("HD-01")
async def test_one_person_who_claims_twice_at_once_gets_the_case_twice(cases: CaseRecords, tenant: TenantScope) -> None:
    """A double click is no conflict."""
    claims = await asyncio.gather(*(cases.claim(tenant, K1, "dana") for _ in range(3)))

    assert {claim.claimed_by for claim in claims} == {"dana"}


@pytest.mark.req("HD-01", "PR-04")
async def test_fault_004_a_draft_and_a_page_that_come_with_the_claim_cost_nobody_anything(
    cases: CaseRecords, tenant: TenantScope
) -> None:
    """What the bot adds at the same moment must not turn the person away, nor be lost."""
    _, claim, _ = await asyncio.gather(
        cases.attach_draft(tenant, K1, MaskedText("a draft")),
        cases.claim(tenant, K1, "dana"),
        cases.mark_paged(tenant, K1),
    )

    case = await cases.get(tenant, K1)
    assert claim.status is CaseStatus.CLAIMED
    assert case is not None
    assert (case.claimed_by, case.draft) == ("dana", MaskedText("a draft"))


@pytest.mark.req("AX-03", "HD-01")
async def test_how_an_action_ended_replaces_how_it_stood_until_the_case_is_over(
    cases: CaseRecords, tenant: TenantScope
) -> None:
    """A person sees each action once, as it is; what is over is left as it was."""
    waits = ActionResult(type="refund", status=ActionStatus.PENDING_APPROVAL, action_id="a-1")
    done = waits.model_copy(update={"status": ActionStatus.EXECUTED})
    other = done.model_copy(update={"action_id": "a-2"})

    for outcome in (waits, other, done, done):
        await cases.attach_outcome(tenant, K1, outcome)
    await cases.close(tenant, K1, CaseStatus.RESOLVED)
    await cases.attach_outcome(tenant, K1, other.model_copy(update={"action_id": "a-3"}))

    case = await cases.get(tenant, K1)
    assert case is not None
    assert case.proposed == (other, done)
