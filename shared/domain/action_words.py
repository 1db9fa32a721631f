"""By which words a sentence names an action, in the product's languages: folded stems.

Whether an action is asked for is read elsewhere (`requests`), whether it may be done never from words. Source: AX-01,
design §5 "Promises".
"""

from typing import Final

from shared.domain.intents import ActionType

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
