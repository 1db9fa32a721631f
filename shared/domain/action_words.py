"""By which words a message or a sentence names an action, in the product's languages: folded stems and two look-ups.

Reads words only: whether an action may be done is never told from them. Source: AX-01, design §5 "Promises".
"""

import re
from typing import Final

from shared.domain.intents import ActionType
from shared.domain.typed_values.folding import fold

_CHANGED: Final = (
    r"(?:chang|updat|modif|cambi|actualiz|alter|aktualisier|geander|gewijzig|aangepast|mis a jour|degistir|guncelle)\w*"
)
_ADDRESS: Final = r"(?:address|adress|direccion|indirizzo|morada|endereco|adres)"
NAMED: Final = {
    ActionType.REFUND: r"refund|reimburs|rembours|erstatt|reembols|rimbors|terugbeta|money back|geld zuruck|para iade"
    r"|(?:ucret|tutar|bedel|odeme|para)\w* .{0,20}iade|geri od(?:e|uyor)",
    ActionType.CANCEL_ORDER: r"cancel|annul|stornier|anular|annuleer|iptal",
    ActionType.CHANGE_ADDRESS: rf"{_CHANGED} .{{0,40}}{_ADDRESS}|{_ADDRESS}.{{0,60}}{_CHANGED}",
    ActionType.REQUEST_RETURN: r"return label|(?:request|creat|open|start|register)\w* .{0,20}return|retour.{0,20}cree"
    r"|solicit\w* .{0,30}devolucion|demand\w* .{0,30}retour|richiest\w* .{0,20}reso\b|devolucao.{0,60}pedid"
    r"|rucksendung.{0,60}(?:angefragt|angemeldet|beantragt)|retour .{0,60}(?:geregistreerd|aangevraagd)"
    r"|iade (?:talebi|kaydi|kodu|etiketi|sureci)",
    ActionType.RESEND: r"resend|resent|replacement|reship|ersatz|renvoy|reenvi|sostituzione|vervang"
    r"|(?:yeniden|tekrar) gonder",
    ActionType.CREDIT: r"credit|gutschrift|gutgeschrieb|\bavoir\b|abono|accredit|tegoed"
    r"|magaza kredi|hediye ceki|bakiye\w* (?:yukle|tanimla|ekle)",
}
"""Action → how a sentence of ours, or a customer, names it as done or to be done."""
_ASKED: Final = {
    ActionType.REFUND: re.compile(NAMED[ActionType.REFUND]),
    ActionType.RESEND: re.compile(
        rf"{NAMED[ActionType.RESEND]}|send (?:it |them |me )?(?:a new|another|again)|send .{{0,30}} again"
    ),
    ActionType.CHANGE_ADDRESS: re.compile(
        rf"{_ADDRESS}|ship(?:ped)? (?:it |them )?to|send (?:it |them )?to|deliver(?:ed)? to"
    ),
    ActionType.REQUEST_RETURN: re.compile(
        r"\breturn|send (?:it|them|this|these) back|retour|zuruck(?:geb|schick|send)|devol|restitu|\brendre\b|iade"
    ),
}
_INSTEAD: Final = re.compile(
    r"exchang|swap|umtausch|echang|cambi\w* por|scambi|\btroca|omruil|(?:urun|beden|renk)\w* (?:\w+ ){0,2}degistir"
)
"""Another article in its place: neither a return nor a resend says it all."""
_NOT: Final = re.compile(
    r"\b(?:not|don't|dont|doesn't|never|no longer|without|instead of|no|nicht|kein\w*|pas|jamais|non|nao|niet|geen)\b"
    r"(?: +\w+){0,4}? +(?:refund|reimburs|cancel|return|resend|money back|rembours|annul|erstatt|stornier|zuruck"
    r"|reembols|anular|devol|rimbors|terugbeta|retour|iade|iptal)"
    r"|\b(?:iade|iptal|para)\w*(?: +\w+){0,3}? +(?:istemi\w+|etmeyin|etmek istemi\w+|yapmayin|degil|gerek yok)\b"
)


def asked_for(text: str) -> frozenset[ActionType]:
    """Return the actions whose words the customer's message holds."""
    folded = fold(text.replace("’", "'")).text
    if _INSTEAD.search(folded):
        return frozenset()
    return frozenset(action for action, words in _ASKED.items() if words.search(folded))


def is_denied(text: str) -> bool:
    """Tell whether the message says that something of the kind is not wanted: then nothing is assumed."""
    return _NOT.search(fold(text.replace("’", "'")).text) is not None
