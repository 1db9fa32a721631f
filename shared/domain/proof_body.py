"""What a turn's proof says: each sentence with what bears it out, each check's verdict, each action's approval.

Owns the shape and how it is made from a turn that ends; decides nothing and reads nothing. Its text is masked and stays
so: it is stored sealed under the customer's key, and a proof never gives values back. Source: PR-01, ME-06, KB-10,
CO-03, design §7 "GET …/turns/{mid}/proof".
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from pydantic import Field

from shared.domain.actions import Action
from shared.domain.article import Article, parse_article_ref
from shared.domain.deltas import ActionResult, ActionStatus, TurnState
from shared.domain.drafts import ApprovedReply, CheckVerdict, Sentence, SentenceKind
from shared.domain.ids import CaseId, OrderId, SourceRef, digest
from shared.domain.spans import Span, find_span
from shared.domain.text import MaskedText
from shared.domain.wire_model import Wire

BODY_VERSION: Final = 1
"""Version of the body's shape: a sealed one is kept for the compliance window and read by later code."""


class CitedSource(Wire):
    """A source of a sentence as it was when the reply was sent."""

    ref: SourceRef
    title: str = ""
    """The article's title at that version; empty for a record of the customer's own."""
    version: int | None = None
    """The article's version; None for a record, which has none."""
    span: Span | None = None
    """The characters of that version's content that say the sentence; None where no single passage does."""
    text_hash: str = ""
    """SHA-256 of the cited text: of the span, else of the whole content, else of the record as it was read."""


class ProvenSentence(Wire):
    """One sentence the customer was sent."""

    text: MaskedText
    kind: SentenceKind
    sources: tuple[CitedSource, ...] = ()


class ProvenAction(Wire):
    """One action of the turn as it stood when the reply was sent."""

    action_id: str
    type: str
    decided: ActionStatus | None = None
    """What the supervisor decided; None when the turn decided nothing about it."""
    status: ActionStatus
    order_id: OrderId | None = None
    amount_minor: int | None = None
    currency: str | None = None
    reason: str = ""
    case_id: CaseId | None = None
    reference: str = ""
    """The shop's own id of what was done."""
    approved_by: str = ""
    """Person, or `policy:{version}`; empty while nobody approved it."""
    approved_at: datetime | None = None
    grant_hash: str = ""
    """SHA-256 of the id of the grant it ran under; empty when it did not run."""


class ProofBody(Wire):
    """Everything that vouches for one turn."""

    body_version: int = BODY_VERSION
    language: str
    policy_version: int = Field(ge=1)
    """Policy in force when the turn opened."""
    is_approved: bool
    """The reply is the draft the verdicts are of. False: a fixed text of ours was sent, and the verdicts, if any, are
    those that kept the last draft from the customer."""
    sentences: tuple[ProvenSentence, ...]
    verdicts: tuple[CheckVerdict, ...] = ()
    actions: tuple[ProvenAction, ...] = ()


class SealedProof(Wire):
    """A proof's body under a data key; what is stored, hashed and chained."""

    key_id: str
    """Of the data key; says nothing of whose it is, and nothing at all once the key is destroyed."""
    ciphertext: str


def proof_of(
    state: TurnState,
    *,
    approved: ApprovedReply | None = None,
    told: MaskedText | None = None,
    language: str = "",
    pinned: Mapping[SourceRef, Article] | None = None,
    actions: Sequence[Action] = (),
) -> ProofBody:
    """Return what vouches for the turn: of the approved reply, or else of the fixed text that was told.

    `pinned` holds the cited article versions, `actions` the turn's actions as stored; whatever is missing there is
    proven without. `language` is the fixed text's.
    """
    stored = {action.action_id: action for action in actions}
    decided = {decision.action_id: decision.status for decision in state.decisions}
    if approved is not None:
        sentences = tuple(_proven(sentence, state, pinned or {}) for sentence in approved.draft.sentences)
        language = approved.draft.language
    else:
        sentences = (fixed_sentence(told),) if told is not None else ()
    review = approved.review if approved is not None else state.review
    return ProofBody(
        language=language,
        policy_version=state.snapshot.policy_version,
        is_approved=approved is not None,
        sentences=sentences,
        verdicts=review.verdicts if review is not None else (),
        actions=tuple(_action(a, decided.get(a.action_id), stored.get(a.action_id)) for a in state.outcomes),
    )


def fixed_sentence(told: MaskedText) -> ProvenSentence:
    """Return a fixed text of ours as a proof says it: it states no fact and cites nothing."""
    return ProvenSentence(text=told, kind=SentenceKind.NOTICE)


def _proven(sentence: Sentence, state: TurnState, pinned: Mapping[SourceRef, Article]) -> ProvenSentence:
    sources = tuple(_cited(ref, sentence.text.value, state, pinned) for ref in sentence.refs)
    return ProvenSentence(text=sentence.text, kind=sentence.kind, sources=sources)


def _cited(ref: SourceRef, sentence: str, state: TurnState, pinned: Mapping[SourceRef, Article]) -> CitedSource:
    named = parse_article_ref(ref)
    if named is None:
        return CitedSource(ref=ref, text_hash=_record_hash(ref, state))
    article = pinned.get(ref)
    if article is None:
        retrieved = state.knowledge.articles if state.knowledge is not None else ()
        title = next((found.title.value for found in retrieved if found.ref == ref), "")
        return CitedSource(ref=ref, title=title, version=named[1])
    content = article.content.value
    span = find_span(sentence, content)
    return CitedSource(
        ref=ref,
        title=article.title.value,
        version=named[1],
        span=span,
        text_hash=digest(span.of(content) if span is not None else content),
    )


def _record_hash(ref: SourceRef, state: TurnState) -> str:
    """Return the hash of the record or action as this turn knew it; empty for a reference to anything else."""
    account = state.account
    records: dict[str, Wire] = {action.ref: action for action in state.outcomes}
    if account is not None:
        records |= {order.ref: order for order in account.orders}
        if account.profile is not None:
            records[f"profile:{account.profile.customer_id}"] = account.profile
    found = records.get(ref)
    return digest(found.model_dump_json()) if found is not None else ""


def _action(shown: ActionResult, decided: ActionStatus | None, stored: Action | None) -> ProvenAction:
    return ProvenAction(
        action_id=shown.action_id,
        type=shown.type,
        decided=decided,
        status=shown.status,
        order_id=shown.order_id,
        amount_minor=shown.amount_minor,
        currency=shown.currency,
        reason=shown.reason,
        case_id=shown.case_id,
        reference=shown.reference,
        approved_by=stored.approved_by if stored is not None else "",
        approved_at=stored.approved_at if stored is not None else None,
        grant_hash=grant_hash(stored.grant_id) if stored is not None else "",
    )


def grant_hash(grant_id: str) -> str:
    """Return what a proof says of a grant: a grant's id is a secret as long as it is not spent."""
    return digest("grant", grant_id) if grant_id else ""
