"""Fixed texts and sentence frames in the customer's language. Owns wording; decides nothing. Source: CO-05."""

from shared.domain.phrases.catalog import FALLBACK, LANGUAGES, Phrase, canned_texts, phrase, phrase_language
from shared.domain.phrases.order_texts import STATUS_WORDS
from shared.domain.phrases.orders import OrderFact, canonical_status, order_sentences, status_label
from shared.domain.phrases.products import ProductFact, is_available, product_options, product_prices, product_sentences
from shared.domain.phrases.rendering import render_date, render_money

__all__ = [
    "FALLBACK",
    "LANGUAGES",
    "STATUS_WORDS",
    "OrderFact",
    "Phrase",
    "ProductFact",
    "canned_texts",
    "canonical_status",
    "is_available",
    "order_sentences",
    "phrase",
    "phrase_language",
    "product_options",
    "product_prices",
    "product_sentences",
    "render_date",
    "render_money",
    "status_label",
]
