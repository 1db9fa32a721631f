"""What a tenant may ask for: more certainty than the requirements, never less, and no waiting without end."""

import pytest

from shared.domain.agents import CLARIFY_BELOW, COMPOSER_FLOOR, RETRIEVAL_FLOOR
from shared.domain.human_triggers import SLA_MINUTES, Severity
from shared.domain.policy import CONTACTS_BEFORE_PERSON, MAX_SLA_MINUTES, RoutingRules, TenantPolicy

FLOORS = {"clarify_below": CLARIFY_BELOW, "retrieval_floor": RETRIEVAL_FLOOR, "composer_floor": COMPOSER_FLOOR}


@pytest.mark.req("RT-05", "RT-06", "GO-03", "ES-03")
def test_the_defaults_are_what_the_requirements_demand() -> None:
    assert RoutingRules().model_dump() == FLOORS | {"contacts_before_person": CONTACTS_BEFORE_PERSON}
    assert (CLARIFY_BELOW, RETRIEVAL_FLOOR, CONTACTS_BEFORE_PERSON) == (0.6, 0.5, 2)


@pytest.mark.req("RT-05", "RT-06", "RT-08", "GO-03", "ES-03")
@pytest.mark.parametrize("name", FLOORS)
def test_a_threshold_can_be_raised_and_never_lowered(name: str) -> None:
    """Grounding is never lowered to keep up."""
    assert getattr(RoutingRules.model_validate({name: 1}), name) == 1
    for value in (FLOORS[name] - 0.01, 0, -1, 1.01, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=name):
            RoutingRules.model_validate({name: value})


@pytest.mark.req("GO-03", "ES-03")
def test_a_person_may_come_earlier_than_at_the_third_contact_and_never_later() -> None:
    assert [RoutingRules(contacts_before_person=n).contacts_before_person for n in (0, 1, 2)] == [0, 1, 2]
    for value in (-1, CONTACTS_BEFORE_PERSON + 1):
        with pytest.raises(ValueError, match="contacts_before_person"):
            RoutingRules(contacts_before_person=value)


@pytest.mark.req("PR-04", "ES-03")
def test_a_severity_left_out_keeps_its_time() -> None:
    own = TenantPolicy(sla_minutes={Severity.CRITICAL: 5})

    assert own.sla_of(Severity.CRITICAL) == 5
    assert [own.sla_of(s) for s in Severity if s is not Severity.CRITICAL] == [
        minutes for s, minutes in SLA_MINUTES.items() if s is not Severity.CRITICAL
    ][::-1]


@pytest.mark.req("PR-04", "ES-03")
@pytest.mark.parametrize("minutes", [0, -5, MAX_SLA_MINUTES + 1, 10**12])
def test_a_time_that_never_or_always_is_over_is_refused(minutes: int) -> None:
    """It would page at once, or overflow the moment a case is due."""
    with pytest.raises(ValueError, match="sla_minutes"):
        TenantPolicy(sla_minutes={Severity.HIGH: minutes})


@pytest.mark.req("AX-02", "ES-03")
@pytest.mark.parametrize(
    "changed", [{"approval_hours": 0}, {"approval_hours": 30 * 24 + 1}, {"queue_cap": 0}], ids=lambda c: next(iter(c))
)
def test_no_waiting_without_end_and_no_desk_without_a_place(changed: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(changed))):
        TenantPolicy.model_validate(changed)
