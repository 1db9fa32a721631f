"""Governance: which writes need a person, by phase, tier, ceiling and what looks unusual. Pure; grants nothing.

The supervisor asks it before it proposes and again before it mints; a dry run asks it about stored facts.
Source: SC-02, AX-02, GO-01 (ceiling check, anomaly monitor), GO-03, design §9.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pydantic import Field

from shared.domain.actions import RULES
from shared.domain.intents import ActionType, CustomerIntent
from shared.domain.money import Money
from shared.domain.tiers import Tier
from shared.domain.wire_model import Wire

ROLLING_DAYS: Final = 30
"""Days over which an account's sum counts. Source: AX-02 "rolling sum"; value ours."""
MAX_SAMPLE: Final = 1.0
"""Every turn."""


class Phase(StrEnum):
    """How far the tenant trusts the machine (SC-02)."""

    FOUNDATION = "foundation"
    CONSOLIDATION = "consolidation"
    FEDERATION = "federation"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What may be done without a person; in minor units of the tenant's currency, whatever that is."""

    single_minor: int
    """One action."""
    rolling_minor: int
    """All actions of one account within ROLLING_DAYS, this one included."""


CEILINGS: Final[dict[tuple[Phase, Tier], Ceiling]] = {
    (Phase.FOUNDATION, Tier.STARTER): Ceiling(0, 0),
    (Phase.FOUNDATION, Tier.PROFESSIONAL): Ceiling(0, 0),
    (Phase.FOUNDATION, Tier.ENTERPRISE): Ceiling(0, 0),
    (Phase.CONSOLIDATION, Tier.STARTER): Ceiling(2_500, 5_000),
    (Phase.CONSOLIDATION, Tier.PROFESSIONAL): Ceiling(5_000, 15_000),
    (Phase.CONSOLIDATION, Tier.ENTERPRISE): Ceiling(10_000, 30_000),
    (Phase.FEDERATION, Tier.STARTER): Ceiling(5_000, 10_000),
    (Phase.FEDERATION, Tier.PROFESSIONAL): Ceiling(10_000, 30_000),
    (Phase.FEDERATION, Tier.ENTERPRISE): Ceiling(25_000, 75_000),
}
"""The most a tenant may let the machine do by itself; its own settings can only lower it. Minor units. Source: SC-02
(foundation: a person approves every billing write); values ours."""
AUDIT_SAMPLE: Final = {Phase.FOUNDATION: 0.0, Phase.CONSOLIDATION: 0.05, Phase.FEDERATION: 0.10}
"""Share of automated turns put before a person afterwards. Unit: 0–1. Source: SC-02 (sampled audit, continuous
evaluation); values ours."""
SHADOW_SAMPLE: Final = {Phase.FOUNDATION: 0.0, Phase.CONSOLIDATION: 0.05, Phase.FEDERATION: 0.10}
"""Share of reviews a second validator repeats in parallel. Unit: 0–1. Source: SU-06; values ours."""


class Governance(Wire):
    """The tenant's own settings; None takes the phase's preset."""

    phase: Phase = Phase.FOUNDATION
    single_ceiling_minor: int | None = Field(default=None, ge=0)
    rolling_ceiling_minor: int | None = Field(default=None, ge=0)
    always_approve: tuple[ActionType, ...] = ()
    """Actions a person approves even under the ceiling."""
    audit_sample: float | None = Field(default=None, ge=0, le=MAX_SAMPLE)
    shadow_sample: float | None = Field(default=None, ge=0, le=MAX_SAMPLE)

    @property
    def audited_share(self) -> float:
        """Return the share of automated turns put before a person afterwards."""
        return AUDIT_SAMPLE[self.phase] if self.audit_sample is None else self.audit_sample

    @property
    def shadowed_share(self) -> float:
        """Return the share of reviews a second validator repeats."""
        return SHADOW_SAMPLE[self.phase] if self.shadow_sample is None else self.shadow_sample


class Domain(StrEnum):
    """The supervisors of phase federation; before it one supervisor is responsible for all."""

    BILLING = "billing"
    TECHNICAL = "technical"
    ACCOUNT = "account"
    GENERAL = "general"


_I, _A = CustomerIntent, ActionType
_BILLING: Final = frozenset({_I.REFUND, _I.BILLING_DISPUTE, _I.PAYMENT_ISSUE, _I.PRICING_PROMOTION, _I.ORDER_CANCEL})
_TECHNICAL: Final = frozenset({_I.DELIVERY_PROBLEM, _I.RETURN_EXCHANGE, _I.PRODUCT_QUESTION, _I.ORDER_CHANGE})
_ACCOUNT: Final = frozenset({_I.ACCOUNT_ACCESS, _I.ACCOUNT_MANAGEMENT})
GRANTABLE: Final[dict[Domain, frozenset[ActionType]]] = {
    Domain.BILLING: frozenset({_A.REFUND, _A.CREDIT, _A.CANCEL_ORDER, _A.TICKET_UPDATE, _A.CRM_NOTE}),
    Domain.TECHNICAL: frozenset(
        {_A.REQUEST_RETURN, _A.RESEND, _A.REFUND, _A.CHANGE_ADDRESS, _A.TICKET_UPDATE, _A.CRM_NOTE}
    ),
    Domain.ACCOUNT: frozenset({_A.CHANGE_ADDRESS, _A.TICKET_UPDATE, _A.CRM_NOTE}),
    Domain.GENERAL: frozenset({_A.TICKET_UPDATE, _A.CRM_NOTE}),
}
"""What each domain's supervisor may grant by itself; anything else of it goes to a person. Values ours."""


def domain_of(intent: CustomerIntent | None) -> Domain:
    """Return the domain responsible for an intent: the meta-router of phase federation (SC-02)."""
    if intent in _BILLING:
        return Domain.BILLING
    if intent in _TECHNICAL:
        return Domain.TECHNICAL
    return Domain.ACCOUNT if intent in _ACCOUNT else Domain.GENERAL


class ActionFacts(Wire):
    """Everything a decision about an action rests on, without a word of anybody's; stored for the dry run.

    A fact nobody established speaks against the action.
    """

    type: ActionType
    intent: CustomerIntent | None = None
    amount: Money | None = None
    """What the action would move; None where nothing does."""
    spent_minor: int = Field(default=0, ge=0)
    """The account's rolling sum in that currency, this action not counted."""
    is_possible: bool = False
    """The shop would do it now."""
    is_owner: bool = False
    """The order is this account's."""
    is_unusual: bool = True
    """The anomaly monitor says so, or could not say otherwise."""
    is_screened: bool = False
    """Shield and detectors have passed this turn (fault 035); False blocks."""
    refusal: str = ""
    """Why the shop would not do it."""


class Verdict(StrEnum):
    """What governance says."""

    ALLOW = "allow"
    ASK = "ask"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict and its reason in words of ours."""

    verdict: Verdict
    reason: str


def ceiling_of(governance: Governance, tier: Tier) -> Ceiling:
    """Return the ceiling in force: the phase's preset for the tier, lowered by the tenant's own."""
    preset = CEILINGS[governance.phase, tier]
    own_single, own_rolling = governance.single_ceiling_minor, governance.rolling_ceiling_minor
    return Ceiling(
        preset.single_minor if own_single is None else min(own_single, preset.single_minor),
        preset.rolling_minor if own_rolling is None else min(own_rolling, preset.rolling_minor),
    )


def decide(facts: ActionFacts, governance: Governance, tier: Tier, currency: str) -> Decision:
    """Return whether the action may run by itself, needs a person, or may not be done at all. Fails closed.

    `currency` is the tenant's: ceilings are counted in it, an amount in another one goes to a person.
    """
    if not facts.is_screened:
        return Decision(Verdict.REFUSE, "the message was not screened")
    if not facts.is_owner:
        return Decision(Verdict.REFUSE, "the order is not this account's")
    if not facts.is_possible:
        return Decision(Verdict.REFUSE, facts.refusal or "the shop would refuse it")
    rule = RULES[facts.type]
    if rule.always_asks or facts.type in governance.always_approve:
        return Decision(Verdict.ASK, "a person approves every action of this kind")
    if governance.phase is Phase.FEDERATION and facts.type not in GRANTABLE[domain_of(facts.intent)]:
        return Decision(Verdict.ASK, f"the {domain_of(facts.intent).value} domain may not grant it")
    if not rule.is_billing:
        return Decision(Verdict.ALLOW, "nothing of value moves")
    return _within(facts, ceiling_of(governance, tier), currency)


def _within(facts: ActionFacts, ceiling: Ceiling, currency: str) -> Decision:
    amount = facts.amount
    if amount is None or amount.amount_minor <= 0:
        return Decision(Verdict.ASK, "the amount is not known")
    if amount.currency != currency:
        return Decision(Verdict.ASK, "the amount is in another currency than the ceilings")
    if ceiling.single_minor == 0:
        return Decision(Verdict.ASK, "a person approves every billing write")
    if amount.amount_minor > ceiling.single_minor:
        return Decision(Verdict.ASK, "the amount is above the ceiling")
    if facts.spent_minor + amount.amount_minor > ceiling.rolling_minor:
        return Decision(Verdict.ASK, f"the account's sum of {ROLLING_DAYS} days is above the ceiling")
    if facts.is_unusual:
        return Decision(Verdict.ASK, "the amount or the frequency is unusual")
    return Decision(Verdict.ALLOW, "within the ceilings")
