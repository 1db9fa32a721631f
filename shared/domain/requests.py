"""Whether a message plainly asks for an action: an order or a wish of the writer's own, for now, for a whole thing.

Says yes only where every word is known to change nothing; a negation, a condition, a part, a quotation, a past tense or
one unknown word in the asking sentence is no plain request, and whoever reads on brings a person in. Because money may
move without one, a request that is missed costs a person's time and one that is imagined costs money. Pure and linear.
Source: AX-01, RT-02, design §9 "Text never becomes control".
"""

import re
from dataclasses import dataclass

from shared.domain.action_words import NAMED
from shared.domain.intents import ActionType
from shared.domain.request_words import (
    ACTS,
    BECAUSE,
    DOUBT,
    LEAD,
    NO_ARRIVAL,
    ORDERS,
    PLAIN,
    TOGETHER,
    VERB_FINAL,
    WISH,
)
from shared.domain.typed_values.folding import fold

_CLAUSE = re.compile(r"[!?;\n,]+|\.(?=\s|$)")
_TOKEN = re.compile(r"[^\s\"()]+")
_QUOTE = re.compile(r"[\"“”„«»‹›‘`]|(?:^|\s)'[^']{2,80}'(?=\W|$)")
_ANY_ACTION = re.compile("|".join(NAMED.values()))
_NUMBER_SIGN = "#"


@dataclass(frozen=True, slots=True)
class PlainRequest:
    """What is asked, and of which orders."""

    action: ActionType
    refs: frozenset[str]
    """Orders named in the asking sentence, upper case; empty when it says "it" or "my order"."""
    clause: str
    """The asking sentence, folded."""


def read_request(text: str, *, refs: frozenset[str], known: frozenset[str]) -> PlainRequest | None:
    """Return the one plain request of the message, or None.

    `refs`: the order numbers the message names, upper case; `known`: folded words of those orders' lines.
    """
    folded = fold(text.replace("’", "'")).text
    if _QUOTE.search(text.replace("’", "'")) or "%" in folded:
        return None
    clauses = _clauses(folded, refs, known)
    read = [(clause, _asked(clause, refs, known)) for clause in clauses]
    asking = [(clause, action) for clause, action in read if action is not None]
    others = [clause for clause, action in read if action is None]
    if len(asking) != 1 or any(_is_doubtful(clause) or _names_line(clause, known) for clause in others):
        return None
    clause, action = asking[0]
    inside = _refs_in(clause, refs)
    outside = frozenset(ref for other in others for ref in _refs_in(other, refs))
    if inside and outside - inside:
        return None
    return PlainRequest(action, inside, clause)


def is_only_a_number(text: str, refs: frozenset[str]) -> bool:
    """Tell whether the message says nothing but which order is meant: the answer to our own question."""
    tokens = _tokens(fold(text).text)
    return bool(refs) and bool(tokens) and all(_is_ref(t, refs) or t in PLAIN for t in tokens)


def _clauses(folded: str, refs: frozenset[str], known: frozenset[str]) -> list[str]:
    """Split at stops, commas and reasons; a fragment that only goes on with a list stays with what it goes on with."""
    clauses: list[str] = []
    for part in BECAUSE.sub("\n", folded).split("\n"):
        for fragment in (raw.strip() for raw in _CLAUSE.split(part)):
            tokens = _tokens(fragment)
            goes_on = all(t in PLAIN or t in known or _is_ref(t, refs) for t in tokens)
            if clauses and goes_on and _asked(fragment, refs, known) is None:
                clauses[-1] = f"{clauses[-1]} {fragment}"
            elif tokens:
                clauses.append(fragment)
    return clauses


def _asked(clause: str, refs: frozenset[str], known: frozenset[str]) -> ActionType | None:
    rest = LEAD.sub("", clause, count=1)
    wish = WISH.match(rest)
    rest = rest[wish.end() :] if wish else rest
    for together, word in TOGETHER:
        rest = together.sub(word, rest)
    tokens = _tokens(rest)
    acts = {action for action, words in ACTS.items() if any(words.match(t) for t in tokens)}
    is_address = acts == {ActionType.CHANGE_ADDRESS}
    if len(acts) != 1 or not tokens:
        return None
    is_order = ORDERS.match(tokens[0]) is not None
    if not (wish or is_order or VERB_FINAL & set(tokens)):
        return None
    action = acts.pop()
    if is_address:
        # The address itself is free text, and a person reads it before anything is changed.
        return None if _is_doubtful(rest, is_asking=True) else action
    is_plain = all(t in PLAIN or t in known or _is_ref(t, refs) or ACTS[action].match(t) for t in tokens)
    return action if is_plain else None


def _is_doubtful(clause: str, *, is_asking: bool = False) -> bool:
    said = NO_ARRIVAL.sub(" ", clause)
    if any(t in DOUBT or "n't" in t for t in _tokens(said)):
        return True
    return not is_asking and _ANY_ACTION.search(clause) is not None


def _names_line(clause: str, known: frozenset[str]) -> bool:
    return any(t in known and t not in PLAIN for t in _tokens(clause))


def _refs_in(clause: str, refs: frozenset[str]) -> frozenset[str]:
    return frozenset(bare for t in _tokens(clause) if (bare := t.strip("#.").upper()) in refs)


def _is_ref(token: str, refs: frozenset[str]) -> bool:
    return token.strip("#.").upper() in refs or token == _NUMBER_SIGN


def _tokens(clause: str) -> list[str]:
    return [t for t in (raw.strip(".:&") for raw in _TOKEN.findall(clause)) if t]
