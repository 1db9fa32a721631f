"""Fixed texts and sentence frames in the customer's language. Owns wording; decides nothing. Source: CO-05."""

from shared.domain.phrases.actions import (
    done_sentence,
    done_text,
    expired_text,
    in_progress_text,
    pending_text,
    rejected_text,
)
from shared.domain.phrases.catalog import FALLBACK, LANGUAGES, Phrase, canned_texts, phrase, phrase_language
from shared.domain.phrases.order_texts import STATUS_WORDS
from shared.domain.phrases.orders import OrderFact, canonical_status, order_sentences, status_label
from shared.domain.phrases.products import ProductFact, is_available, product_options, product_prices, product_sentences
from shared.domain.phrases.rendering import render_date, render_money
from shared.domain.phrases.waiting import waiting_text

__all__ = [
    "FALLBACK",
    "LANGUAGES",
    "STATUS_WORDS",
    "OrderFact",
    "Phrase",
    "ProductFact",
    "canned_texts",
    "canonical_status",
    "done_sentence",
    "done_text",
    "expired_text",
    "in_progress_text",
    "is_available",
    "order_sentences",
    "pending_text",
    "phrase",
    "phrase_language",
    "product_options",
    "product_prices",
    "product_sentences",
    "rejected_text",
    "render_date",
    "render_money",
    "status_label",
    "waiting_text",
]
