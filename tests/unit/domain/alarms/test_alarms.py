"""Phrases that bring a person in are found in each language; words that only look like them are not."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.alarms import TRIGGERS, AlarmKind, find_alarms
from shared.domain.alarms.patterns import END, fold_words, parse, to_tokens
from shared.domain.human_triggers import HumanTrigger
from tests.unit.domain.alarms.sentences import ALSO_SAID, EVERYDAY, SAID

LIMIT_S = 0.5
"""Most processor time for the longest message: a hundred times what it takes."""


def kinds(text: str) -> set[AlarmKind]:
    return {alarm.kind for alarm in find_alarms(text)}


@pytest.mark.req("GO-03", "ES-01")
@pytest.mark.parametrize(
    ("language", "kind", "text"),
    [
        pytest.param(language, kind, text, id=f"{language} {kind.value} {text[:40]}")
        for language, by_kind in SAID.items()
        for kind, texts in by_kind.items()
        for text in texts
    ],
)
def test_what_calls_for_a_person_is_found(language: str, kind: AlarmKind, text: str) -> None:
    assert kind in kinds(text)


@pytest.mark.req("GO-03", "ES-01")
@pytest.mark.parametrize(
    ("language", "text"),
    [
        pytest.param(language, text, id=f"{language} {text[:40]}")
        for language, texts in ALSO_SAID.items()
        for text in texts
    ],
)
def test_other_ways_to_put_it_are_found_too(language: str, text: str) -> None:
    assert language in {alarm.language for alarm in find_alarms(text)}


@pytest.mark.req("GO-03", "ES-01")
@pytest.mark.parametrize(
    ("language", "text"),
    [
        pytest.param(language, text, id=f"{language} {text[:40]}")
        for language, texts in EVERYDAY.items()
        for text in texts
    ],
)
def test_everyday_words_call_nobody(language: str, text: str) -> None:
    assert find_alarms(text) == ()


@pytest.mark.req("GO-03")
@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "tr"])
def test_shouting_and_missing_accents_change_nothing(language: str) -> None:
    """Turkish İ and I are both an i here, as its customers type them."""
    for texts in SAID[language].values():
        for text in texts:
            shouted = text.replace("i", "İ").upper() if language == "tr" else text.upper()

            assert kinds(shouted) == kinds(text)
            assert kinds(fold_words(text)) >= kinds(text)


@pytest.mark.req("GO-03")
def test_fault_034_letters_nobody_sees_hide_no_phrase() -> None:
    assert kinds("I will s\u200bue you, my law\u00adyer will wri\u2060te") == {AlarmKind.LEGAL}
    assert kinds("ＭＹ　ＬＡＷＹＥＲ　ＷＩＬＬ　ＣＡＬＬ") == {AlarmKind.LEGAL}


@pytest.mark.req("GO-03")
def test_a_phrase_does_not_reach_over_the_end_of_a_sentence() -> None:
    assert find_alarms("Could you take it? To court edition sneakers I prefer clogs") == ()
    assert find_alarms("see you\nin court shoes or sandals") == ()


@pytest.mark.req("GO-03")
def test_an_everyday_use_beside_a_threat_takes_nothing_from_it() -> None:
    assert kinds("The court shoes are torn and I will see you in court") == {AlarmKind.LEGAL}
    assert kinds("Die Suizidprävention-Hotline? Ich will sterben.") == {AlarmKind.SELF_HARM}


@pytest.mark.req("GO-03")
def test_every_kind_has_its_trigger_and_every_name_is_ours() -> None:
    assert set(TRIGGERS) == set(AlarmKind)
    assert set(TRIGGERS.values()) == {
        HumanTrigger.SAFETY,
        HumanTrigger.LEGAL,
        HumanTrigger.DISTRESS,
        HumanTrigger.EXPLICIT_WISH,
    }
    assert [a.name for a in find_alarms("Avukatım ile konuşun.")] == ["legal_phrase:tr"]


@pytest.mark.req("GO-03")
@given(before=st.text(max_size=60), after=st.text(max_size=60))
def test_any_text_can_be_read_and_a_sentence_of_its_own_is_always_seen(before: str, after: str) -> None:
    """Whatever stands in other lines."""
    assert AlarmKind.LEGAL in kinds(f"{before}\nI am going to sue you.\n{after}")


@pytest.mark.req("GO-03")
@given(st.text(max_size=200))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold_words(fold_words(text)) == fold_words(text)
    assert to_tokens(text) == to_tokens(text)


@pytest.mark.req("GW-06")
@pytest.mark.parametrize(
    "many", ["my lawyer ", "will i ", "dava ", "mit ", "i am so ", "!", "'", "cannot take any ", "ı", "a"]
)
def test_the_longest_message_is_read_in_a_moment(many: str) -> None:
    text = (many * 8_000)[:8_000]
    started = time.process_time()

    find_alarms(text)

    assert time.process_time() - started < LIMIT_S


@pytest.mark.req("GO-03")
@pytest.mark.parametrize(
    "line", ["~3 word", "[may] be", "$ word", "ab*", "wo~rd", "a|", "word ~0", "word ~9", "word *"]
)
def test_a_line_the_notation_does_not_allow_is_refused(line: str) -> None:
    with pytest.raises(ValueError):
        parse(line)


@pytest.mark.req("GO-03")
def test_words_are_split_where_their_language_splits_them() -> None:
    assert to_tokens("L'avocat d’İstanbul, don't! KVKK'ya") == (
        *("l", "avocat", "d", "istanbul", "dont", END),
        *("kvkkya", END),
    )
