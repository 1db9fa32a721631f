"""What a tenant may configure about answering: voice, languages, thresholds, rules, URLs.

Versioned; validated when saved. Source: CO-02, ES-03, design §5 (opt-in), §9 (outgoing URLs).
"""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from shared.domain.actions import APPROVAL_HOURS
from shared.domain.agents import CLARIFY_BELOW, COMPOSER_FLOOR, RETRIEVAL_FLOOR
from shared.domain.desk_hours import DeskHours
from shared.domain.governance import Governance
from shared.domain.human_triggers import SLA_MINUTES, HumanTrigger, Severity
from shared.domain.intents import CustomerIntent
from shared.domain.read_only import FrozenMap, ReadOnlyMap
from shared.domain.wire_model import Wire

MAX_RULES: Final = 50
"""Most escalation rules a tenant may save; refused up front with this limit. Source: fault 110; value ours."""
MAX_RULE_PHRASES: Final = 20
"""Most phrases of one rule. Value ours."""
CONTACTS_BEFORE_PERSON: Final = 2
"""Earlier contacts on one unresolved issue after which the next brings a person. Source: GO-03 (third contact)."""
QUEUE_CAP: Final = 500
"""Open cases of a tenant above which customers are only told that their message arrived. Source: RK-01; value ours."""
MAX_QUEUE_CAP: Final = 100_000
"""Highest cap a tenant may set. Value ours."""
MAX_SLA_MINUTES: Final = 30 * 24 * 60
"""Longest time a tenant may let a case wait unclaimed. Unit: minutes. Value ours: thirty days."""


class EscalationRule(Wire):
    """A tenant's own reason for a person: all named conditions must hold."""

    name: str = Field(min_length=1, max_length=80)
    intents: tuple[CustomerIntent, ...] = ()
    phrases: tuple[str, ...] = Field(default=(), max_length=MAX_RULE_PHRASES)
    min_order_minor: int | None = Field(default=None, ge=0)


class RoutingRules(Wire):
    """Thresholds of routing; a tenant may ask for more certainty than the requirements do, never for less."""

    clarify_below: float = Field(default=CLARIFY_BELOW, ge=CLARIFY_BELOW, le=1)
    """Classifier confidence under which a message is ambiguous (RT-05)."""
    retrieval_floor: float = Field(default=RETRIEVAL_FLOOR, ge=RETRIEVAL_FLOOR, le=1)
    """Retrieval confidence under which nothing is drafted (RT-06)."""
    composer_floor: float = Field(default=COMPOSER_FLOOR, ge=COMPOSER_FLOOR, le=1)
    """Composer confidence under which a person is asked (GO-03)."""
    contacts_before_person: int = Field(default=CONTACTS_BEFORE_PERSON, ge=0, le=CONTACTS_BEFORE_PERSON)
    """Earlier contacts on one unresolved issue after which the next brings a person (GO-03)."""


class OfflineAnswers(StrEnum):
    """What happens when the model endpoint is down (design §5)."""

    NONE = "none"
    VERBATIM = "verbatim"


class TenantPolicy(Wire):
    """One version of a tenant's policy."""

    version: int = Field(default=1, ge=1)
    shop_name: str = "our shop"
    default_language: str = "en"
    languages: tuple[str, ...] = ("en",)
    greeting: str = ""
    sign_off: str = ""
    banned_phrases: tuple[str, ...] = ()
    phone_regions: tuple[str, ...] = ("US",)
    """ISO 3166 regions whose national phone formats are masked; validated at save and at start (fault 041)."""
    allowed_url_hosts: tuple[str, ...] = ()
    escalation_rules: tuple[EscalationRule, ...] = Field(default=(), max_length=MAX_RULES)
    disabled_triggers: tuple[HumanTrigger, ...] = ()
    """Triggers the tenant switched off; safety, critical severity and explicit wish cannot be."""
    currency: str = "USD"
    origins: tuple[str, ...] = ()
    """Browser origins allowed by CORS."""
    published_contacts: tuple[str, ...] = ()
    """The merchant's own e-mail addresses and phone numbers: never masked (PV-01)."""
    offline_answers: OfflineAnswers = OfflineAnswers.VERBATIM
    rate_per_minute: int = Field(default=600, ge=1, le=100_000)
    """Requests a minute per key (GW-08)."""
    conversation_rate_per_minute: int = Field(default=60, ge=1, le=10_000)
    is_scrubbing: bool = False
    """Storage scrubbing (PV-03)."""
    routing: RoutingRules = RoutingRules()
    governance: Governance = Governance()
    sla_minutes: ReadOnlyMap[Severity, Annotated[int, Field(ge=1, le=MAX_SLA_MINUTES)]] = Field(
        default_factory=FrozenMap
    )
    """Minutes a case may wait unclaimed, by severity; a severity left out keeps the default (PR-04)."""
    desk_hours: DeskHours = DeskHours()
    """When people are at the desk; says what a customer may be told of waiting."""
    queue_cap: int = Field(default=QUEUE_CAP, ge=1, le=MAX_QUEUE_CAP)
    """Open cases above which a handoff is only acknowledged, without an expected time (RK-01, fault 014)."""
    approval_hours: int = Field(default=APPROVAL_HOURS, ge=1, le=30 * 24)
    """Hours an action waits for a person's decision (AX-02)."""

    def sla_of(self, severity: Severity) -> int:
        """Return the minutes a case of this severity may wait unclaimed."""
        return self.sla_minutes.get(severity, SLA_MINUTES[severity])
