"""The response composer: asks the model for a draft from sources and frames it by the tenant's response policy.

May not send, approve or retrieve; adds only fixed texts, and says which sentences are whose. Source: CO-01…05.
"""

from shared.domain.agents import COMPOSER_FLOOR
from shared.domain.deltas import Account, DraftDelta, Knowledge, TurnState
from shared.domain.drafts import Draft, Sentence, SentenceKind
from shared.domain.errors import SchemaError
from shared.domain.phrases import Phrase, phrase
from shared.domain.policy import TenantPolicy
from shared.domain.text import MaskedText
from shared.domain.typed_values.numbers import base_language
from shared.ports.models import ComposeRequest, ComposerModel, RevisionReason


async def compose_reply(
    state: TurnState,
    *,
    base_version: int,
    model: ComposerModel,
    policy: TenantPolicy,
    revision: RevisionReason | None = None,
) -> DraftDelta:
    """Return the model's draft with the AI notice, greeting and sign-off that policy and law ask for.

    A revision carries the failed verdicts and the draft they were about. Raises: SchemaError before classification;
    Unavailable, RateLimited from the model.
    """
    if state.classification is None:
        raise SchemaError("composing needs a classification")
    request = ComposeRequest(
        snapshot=state.snapshot,
        classification=state.classification,
        knowledge=state.knowledge or Knowledge(),
        account=state.account or Account(),
        policy=policy,
        actions=state.actions,
        previous=state.draft if revision else None,
        revision=revision,
    )
    draft = _framed(await model.compose(request), state, policy)
    return DraftDelta(base_version=base_version, draft=draft, confidence=draft.confidence, source_refs=draft.refs)


def _framed(draft: Draft, state: TurnState, policy: TenantPolicy) -> Draft:
    """Return the draft with greeting and AI notice in front and sign-off behind, each once; flagged when unsure.

    The tenant wrote greeting and sign-off in the shop's own language: a reply in another goes without them.
    """
    texts = [s.text.value for s in draft.sentences]
    is_shops_language = base_language(draft.language) == base_language(policy.default_language)
    greeting, sign_off = (policy.greeting, policy.sign_off) if is_shops_language else ("", "")
    front: list[Sentence] = []
    if state.snapshot.is_first_reply:
        front = [_fixed(greeting, SentenceKind.SOCIAL), _fixed(_notice(draft, policy), SentenceKind.NOTICE)]
    back = [_fixed(sign_off, SentenceKind.SOCIAL)]
    body = [s for s in draft.sentences if s.text.value != policy.sign_off] or list(draft.sentences)
    sentences = (
        *(s for s in front if s.text.value and s.text.value not in texts),
        *body,
        *(s for s in back if s.text.value),
    )
    return draft.model_copy(
        update={"sentences": sentences, "is_flagged": draft.is_flagged or draft.confidence < COMPOSER_FLOOR}
    )


def _notice(draft: Draft, policy: TenantPolicy) -> str:
    return phrase(Phrase.AI_NOTICE, draft.language, shop=policy.shop_name)


def _fixed(text: str, kind: SentenceKind) -> Sentence:
    return Sentence(text=MaskedText(text), kind=kind)
