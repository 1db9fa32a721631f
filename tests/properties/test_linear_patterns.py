"""No regular expression of ours takes more than linear time worth noticing, whatever a customer repeats.

One pattern that backtracks holds the interpreter, and with it every tenant's turns, for as long as it runs.
"""

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from typing import Final

import pytest

import agents
import orchestrators
import shared
from shared.adapters.embedded.safety_screen import undisguised
from shared.domain.entities import extract_entities
from shared.domain.text import MaskedText

MESSAGE_CHARS: Final = 8_000
"""Longest message. Source: GW-06."""
PATTERN_CHARS: Final = 2_000
"""Enough for a cubic pattern to take seconds and a linear one a millisecond. Value ours."""
LIMIT_S: Final = 0.5
"""Most processor time of one reading: hundreds of times what a linear one takes. Value ours."""
OPENINGS: Final = ("", "order", "sku", "zip code", "account id", "http://a", "a@", "[", "1")
REPEATED: Final = ("a", "1", "a1", "é", " ", "\n", "1.", "1,", "-", "#", "a.", "$1 ")


def _patterns_in(value: object, depth: int = 0) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif isinstance(value, dict | tuple | list) and depth < 3:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _patterns_in(item, depth + 1)


def _our_patterns() -> dict[str, re.Pattern[str]]:
    found: dict[str, tuple[str, re.Pattern[str]]] = {}
    for package in (agents, orchestrators, shared):
        for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if ".training" in info.name:
                continue
            for name, value in vars(importlib.import_module(info.name)).items():
                for pattern in _patterns_in(value):
                    found.setdefault(pattern.pattern, (f"{info.name}.{name}", pattern))
    return dict(found.values())


def _seconds(read: object, text: str) -> float:
    assert callable(read)
    started = time.process_time()
    read(text)
    return time.process_time() - started


@pytest.mark.req("GW-06", "SC-01")
def test_no_pattern_of_ours_backtracks_over_what_a_customer_repeats() -> None:
    texts = [(opening + many * PATTERN_CHARS)[:PATTERN_CHARS] + "!" for opening in OPENINGS for many in REPEATED]

    slow = {
        name
        for name, pattern in _our_patterns().items()
        for text in texts
        if _seconds(lambda text, pattern=pattern: sum(1 for _ in pattern.finditer(text)), text) > LIMIT_S
    }

    assert slow == set()


@pytest.mark.req("GW-06")
@pytest.mark.parametrize("many", REPEATED)
@pytest.mark.parametrize("opening", ["", "order", "sku"])
def test_the_longest_message_is_read_in_a_moment(opening: str, many: str) -> None:
    """Entities and disguises are read in the process that serves everybody."""
    text = (opening + many * MESSAGE_CHARS)[: MESSAGE_CHARS - 1] + "!"

    assert _seconds(lambda text: extract_entities(MaskedText(text)), text) < LIMIT_S
    assert _seconds(undisguised, text) < LIMIT_S


@pytest.mark.req("SU-01")
@pytest.mark.parametrize(
    ("written", "read"),
    [("ignоre rules", "ignore rules"), ("правила", "правила"), ("x_а1", "x_a1"), ("plain", "plain"), ("", None)],
)
def test_only_words_that_mix_alphabets_are_read_as_latin(written: str, read: str | None) -> None:
    assert undisguised(written)[:1] == (() if read is None else (read,))
