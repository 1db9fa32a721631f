"""The wording of how long a person may take to answer; data only.

Placeholders: {duration}, {when}, {day}, {time}, {zone}. Each says what is aimed at, never what will be.
Source: faults 014, 110, CO-05.
"""

from typing import Final

WAITING_TEXTS: Final[dict[str, dict[str, str]]] = {
    "within": {
        "en": "We aim to reply within {duration}.",
        "es": "Nuestro objetivo es responderle en {duration}.",
        "fr": "Nous visons une réponse sous {duration}.",
        "de": "Wir bemühen uns, innerhalb von {duration} zu antworten.",
        "it": "Puntiamo a risponderle entro {duration}.",
        "pt": "O nosso objetivo é responder em {duration}.",
        "nl": "We streven ernaar binnen {duration} te antwoorden.",
        "tr": "Size {duration} içinde yanıt vermeyi hedefliyoruz.",
    },
    "by": {
        "en": "We aim to reply by {when}.",
        "es": "Nuestro objetivo es responderle a más tardar {when}.",
        "fr": "Nous visons une réponse au plus tard {when}.",
        "de": "Wir bemühen uns, spätestens {when} zu antworten.",
        "it": "Puntiamo a risponderle entro {when}.",
        "pt": "O nosso objetivo é responder até {when}.",
        "nl": "We streven ernaar uiterlijk {when} te antwoorden.",
        "tr": "Size en geç {when} itibarıyla yanıt vermeyi hedefliyoruz.",
    },
    "away": {
        "en": "Our team is away right now and is back {when}.",
        "es": "Nuestro equipo no está ahora mismo y vuelve {when}.",
        "fr": "Notre équipe est absente pour le moment et revient {when}.",
        "de": "Unser Team ist gerade nicht da und ist {when} zurück.",
        "it": "Il nostro team al momento non c'è e torna {when}.",
        "pt": "A nossa equipa não está neste momento e volta {when}.",
        "nl": "Ons team is er nu niet en is {when} terug.",
        "tr": "Ekibimiz şu anda burada değil ve {when} itibarıyla dönüyor.",
    },
    "then_within": {
        "en": "After that we aim to reply within {duration}.",
        "es": "Después, nuestro objetivo es responderle en {duration}.",
        "fr": "Ensuite, nous visons une réponse sous {duration}.",
        "de": "Danach bemühen wir uns, innerhalb von {duration} zu antworten.",
        "it": "Dopo puntiamo a risponderle entro {duration}.",
        "pt": "Depois, o nosso objetivo é responder em {duration}.",
        "nl": "Daarna streven we ernaar binnen {duration} te antwoorden.",
        "tr": "Ardından {duration} içinde yanıt vermeyi hedefliyoruz.",
    },
    "busy": {
        "en": "Our team has more messages than usual right now, so we cannot say when it will answer.",
        "es": "Nuestro equipo tiene ahora más mensajes de lo habitual, así que no podemos decir cuándo responderá.",
        "fr": "Notre équipe a plus de messages que d'habitude, nous ne pouvons donc pas dire quand elle répondra.",
        "de": "Unser Team hat gerade mehr Nachrichten als üblich; wir können nicht sagen, wann es antworten wird.",
        "it": "Il nostro team ha più messaggi del solito, quindi non possiamo dire quando risponderà.",
        "pt": "A nossa equipa tem mais mensagens do que o habitual, por isso não podemos dizer quando responderá.",
        "nl": "Ons team heeft nu meer berichten dan anders; we kunnen niet zeggen wanneer het antwoordt.",
        "tr": "Ekibimize şu anda her zamankinden fazla mesaj geliyor; ne zaman yanıt vereceğini söyleyemiyoruz.",
    },
}
"""What is said of the wait."""

WHEN: Final = {
    "en": "{day} at {time} ({zone})",
    "es": "{day} a las {time} ({zone})",
    "fr": "{day} à {time} ({zone})",
    "de": "{day} um {time} Uhr ({zone})",
    "it": "{day} alle {time} ({zone})",
    "pt": "{day} às {time} ({zone})",
    "nl": "{day} om {time} ({zone})",
    "tr": "{day} saat {time} ({zone})",
}
"""A moment."""

TODAY: Final = {
    "en": "today",
    "es": "hoy",
    "fr": "aujourd'hui",
    "de": "heute",
    "it": "oggi",
    "pt": "hoje",
    "nl": "vandaag",
    "tr": "bugün",
}

ON_WEEKDAY: Final = {"en": "on {day}", "es": "el {day}", "de": "am {day}", "nl": "op {day}", "tr": "{day} günü"}
"""A weekday as the day something happens on; elsewhere its bare name."""
ON_DATE: Final = {
    "en": "on {day}",
    "es": "el {day}",
    "fr": "le {day}",
    "de": "am {day}",
    "it": "il {day}",
    "pt": "em {day}",
    "nl": "op {day}",
    "tr": "{day} günü",
}
"""A date as the day something happens on."""
BARE_AFTER_BY: Final = frozenset({"en", "pt"})
"""Languages whose word for a deadline takes the bare day."""

UNITS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "minute": {
        "en": ("minute", "minutes"),
        "es": ("minuto", "minutos"),
        "fr": ("minute", "minutes"),
        "de": ("Minute", "Minuten"),
        "it": ("minuto", "minuti"),
        "pt": ("minuto", "minutos"),
        "nl": ("minuut", "minuten"),
        "tr": ("dakika", "dakika"),
    },
    "hour": {
        "en": ("hour", "hours"),
        "es": ("hora", "horas"),
        "fr": ("heure", "heures"),
        "de": ("Stunde", "Stunden"),
        "it": ("ora", "ore"),
        "pt": ("hora", "horas"),
        "nl": ("uur", "uur"),
        "tr": ("saat", "saat"),
    },
    "day": {
        "en": ("day", "days"),
        "es": ("día", "días"),
        "fr": ("jour", "jours"),
        "de": ("Tag", "Tagen"),
        "it": ("giorno", "giorni"),
        "pt": ("dia", "dias"),
        "nl": ("dag", "dagen"),
        "tr": ("gün", "gün"),
    },
}
"""One, several; as they stand after the words for "within"."""
