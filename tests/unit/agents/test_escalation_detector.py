"""The escalation detector agent: every reason for a person, none forgotten, none switched off that must stay on."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.escalation_detector import MUCH_MONEY_MINOR, WINDOW_LINES, detect_escalation
from shared.domain.deltas import Context, Escalation, EscalationDelta, Metadata, Snapshot
from shared.domain.errors import Unavailable
from shared.domain.human_triggers import HumanTrigger, ranked
from shared.domain.ids import ConversationId, CustomerId, InstanceId, MessageId, TenantId
from shared.domain.intents import CustomerIntent
from shared.domain.policy import EscalationRule, TenantPolicy
from shared.domain.sources import HistoryLine, Profile
from shared.domain.text import MaskedText, ModelText
from shared.ports.models import EscalationRequest, ScreenVerdict


class WordsModel:
    """An EscalationModel with one answer, that keeps what it was shown."""

    def __init__(self, *triggers: HumanTrigger, sentiment: float = 0.0) -> None:
        self.answer = Escalation(triggers=triggers, sentiment=sentiment)
        self.seen: list[EscalationRequest] = []

    async def assess(self, request: EscalationRequest) -> Escalation:
        """Return the answer."""
        self.seen.append(request)
        return self.answer


class Screen:
    """A SafetyScreen with one verdict, that keeps its window; None is a screen that is down."""

    def __init__(self, *categories: str, is_down: bool = False) -> None:
        self.categories = categories
        self.is_down = is_down
        self.windows: list[tuple[str, ...]] = []

    async def screen(self, texts: Sequence[ModelText]) -> ScreenVerdict:
        """Return the verdict or fail."""
        self.windows.append(tuple(text.value for text in texts))
        if self.is_down:
            raise Unavailable("screen is down")
        return ScreenVerdict(is_blocked=bool(self.categories), categories=self.categories)


def snapshot(
    text: str = "where is my parcel",
    *,
    contacts: int = 1,
    intent: CustomerIntent | None = None,
    history: tuple[HistoryLine, ...] = (),
) -> Snapshot:
    return Snapshot(
        conversation_id=ConversationId("c1"),
        tenant_id=TenantId("t1"),
        message=MaskedText(text),
        intent=intent,
        metadata=Metadata(timestamp=datetime(2026, 3, 2, tzinfo=UTC)),
        message_id=MessageId("m1"),
        instance_id=InstanceId("t-1"),
        contacts_on_issue=contacts,
        context=Context(history=history),
    )


async def detect(
    message: Snapshot | None = None,
    *,
    model: WordsModel | None = None,
    screen: Screen | None = None,
    policy: TenantPolicy | None = None,
    profile: Profile | None = None,
    open_order_total_minor: int | None = None,
) -> EscalationDelta:
    return await detect_escalation(
        message or snapshot(),
        base_version=4,
        model=model or WordsModel(),
        screen=screen or Screen(),
        policy=policy or TenantPolicy(),
        profile=profile,
        open_order_total_minor=open_order_total_minor,
    )


def with_rules(*rules: EscalationRule) -> TenantPolicy:
    return TenantPolicy.model_construct(**{**dict(TenantPolicy()), "escalation_rules": rules})


@pytest.mark.req("ES-01")
async def test_a_calm_message_of_an_ordinary_customer_calls_nobody() -> None:
    delta = await detect()

    assert delta.escalation == Escalation()
    assert delta.base_version == 4


@pytest.mark.req("ES-01", "GO-03")
async def test_triggers_of_words_account_and_history_come_together_by_precedence() -> None:
    delta = await detect(
        snapshot(contacts=3),
        model=WordsModel(HumanTrigger.LEGAL, sentiment=-0.4),
        profile=Profile(customer_id=CustomerId("k1"), is_vip=True, is_churn_risk=True),
    )

    assert delta.escalation.triggers == (
        HumanTrigger.VIP,
        HumanTrigger.CHURN_RISK,
        HumanTrigger.LEGAL,
    )
    assert delta.escalation.sentiment == -0.4


@pytest.mark.req("ES-01", "SU-01")
async def test_a_blocked_window_is_a_safety_case_and_says_why() -> None:
    delta = await detect(screen=Screen("prompt_attack"))

    assert delta.escalation.triggers == (HumanTrigger.SAFETY,)
    assert delta.escalation.rule_names == ("screen:prompt_attack",)


@pytest.mark.req("ES-01", "SU-01")
async def test_the_screen_sees_the_message_with_the_customers_last_lines() -> None:
    lines = tuple(
        HistoryLine(seq=i, role="customer" if i % 2 else "assistant", text=MaskedText(f"line {i}")) for i in range(12)
    )
    screen, model = Screen(), WordsModel()

    await detect(snapshot("now", history=lines), screen=screen, model=model)

    assert screen.windows == [("line 7", "line 9", "line 11", "now")]
    assert len(model.seen[0].recent) == WINDOW_LINES


@pytest.mark.req("ES-01", "SU-03")
async def test_a_screen_without_a_verdict_is_not_a_clean_verdict() -> None:
    with pytest.raises(Unavailable):
        await detect(screen=Screen(is_down=True))


@pytest.mark.req("ES-03")
@pytest.mark.parametrize(
    ("rule", "is_met"),
    [
        (EscalationRule(name="press", phrases=("Press Office",)), True),
        (EscalationRule(name="part of a word", phrases=("off",)), False),
        (EscalationRule(name="big order", min_order_minor=10_000), True),
        (EscalationRule(name="bigger order", min_order_minor=10_001), False),
        (EscalationRule(name="refunds", intents=(CustomerIntent.REFUND,)), True),
        (
            EscalationRule(name="all of it", intents=(CustomerIntent.REFUND,), phrases=("press",), min_order_minor=1),
            True,
        ),
        (EscalationRule(name="one missing", intents=(CustomerIntent.REFUND,), phrases=("radio",)), False),
    ],
    ids=lambda value: value.name if isinstance(value, EscalationRule) else "",
)
async def test_a_tenants_rule_needs_all_its_conditions(rule: EscalationRule, is_met: bool) -> None:
    delta = await detect(
        snapshot("I write for the PRESS\u200b office", intent=CustomerIntent.REFUND),
        policy=with_rules(rule),
        open_order_total_minor=10_000,
    )

    waiting = tuple(r.name for r in delta.escalation.waiting_rules)
    fired = delta.escalation.rule_names
    assert (waiting if rule.intents else fired) == ((rule.name,) if is_met else ())
    assert (HumanTrigger.TENANT_RULE in delta.escalation.triggers) is (is_met and not rule.intents)


@pytest.mark.req("ES-03", "GO-03")
@pytest.mark.parametrize(
    "rule",
    [
        EscalationRule(name="names nothing"),
        EscalationRule.model_construct(name="broken phrases", intents=(), phrases=(None,), min_order_minor=None),
        EscalationRule.model_construct(name="broken ceiling", intents=(), phrases=(), min_order_minor="80 dollars"),
    ],
    ids=lambda rule: rule.name,
)
async def test_fault_073_a_fault_in_a_rule_itself_brings_a_person(rule: EscalationRule) -> None:
    """Never a crash, never an approval; the rules after it still count."""
    good = EscalationRule(name="returns", phrases=("return",))

    delta = await detect(snapshot("return, $80, 10 days"), policy=with_rules(rule, good), open_order_total_minor=8_000)

    assert delta.escalation.triggers == (HumanTrigger.TENANT_RULE, HumanTrigger.RULE_FAULT)
    assert delta.escalation.rule_names == (f"rule_fault:{rule.name}", "returns")


@pytest.mark.req("ES-03", "GO-03")
async def test_a_tenant_switches_triggers_off_but_not_safety_a_critical_matter_or_an_explicit_wish() -> None:
    everything = tuple(HumanTrigger)

    delta = await detect(
        snapshot(contacts=3),
        model=WordsModel(*everything),
        policy=TenantPolicy(disabled_triggers=everything),
        profile=Profile(customer_id=CustomerId("k1"), is_vip=True),
    )

    assert delta.escalation.triggers == (
        HumanTrigger.SAFETY,
        HumanTrigger.CRITICAL_SEVERITY,
        HumanTrigger.EXPLICIT_WISH,
        HumanTrigger.RULE_FAULT,
    )


@pytest.mark.req("ES-01")
@pytest.mark.parametrize(
    ("sentiment", "text", "contacts", "money_minor", "is_person"),
    [
        (-0.9, "where is order 1001", 1, 0, False),
        (-0.9, "where is order 1001", 2, 0, True),
        (-0.9, "where are orders 1001 and 1002", 1, 0, True),
        (-0.9, "where is order 1001", 1, MUCH_MONEY_MINOR, True),
        (0.2, "where are orders 1001 and 1002", 2, MUCH_MONEY_MINOR, False),
    ],
    ids=["upset only", "upset again", "upset and complex", "upset with much at stake", "calm with all burdens"],
)
async def test_mood_is_weighed_with_complexity_value_and_history(
    sentiment: float, text: str, contacts: int, money_minor: int, is_person: bool
) -> None:
    delta = await detect(
        snapshot(text, contacts=contacts), model=WordsModel(sentiment=sentiment), open_order_total_minor=money_minor
    )

    assert (HumanTrigger.DISTRESS in delta.escalation.triggers) is is_person


@pytest.mark.req("ES-01", "GO-03")
@given(st.frozensets(st.sampled_from(HumanTrigger)), st.booleans(), st.booleans(), st.integers(1, 6))
async def test_nothing_the_words_gave_is_ever_lost(
    found: frozenset[HumanTrigger], is_vip: bool, is_churn_risk: bool, contacts: int
) -> None:
    """Law: the detector only adds, and the order is that of precedence."""
    delta = await detect(
        snapshot(contacts=contacts),
        model=WordsModel(*found),
        profile=Profile(customer_id=CustomerId("k1"), is_vip=is_vip, is_churn_risk=is_churn_risk),
    )

    assert found <= set(delta.escalation.triggers)
    assert delta.escalation.triggers == ranked(frozenset(delta.escalation.triggers))


@pytest.mark.req("GO-03", "ES-01")
@pytest.mark.parametrize(
    ("text", "trigger", "name"),
    [
        ("Verbraucherzentrale ist informiert", HumanTrigger.LEGAL, "regulator_phrase:de"),
        ("SİZE DAVA AÇACAĞIM", HumanTrigger.LEGAL, "legal_phrase:tr"),
        ("Je n'en peux plus", HumanTrigger.DISTRESS, "distress_phrase:fr"),
        ("ya no quiero vivir", HumanTrigger.SAFETY, "self_harm_phrase:es"),
        ("müşteri temsilcisine bağlanmak istiyorum", HumanTrigger.EXPLICIT_WISH, "wish_phrase:tr"),
    ],
)
async def test_a_phrase_that_names_the_matter_counts_whatever_the_model_understood(
    text: str, trigger: HumanTrigger, name: str
) -> None:
    """A model that reads English best is not the only reader."""
    delta = await detect(snapshot(text), model=WordsModel())

    assert delta.escalation.triggers == (trigger,)
    assert delta.escalation.rule_names == (name,)


@pytest.mark.req("GO-03", "ES-01")
async def test_phrases_add_to_what_the_model_found_and_take_nothing_from_it() -> None:
    found = (await detect(snapshot("my lawyer will call"), model=WordsModel(HumanTrigger.DISTRESS))).escalation

    assert found.triggers == (HumanTrigger.LEGAL, HumanTrigger.DISTRESS)


@pytest.mark.req("ES-03", "GO-03")
async def test_a_tenant_may_switch_legal_language_off_but_not_danger_nor_a_wish() -> None:
    policy = TenantPolicy(disabled_triggers=(HumanTrigger.LEGAL, HumanTrigger.SAFETY, HumanTrigger.EXPLICIT_WISH))
    said = "I will sue you. I want to die. Let me talk to a human."

    found = (await detect(snapshot(said), policy=policy)).escalation

    assert found.triggers == (HumanTrigger.SAFETY, HumanTrigger.EXPLICIT_WISH)
