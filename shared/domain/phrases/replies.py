"""Which fixed text answers a greeting, a thank-you or a goodbye, and the text of each canned reply.

Recognises closed, conventional formulas of seven languages; anything else is a greeting back. Source: CO-05, RT-05.
"""

import re
from typing import Final

from shared.domain.phrases.catalog import Phrase, phrase
from shared.domain.turns import CannedKind
from shared.domain.typed_values.folding import fold

_THANKS: Final = re.compile(
    r"\b(?:thanks?|thank you|thx|cheers|ty|appreciate|gracias|merci|danke|dankeschon|grazie|obrigad[oa]|bedankt"
    r"|dank je|dank u|dankjewel)\b"
)
_GOODBYE: Final = re.compile(
    r"\b(?:bye|goodbye|good bye|see you|have a (?:nice|good|great) (?:day|evening|one)|adios|hasta luego"
    r"|au revoir|bonne journee|tschuss|ciao"
    r"|auf wiedersehen|arrivederci|adeus|ate logo|tot ziens|doei|dag)\b"
)
_CANNED: Final = {
    CannedKind.CLARIFICATION: Phrase.CLARIFY,
    CannedKind.WHICH_ORDER: Phrase.ASK_ORDER,
    CannedKind.OUT_OF_SCOPE: Phrase.OUT_OF_SCOPE,
    CannedKind.ACKNOWLEDGEMENT: Phrase.ACKNOWLEDGE,
    CannedKind.HANDOFF: Phrase.HANDOFF,
}


def social_phrase(message: str) -> Phrase:
    """Return which social text answers the message; thanks outrank a goodbye in the same breath."""
    folded = fold(message).text
    if _THANKS.search(folded):
        return Phrase.THANKS
    return Phrase.GOODBYE if _GOODBYE.search(folded) else Phrase.GREETING


def canned_reply(
    kind: CannedKind, *, language: str, shop_name: str, message: str = "", is_first_reply: bool = False
) -> str:
    """Return the whole fixed reply, with the AI notice in front when it is still owed (CO-05)."""
    key = social_phrase(message) if kind is CannedKind.SOCIAL else _CANNED[kind]
    text = phrase(key, language, shop=shop_name)
    notice = phrase(Phrase.AI_NOTICE, language, shop=shop_name)
    return f"{notice} {text}" if is_first_reply else text
