"""What the customer is told, from an approved draft or a fixed text; pure.

Never takes loose text: a reply is an ApprovedReply that verified, or one of our phrases. Source: SU-03, CO-05.
"""

from datetime import datetime
from typing import Final

from shared.domain.deltas import ActionResult, ActionStatus, TurnState
from shared.domain.drafts import ApprovedReply
from shared.domain.human_triggers import HumanTrigger, Severity
from shared.domain.ids import CaseId, OrderId
from shared.domain.phrases import (
    Phrase,
    done_sentence,
    in_progress_text,
    pending_text,
    phrase,
    phrase_language,
    waiting_text,
)
from shared.domain.policy import TenantPolicy
from shared.domain.routing_facts import issue_key
from shared.domain.sources import RetrievedArticle
from shared.domain.text import MaskedText
from shared.domain.ticket import ActionShown, HandoffRow, Outcome, SourceShown, Ticket, TurnResult
from shared.domain.turns import CannedKind, Route

_PHRASES: Final = {
    CannedKind.CLARIFICATION: (Phrase.CLARIFY, Outcome.CLARIFICATION),
    CannedKind.WHICH_ORDER: (Phrase.WHICH_ORDER, Outcome.CLARIFICATION),
    CannedKind.OUT_OF_SCOPE: (Phrase.OUT_OF_SCOPE, Outcome.ANSWERED),
    CannedKind.ACKNOWLEDGEMENT: (Phrase.ACKNOWLEDGE, Outcome.ACKNOWLEDGED),
    CannedKind.HANDOFF: (Phrase.HANDOFF, Outcome.ESCALATED),
}
"""Which phrase a canned reply is, and what outcome the turn has."""

_SOCIAL: Final = {"greeting": Phrase.GREETING, "thanks": Phrase.THANKS, "goodbye": Phrase.GOODBYE}


def approved_result(state: TurnState, approved: ApprovedReply) -> TurnResult:
    """Return the result of a turn answered by an approved draft."""
    result = _base(state, Outcome.ANSWERED, approved.draft.language)
    return result.model_copy(
        update={
            "reply": approved.draft.text,
            "confidence": approved.draft.confidence,
            "sources": _shown(state, approved.draft.refs),
            "verdicts": {v.check.value: v.is_passed for v in approved.review.verdicts},
        }
    )


def canned_result(state: TurnState, kind: CannedKind, policy: TenantPolicy) -> TurnResult:
    """Return the result of a turn answered by a fixed text; what was done in it is said first, from its record."""
    language = reply_language(state, policy)
    text, outcome = _fixed(state, kind, language, policy)
    text = " ".join((*_done(state, language), text))
    if state.snapshot.is_first_reply:
        notice = Phrase.AI_NOTICE_HANDOFF if kind is CannedKind.HANDOFF else Phrase.AI_NOTICE
        text = f"{phrase(notice, language, shop=policy.shop_name)} {text}"
    result = _base(state, outcome, phrase_language(language))
    return result.model_copy(update={"reply": MaskedText(text)})


def _fixed(state: TurnState, kind: CannedKind, language: str, policy: TenantPolicy) -> tuple[str, Outcome]:
    """Return the fixed text and the outcome it means."""
    match kind:
        case CannedKind.SOCIAL:
            social = state.classification.social if state.classification else ""
            return phrase(_SOCIAL.get(social, Phrase.GREETING), language, shop=policy.shop_name), Outcome.ANSWERED
        case CannedKind.ACTION_PENDING:
            return pending_text(language, order=_order(state, ActionStatus.PENDING_APPROVAL)), Outcome.ACKNOWLEDGED
        case CannedKind.ACTION_IN_PROGRESS:
            return in_progress_text(language, order=_order(state, ActionStatus.IN_PROGRESS)), Outcome.ACKNOWLEDGED
        case _:
            key, outcome = _PHRASES[kind]
            return phrase(key, language, shop=policy.shop_name), outcome


def _order(state: TurnState, status: ActionStatus) -> OrderId | None:
    """Return the one order of the turn's actions that stand so; none when there are several."""
    orders = {o.order_id for o in state.outcomes if o.order_id is not None and o.status is status}
    return next(iter(orders)) if len(orders) == 1 else None


def _done(state: TurnState, language: str) -> tuple[str, ...]:
    """Return what the customer is told of what was done in this turn, each once."""
    sentences = (done_sentence(outcome, phrase_language(language)) for outcome in state.outcomes)
    return tuple(dict.fromkeys(sentence for sentence in sentences if sentence))


def handoff_result(
    state: TurnState,
    decision: Route,
    case: CaseId,
    policy: TenantPolicy,
    *,
    severity: Severity,
    now: datetime,
    is_busy: bool,
) -> TurnResult:
    """Return the result of a turn a person takes over: who comes and when, as far as that can be kept.

    After an outage, and while the queue is over its cap, the customer is only told that the message arrived: no claim,
    no time (GO-02 template acknowledgment, RK-01).
    """
    is_outage = decision.triggers == (HumanTrigger.AGENT_FAILURE,)
    told = canned_result(state, CannedKind.ACKNOWLEDGEMENT if is_outage or is_busy else CannedKind.HANDOFF, policy)
    if not is_outage:
        waiting = waiting_text(
            told.language, sla_minutes=policy.sla_of(severity), now=now, hours=policy.desk_hours, is_busy=is_busy
        )
        told = told.model_copy(update={"reply": MaskedText(f"{told.reply} {waiting}")})
    triggers = tuple(t.value for t in decision.triggers)
    return told.model_copy(update={"case_id": case, "triggers": triggers})


def lost_handoff_result(ticket: Ticket, handoff: HandoffRow, policy: TenantPolicy) -> TurnResult:
    """Return the result of a handoff that is finished without its turn's state."""
    language = phrase_language(ticket.language or policy.default_language)
    text = phrase(Phrase.HANDOFF, language, shop=policy.shop_name)
    if not ticket.has_greeted:
        text = f"{phrase(Phrase.AI_NOTICE_HANDOFF, language, shop=policy.shop_name)} {text}"
    return TurnResult(
        outcome=Outcome.ESCALATED,
        reply=MaskedText(text),
        language=language,
        severity=handoff.severity,
        case_id=handoff.case_id,
        triggers=handoff.triggers,
    )


def reply_language(state: TurnState, policy: TenantPolicy) -> str:
    """Return the language to answer in: the customer's as classified, else the message's own tag, else the shop's."""
    if state.classification is not None and state.classification.language:
        return state.classification.language
    return state.snapshot.metadata.language or policy.default_language


def shown_sources(articles: tuple[RetrievedArticle, ...]) -> tuple[SourceShown, ...]:
    """Return articles as a Turn or a case lists them."""
    return tuple(SourceShown(ref=a.ref, title=a.title.value, relevance=a.relevance) for a in articles)


def shown_actions(actions: tuple[ActionResult, ...]) -> tuple[ActionShown, ...]:
    """Return actions as a Turn lists them."""
    return tuple(
        ActionShown(
            type=a.type,
            status=a.status.value,
            amount_minor=a.amount_minor,
            currency=a.currency,
            action_id=a.action_id,
        )
        for a in actions
    )


def _base(state: TurnState, outcome: Outcome, language: str) -> TurnResult:
    found, knowledge = state.classification, state.knowledge
    return TurnResult(
        outcome=outcome,
        language=language,
        intent=found.customer_intent.value if found else None,
        severity=found.severity.value if found else None,
        confidence=found.confidence if found else 0.0,
        actions=shown_actions(state.outcomes),
        path=knowledge.path.value if knowledge else "",
        issue=issue_key(state),
    )


def _shown(state: TurnState, refs: tuple[str, ...]) -> tuple[SourceShown, ...]:
    """Return the cited sources with their titles, in order of citation."""
    titles = {s.ref: s for s in shown_sources(state.knowledge.articles if state.knowledge else ())}
    return tuple(titles.get(ref) or SourceShown(ref=ref, title=_record_title(ref)) for ref in refs)


def _record_title(ref: str) -> str:
    """Return what a record of the customer's own is called: an order by its number, others by their kind."""
    kind, _, name = ref.partition(":")
    return f"#{name}" if kind == "order" else kind
