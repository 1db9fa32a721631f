"""What a tenant may configure about answering: voice, languages, thresholds, rules, URLs.

Versioned; validated when saved. Source: CO-02, ES-03, design §5 (opt-in), §9 (outgoing URLs).
"""

from enum import StrEnum
from typing import Final

from pydantic import Field

from shared.domain.human_triggers import HumanTrigger
from shared.domain.intents import CustomerIntent
from shared.domain.wire_model import Wire

MAX_RULES: Final = 50
"""Most escalation rules a tenant may save; refused up front with this limit. Source: fault 110; value ours."""


class EscalationRule(Wire):
    """A tenant's own reason for a person: all named conditions must hold."""

    name: str = Field(min_length=1, max_length=80)
    intents: tuple[CustomerIntent, ...] = ()
    phrases: tuple[str, ...] = Field(default=(), max_length=20)
    min_order_minor: int | None = Field(default=None, ge=0)


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
