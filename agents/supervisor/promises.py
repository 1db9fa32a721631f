"""Find what a sentence promises or claims to have done, and whether the turn really does it.

A promise is matched against the actions and the handoff of this turn, or against the very words of the policy that is
cited; the customer's words never support one. Source: design §5 "Promises", AX-05.
"""

import re
from typing import Final

from agents.supervisor.reports import is_report
from shared.domain.action_words import NAMED
from shared.domain.typed_values.folding import fold

HANDOFF_PROMISE: Final = "handoff"
"""What `allowed_promises` holds when a person takes over in this turn; the other members are ActionType values."""
UNKNOWN_PROMISE: Final = "something"
"""A commitment whose action could not be told; never allowed by an action, only by the cited policy's own words."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_PARTICIPLE: Final = r"(?!(?:to|a|an|the|no|some|any)\b)\w+(?:ed|en|nt|id|up|un)\b"
_WE_DID: Final = _any(
    rf"\b(?:i|we)(?:'ve| have| had)(?: now| just| already| also| gone ahead and){{0,2}} {_PARTICIPLE}",
    r"\b(?:i|we) (?:just |already )?(?:refunded|cancelled|canceled|issued|processed|updated)\b",
    r"\b(?:i|we) (?:just |already )?(?:changed|credited|resent|sent|created)\b",
    r"\b(?:i|we) (?:just |already )?(?:initiated|submitted|arranged|opened|upgraded|applied|removed|added)\b",
    r"\b(?:he|hemos) \w+(?:ado|ido)\b",
    r"\b(?:j'ai|nous avons) (?:bien |deja )?\w+(?:e|i|u|is|it)\b",
    r"\b(?:ich habe|wir haben|habe ich|haben wir)\b.{0,80}\b(?:ge\w+t|\w+iert|\w*erstattet|\w*geandert"
    r"|veranlasst|gutgeschrieben|zuruckgezahlt|uberwiesen)\b",
    r"\b(?:ho|abbiamo) \w+(?:ato|uto|ito|sso)\b",
    r"\b(?:fiz|fizemos|reembolsei|reembolsamos|cancelei|cancelamos|enviei|alterei)\b",
    r"\b(?:ik heb|wij hebben|we hebben|heb ik|hebben we)\b.{0,80}\b(?:ge\w+(?:d|t|en)|terugbetaald|bijgeschreven)\b",
    r"\b(?:et|yap|gonder|baslat|olustur|tanimla|onayla|degistir|guncelle|yatir|aktar|uygula|ekle|ac|ilet|kaldir|ode)"
    r"[dt][iu][mk]\b",
)
"""First person, done."""
_WE_WILL: Final = _any(
    r"\b(?:i|we)(?:'ll| will| shall|'m going to|'re going to| am going to| are going to)\b",
    r"\byou(?:'ll| will) (?:receive|get|be)\b",
    r"\blet me (?!know\b)\w+",
    r"\b(?:reembolsaremos|enviaremos|devolveremos|haremos|cancelaremos|cambiaremos)\b|\b(?:voy|vamos) a \w+",
    r"\b(?:je vais|nous allons) \w+|\bnous (?:vous )?\w+erons\b|\bje (?:vous )?\w+erai\b",
    r"\b(?:ich werde|wir werden|werde ich|werden wir)\b",
    r"\b(?:provvedero|provvederemo|rimborseremo|invieremo|annulleremo|cambieremo)\b",
    r"\b(?:vou|vamos|iremos) \w+r\b",
    r"\b(?:ik zal|ik ga|wij zullen|we zullen|we gaan|wij gaan)\b",
    r"\b\w+[ae]c(?:agi|egi)[mz]\b|\b\w+(?:acaksiniz|eceksiniz)\b",
)
"""First person or a gift to the customer, future."""
_IT_WAS_DONE: Final = _any(
    r"\b(?:has|have) (?:now |just |already )?been (?:refunded|cancelled|canceled|credited)\b",
    r"\b(?:has|have) (?:now |just |already )?been (?:changed|updated|resent|reimbursed)\b",
    r"\b(?:has|have) (?:now |just |already )?been (?:processed|issued|approved|waived|upgraded)\b",
    r"\b(?:is|was) (?:now |just )?(?:refunded|cancelled|canceled|credited|approved)\b",
)
"""Passive, done."""
_NOW: Final = r"(?:(?:now|just|already|bien|deja|al|reeds) )?"
_YOURS_WAS_DONE: Final = _any(
    rf"\byour (?:\S+ ){{1,6}}?(?:has|have) {_NOW}been {_PARTICIPLE}|\byour (?:\S+ ){{1,6}}?(?:is|was|were) {_NOW}"
    r"(?:refunded|reimbursed|cancelled|canceled|credited|approved|sent|issued|waived|replaced)\b",
    rf"\byou(?:'ve| have) {_NOW}been (?:refunded|reimbursed|credited|compensated|upgraded)\b",
    r"\b(?:su|sus|tu|tus) (?:\S+ ){1,6}?(?:ha|han) sido \w+",
    rf"\b(?:votre|vos) (?:\S+ ){{1,6}}?(?:a|ont) {_NOW}ete \w+",
    r"\b(?:ihre?|deine?)[mnrs]? (?:\S+ ){1,8}?(?:wurden?|worden)\b",
    r"\b(?:suo|sua|suoi|sue|tuo|tua) (?:\S+ ){1,6}?(?:e|sono) stat[oaie] \w+",
    r"\b(?:seu|sua|seus|suas) (?:\S+ ){1,6}?(?:foi|foram) \w+",
    rf"\b(?:uw|je|jouw) (?:\S+ ){{1,6}}?(?:is|zijn|werd) {_NOW}"
    r"(?:terugbetaald|geannuleerd|gecrediteerd|verzonden|goedgekeurd|vervangen)\b",
    r"\b\w+[iu]n[iu]z\w{0,4} (?:\S+ ){0,6}?(?:edildi|edilmistir|yapildi|yapilmistir|onaylandi|odendi|gonderildi"
    r"|degistirildi|guncellendi|olusturuldu|tanimlandi|yatirildi)\b",
)
"""Passive, done to what is the customer's."""
_ONLY_IF: Final = re.compile(
    r"\b(?:if|once|when|whenever|after|before|until|unless|whether|as soon as|e-?mails?|notif\w+|confirm\w+"
    r"|si|cuando|una vez|despues|hasta|quand|lorsque|une fois|apres|des que|wenn|falls|sobald|nachdem|bis|ob"
    r"|se|quando|dopo|una volta|apos|depois|assim que|als|zodra|wanneer|nadat"
    r"|eger|sonra|kadar|takdirde|halinde|durumunda|\w+(?:diginda|dugunda|tiginda|tugunda|dikten|dukten|tikten|tukten))\b"
)
"""Words that make a rule of what follows: "once your refund has been issued" tells nobody that it was."""
_SOMEBODY: Final = (
    r"(?:colleague|agent|human|person|someone|somebody|representative|specialist|team|staff|manager|supervisor)"
)
_THIS: Final = r"(?:you|this|conversation|case|request|ticket)"
_PERSON_WILL: Final = _any(
    rf"\b{_SOMEBODY}\b.{{0,40}}?\b(?:will|is going to|is taking over|takes over|shall|has been (?:notified"
    rf"|informed))\b",
    rf"\b(?:transfer|connect|hand|forward|escalat|pass)\w*\b.{{0,40}}\b{_THIS}\b.{{0,40}}\b(?:to"
    rf"|with)\b.{{0,30}}\b{_SOMEBODY}\b",
    r"\b(?:companer\w|agente|persona|equipo)\b.{0,40}\b(?:se hace cargo|le respondera|contactara|atendera)\b",
    r"\b(?:collegue|conseiller|personne|equipe)\b.{0,40}\b(?:prend le relais|repondra|contactera|va vous)\b",
    r"\b(?:kolleg\w+|mitarbeiter\w*|person|team)\b.{0,40}\b(?:ubernimmt|wird|meldet sich|kummert sich)\b",
    r"\b(?:collega|operatore|persona|team)\b.{0,40}\b(?:prende in carico|rispondera|contattera)\b",
    r"\b(?:colega|agente|pessoa|equipa|equipe)\b.{0,40}\b(?:assume|vai|respondera|entrara em contacto)\b",
    r"\b(?:collega|medewerker|iemand|mens)\b.{0,40}\b(?:neemt|zal|antwoordt|gaat)\b",
    r"\b(?:ekib|temsilci|yetkili|arkadas|kisi|uzman|gorevli)\w*\b.{0,60}\b(?:devraliyor|devralacak|yanit verecek"
    r"|yanitlayacak|donecek|ulasacak|arayacak|ilgilenecek|gececek|yardimci olacak)\b",
)
"""A person is said to take over or to come back."""


def find_promises(text: str) -> frozenset[str]:
    """Return what the sentence commits to: action types, `handoff`, or `something` when the action is unclear."""
    folded = fold(text).text
    promises: set[str] = set()
    if _PERSON_WILL.search(folded):
        promises.add(HANDOFF_PROMISE)
    if _WE_DID.search(folded) or _WE_WILL.search(folded) or _IT_WAS_DONE.search(folded) or _is_told(folded):
        actions = {action.value for action, stems in NAMED.items() if re.search(stems, folded)}
        promises |= actions or (set() if promises else {UNKNOWN_PROMISE})
    return frozenset(promises)


def is_deed(text: str) -> bool:
    """Tell whether the sentence says that something was done by us in this conversation ("I have refunded")."""
    return _WE_DID.search(fold(text).text) is not None


def is_told_as_done(text: str) -> bool:
    """Tell whether the sentence says that something was acted on: the customer's ("your refund has been sent"), or
    anybody's ("all orders have been refunded").

    No article can know that, whoever wrote it; the customer's own record can.
    """
    return _is_told(fold(text).text)


def _is_told(folded: str) -> bool:
    """Read only what names an action: "your parcel has been packed with care" commits to nothing."""
    if is_report(folded):
        return True
    told = _YOURS_WAS_DONE.search(folded)
    if told is None or _ONLY_IF.search(folded, 0, told.end()):
        return False
    return any(re.search(stems, folded) for stems in NAMED.values())
