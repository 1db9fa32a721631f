"""Whether a message asks or asks for: the form of its sentences, told by the closed-class words that open them.

"Has my refund been processed?" is a question and "refund me" a request, though both are about a refund. Reads question
words and auxiliaries of the product's languages only, never topics; where the form leaves a doubt it is no question.
Source: RT-02 (a request for a write goes to a person), S2 §3 "account status".
"""

import re
from typing import Final

from shared.domain.typed_values.folding import fold

MIN_WORDS: Final = 3
"""Words under which a stretch ("hi there", "order 1003") is neither question nor request. Unit: words. Value ours."""

_STRETCH = re.compile(r"[.!?;\n]+|,\s")
_POLITE = re.compile(r"^(?:(?:hi|hello|hey|hola|bonjour|hallo|ciao|ola|and|so|also|but|y|et|und|e|en)\b[ ,]*)+")
_INTERROGATIVE: Final = (
    r"who|what|which|where|when|why|how|whats|wheres|whens|hows"
    r"|que|cual(?:es)?|donde|cuando|por que|como|cuanto|cuanta|cuantos"
    r"|quel(?:le)?s?|ou|quand|pourquoi|comment|combien|qu'est-ce|est-ce"
    r"|was|welche[rsmn]?|wo|wann|warum|wieso|wie|wieviel"
    r"|che|quale|quali|dove|quando|perche|quanto|quanta|quanti"
    r"|o que|qual|quais|onde|porque|quanto"
    r"|wat|welke?|waar|wanneer|waarom|hoe|hoeveel"
)
_AUXILIARY: Final = (
    r"is|isn't|are|aren't|was|wasn't|were|has|hasn't|have|haven't|had|did|didn't|does|doesn't"
    r"|do (?:you|i|we|they|these|those|the|my)|don't (?:you|i|we|they)"
    r"|se ha|me ha|ha|han|esta|avez|a-t|est|ist|sind|wurde|wird|hat|haben|sono|foi|esta|is|zijn|werd|heeft|hebben"
)
_PERMISSION: Final = (
    r"(?:can|could|may|might|should|am|do) i|(?:can|could) (?:one|we)|puedo|se puede|puis-je|peut-on|kann ich|darf ich"
    r"|kann man|posso|si puo|pode-se|kan ik|mag ik"
)
_QUESTION = re.compile(rf"^(?:{_INTERROGATIVE}|{_AUXILIARY})\b")
_ASKS_INSIDE = re.compile(
    r"\b(?:nerede|nerde|ne zaman|nasil|neden|nicin|niye|hangi|kac|ne kadar)\b"
    r"|\b(?:var|yok|geldi|gelir|oldu|olur|edildi|yapildi|verildi|yatti|yatirildi|gonderildi|cikti|ulasti|onaylandi)"
    r" m[iu]\b"
)
"""Turkish asks anywhere in the sentence: by a question word, or by the particle behind its verb."""
_MAY_I_INSIDE = re.compile(r"\b\w+bilir miyi[mz]\b")
_MAY_I = re.compile(rf"^(?:{_PERMISSION})\b")


def is_question(text: str, *, with_permission: bool = False) -> bool:
    """Tell whether every stretch of the message that says something asks for a fact.

    `with_permission` counts "can I …?" too: with an order named it is a polite request, without one a question.
    """
    stretches = [
        s for part in _STRETCH.split(fold(text.replace("¿", " ").replace("’", "'")).text) if (s := _bare(part))
    ]
    told = [s for s in stretches if len(s.split()) >= MIN_WORDS]
    return bool(told) and all(_asks(s, with_permission) for s in told)


def _bare(stretch: str) -> str:
    return _POLITE.sub("", stretch.strip())


def _asks(stretch: str, with_permission: bool) -> bool:
    if _MAY_I.match(stretch) or _MAY_I_INSIDE.search(stretch):
        return with_permission
    return _QUESTION.match(stretch) is not None or _ASKS_INSIDE.search(stretch) is not None
