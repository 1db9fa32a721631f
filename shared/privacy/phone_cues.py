"""What the words around a number say about it: a telephone, something else, or nothing.

Owns the words only; whether the digits are a number is `phones`. The nearest word before the number decides; a word
that already introduced an earlier number is spent. Source: libraries "PII" (context cues), fault 042.
"""

import re
from enum import Enum
from typing import Final


class Cue(Enum):
    """What surrounds a number."""

    PHONE = "phone"
    """Words that introduce a telephone number."""
    NUMBER = "number"
    """"My number is": somebody's number, most often a telephone."""
    OTHER = "other"
    """An order, a SKU, a card, a parcel …: not a telephone."""
    OTHER_NEAR = "other_near"
    """The same with nothing but filler between the word and the number."""
    NONE = "none"


LOOK_BACK_CHARS: Final = 56
"""How far before a number a cue is looked for, characters; ours, about ten words."""
LOOK_AHEAD_CHARS: Final = 28
"""How far after it, characters; ours."""

_THING: Final = r"(?:case|cover|charger|holder|stand|screen|strap|mount|cable|model|grip|lens)"
_PHONE_WORDS: Final = (
    rf"phones?(?!\s?{_THING})|telephone|tel|mobile(?!\s?{_THING})|mob|cell(?:phone|ular)?(?!\s?{_THING})|landline"
    r"|call(?:ed|ing|back|s)?|dial(?:led|ing)?|(?:ring|text|reach|message|contact|phone)(?:ed|ing)?\s(?:me|us|him|her|them|you)"
    r"|contact(?!\s?lens)(?:\snumber)?|texte?d?\sat|sms|whats\s?app|wa\.me|viber|telegram|fax|hotline|helpline|ph|answer\w*\s(?:at|on)|reach(?:able|ed)?"
    r"|(?:home|work|office|desk)(?=\s?:)"
    r"|t[ée]l[ée]phon\w*|appel\w*|(?:mon|de|le|au|num[ée]ro)\sportable|joindre"
    r"|telefon\w*|handy\w*|mobil\w*|anruf\w*|anrufen|r[üu]ckruf\w*|festnetz\w*|erreich\w*|rufnummer|tlf|puhelin\w*"
    r"|tel[ée]fono|m[óo]vil|celular|ll[áa]m\w*|cellulare|chiam\w*|recapito|telefone|telem[óo]vel|ligar?|ligue"
    r"|telefoon\w*|bel|bellen|mobiel\w*|nummeret|ring\smig|kom[óo]rk\w*|zadzwo\w*|dzwoni\w*"
    r"|телефон\w*|тел|моб\w*|звон\w*|позвон\w*|сотов\w*|τηλ\w*|κινητ\w*"
)
_NUMBER_WORDS: Final = (
    r"(?:my|your|his|her|their|our|its|the)\s(?:new\s|correct\s|right\s|other\s)?(?:number|nr|no|num)"
    r"|number\sto\s\w+|mer[aei]\s(?:number|no|nr)|mein\w*\snummer|mon\snum[ée]ro|mi\sn[úu]mero|mio\snumero|meu\sn[úu]mero|mijn\snummer|мой\sномер"
)
_OTHER_WORDS: Final = (
    r"(?<!in\s)orders?|ordernr|purchas\w*|invoices?|inv|bill|sku|skus|asin|ean|gtin|upc|isbn|serials?|s/n|imei|iccid"
    r"|track\w*|parcel|packages?|shipments?|shipping|awb|waybill|consignment|delivery\s(?:number|no|id)|ref|refs|references?"
    r"|cards?|visa|mastercard|amex|accounts?|acct|iban|sort\scode|polic(?:y|ies)|claims?|ssn|social\ssecurity|tax|vat"
    r"|zip|zip\s?code|post\s?code|postal|pin|otp|codes?|coupon|voucher|tickets?|(?<!in\s)case|booking|reservation|confirmation"
    r"|transactions?|txn|payments?|batch|lot|items?|articles?|products?|model|part|version|ids?|user\s?(?:id|no|number)"
    r"|(?:customer|client|member|loyalty|student|employee)\w*\s?(?:id|no|number|nr)|membership|passport|licen[cs]e|registration"
    r"|box|apt|apartment|suite|epoch|timestamp|unix|ups|fedex|dhl|usps|dpd|gls|evri|hermes|yodel|price|total|amount|qty|quantity"
    r"|commandes?|factures?|suivi|colis|r[ée]f[ée]rence|carte|compte|article"
    r"|bestell\w*|auftrag\w*|rechnung\w*|sendung\w*|paket\w*|artikel\w*|kundennummer|kunden-?nr|konto\w*|kartennummer|seriennummer"
    r"|pedidos?|facturas?|seguimiento|rastre\w*|env[íi]o|tarjeta|cuenta|referencia|ordin[ei]|fattura|spedizione|carta|conto|codice"
    r"|encomenda|fatura|cart[ãa]o|conta|c[óo]digo|bestelling\w*|factuur\w*|klantnummer|zam[óo]wieni\w*|faktur\w*|przesy[łl]k\w*"
    r"|заказ\w*|накладн\w*|трек\w*|карт\w*|сч[её]т\w*|артикул\w*"
)
_UNSPACED_PHONE: Final = (
    "電話|携帯|连絡|連絡先|电话|手机|手機|联系|致电|拨打|전화|휴대폰|연락처|핸드폰|โทร|มือถือ"
    "|هاتف|جوال|موبايل|اتصل|फोन|फ़ोन|मोबाइल|कॉल|טלפון|נייד"
)
_UNSPACED_OTHER: Final = (
    "注文|受注|追跡|伝票|問い合わせ番号|品番|会員番号|订单|訂單|运单|運單|单号|單號|快递|卡号"
    "|주문|송장|운송장|상품번호|คำสั่งซื้อ|พัสดุ|طلب|شحنة|فاتورة|ऑर्डर|आर्डर|הזמנה|משלוח"
)
_WORD: Final = re.compile(
    rf"(?<![^\W\d_])(?:(?P<phone>{_PHONE_WORDS})|(?P<number>{_NUMBER_WORDS})|(?P<other>{_OTHER_WORDS}))(?![^\W\d_])"
    rf"|(?P<phone2>{_UNSPACED_PHONE})|(?P<other2>{_UNSPACED_OTHER})|(?P<hash>\#(?=\s?\Z))"
)
"""Matched against lower-cased text: without the case flag the alternatives are told apart by their first letter."""
_BREAK: Final = re.compile(
    r"[!?;]|(?<!no)(?<!nr)(?<!num)(?<!nº)(?<!ref)(?<!inv)(?<!tel)(?<!tél)(?<!тел)(?<!mob)(?<!ph)\.(?=\s)|(?<!:)\n"
)
"""The end of a sentence or line; an abbreviation's point is none, and a label may stand on the line above."""
_FILLER: Final = re.compile(
    r"(?:[\s:#.=\-]|number|numbers|no|nr|num|n°|nº|id|ids|code|is|was|are|my|the|nummer|num[ée]ro|n[úu]mero|numero|номер|est|ist|es|番号|号|は|번호)*",
    re.IGNORECASE,
)
_CONNECTOR: Final = re.compile(r"(?:[\s,&/#]|and|or|und|oder|et|ou|y|o|e|en|of)*", re.IGNORECASE)
_DIGITS: Final = re.compile(r"[\d\x00][\d\x00 \-./]*")
"""A number, or the blank that stands for an address, a token or a UUID."""
_SPENDING_DIGITS: Final = 3
"""A number of at least this many digits uses up the cue before it."""
_AFTER: Final = re.compile(
    r"[\s,)\-]{0,3}(?:(?:is|are|was)\s)?(?:my|our|the|his|her|a)\s(?:new\s|correct\s)?(?:(?P<other>orders?|tracking|invoice|card|account|ticket|case|policy|claim|ref|booking)"
    r"|(?P<phone>phone|mobile|cell|number|contact|telephone|tel|whatsapp))"
    r"|[\s,(\-]{0,3}(?P<label>mobile|mob|cell|fax|phone|office|home|work|desk|landline|tel)(?![^\W\d_])"
    r"|\s(?:this\s)?is\s(?:the\s)?(?:my\s)?(?:correct\s|right\s)?(?P<number>number)",
    re.IGNORECASE,
)


def cue_around(text: str, start: int, end: int) -> Cue:
    """Return what the words around a number at text[start:end] say it is."""
    after = _AFTER.match(text, end, end + LOOK_AHEAD_CHARS)
    if after is not None:
        return Cue.OTHER_NEAR if after["other"] else Cue.PHONE
    before = text[max(0, start - LOOK_BACK_CHARS) : start].lower()
    begin = max((end.end() for end in _BREAK.finditer(before)), default=0)
    words = list(_WORD.finditer(before, begin))
    if words:
        return _read(words[-1], before[words[-1].end() :])
    return _of_sentence_before(before, begin) if _FILLER.fullmatch(before, begin) else Cue.NONE


def _of_sentence_before(before: str, begin: int) -> Cue:
    """Read `Where is my order? 4152864371`: a number that opens its sentence may answer to the one before."""
    words = list(_WORD.finditer(before, 0, begin))
    if not words or _DIGITS.search(before, words[-1].end()):
        return Cue.NONE
    return _read(words[-1], before[words[-1].end() :])


def _read(word: re.Match[str], between: str) -> Cue:
    """Return the cue of the nearest word, unless a number between has used it up."""
    spent = None
    for digits in _DIGITS.finditer(between):
        if sum(char.isdigit() or char == "\x00" for char in digits.group()) >= _SPENDING_DIGITS:
            spent = digits
    if spent is not None and _CONNECTOR.fullmatch(between, spent.end()) is None:
        return Cue.NONE
    if word["phone"] or word["phone2"]:
        return Cue.PHONE
    if word["number"]:
        return Cue.NUMBER
    return Cue.OTHER_NEAR if spent is None and _FILLER.fullmatch(between) else Cue.OTHER
