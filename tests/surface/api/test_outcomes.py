"""A person says over HTTP what became of an unclear action: who may, of what, and what a late word is told.

Source: AX-02, GO-03, design §9 "Approvals".
"""

from typing import Any

import pytest

from shared.adapters.records.action_rows import from_row, to_row
from shared.domain.actions import ActionState
from shared.ports.documents import Container, customer_partition
from tests.surface.api.conftest import Api, Shop, is_problem
from tests.surface.api.test_approvals import Pending, run, shop_with_approvers


class Unclear(Pending):
    """A refund of ana's nobody could read the end of, as the desk was told."""

    def __init__(self, api: Api, shop: Shop, state: ActionState = ActionState.UNCLEAR) -> None:
        super().__init__(api, shop)
        run(self._put(state=state, is_told=True))

    async def _put(self, **update: object) -> None:
        documents, partition = self.api.services.documents, customer_partition(self.scope)
        stored = await documents.read(Container.ACTIONS, self.scope, partition, f"action:{self.action.action_id}")
        assert stored is not None
        row = to_row(from_row(stored).model_copy(update=update))
        await documents.replace(Container.ACTIONS, self.scope, partition, row, etag=stored.etag)


@pytest.fixture
def shop(api: Api) -> Shop:
    """A tenant with two approvers."""
    return shop_with_approvers(api)


@pytest.mark.req("GO-03", "AX-02", "HD-01")
@pytest.mark.parametrize(
    ("given", "reference"),
    [({"reference": "gid://shopify/Refund/1 "}, "gid://shopify/Refund/1"), ({}, "as found by person:approver")],
    ids=["with the shop's id", "without"],
)
def test_what_was_done_is_written_with_who_found_it_and_is_the_same_twice(
    api: Api, shop: Shop, given: dict[str, Any], reference: str
) -> None:
    """The first word stays, whatever reference a later one names."""
    unclear = Unclear(api, shop)

    first = unclear.desk("outcome", {"done": True, **given})
    again = unclear.desk("outcome", {"done": True, "reference": "another"})

    stored = unclear.stored()
    assert (first.status_code, again.status_code) == (200, 200), (first.text, again.text)
    assert (stored.state, stored.found_by) == (ActionState.EXECUTED, "person:approver")
    assert stored.effect is not None
    assert (stored.effect.reference, stored.effect.amount) == (reference, unclear.action.amount)
    assert (first.json()["action"]["state"], first.json()["claimed_by"]) == ("executed", "approver")


@pytest.mark.req("GO-03", "AX-02")
def test_what_was_not_done_is_refused_and_says_so(api: Api, shop: Shop) -> None:
    """And nobody can say the opposite afterwards."""
    unclear = Unclear(api, shop)

    answers = [unclear.desk("outcome", {"done": done}) for done in (False, False, True)]

    stored = unclear.stored()
    assert [answer.status_code for answer in answers] == [200, 200, 409]
    assert "not to be done" in answers[-1].json()["detail"]
    assert (stored.state, stored.effect) == (ActionState.REFUSED, None)
    assert stored.reason == "a person found that it was not done"


@pytest.mark.req("GO-03", "GW-02", "AX-05")
def test_a_key_that_is_no_approvers_and_anothers_case_find_nothing_out(api: Api, shop: Shop) -> None:
    """403, and the action stays what it is."""
    unclear = Unclear(api, shop)
    unclear.desk("claim")

    keys = ("desk", "secret", "publishable", "admin", "approver2")
    answers = [unclear.desk("outcome", {"done": True}, key=key) for key in keys]

    assert [answer.status_code for answer in answers] == [403] * 5
    assert all(is_problem(answer, "scope-not-allowed") for answer in answers)
    assert unclear.stored().state is ActionState.UNCLEAR


TOO_EARLY_OR_LATE = {
    ActionState.PENDING: (True, "approve or reject"),
    ActionState.EXECUTING: (False, "being carried out"),
    ActionState.EXECUTED: (False, "known to be done"),
    ActionState.REFUSED: (True, "rejected"),
    ActionState.EXPIRED: (False, "in time"),
}


@pytest.mark.req("AX-02", "GO-03")
@pytest.mark.parametrize("state", TOO_EARLY_OR_LATE)
def test_an_outcome_of_what_is_not_unclear_is_told_why_it_is_none(api: Api, shop: Shop, state: ActionState) -> None:
    """409 with how the action stands; nothing is changed and nobody claims the case."""
    done, said = TOO_EARLY_OR_LATE[state]
    other = Unclear(api, shop, state)

    answer = other.desk("outcome", {"done": done})

    assert (answer.status_code, is_problem(answer, "conflict")) == (409, True)
    assert said in answer.json()["detail"]
    assert (other.stored().state, other.stored().found_by) == (state, "")
    assert other.case().claimed_by is None


@pytest.mark.req("AX-02", "GW-06")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"done": "yes"},
        {"done": False, "reference": "R-1"},
        {"done": True, "reference": ""},
        {"done": True, "reference": " "},
        {"done": True, "reference": "R-1\nR-2"},
        {"done": True, "reference": "R-1\u2028R-2"},
        {"done": True, "reference": "told ana@mail.example"},
        {"done": True, "reference": "R" * 129},
    ],
    ids=str,
)
def test_what_is_no_plain_outcome_is_refused(api: Api, shop: Shop, body: dict[str, Any]) -> None:
    """A guess may pay nobody: `done` is said in so many words, and a reference is one short printable line."""
    unclear = Unclear(api, shop)

    answer = unclear.desk("outcome", body)

    assert (answer.status_code, is_problem(answer, "invalid-request")) == (422, True)
    assert unclear.stored().state is ActionState.UNCLEAR


@pytest.mark.req("AX-03", "HD-01")
def test_the_case_of_an_unclear_action_stays_in_sight_until_its_outcome_is_said(api: Api, shop: Shop) -> None:
    """Resolving it by hand is refused, letting go of it puts it back; the action would count for ever otherwise."""
    unclear = Unclear(api, shop)
    unclear.desk("claim")

    resolved = unclear.desk("resolve")
    released = unclear.desk("release")
    said = unclear.desk("outcome", {"done": False})

    assert (resolved.status_code, released.status_code, said.status_code) == (409, 200, 200)
    assert "outcome" in resolved.json()["detail"]
    assert released.json()["status"] == "open"
