"""Whether a message plainly asks for an action: an order or a wish of the writer's own, for now, for a whole thing.

Says yes only where every word of every sentence is known to change nothing: beside the asking sentence there may
stand a greeting, thanks, what is wrong with the goods and a reason. A negation, a condition, a part, a quotation or one
unknown word makes it no plain request, and whoever reads on brings a person in: money may move without one, and a
request that is missed costs time where one that is imagined costs money. Pure and linear.
Source: AX-01, RT-02, design §9 "Text never becomes control".
"""

import re
from dataclasses import dataclass

from shared.domain.action_words import NAMED
from shared.domain.intents import ActionType
from shared.domain.request_words import (
    ACTS,
    AMOUNT,
    AND_ASKS,
    BECAUSE,
    DOUBT,
    HARMLESS,
    LEAD,
    NO_ARRIVAL,
    NUMBERED,
    ORDERS,
    PLAIN,
    PLAIN_OF,
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
_PAID = "paid"


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    is_reason: bool


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
    sentences = _sentences(folded, refs, known)
    asking = [(said, action) for said in sentences if not said.is_reason and (action := _asked(said.text, refs, known))]
    others = [said for said in sentences if all(said is not one for one, _ in asking)]
    if len(asking) != 1 or not all(_is_harmless(said, refs, known) for said in others):
        return None
    clause, action = asking[0][0].text, asking[0][1]
    inside = _refs_in(clause, refs)
    outside = frozenset(ref for other in others for ref in _refs_in(other.text, refs))
    if inside and outside - inside:
        return None
    return PlainRequest(action, inside, clause)


def _sentences(folded: str, refs: frozenset[str], known: frozenset[str]) -> list[_Said]:
    """Split at stops, commas and reasons; a fragment that only goes on with a list stays with what it goes on with."""
    said: list[_Said] = []
    for part in AND_ASKS.sub("\n", NUMBERED.sub(r"\1 ", folded)).split("\n"):
        for fragment in (raw.strip() for raw in _CLAUSE.split(part)):
            before, *reasons = BECAUSE.split(fragment)
            tokens = _tokens(before)
            names = any(t in known or _is_ref(t, refs) for t in tokens)
            goes_on = names and all(t in PLAIN or t in known or _is_ref(t, refs) for t in tokens)
            if said and goes_on and not said[-1].is_reason and _asked(before, refs, known) is None:
                said[-1] = _Said(f"{said[-1].text} {before}", is_reason=False)
            elif tokens:
                said.append(_Said(before, is_reason=False))
            said += [_Said(reason, is_reason=True) for reason in reasons if _tokens(reason)]
    return said


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
        return None if _is_doubtful(rest) else action
    plain = PLAIN | PLAIN_OF.get(action, frozenset())
    is_plain = all(t in plain or t in known or _is_ref(t, refs) or ACTS[action].match(t) for t in tokens)
    return action if is_plain else None


def _is_harmless(said: _Said, refs: frozenset[str], known: frozenset[str]) -> bool:
    """Tell whether a sentence beside the request leaves it as it is; one that names a line may narrow it."""
    tokens = _tokens(NO_ARRIVAL.sub(" ", said.text))
    if any(t in known and t not in PLAIN for t in tokens):
        return False
    if said.is_reason:
        return not _is_doubtful(said.text) and _ANY_ACTION.search(said.text) is None
    return all(t in PLAIN or t in HARMLESS or _is_ref(t, refs) or AMOUNT.match(t) or t == _PAID for t in tokens)


def _is_doubtful(clause: str) -> bool:
    return any(t in DOUBT or "n't" in t for t in _tokens(NO_ARRIVAL.sub(" ", clause)))


def _refs_in(clause: str, refs: frozenset[str]) -> frozenset[str]:
    return frozenset(bare for t in _tokens(clause) if (bare := t.strip("#.").upper()) in refs)


def _is_ref(token: str, refs: frozenset[str]) -> bool:
    return token.strip("#.").upper() in refs or token == _NUMBER_SIGN


def _tokens(clause: str) -> list[str]:
    return [t for t in (raw.strip(".:&") for raw in _TOKEN.findall(clause)) if t]
