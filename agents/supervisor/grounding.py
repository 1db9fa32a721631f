"""The deterministic grounding check: every figure, every promise and every claim against what the turn may rest on.

Compares typed values, matches promises to this turn's actions, weighs words; asks no model, changes nothing, and fails
closed on anything it cannot place. Source: CO-03, SU-01, SU-05, GO-01, design §5, faults 002, 018, 019.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from agents.supervisor.evidence import Evidence, EvidenceKind, collect_evidence
from agents.supervisor.lexical import is_beside, is_polarity_kept, is_reach_kept, measure, support
from agents.supervisor.promises import find_promises, is_deed, is_told_as_done
from shared.domain.deltas import TurnState
from shared.domain.drafts import Check, CheckVerdict, Draft, Sentence, SentenceKind
from shared.domain.ids import SourceRef
from shared.domain.intents import ArticleType
from shared.domain.phrases import STATUS_WORDS, Phrase, canned_texts, canonical_status, phrase
from shared.domain.policy import TenantPolicy
from shared.domain.typed_values import TypedValue, ValueKind, extract_values, supports, unsupported
from shared.domain.typed_values.folding import fold
from shared.domain.typed_values.numbers import base_language

SUPPORT_FLOOR: Final = 0.5
"""Least support of a claim by what it cites. Unit: probability. Source: equal costs; see evals/grounding.py."""
CONTENT_FLOOR: Final = 0.6
"""Least share of a claim's content words found in what it cites. Unit: 0–1. Source: value ours."""
POLICY_WORDS_FLOOR: Final = 0.9
"""Share of a promise's words that the cited policy itself must hold for the promise to be its own. Source: ours."""

_CONTROL: Final = re.compile(
    r"\b[a-z]+(?:_[a-z]+)+\b|<\/?[a-z|][^>]{0,80}>|\[/?(?:inst|system|tool|assistant|user|handoff)[^\]]{0,40}\]|\{\s*\"|\}\s*\]|```|<\||\|>"
    r"|\b(?:function_call|tool_call)s?\b|^[^\S\n]*+(?:system|assistant|user)\s*:",
    re.IGNORECASE | re.MULTILINE,
)


_QUOTING: Final = re.compile(
    r"\byou (?:mention|said|say|wrote|write|paid|were charged|have paid|have been charged|told)"
    r"|\bsie (?:schreiben|schrieben|sagen|sagten|erwahn|nennen|nannten|zahlten|haben \S+ (?:bezahlt|geschrieben))"
    r"|\bvous (?:mentionnez|dites|ecrivez|indiquez|avez (?:mentionne|paye|ecrit|indique|dit))"
    r"|\b(?:menciona|indica|escribe|comenta|ha (?:mencionado|pagado|indicado|escrito)|pago usted)\b"
    r"|\b(?:menziona|scrive|ha (?:menzionato|pagato|scritto|indicato))\b"
    r"|\b(?:refere|escreve|mencionou|pagou|indicou|escreveu)\b"
    r"|\bu (?:noemt|noemde|schrijft|schreef|zegt|zei|betaalde|hebt \S+ betaald)\b"
    r"|\b(?:belirttiginiz|yazdiginiz|soylediginiz|odediginiz|bahsettiginiz)\b"
)
"""A sentence that reports what the customer wrote or paid, in each product language."""


@dataclass(frozen=True, slots=True)
class _Case:
    """Everything one draft is judged against."""

    evidence: dict[SourceRef, Evidence]
    customer_values: tuple[TypedValue, ...]
    canned: frozenset[str]
    policy: TenantPolicy
    language: str
    allowed: frozenset[str]
    has_model_support: bool


@dataclass(frozen=True, slots=True)
class _Fault:
    reason: str
    evidence: tuple[str, ...] = ()


def check_grounding(
    state: TurnState,
    draft: Draft,
    policy: TenantPolicy,
    *,
    allowed_promises: frozenset[str] = frozenset(),
    has_model_support: bool = False,
) -> CheckVerdict:
    """Return whether every sentence stands on what it cites.

    `allowed_promises` holds ActionType values of this turn's actions and "handoff". `has_model_support` says that the
    review model itself called the draft grounded: only then may a claim's words be in another language than its
    source's, where words cannot be compared; its figures and promises are compared all the same.
    """
    language = base_language(draft.language)
    case = _Case(
        evidence=collect_evidence(state, policy, draft.language),
        customer_values=_customer_values(state, language, policy),
        canned=canned_texts(policy.shop_name) | set(filter(None, (policy.greeting, policy.sign_off))),
        policy=policy,
        language=language,
        allowed=allowed_promises,
        has_model_support=has_model_support,
    )
    judged = [(index, _judge(sentence, case)) for index, sentence in enumerate(draft.sentences)]
    faults = [(index, fault) for index, fault in judged if fault is not None]
    reasons = dict.fromkeys(f.reason for _, f in faults)
    evidence = dict.fromkeys(e for _, f in faults for e in f.evidence)
    where = tuple(f"sentence:{index}" for index, _ in faults)
    return CheckVerdict(
        check=Check.GROUNDING, is_passed=not faults, reason="; ".join(reasons), evidence=(*evidence, *where)
    )


def _judge(sentence: Sentence, case: _Case) -> _Fault | None:
    text = sentence.text.value
    values = extract_values(text, language=case.language, default_currency=case.policy.currency)
    visible = _without(text, values)
    if _CONTROL.search(visible):
        return _Fault("control marker in the text")
    if text in case.canned:
        return _unkept(text, sentence, case, is_canned_handoff=True)
    if sentence.kind is SentenceKind.CLAIM:
        return _judge_claim(sentence, values, case)
    strange = unsupported(values, _may_be_repeated(text, case))
    if strange:
        return _Fault("a sentence that is no claim states a value", tuple(v.canonical for v in strange))
    return _unkept(text, sentence, case)


def _judge_claim(sentence: Sentence, values: tuple[TypedValue, ...], case: _Case) -> _Fault | None:
    text = sentence.text.value
    cited = [case.evidence[ref] for ref in sentence.refs if ref in case.evidence]
    if not cited or len(cited) < len(sentence.refs):
        return _Fault("a claim cites no source of this turn", tuple(str(r) for r in sentence.refs))
    wrong = unsupported(values, tuple(v for e in cited for v in e.values))
    if wrong:
        return _Fault("a value is not in the cited source", tuple(v.canonical for v in wrong))
    if any(text in e.frames for e in cited):
        return None
    if (fault := _unkept(text, sentence, case)) is not None:
        return fault
    return _judge_words(text, values, cited, case)


def _judge_words(text: str, values: tuple[TypedValue, ...], cited: list[Evidence], case: _Case) -> _Fault | None:
    refs = tuple(str(e.ref) for e in cited)
    comparable = [e for e in cited if base_language(e.language) == case.language]
    if not comparable:
        return None if case.has_model_support else _Fault("claim and source are in different languages", refs)
    text = _in_the_sources_words(text, values, comparable)
    overlaps = [(e, measure(text, e.sentences, case.language, title=e.title)) for e in comparable]
    best, overlap = max(overlaps, key=lambda pair: support(pair[1]))
    if support(overlap) < SUPPORT_FLOOR or overlap.content < CONTENT_FLOOR:
        return _Fault("a claim's words are not in the cited source", refs)
    if best.kind is EvidenceKind.ORDER and (told := _other_state(text, best, case.language)):
        return _Fault("an order is said to be in a state it is not in", (told, *refs))
    if not is_polarity_kept(text, best.sentences, case.language):
        return _Fault("a claim says the opposite of the cited source", refs)
    if not is_reach_kept(text, best.sentences, case.language, title=best.title):
        return _Fault("a claim reaches further than the cited source", refs)
    return _misplaced(text, best, case)


def _misplaced(text: str, best: Evidence, case: _Case) -> _Fault | None:
    """Return a fault when an article states the claim's value, but of something else."""
    if best.kind is not EvidenceKind.ARTICLE:
        return None
    title = best.title if best.article_type is ArticleType.PRODUCT else ""
    for value in extract_values(text, language=case.language, default_currency=case.policy.currency):
        holding = [s for s in best.sentences if _holds(s, value, case)]
        if holding and not is_beside(value.text, text, holding, case.language, title=title):
            return _Fault(
                "a value is said of something else than in the cited source", (value.canonical, str(best.ref))
            )
    return None


def _in_the_sources_words(text: str, values: tuple[TypedValue, ...], cited: list[Evidence]) -> str:
    """Return the claim with each value spelled as the source spells it, so that "two-year" meets "2-year"."""
    pool = [v for e in cited for v in e.values]
    for value in sorted(values, key=lambda v: -v.start):
        same = next((p for p in pool if p.kind is value.kind and supports(p, value)), None)
        if same is not None:
            text = text[: value.start] + same.text + text[value.end :]
    return text


def _holds(sentence: str, value: TypedValue, case: _Case) -> bool:
    found = extract_values(sentence, language=case.language, default_currency=case.policy.currency)
    return any(supports(v, value) for v in found)


def _other_state(text: str, order: Evidence, language: str) -> str:
    """Return a state the sentence asserts that contradicts the record, or nothing."""
    state = canonical_status(order.status)
    folded = fold(text).text
    for told, words in STATUS_WORDS.items():
        if told not in COMPATIBLE.get(state, frozenset({state})) and any(
            re.search(rf"\b{w}\b", folded) for w in words.get(language, ())
        ):
            return told
    return ""


COMPATIBLE: Final = {
    "delivered": frozenset({"delivered", "shipped"}),
    "out_for_delivery": frozenset({"out_for_delivery", "shipped"}),
    "return_requested": frozenset({"return_requested", "delivered"}),
    "returned": frozenset({"returned", "delivered"}),
    "refunded": frozenset({"refunded", "cancelled", "returned", "delivered"}),
}
"""Order state → states that may truthfully be told of it; else only itself. Source: ours."""


def _unkept(text: str, sentence: Sentence, case: _Case, *, is_canned_handoff: bool = False) -> _Fault | None:
    """Return a fault when the sentence promises what neither this turn nor the cited policy does."""
    if is_canned_handoff:
        is_handoff = text == phrase(Phrase.HANDOFF, case.language)
        return (
            _Fault("a handoff is announced that does not happen")
            if is_handoff and "handoff" not in case.allowed
            else None
        )
    open_promises = find_promises(text) - case.allowed
    if not open_promises:
        return None
    if sentence.kind is SentenceKind.CLAIM and not is_deed(text) and "handoff" not in open_promises:
        silent = {EvidenceKind.PROFILE} | ({EvidenceKind.ARTICLE} if is_told_as_done(text) else set())
        sources = [
            case.evidence[r] for r in sentence.refs if r in case.evidence and case.evidence[r].kind not in silent
        ]
        if any(measure(text, e.sentences, case.language).words >= POLICY_WORDS_FLOOR for e in sources):
            return None
    return _Fault("a promise matches no action of this turn", tuple(sorted(open_promises)))


def _customer_values(state: TurnState, language: str, policy: TenantPolicy) -> tuple[TypedValue, ...]:
    said = [
        state.snapshot.message.value,
        *(h.text.value for h in state.snapshot.context.history if h.role == "customer"),
    ]
    found = extract_values("\n".join(said), language=language, default_currency=policy.currency)
    # "where is 1001?" names an order without saying so.
    named = (replace(v, kind=ValueKind.IDENTIFIER) for v in found if v.kind is ValueKind.NUMBER)
    return (*found, *named)


def _may_be_repeated(text: str, case: _Case) -> tuple[TypedValue, ...]:
    """Return the values a sentence that claims nothing may hold.

    A sum, a rate or a period that only the customer named counts where the sentence says that they named it, and
    nowhere else: elsewhere it reads as agreed ("the $900 sofa for $1", fault 031).
    """
    records = (EvidenceKind.POLICY, EvidenceKind.ORDER)
    known = tuple(v for e in case.evidence.values() if e.kind in records for v in e.values)
    is_quoting = _QUOTING.search(fold(text).text) is not None
    terms = (ValueKind.AMOUNT, ValueKind.PERCENTAGE, ValueKind.DURATION)
    return known + tuple(v for v in case.customer_values if is_quoting or v.kind not in terms)


def _without(text: str, values: tuple[TypedValue, ...]) -> str:
    """Return the text with its links and identifiers blanked, so that their characters are not taken for markers."""
    chars = list(text)
    for value in values:
        if value.kind in ("url", "email", "identifier"):
            chars[value.start : value.end] = " " * (value.end - value.start)
    return "".join(chars)
