"""Models as documents: moments that sort as text, and errors that show no value. Source: fault 078."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.records.codec import from_stored, to_document, to_moment
from shared.domain.errors import SchemaError
from shared.domain.ids import ConversationId, TenantId
from shared.domain.ticket import Ticket
from shared.ports.documents import Stored

_MOMENTS = st.datetimes(
    min_value=datetime(2000, 1, 1),  # noqa: DTZ001 - Hypothesis adds the zone
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-8))]),
)


def ticket(opened_at: datetime) -> Ticket:
    """Build a ticket opened at a moment."""
    return Ticket(
        tenant_id=TenantId("t1"), conversation_id=ConversationId("c1"), opened_at=opened_at, updated_at=opened_at
    )


@given(_MOMENTS, _MOMENTS)
def test_moments_sort_as_text_as_they_sort_in_time(a: datetime, b: datetime) -> None:
    assert (to_moment(a) < to_moment(b)) == (a < b)
    assert (to_moment(a) == to_moment(b)) == (a == b)


@given(_MOMENTS)
def test_a_model_comes_back_as_it_was_with_its_moments_in_one_width(moment: datetime) -> None:
    model = ticket(moment)

    document = to_document(model)

    assert document["opened_at"] == to_moment(moment)
    assert document["closed_at"] is None
    assert from_stored(Ticket, Stored(document, "etag")) == model


@pytest.mark.req("PV-05")
def test_a_malformed_document_is_refused_without_showing_its_values() -> None:
    document = {**to_document(ticket(datetime(2026, 1, 1, tzinfo=UTC))), "version": "ana@x.example", "extra": "+1 555"}

    with pytest.raises(SchemaError) as caught:
        from_stored(Ticket, Stored(document, "etag"))

    assert "version" in str(caught.value)
    assert "ana@" not in str(caught.value)
    assert "555" not in str(caught.value)
