"""What a reader sees in place of a contact whose mapping has expired or was erased. Source: PV-01, PV-02."""

from typing import Final

from shared.ports.vault import ContactKind


def missing_phrase(kind: ContactKind, language: str) -> str:
    """Return what a reader sees in place of a value whose mapping has expired or was erased."""
    phrases = _GONE.get(language.lower().partition("-")[0], _GONE["en"])
    return phrases[kind is ContactKind.PHONE]


_GONE: Final[dict[str, tuple[str, str]]] = {
    "en": ("the e-mail address you gave us", "the phone number you gave us"),
    "de": ("die von Ihnen angegebene E-Mail-Adresse", "die von Ihnen angegebene Telefonnummer"),
    "fr": ("l’adresse e-mail que vous nous avez indiquée", "le numéro de téléphone que vous nous avez indiqué"),
    "es": ("la dirección de correo que nos facilitó", "el número de teléfono que nos facilitó"),
    "it": ("l’indirizzo e-mail che ci ha indicato", "il numero di telefono che ci ha indicato"),
    "pt": ("o endereço de e-mail que nos indicou", "o número de telefone que nos indicou"),
    "nl": ("het e-mailadres dat u ons gaf", "het telefoonnummer dat u ons gaf"),
    "pl": ("podany przez Państwa adres e-mail", "podany przez Państwa numer telefonu"),
    "sv": ("e-postadressen du gav oss", "telefonnumret du gav oss"),
    "da": ("den e-mailadresse, du gav os", "det telefonnummer, du gav os"),
    "ru": ("указанный вами адрес электронной почты", "указанный вами номер телефона"),
    "uk": ("вказана вами адреса електронної пошти", "вказаний вами номер телефону"),
    "tr": ("bize verdiğiniz e-posta adresi", "bize verdiğiniz telefon numarası"),
    "ar": ("عنوان البريد الإلكتروني الذي زودتنا به", "رقم الهاتف الذي زودتنا به"),
    "hi": ("आपका दिया हुआ ई-मेल पता", "आपका दिया हुआ फ़ोन नंबर"),
    "ja": ("お知らせいただいたメールアドレス", "お知らせいただいた電話番号"),
    "ko": ("알려주신 이메일 주소", "알려주신 전화번호"),
    "zh": ("您提供的电子邮箱", "您提供的电话号码"),
}
"""What stands for a lost e-mail address and telephone number, by language; English for the others."""
