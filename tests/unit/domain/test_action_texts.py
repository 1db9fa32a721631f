"""What a customer is told about an action: truthful, in every product language, readable by grounding.

Source: design §9 "Approvals", design §5 "Grounding", CO-05, SU-01.
"""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agents.supervisor.promises import find_promises
from shared.domain.deltas import ActionResult, ActionStatus
from shared.domain.ids import OrderId
from shared.domain.intents import ActionType
from shared.domain.money import Money, minor_digits
from shared.domain.phrases import (
    LANGUAGES,
    Phrase,
    canned_texts,
    done_sentence,
    done_text,
    expired_text,
    in_progress_text,
    pending_text,
    phrase,
    rejected_text,
)
from shared.domain.phrases.action_texts import ABOUT, DONE_TEXTS, PLAIN_TEXTS, REQUEST_TEXTS
from shared.domain.typed_values.extraction import extract_values
from shared.domain.typed_values.model import ValueKind
from shared.domain.typed_values.numbers import plain

ORDER = OrderId("1001")
TOLD = tuple(ActionType(key) for key in DONE_TEXTS)
"""Actions a customer is told about."""
REQUEST = {"pending": pending_text, "in progress": in_progress_text, "expired": expired_text, "rejected": rejected_text}


def all_texts() -> Iterator[str]:
    """Yield every text about an action there is."""
    for language in LANGUAGES:
        for action in TOLD:
            for amount in (Money(amount_minor=4_200, currency="EUR"), None):
                yield done_text(action, language, order=ORDER, amount=amount)
        for said in REQUEST.values():
            yield from (said(language, order=order) for order in (ORDER, None))


@pytest.mark.req("CO-05")
def test_every_text_exists_in_every_product_language_with_the_same_placeholders() -> None:
    """A missing wording would fall to the customer as an error."""
    for table in (DONE_TEXTS, PLAIN_TEXTS, REQUEST_TEXTS, {"about": ABOUT}):
        for key, by_language in table.items():
            assert set(by_language) == set(LANGUAGES), key
            kinds = {
                tuple(sorted(p for p in ("{order}", "{amount}", "{about}") if p in t)) for t in by_language.values()
            }
            assert len(kinds) == 1, key


@pytest.mark.req("AX-01", "SU-01")
@example(language="en", action=ActionType.REFUND, order="XS-0000", minor=1, currency="EUR")
@given(
    language=st.sampled_from(LANGUAGES),
    action=st.sampled_from(TOLD),
    order=st.from_regex(r"[1-9][0-9]{3,9}|[A-Z]{2}-[0-9]{4,6}", fullmatch=True),
    minor=st.integers(1, 99_999_999),
    currency=st.sampled_from(["EUR", "USD", "GBP", "JPY", "CHF", "SEK", "KWD"]),
)
def test_what_was_done_can_be_read_back_with_its_amount_and_order(
    language: str, action: ActionType, order: str, minor: int, currency: str
) -> None:
    """Grounding compares both with the action's record; an amount a reader cannot take apart proves nothing."""
    amount = Money(amount_minor=minor, currency=currency)

    text = done_text(action, language, order=OrderId(order), amount=amount)
    values = extract_values(text, language=language, default_currency=currency)

    read = {(value.kind, reading) for value in values for reading in value.readings}
    assert (ValueKind.IDENTIFIER, order) in read
    if "{amount}" in DONE_TEXTS[action.value]["en"]:
        decimal = plain(amount.to_decimal().quantize(amount.to_decimal().__class__(1).scaleb(-minor_digits(currency))))
        assert (ValueKind.AMOUNT, f"{decimal} {currency}") in read


@pytest.mark.req("AX-05")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("action", TOLD, ids=str)
def test_saying_that_something_was_done_is_seen_as_exactly_that_promise(language: str, action: ActionType) -> None:
    """The supervisor lets it pass only in a turn in which it was done."""
    amounts = (Money(amount_minor=4_200, currency="EUR"), None)

    assert {find_promises(done_text(action, language, order=ORDER, amount=a)) for a in amounts} == {
        frozenset({action.value})
    }


@pytest.mark.req("SU-01")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("said", REQUEST.values(), ids=REQUEST.keys())
def test_a_request_that_is_not_done_promises_nothing(language: str, said: Callable[..., str]) -> None:
    """Pending, under way, expired, rejected: none of them may read as a deed."""
    for order in (ORDER, None):
        text = said(language, order=order)
        assert find_promises(text) == frozenset()
        assert ("#1001" in text) is (order is not None)


@pytest.mark.req("SU-01", "AX-01")
def test_the_sentence_of_a_turns_action_is_made_from_its_record() -> None:
    """What grounding compares a reply with; none for what was not done, or is not the customer's to hear of."""
    done = ActionResult(type="refund", status=ActionStatus.EXECUTED, order_id=ORDER, amount_minor=4_200, currency="EUR")
    waiting = done.model_copy(update={"status": ActionStatus.PENDING_APPROVAL})
    note = ActionResult(type="crm_note", status=ActionStatus.EXECUTED)

    assert done_sentence(done, "de") == "Wir haben 42,00\u00a0€ zu Ihrer Bestellung #1001 erstattet."
    assert done_sentence(done.model_copy(update={"amount_minor": None}), "de") == (
        "Wir haben Ihre Bestellung #1001 erstattet."
    )
    assert done_sentence(waiting, "de") == done_sentence(note, "de") == ""


@pytest.mark.req("AX-05", "SU-01")
def test_no_composer_may_say_these_texts_as_fixed_ones() -> None:
    """Fixed texts pass the checks unread; that something was done has to be proven."""
    assert not canned_texts("our shop") & set(all_texts())


@pytest.mark.req("AX-01")
@pytest.mark.parametrize("action", [ActionType.TICKET_UPDATE, ActionType.CRM_NOTE], ids=str)
def test_what_is_done_on_our_side_only_is_no_news_to_the_customer(action: ActionType) -> None:
    """A note of ours is not theirs to hear of; their message is acknowledged."""
    assert done_text(action, "de", order=None, amount=None) == phrase(Phrase.ACKNOWLEDGE, "de")


@pytest.mark.req("CO-05")
def test_a_language_without_texts_hears_english_and_an_order_number_is_one_run() -> None:
    """An order's name is the shop's own data: no line of it may pass for ours."""
    text = done_text(ActionType.RESEND, "ja", order=OrderId("10\n01 \u202e<b>"), amount=None)

    assert text == "We have created a free replacement shipment for your order #1001<b>."


@pytest.mark.req("SU-01", "AX-05")
@pytest.mark.parametrize(
    ("text", "promise"),
    [
        ("We hebben u gisteren 42 euro terugbetaald.", "refund"),
        ("Wir haben Ihnen den Betrag gutgeschrieben.", "credit"),
        ("Ihre Rücksendung wurde bei uns angemeldet.", "request_return"),
    ],
)
def test_deeds_told_in_other_words_of_these_languages_are_seen_too(text: str, promise: str) -> None:
    """A composer must not say what the executor did not do, in any language."""
    assert promise in find_promises(text)
