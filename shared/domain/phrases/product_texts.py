# ruff: noqa: E501 - one wording a line reads better than a wrapped one
"""The wording of product sentence frames; data only. Placeholders: {title}, {price}, {low}, {high}, {name}, {values}."""

from typing import Final

PRODUCT_TEXTS: Final[dict[str, dict[str, str]]] = {
    "price": {
        "en": "{title} costs {price}.",
        "es": "{title} cuesta {price}.",
        "fr": "{title} coûte {price}.",
        "de": "{title} kostet {price}.",
        "it": "{title} costa {price}.",
        "pt": "{title} custa {price}.",
        "nl": "{title} kost {price}.",
    },
    "price_range": {
        "en": "{title} costs between {low} and {high}, depending on the variant.",
        "es": "{title} cuesta entre {low} y {high}, según la variante.",
        "fr": "{title} coûte entre {low} et {high}, selon la variante.",
        "de": "{title} kostet je nach Variante zwischen {low} und {high}.",
        "it": "{title} costa tra {low} e {high}, a seconda della variante.",
        "pt": "{title} custa entre {low} e {high}, conforme a variante.",
        "nl": "{title} kost tussen {low} en {high}, afhankelijk van de variant.",
    },
    "available": {
        "en": "{title} is in stock.",
        "es": "{title} está disponible.",
        "fr": "{title} est en stock.",
        "de": "{title} ist vorrätig.",
        "it": "{title} è disponibile.",
        "pt": "{title} está disponível.",
        "nl": "{title} is op voorraad.",
    },
    "available_except": {
        "en": "{title} is in stock, except for these variants – {values}.",
        "es": "{title} está disponible, salvo estas variantes: {values}.",
        "fr": "{title} est en stock, sauf ces variantes : {values}.",
        "de": "{title} ist vorrätig, bis auf diese Varianten: {values}.",
        "it": "{title} è disponibile, tranne queste varianti: {values}.",
        "pt": "{title} está disponível, exceto estas variantes: {values}.",
        "nl": "{title} is op voorraad, behalve deze varianten: {values}.",
    },
    "unavailable": {
        "en": "{title} is currently out of stock.",
        "es": "{title} está agotado en este momento.",
        "fr": "{title} est actuellement en rupture de stock.",
        "de": "{title} ist derzeit nicht vorrätig.",
        "it": "{title} al momento non è disponibile.",
        "pt": "{title} está esgotado de momento.",
        "nl": "{title} is momenteel niet op voorraad.",
    },
    "options": {
        "en": "{title} comes in these options – {values}.",
        "es": "{title} está disponible en estas opciones: {values}.",
        "fr": "{title} existe dans ces options : {values}.",
        "de": "{title} gibt es in diesen Ausführungen: {values}.",
        "it": "{title} è disponibile in queste opzioni: {values}.",
        "pt": "{title} existe nestas opções: {values}.",
        "nl": "{title} is er in deze uitvoeringen: {values}.",
    },
    "offer": {
        "en": "{title} – {price}.",
        "es": "{title} – {price}.",
        "fr": "{title} – {price}.",
        "de": "{title} – {price}.",
        "it": "{title} – {price}.",
        "pt": "{title} – {price}.",
        "nl": "{title} – {price}.",
    },
    "offer_range": {
        "en": "{title} – {low} to {high}.",
        "es": "{title} – de {low} a {high}.",
        "fr": "{title} – de {low} à {high}.",
        "de": "{title} – {low} bis {high}.",
        "it": "{title} – da {low} a {high}.",
        "pt": "{title} – de {low} a {high}.",
        "nl": "{title} – {low} tot {high}.",
    },
    "attribute": {
        "en": "{title} – {name}: {values}.",
        "es": "{title} – {name}: {values}.",
        "fr": "{title} – {name} : {values}.",
        "de": "{title} – {name}: {values}.",
        "it": "{title} – {name}: {values}.",
        "pt": "{title} – {name}: {values}.",
        "nl": "{title} – {name}: {values}.",
    },
}
"""Frame → language → wording."""
