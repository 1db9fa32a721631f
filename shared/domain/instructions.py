# ruff: noqa: E501 - one wording a line reads better than a wrapped one
"""Sentences in published text that speak to the assistant instead of the shopper.

Owns what counts as one. Meant to be precise: an article that holds one answers nobody until it is changed, so words
that a manual, a specification or a note to staff may hold must not match. Reads folded text; never obeys it.
Source: design §9, SU-01, fault 034.
"""

import re
from typing import Final

_OWN: Final = r"(?:all|any|every|each|your|previous|prior|preceding|above|earlier|system|other|safety)"
_FILLER: Final = rf"(?:{_OWN}|the|these|those|of|you|were|have|given|former|existing|current|initial|original|own|content|shop|store|company|and|or)"
_RULES: Final = r"(?:instructions?|rules?|prompts?|guidelines?|guardrails?|directives?|polic(?:y|ies)|restrictions?|constraints?|training|programming|filters?|safeguards?)"
_OWN_RULES: Final = rf"\W{{1,3}}(?:{_FILLER}\W{{1,3}}){{0,4}}{_OWN}\W{{1,3}}(?:{_FILLER}\W{{1,3}}){{0,4}}{_RULES}\b"
_ORDER: Final = (
    r"(?:^\W{0,6}|[^\w\s]\s{0,2}|\b(?:and|then|please|now|must|should|shall|just|also|first|so|ai|bot|assistant) )"
)
"""Where a verb gives an order: "Rules that override all previous policies" is none."""
_NEXT: Final = r"(?:^|[;,:] ?|\b(?:and|then) )\W{0,4}(?:please |now )?"
_ASSISTANT: Final = r"(?:ai|a\.i\.|chat\W?bots?|bots?|language models?|llms?|gpt(?:-?\d\w*)?|chatgpt|(?:ai|virtual|support|shopping) (?:assistants?|agents?|models?)|copilot)"
_BUYERS: Final = r"(?:customers?|users?|shoppers?|buyers?|clients?|visitors?|everyone|everybody|anyone|people)"

_NEW_RULES: Final = (
    rf"{_ORDER}(?:ignore|disregard|forget|override|bypass|overrule){_OWN_RULES}",
    r"\b(?:reveal|print|repeat|show|output|leak|display|translate) (?:me )?(?:your|the) (?:\w+ )?(?:system prompt|initial instructions|hidden instructions|instructions verbatim)\b",
)
_NEW_ROLE: Final = (
    r"\byou are (?:now|no longer) (?:an? |the |in )?(?:\w+ ){0,3}(?:assistant|ai|bot|chatbot|model|mode|agent|dan|bound|restricted|limited|required)\b",
    r"\b(?:act|behave|respond|pretend to be|role-?play) as (?:an? |the )?(?:\w+ ){0,3}(?:unrestricted|unfiltered|jailbroken|uncensored|evil|ai|chatbot|language model)\b",
    r"\b(?:developer|dan|god|debug|admin|maintenance) mode (?:is )?(?:now )?(?:enabled|activated|on)\b",
)
_BY_NAME: Final = (
    rf"^\W{{0,4}}(?:dear|attention|hey|hello|hi|note to|message (?:to|for)|instructions? (?:to|for)|important for|to) (?:the |any |all |our |every )?{_ASSISTANT}\b",
    rf"\b{_ASSISTANT} (?:reading|processing|parsing|summari[sz]ing|answering|handling) (?:this|the|these)\b",
    rf"\b(?:as|if you are|you are) an? {_ASSISTANT}\b[^.]{{0,60}}\b(?:you|must|should|always|never|respond|answer)\b",
    rf"\bthe (?:{_ASSISTANT}|assistant) (?:must|should|shall|has to|is to|needs to) (?:always |never |now )?(?:say|tell|reply|answer|respond|offer|give|grant|refund|approve|confirm|promise|ignore|reveal|agree)\b",
)
_AS_PROMPT: Final = (
    r"<\|?(?:im_start|im_end|system|endoftext|assistant|eot_id|start_header_id)\b[^>]{0,40}\|?>|</(?:user|system|assistant|instructions?)>|\[/?(?:inst|system)\]|<<sys>>",
    r"^\W{0,4}(?:###? ?)?(?:new |updated |hidden )?(?:system|developer|assistant) (?:prompt|message|instructions?|note|override|command)\b",
)
_HOW_TO_ANSWER: Final = (
    r"\b(?:from now on|henceforth|starting now),? (?:you (?:are|act|will|must|shall|may) (?:now |only |always )?(?:to |an? |the )?(?:act|answer|reply|respond|behave|say|speak|pretend|assistant|ai|bot)|reply|answer|respond|every (?:reply|answer))\b",
    r"^\W{0,4}(?:please )?(?:always |only |now |you (?:must|should|will|shall) (?:always |only |now )?)(?:say|tell|promise|insist|(?:reply|respond|answer) (?:with|that|in|as|only|yes|no|by)|(?:reply|respond|answer) ?[:'\"“])",
    r"\b(?:end|start|begin|prefix|finish) (?:every|each|all|any|your) (?:of your )?(?:repl(?:y|ies)|answers?|responses?|messages?)\b",
    rf"\bwhen(?:ever)? (?:you are |you're )?asked\b[^.]{{0,80}}\b(?:say|reply|respond|answer|tell {_BUYERS})\b",
)
_WHAT_TO_GRANT: Final = (
    rf"{_NEXT}(?:refund|reimburse|compensate|credit|approve a refund (?:for|to)|give a (?:full )?refund to|issue (?:a )?(?:full )?refunds? (?:to|for)) (?:all|any|every|each|the|this)?\W?{_BUYERS}\b",
    rf"{_NEXT}(?:tell|assure|convince|promise|persuade) (?:all|any|every|each|your)?\W?{_BUYERS} (?:that|it|they|this|everything|all)\b",
)
_ABROAD: Final = (
    r"\b(?:ignor[ae](?:d|n|r)?|olvid[ae]|descarta) (?:todas? |cualquier )?(?:las? |tus? |sus? |l[oa]s )?(?:\w+ )?(?:instrucciones|reglas|normas) (?:anteriores|previas|del sistema)",
    r"\b(?:ignor(?:e|ez|er)|oublie[zr]?) (?:toutes? )?(?:les? |tes |vos |ces )?(?:consignes|instructions|règles) (?:précédentes|antérieures|ci-dessus|du système)",
    r"\b(?:ignorier(?:e|en|t)?|vergiss|vergessen|missachte) (?:sie )?(?:alle[ns]? |die |deine |ihre |sämtliche )+(?:vorherigen |bisherigen |vorigen |obigen |früheren )?(?:anweisungen|regeln|vorgaben|instruktionen)",
    r"\b(?:ignora(?:te|re)?|dimentica(?:te)?) (?:tutte )?(?:le |tue |le tue )?(?:istruzioni|regole) (?:precedenti|del sistema|sopra)",
    r"\b(?:ignore|ignora|ignorem|esqueça) (?:todas )?(?:as |suas |as suas )?(?:instruções|regras) (?:anteriores|do sistema|acima)",
    r"\b(?:negeer|vergeet) (?:alle |je |de |uw )+(?:vorige |eerdere |voorgaande |bovenstaande )?(?:instructies|regels|aanwijzingen)",
)
"""Its rules are to go, in the other languages of our phrases."""

_INSTRUCTION: Final = re.compile(
    "|".join((*_NEW_RULES, *_NEW_ROLE, *_BY_NAME, *_AS_PROMPT, *_HOW_TO_ANSWER, *_WHAT_TO_GRANT, *_ABROAD)),
    re.IGNORECASE,
)


def is_instruction(sentence: str) -> bool:
    """Tell whether the sentence instructs an assistant; give it folded (no invisible characters, one line)."""
    return _INSTRUCTION.search(sentence) is not None
