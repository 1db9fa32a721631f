"""Laws of masking: exact return, fixed point, nothing left, only one's own."""

import itertools
import re
import uuid
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.text import MaskedText
from shared.ports.vault import Masked
from shared.privacy.masking import TOKEN_PATTERN, RestoreError, contains_token, mask, restore, restore_stored
from shared.privacy.normalise import clean_input, for_screening
from shared.privacy.patterns import find_contacts

REGIONS = ("US", "GB", "FR", "DE", "JP")

emails = st.builds(
    "{}@{}.{}".format,
    st.text("abcxyz0189._+", min_size=1, max_size=8).filter(lambda s: s[0].isalnum() and s[-1].isalnum()),
    st.sampled_from(["x", "mail.shop", "bücher", "例え", "Sub.X"]),
    st.sampled_from(["example", "com", "co.uk", "рф"]),
)
numbers = st.builds(
    lambda area, rest, form: form.format(area, rest[:3], rest[3:]),
    st.sampled_from(["415", "503", "212"]),
    st.from_regex(r"[2-9][02-9][0-9]{5}", fullmatch=True),
    st.sampled_from(["({}) {}-{}", "{}-{}-{}", "+1 {} {} {}", "+1{}{}{}", "1.{}.{}.{}"]),
)
fillers = st.sampled_from([" ", ", ", " and ", "\n", "; my phone is ", " — ", " (", ") ", ". ", "。"])
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
messages = st.lists(st.one_of(emails, numbers, fillers, words), max_size=10).map("".join)


def masked(text: str, seed: int = 1) -> Masked:
    random = Random(seed)
    return mask(
        text, regions=REGIONS, known={}, new_token=lambda: str(uuid.UUID(int=random.getrandbits(128), version=4))
    )


@pytest.mark.req("PV-01")
@given(messages)
@settings(max_examples=400, deadline=None)
def test_fault_044_restoring_gives_back_exactly_what_was_masked(text: str) -> None:
    """restore ∘ mask is the identity, whatever surrounds and however values overlap (PV-01)."""
    result = masked(text)

    assert restore(result.text, result.mappings) == text
    assert restore_stored(result.text, result.mappings) == text


@pytest.mark.req("PV-01")
@given(st.one_of(emails, numbers), st.sampled_from(["{}", "hello {} bye", "it is: {}.", "({})", "{}, thanks"]))
@settings(max_examples=300, deadline=None)
def test_a_contact_never_stays_in_masked_text(contact: str, sentence: str) -> None:
    """No address or number of the tenant's regions reaches a model (PV-01)."""
    result = masked(sentence.format(contact))

    assert [mapping.value for mapping in result.mappings] == [contact]
    assert contact not in result.text.value


@pytest.mark.req("PV-01")
@given(messages)
@settings(max_examples=200, deadline=None)
def test_masking_again_does_no_harm(text: str) -> None:
    """Tokens are never tokenised, and both maskings together still give the text back (fault 040)."""
    once = masked(text)
    twice = masked(once.text.value, seed=2)

    assert {mapping.token for mapping in once.mappings} <= set(re.findall(TOKEN_PATTERN, twice.text.value))
    assert restore_stored(twice.text, (*once.mappings, *twice.mappings)) == text


@pytest.mark.req("PV-01")
@given(st.lists(st.one_of(emails, numbers), min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_masking_is_a_fixed_point_on_contacts_in_a_sentence(contacts: list[str]) -> None:
    """Masking masked text changes nothing."""
    once = masked("write to " + " or ".join(contacts))

    assert masked(once.text.value, seed=2).text == once.text


@pytest.mark.req("PV-01")
@given(
    emails, emails, st.integers(0, 43), st.integers(0, 43), st.sampled_from(["lower", "upper", "cut", "drop", "swap"])
)
@settings(max_examples=300, deadline=None)
def test_a_damaged_token_gives_its_own_value_or_is_held(one: str, two: str, at: int, to: int, damage: str) -> None:
    """Whatever a model does to a token, another person's value never comes out, nor the token itself."""
    if one == two:
        return
    mine, other = masked(one, seed=5).mappings[0], masked(two, seed=6).mappings[0]
    token = {
        "lower": mine.token.lower(),
        "upper": mine.token.upper(),
        "cut": mine.token[: max(at, 8)],
        "drop": mine.token[:at] + mine.token[at + 1 :],
        "swap": mine.token[:at] + mine.token[to : to + 1] + mine.token[at + 1 :],
    }[damage]

    try:
        restored = restore(MaskedText(f"to {token} now"), (mine, other))
    except RestoreError:
        return

    assert other.value not in restored.replace(mine.value, "")
    assert mine.token not in restored
    assert not contains_token(restored)


@pytest.mark.req("PV-01")
@given(messages)
@settings(max_examples=200, deadline=None)
def test_finds_are_ordered_and_disjoint(text: str) -> None:
    """Offsets index the text as given, folded or not."""
    contacts = find_contacts(text, regions=REGIONS)

    assert all(contact.start < contact.end <= len(text) for contact in contacts)
    assert all(left.end <= right.start for left, right in itertools.pairwise(contacts))


@pytest.mark.req("GW-06")
@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(deadline=None)
def test_cleaning_and_screening_are_fixed_points(text: str) -> None:
    """Doing either twice does nothing more, so no character survives by being hidden behind another."""
    cleaned, screened = clean_input(text), for_screening(text)

    assert clean_input(cleaned) == cleaned
    assert for_screening(screened) == screened
