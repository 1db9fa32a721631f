"""Laws of typed values: total, linear, blind to formatting, strict about meaning."""

import time
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.typed_values import TypedValue, ValueKind, equals, extract_values, supports

LANGUAGES = ("en", "es", "fr", "de", "it", "pt", "nl", "tr", "sv", "und", "")
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "tr": "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
}


def read(text: str, language: str = "en", currency: str = "USD") -> tuple[TypedValue, ...]:
    return extract_values(text, language=language, default_currency=currency)


def only(text: str, language: str = "en", currency: str = "USD") -> TypedValue:
    (value,) = read(text, language, currency)
    return value


def grouped(amount: Decimal, group: str, point: str) -> str:
    whole, _, cents = f"{amount:.2f}".partition(".")
    head = f"{int(whole):,}".replace(",", group)
    return f"{head}{point}{cents}"


@pytest.mark.req("SU-01")
@given(text=st.text(max_size=300), language=st.sampled_from(LANGUAGES))
def test_extraction_is_total_and_its_spans_lie_in_the_text(text: str, language: str) -> None:
    for value in read(text, language):
        assert value.text == text[value.start : value.end]
        assert value.text
        assert value.readings


@pytest.mark.req("SU-01")
@given(
    text=st.text(alphabet="0123456789.,-/' \u00a0€$%#:kgdxaesmrhto°" + "١٣é", max_size=120),
    language=st.sampled_from(LANGUAGES),
)
def test_every_digit_of_a_dense_text_belongs_to_a_value(text: str, language: str) -> None:
    """Strict: a figure nobody read is a figure nobody checked."""
    covered = {i for v in read(text, language) for i in range(v.start, v.end)}

    missed = [i for i, c in enumerate(text) if c.isdecimal() and i not in covered]

    assert not missed


@pytest.mark.req("SU-01")
@given(cents=st.integers(min_value=0, max_value=10**11))
def test_an_amount_is_the_same_in_every_locales_notation(cents: int) -> None:
    amount = Decimal(cents).scaleb(-2)
    spellings = [
        (f"€{grouped(amount, ',', '.')}", "en"),
        (f"EUR {grouped(amount, ',', '.')}", "en"),
        (f"{grouped(amount, '.', ',')} €", "de"),
        (f"{grouped(amount, '.', ',')} €", "es"),
        (f"€ {grouped(amount, '.', ',')}", "nl"),
        (f"{grouped(amount, chr(0x202F), ',')}\u00a0€", "fr"),
        (f"{grouped(amount, ' ', ',')} euros", "fr"),
        (f"{grouped(amount, chr(39), '.')} EUR", "de"),
        (f"{amount:.2f} euro", "it"),
        (f"€{grouped(amount, '.', ',')}", "tr"),
    ]

    values = [only(text, language) for text, language in spellings]

    assert {v.kind for v in values} == {ValueKind.AMOUNT}
    assert all(equals(values[0], v) for v in values)


@pytest.mark.req("SU-01")
@given(day=st.dates(min_value=date(2000, 1, 1), max_value=date(2099, 12, 31)), language=st.sampled_from(sorted(MONTHS)))
def test_a_date_is_the_same_however_it_is_written(day: date, language: str) -> None:
    month = MONTHS[language].split()[day.month - 1]
    joiner = " de " if language in ("es", "pt") else ". " if language == "de" else " "
    year_joiner = " de " if language in ("es", "pt") else " "
    written = only(f"{day.day}{joiner}{month}{year_joiner}{day.year}", language)

    iso = only(day.isoformat())
    american = only(f"{MONTHS['en'].split()[day.month - 1]} {day.day}, {day.year}")
    numeric = only(f"{day.day:02}/{day.month:02}/{day.year}")

    assert equals(written, iso)
    assert equals(american, iso)
    assert equals(numeric, iso)


@pytest.mark.req("SU-01")
@given(a=st.integers(min_value=0, max_value=9999), b=st.integers(min_value=0, max_value=9999))
def test_different_figures_are_never_equal(a: int, b: int) -> None:
    for form in ("{} days", "{} %", "${}", "{} kg", "order #{}"):
        assert equals(only(form.format(a)), only(form.format(b))) is (a == b)


SAME = [
    ("30 days", "en", "thirty days", "en"),
    ("30 days", "en", "30-day", "en"),
    ("30 days", "en", "30 jours", "fr"),
    ("30 days", "en", "dreißig Tage", "de"),
    ("30 days", "en", "treinta días", "es"),
    ("30 days", "en", "3\u200b0 days", "en"),
    ("30 days", "en", "３０ days", "en"),
    ("two weeks", "en", "14 giorni", "it"),
    ("2 years", "en", "24 Monate", "de"),
    ("48 hours", "en", "2 dagen", "nl"),
    ("3–5 business days", "en", "3 bis 5 Werktage", "de"),
    ("3-5 business days", "en", "3 à 5 jours ouvrés", "fr"),
    ("20%", "en", "vingt pour cent", "fr"),
    ("1.5 kg", "en", "1500 g", "en"),
    ("1.234,5 kg", "de", "1,234.5 kg", "en"),
    ("9:30 pm", "en", "21h30", "fr"),
    ("https://www.Shop.example/returns/", "en", "shop.example/returns", "en"),
    ("#w2611340", "en", "order W2611340", "en"),
    ("1er mars 2026", "fr", "2026-03-01T09:00:00Z", "en"),
    ("quatre-vingt-dix jours", "fr", "90 days", "en"),
    ("twenty-one days", "en", "einundzwanzig Tage", "de"),
    ("30 days", "en", "otuz gün", "tr"),
    ("3–5 business days", "en", "3 ila 5 iş günü", "tr"),
    ("2 years", "en", "2 YILLIK", "tr"),
    ("20%", "en", "%20", "tr"),
    ("15%", "en", "yüzde on beş", "tr"),
    ("TRY 1,234.50", "en", "1.234,50 TL", "tr"),
    ("November 3, 2026", "en", "3 KASIM 2026", "tr"),
]
DIFFERENT = [
    ("30 days", "60 days"),
    ("30 days", "30 business days"),
    ("30 days", "1 month"),
    ("5 business days", "3–5 business days"),
    ("$5", "€5"),
    ("$5", "5%"),
    ("$1,500", "$1.50"),
    ("12 March 2026", "12 March 2025"),
    ("size XL", "size XXL"),
    ("SKU-4521", "SKU-4512"),
    ("shop.example/a", "shop.example.evil.example/a"),
]


@pytest.mark.req("SU-01")
@pytest.mark.parametrize(("a", "language_a", "b", "language_b"), SAME, ids=[f"{a} = {b}" for a, _, b, _ in SAME])
def test_notations_of_one_value_are_equal(a: str, language_a: str, b: str, language_b: str) -> None:
    assert equals(only(a, language_a), only(b, language_b))


@pytest.mark.req("SU-01")
@pytest.mark.parametrize(("a", "b"), DIFFERENT, ids=[f"{a} ≠ {b}" for a, b in DIFFERENT])
def test_values_that_mean_different_things_are_not_equal(a: str, b: str) -> None:
    assert not equals(only(a), only(b))


@pytest.mark.req("SU-01")
def test_an_ambiguous_date_keeps_both_readings() -> None:
    assert only("12/03/2026").readings == {"2026-03-12", "2026-12-03"}
    assert only("12/03/2026", "fr").readings == {"2026-03-12"}


@pytest.mark.req("SU-01")
def test_a_claim_may_say_less_of_a_date_but_never_more() -> None:
    source = only("2026-03-12")

    assert supports(source, only("12 March"))
    assert supports(source, only("Thursday"))
    assert supports(source, only("March 2026"))
    assert not supports(only("12 March"), source)


HOSTILE = ["1", "1 ", "1,", "1.1.", "a.a.", "a@", "$", "12/", "one ", "https://", "#1-", "twenty-", "(1)", "é", "1 to "]


@pytest.mark.req("SU-01")
@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_twenty_kilobytes_cost_linear_time(unit: str) -> None:
    """Four times the input may take at most about four times as long; the best of three runs, generous for noise."""

    def seconds(n: int) -> float:
        text = (unit * n)[:n]
        runs = []
        for _ in range(3):
            start = time.perf_counter()
            read(text, "fr", "EUR")
            runs.append(time.perf_counter() - start)
        return min(runs)

    seconds(100)

    assert seconds(20_000) < max(12 * seconds(5_000), 0.05)


@pytest.mark.req("SU-01")
@settings(max_examples=50)
@given(text=st.text(alphabet="0123456789 dayswk$€%.,-", max_size=80))
def test_what_is_around_a_value_does_not_change_its_span(text: str) -> None:
    spans = [(v.start, v.end) for v in read(text)]

    assert all(0 <= s < e <= len(text) for s, e in spans)
