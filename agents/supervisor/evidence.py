"""What a reply may rest on: each citable source of the turn as text, sentences and typed values.

Only the turn's own pinned articles, the proven customer's own records and the tenant's policy become evidence; a record
of anyone else never does. Source: KB-10, CO-03, design §5 "Grounding".
"""

import functools
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.domain.deltas import ActionResult, ActionStatus, TurnState
from shared.domain.ids import CustomerId, SourceRef
from shared.domain.intents import ArticleType
from shared.domain.language import detect_language
from shared.domain.money import Money
from shared.domain.passages import clean_sentences
from shared.domain.phrases import done_sentence, order_sentences, product_sentences
from shared.domain.policy import TenantPolicy
from shared.domain.sources import Order, RetrievedArticle
from shared.domain.typed_values import TypedValue, ValueKind, extract_values

CACHED_ARTICLES: Final = 256
"""Articles kept as read, by their whole content: 1–4 ms each to read anew. Source: ours."""
DETECTION_FLOOR: Final = 0.3
"""Below it a source's language is taken to be the reply's. Unit: confidence 0–1. Source: ours."""


class EvidenceKind(StrEnum):
    """Where a source comes from."""

    ARTICLE = "article"
    ORDER = "order"
    PROFILE = "profile"
    POLICY = "policy"
    ACTION = "action"
    """What the executor did in this turn."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One citable source."""

    ref: SourceRef
    kind: EvidenceKind
    sentences: tuple[str, ...]
    """What it says, sentence by sentence; notes to staff are no evidence."""
    values: tuple[TypedValue, ...]
    language: str
    frames: frozenset[str] = frozenset()
    """Sentences of ours that are pure renderings of this record: true of it by construction."""
    title: str = ""
    article_type: ArticleType | None = None
    status: str = ""
    """An order's state, as the shop says it."""


def collect_evidence(state: TurnState, policy: TenantPolicy, language: str) -> dict[SourceRef, Evidence]:
    """Return the turn's sources by the reference a sentence cites; `language` is the reply's."""
    found = [_from_article(a, policy, language) for a in state.knowledge.articles] if state.knowledge else []
    if state.account and (owner := state.snapshot.customer_id) is not None:
        found += [_from_order(o, policy, language) for o in state.account.orders if o.customer_id == owner]
        if state.account.profile and state.account.profile.customer_id == owner:
            profile = state.account.profile
            lines = tuple(filter(None, (profile.name, profile.plan, *profile.preferences.values())))
            found.append(_plain(_profile_ref(owner), EvidenceKind.PROFILE, lines, policy, language))
    found += [_from_action(a, policy, language) for a in state.actions if a.status is ActionStatus.EXECUTED]
    found.append(_from_policy(policy, language))
    return {e.ref: e for e in found}


def _from_article(article: RetrievedArticle, policy: TenantPolicy, language: str) -> Evidence:
    return _read_article(article.model_dump_json(), policy.currency, language)


@functools.lru_cache(maxsize=CACHED_ARTICLES)
def _read_article(dumped: str, currency: str, language: str) -> Evidence:
    """Return what one article says; cached, since a shop's few articles answer most of its questions."""
    article = RetrievedArticle.model_validate_json(dumped)
    detected, confidence = detect_language(article.content.value)
    own = detected if confidence >= DETECTION_FLOOR else language
    attributes = tuple(f"{key.replace('_', ' ')}: {value}" for key, value in article.attributes.items())
    clean = clean_sentences(article.content.value)
    body = tuple(dict.fromkeys((*(s.heading for s in clean if s.heading), *(s.text for s in clean))))
    is_product = article.type is ArticleType.PRODUCT
    facts = product_sentences(article, language, currency) if is_product else {}
    frames = tuple(s for ss in facts.values() for s in ss)
    text = (article.title.value, *body, *attributes)
    return Evidence(
        article.ref,
        EvidenceKind.ARTICLE,
        text + frames,
        _values("\n".join(text), own, currency) + _values("\n".join(frames), language, currency),
        own,
        frozenset(frames),
        title=article.title.value,
        article_type=article.type,
    )


def _from_order(order: Order, policy: TenantPolicy, language: str) -> Evidence:
    frames = tuple(s for ss in order_sentences(order, language).values() for s in ss)
    money = [order.total, *([order.refunded] if order.refunded else [])]
    for line in order.lines:
        money += [
            line.unit_price,
            Money(amount_minor=line.unit_price.amount_minor * line.quantity, currency=line.unit_price.currency),
        ]
    days = [order.placed_at, *(d for s in order.shipments for d in (s.last_scan_at, s.expected_on, s.delivered_at))]
    facts = (
        f"#{order.order_id}",
        *(str(m) for m in money),
        *(d.date().isoformat() for d in days if d),
        *(f"{line.quantity} × {line.title} {line.variant} SKU {line.sku}" for line in order.lines),
        *(f"{s.carrier} tracking {s.tracking_number} {s.tracking_url} {s.status}" for s in order.shipments),
        order.payment,
    )
    values = (
        _values("\n".join(facts), "en", policy.currency)
        + _values("\n".join(frames), language, policy.currency)
        + _identifiers(order)
    )
    lines = tuple(f for f in facts if f.strip())
    return Evidence(
        order.ref, EvidenceKind.ORDER, frames + lines, values, language, frozenset(frames), status=order.status
    )


def _identifiers(order: Order) -> tuple[TypedValue, ...]:
    exact = [order.order_id, *(s.tracking_number for s in order.shipments), *(line.sku for line in order.lines)]
    return tuple(TypedValue(ValueKind.IDENTIFIER, frozenset({e.upper()}), e, 0, 0) for e in exact if e)


def _from_action(action: ActionResult, policy: TenantPolicy, language: str) -> Evidence:
    """Return what was done, as the one sentence of ours that says so (design §5: a promise must match an action)."""
    frame = done_sentence(action, language)
    frames = (frame,) if frame else ()
    return Evidence(
        action.ref,
        EvidenceKind.ACTION,
        frames,
        _values("\n".join(frames), language, policy.currency),
        language,
        frozenset(frames),
    )


def _from_policy(policy: TenantPolicy, language: str) -> Evidence:
    lines = tuple(filter(None, (policy.shop_name, policy.greeting, policy.sign_off, *policy.published_contacts)))
    return _plain(SourceRef(f"policy:{policy.version}"), EvidenceKind.POLICY, lines, policy, language)


def _plain(ref: SourceRef, kind: EvidenceKind, lines: tuple[str, ...], policy: TenantPolicy, language: str) -> Evidence:
    return Evidence(ref, kind, lines, _values("\n".join(lines), language, policy.currency), language)


def _profile_ref(owner: CustomerId) -> SourceRef:
    return SourceRef(f"profile:{owner}")


def _values(text: str, language: str, currency: str) -> tuple[TypedValue, ...]:
    return extract_values(text, language=language, default_currency=currency)
