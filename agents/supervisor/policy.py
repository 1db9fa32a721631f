"""The policy check: the tenant's forbidden phrases, commitments nobody may make, links, and other people's data.

Reads policy and the turn; never rewrites. Source: SU-01 "policy compliance", design §9 "Outgoing URLs", fault 031.
"""

import re
from typing import Final

from agents.supervisor.evidence import Evidence, EvidenceKind, collect_evidence
from shared.domain.deltas import TurnState
from shared.domain.drafts import Check, CheckVerdict, Draft, Sentence, SentenceKind
from shared.domain.ids import SourceRef
from shared.domain.intents import ArticleType
from shared.domain.phrases import canned_texts
from shared.domain.policy import TenantPolicy
from shared.domain.typed_values import TypedValue, ValueKind, equals, extract_values, url_host
from shared.domain.typed_values.folding import fold

_BINDING: Final = re.compile(
    "|".join(
        (
            r"legally binding|binding (?:offer|agreement|contract|deal)",
            r"\bi guarantee\b|\bwe guarantee you\b|\byou have my word\b",
            r"oferta vinculante|legalmente vinculante|le garantizo",
            r"offre ferme|juridiquement contraignant|je vous garantis",
            r"verbindliches angebot|rechtlich bindend|rechtsverbindlich|ich garantiere",
            r"offerta vincolante|legalmente vincolante|le garantisco",
            r"oferta vinculativa|juridicamente vinculativ|garanto[- ]lhe",
            r"bindend (?:aanbod|bod)|juridisch bindend|ik garandeer",
            r"consider it (?:sold|done|yours)|\b(?:it'?s|it is|you have|you've got) a deal\b|\bis yours for\b"
            r"|\b(?:we|i) (?:can )?(?:accept|agree to) (?:your|that|this) (?:offer|price)",
            r"trato hecho|acept(?:o|amos) su (?:oferta|precio)",
            r"marche conclu|affaire conclue|accept(?:e|ons) votre (?:offre|prix)",
            r"\babgemacht\b|(?:akzeptier\w+|nehmen) ihr(?:en)? (?:angebot|preis)|einverstanden mit ihrem preis",
            r"affare fatto|accett(?:o|iamo) la sua offerta|accett(?:o|iamo) il suo prezzo",
            r"negocio fechado|aceit(?:o|amos) a sua oferta|aceit(?:o|amos) o seu preco",
            r"accepte(?:er|ren) uw (?:bod|aanbod|prijs)|verkocht voor die prijs",
            r"\banlastik\b|teklifinizi kabul|fiyatinizi kabul",
            r"baglayici (?:teklif|anlasma|sozlesme)|(?:yasal|hukuki|hukuken)\w* (?:olarak )?baglayici"
            r"|garanti (?:ediyor|ederi|veriyor|veriri)|soz veriyor",
        )
    )
)
"""Commitments no reply may make unless a cited source says so. Source: fault 031; all product languages."""
_ENTITLEMENT: Final = re.compile(
    "|".join(
        (
            r"\brefund|\breturn(?:s|ed|able|ing)?\b|\bwarrant|\bguarantee|\bexchang|\bcompensat|\bmoney back",
            r"\breembols|\bdevoluci|\bdevolver|\bgaranti|\bcambio",
            r"\brembours|\bretour|\bechang",
            r"\berstatt|\bruckerstatt|\bruckgabe|\brucksend|\bumtausch|\bgewahrleist",
            r"\brimbors|\breso\b|\bresi\b|\bgaranzi",
            r"\bdevolu|\btroca",
            r"\bterugbeta|\bretourn|\bruil",
            r"\biade|\bgeri ode|\bdegisim|\btazminat|\bpara iade",
        )
    )
)
"""Words of refund, return and warranty: what is said of them must come from a policy, a FAQ or the order itself."""


def check_policy(state: TurnState, draft: Draft, policy: TenantPolicy) -> CheckVerdict:
    """Return whether the draft keeps the tenant's rules; the reason names the rule, the evidence the value."""
    evidence = collect_evidence(state, policy, draft.language)
    faults: list[tuple[str, str]] = []
    text = fold(draft.text.value).text
    faults += [("banned phrase", p) for p in policy.banned_phrases if _has_phrase(text, p)]
    for sentence in draft.sentences:
        faults += _judge(sentence, draft, state, evidence, policy)
    reasons = dict.fromkeys(reason for reason, _ in faults)
    values = dict.fromkeys(value for _, value in faults if value)
    return CheckVerdict(check=Check.POLICY, is_passed=not faults, reason="; ".join(reasons), evidence=tuple(values))


def _judge(
    sentence: Sentence, draft: Draft, state: TurnState, evidence: dict[SourceRef, Evidence], policy: TenantPolicy
) -> list[tuple[str, str]]:
    cited = [evidence[r] for r in sentence.refs if r in evidence]
    text = fold(sentence.text.value).text
    faults: list[tuple[str, str]] = []
    if (match := _BINDING.search(text)) and not any(match.group() in fold(s).text for e in cited for s in e.sentences):
        faults.append(("a binding commitment", ""))
    if _ENTITLEMENT.search(text) and not _may_speak_of_rights(sentence, cited, policy):
        faults.append(("a refund, return or warranty statement rests on no policy, FAQ or order", ""))
    values = extract_values(sentence.text.value, language=draft.language, default_currency=policy.currency)
    pinned = [v for e in evidence.values() for v in e.values if _is_ours_to_send(e, v)]
    for value in values:
        if value.kind in (ValueKind.URL, ValueKind.EMAIL) and not _may_send(value, pinned, policy):
            faults.append(("a link or address from no pinned source", value.canonical))
    faults += [("data of an order that is not the customer's", ref) for ref in _strange_orders(sentence, values, state)]
    return faults


def _has_phrase(folded: str, banned: str) -> bool:
    wanted = re.escape(" ".join(fold(banned).text.split())).replace(r"\ ", r"\s+")
    return bool(wanted) and re.search(rf"(?<!\w){wanted}(?!\w)", folded) is not None


def _may_speak_of_rights(sentence: Sentence, cited: list[Evidence], policy: TenantPolicy) -> bool:
    """Tell whether the sentence may mention a refund, return or warranty: by its sources, as a question, or as ours."""
    if sentence.kind is SentenceKind.CLAIM:
        return any(map(_may_grant, cited))
    text = sentence.text.value
    return text.rstrip().endswith("?") or text in canned_texts(policy.shop_name) | {policy.greeting, policy.sign_off}


def _may_grant(evidence: Evidence) -> bool:
    is_record = evidence.kind in (EvidenceKind.ORDER, EvidenceKind.ACTION)
    return is_record or evidence.article_type in (ArticleType.POLICY, ArticleType.FAQ)


def _is_ours_to_send(evidence: Evidence, value: TypedValue) -> bool:
    """Tell whether a link or an address in this source may go out: what a customer can write into may not hold one.

    A name or a preference is a form field, and the text of an order's lines may be one (fault 032); an order's tracking
    link is the shop's.
    """
    if evidence.kind is EvidenceKind.PROFILE:
        return False
    return evidence.kind is not EvidenceKind.ORDER or value.kind is not ValueKind.EMAIL


def _may_send(value: TypedValue, pinned: list[TypedValue], policy: TenantPolicy) -> bool:
    if any(equals(value, p) for p in pinned):
        return True
    if value.kind is ValueKind.EMAIL:
        return value.text.lower() in {c.lower() for c in policy.published_contacts}
    return all(_is_allowed_host(url_host(reading), policy) for reading in value.readings)


def _is_allowed_host(host: str, policy: TenantPolicy) -> bool:
    allowed = [h.lower().removeprefix("www.") for h in policy.allowed_url_hosts]
    return any(host == a or host.endswith(f".{a}") for a in allowed)


def _strange_orders(sentence: Sentence, values: tuple[TypedValue, ...], state: TurnState) -> list[str]:
    """Return order references stated or cited as facts that are not the proven customer's."""
    if sentence.kind is not SentenceKind.CLAIM:
        return []
    own = (
        {o.ref for o in state.account.orders if o.customer_id == state.snapshot.customer_id} if state.account else set()
    )
    strange = [str(r) for r in sentence.refs if r.startswith("order:") and r not in own]
    missing = {m.upper() for m in state.account.missing_order_refs} if state.account else set()
    return strange + [v.text for v in values if v.kind is ValueKind.IDENTIFIER and v.readings & missing]
