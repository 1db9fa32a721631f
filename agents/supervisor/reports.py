"""Find sentences that report a deed of ours to anybody: "all orders have been refunded", "every customer was credited".

No article can know what was done to orders, customers or payments: such a sentence reads as news of one's own. What is
conditional, relative or in the present ("refunds are issued within five days", "orders that have been cancelled") is a
rule and no report. Source: SU-01, AX-05, design §5 "Promises".
"""

import re
from typing import Final


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_ADVERBS: Final = r"(?: (?:\w{2,20}ly|now|just|already|since|all|both|also|in full)){0,2}"
_PAID: Final = r"(?:refunded|reimbursed|repaid|paid back|compensated)\b"
_SETTLED: Final = r"(?:credited|cancel+ed|resent|re-sent|reissued|replaced|waived|reversed|voided|shipped again)\b"
_GIVEN: Final = (
    r"(?:issued|sent|processed|paid(?: out)?|approved|made|completed|returned|transferred|granted|given|initiated)\b"
)
_GOODS: Final = (
    r"\b(?:refunds?|reimbursements?|credits?|payments?|repayments?|replacements?|money|compensations?|vouchers?)\b"
)
_BEEN: Final = (
    rf"(?:(?:\b(?:has|have|had)|'ve|'s){_ADVERBS} been|\b(?:was|were|got)|\b(?:is|are) (?:now|already)){_ADVERBS}"
)
_WHOSE: Final = _any(
    r"\b(?:orders?|purchases?|customers?|clients?|buyers?|shoppers?|payments?|charges?|accounts?|parcels?|fees?)\b",
    r"\b(?:everyone|everybody|cards?|invoices?|subscriptions?|deliver(?:y|ies)|they|it|these|those)\b",
    r"\b(?:pedidos?|clientes?|pagos?|compras?|cuentas?|reembolsos?|encomendas?|pagamentos?|contas?|todos|todas)\b",
    r"\b(?:commandes?|clients?|paiements?|achats?|comptes?|remboursements?|tous|toutes)\b",
    r"\b(?:ordini?|clienti?|pagamenti?|acquist[oi]|conti?|rimbors[oi]|tutt[ie])\b",
    r"\b(?:\w{0,20}bestellung(?:en)?|kund\w{1,8}|\w{0,12}zahlung(?:en)?|\w{0,8}erstattung(?:en)?|betrage?|kauf\w{0,3})\b",
    r"\b(?:konto|konten|geld|gutschrift(?:en)?|alle[nrms]?)\b",
    r"\b(?:bestelling(?:en)?|klant(?:en)?|betaling(?:en)?|aankope?n?|bedrag(?:en)?|rekening(?:en)?|iedereen|alles)\b",
    r"\b(?:siparis|musteri|odeme|ucret|tutar|bedel|iade|para|alisveris|herkes)\w{0,12}",
)
"""Whom or what a report may be about; the words of a deed that could be another are read with one of these only."""
_SURELY: Final = _any(
    rf"{_BEEN} {_PAID}",
    rf"{_GOODS}(?! polic)(?: [^\s,;]{{1,30}}){{0,6}}?(?:(?= )|(?='))(?: ?){_BEEN} {_GIVEN}",
    rf"\b(?:has|have|had){_ADVERBS} (?:refunded|reimbursed|repaid|compensated)\b",
    r"\b(?:refunded|reimbursed|repaid|compensated|credited|cancel+ed) (?:all|every|each|everyone|everybody)\b",
    r"\b(?:customers?|clients?|buyers?|shoppers?|everyone|everybody)(?: \w{1,20}){0,8}? (?:received|got|given|sent)"
    r"(?: \w{1,20}){0,3} (?:refunds?|credits?|money back|compensation|replacements?)\b",
)
"""Deeds that name themselves."""
_PERHAPS: Final = _any(
    rf"{_BEEN} {_SETTLED}",
    rf"\b(?:has|have|had){_ADVERBS} (?:credited|cancel+ed|resent|reissued|waived|reversed)\b",
    r"\b(?:(?:ha|han)(?: ya)? sido|fue|fueron|se (?:ha|han)|ha|han)(?: ya| todos| todas)?"
    r" (?:reembolsad|devuelt|abonad|cancelad|anulad|compensad|emitid|procesad|aprobad|reenviad)\w{1,3}\b",
    r"\bse (?:reembolsaron|devolvieron|abonaron|cancelaron|anularon|compensaron|emitieron)\b",
    r"\b(?:a|ont)(?: (?:bien|deja|toutes|tous|toute)){0,2}(?: ete)?(?: (?:bien|deja|integralement|entierement)){0,2}"
    r" (?:rembours|annul|credit|dedommag|indemnis|vers|emis|approuv|renvoy)(?:e|ee|es|ees|is|ise|ises)?\b",
    r"(?<=[\w,] )\b(?:wurden?|hat(?! sie\b)|haben(?! sie\b))(?: [^\s,;]{1,40}){0,10}? "
    r"(?:\w{0,8}erstattet|zuruckgezahlt|storniert|gutgeschrieben|entschadigt|uberwiesen|ausgezahlt|veranlasst)\b",
    r"\b(?:ist|sind)(?: [^\s,;]{1,40}){0,10}? (?:\w{0,8}erstattet|zuruckgezahlt|storniert|gutgeschrieben|entschadigt"
    r"|uberwiesen|ausgezahlt|veranlasst) worden\b",
    r"\b(?:(?:e|sono)(?: gia| tutti| tutte)? stat[oaie]|furono|ha|hanno)(?: gia| tutti| tutte| interamente){0,2}"
    r" (?:rimborsat|annullat|accreditat|risarcit|emess|approvat|stornat|restituit)[oaie]\b",
    r"\b(?:foi|foram|(?:tem|ha) sido)(?: ja| todos| todas| totalmente){0,2}"
    r" (?:reembolsad|devolvid|cancelad|creditad|anulad|estornad|emitid|aprovad|compensad|reenviad)[oa]s?\b",
    r"\b(?:reembolsou|reembolsaram|devolveu|devolveram|cancelou|cancelaram|creditou|creditaram)\b",
    r"(?<=[\w,] )\b(?:is|zijn|werd|werden|heeft|hebben(?! u\b))(?: [^\s,;]{1,40}){0,10}? "
    r"(?:terugbetaald|geannuleerd|gecrediteerd|vergoed|gecompenseerd|teruggestort|uitbetaald|bijgeschreven)\b",
    r"\b(?:iade|iptal|tazmin|geri ode\w{1,6}|yeniden gonder\w{1,6}|odeme\w{0,6}|ucret\w{0,6}|bakiye\w{0,6})"
    r"(?: \w{1,20}){0,2}? (?:edildi|edilmistir|edilmis|yapildi|yapilmistir|olundu|yuklendi|tanimlandi|etti|etmistir)"
    r"(?:ler|lar)?\b",
    r"\b(?:geri odendi|geri odenmistir|yatirildi|yatirilmistir|alacaklandirildi)(?:ler|lar)?\b",
)
"""Deeds by words that also say other things: a report when somebody's order or money is named beside them."""
_IF: Final = (
    r"if|once(?! more| again)|when|whenever|until|unless|whether|as soon as|in case|si|cuando|una vez|hasta|quand"
    r"|lorsque|une fois|des que|wenn|falls|sobald|nachdem|bis|ob|se|quando|una volta|non appena|assim que|caso|als"
    r"|zodra|wanneer|indien|nadat|eger"
)
_LATER: Final = (
    r"after|before|despues de que|antes de que|apres que|avant que|bevor|dopo che|prima che|depois de|voordat"
)
_EACH: Final = (
    r"(?:all|every|each|everyone|everybody|tod[oa]s|cada|tous|toutes|chaque|alle\w?|jede\w?|tutt[ie]|ogni|elke)"
)
_MAYBE: Final = r"may|might|could|should|must|would|cannot|can't|possibly"
_RULED: Final = _any(
    rf"\b(?:{_IF})\b[^,;:.!?()]{{0,200}}$",
    rf"\b(?:{_LATER})\b(?:(?! {_EACH}\b)[^,;:.!?()]){{0,200}}$",
    rf"(?<!in )(?<!of )(?<!since )(?<!last )\b(?:{_MAYBE})(?: not| already| also)? $",
    r"(?<!,) (?:that|which|who|qui|die|\w{3,20}[as] que|\w{3,20}[ieo] che)"
    r"(?: (?:already|deja|ya|gia|ja|al|\w{2,20}ly))? ?$",
)
"""What stands before a deed and makes a rule of it; a comma ends its reach, and "which …" after one tells news."""


def is_report(folded: str) -> bool:
    """Tell whether the folded sentence says that something was done to orders, customers or payments, whoever's."""
    patterns = (_SURELY, _PERHAPS) if _WHOSE.search(folded) else (_SURELY,)
    return any(not _is_rule(folded, found) for pattern in patterns for found in pattern.finditer(folded))


def _is_rule(folded: str, found: re.Match[str]) -> bool:
    return _RULED.search(folded[: found.start()]) is not None
