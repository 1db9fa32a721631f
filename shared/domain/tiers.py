"""What a merchant bought: decides memory layers and the highest ceilings. Source: ME-01…04, AX-02."""

from enum import StrEnum


class Tier(StrEnum):
    """The merchant's plan."""

    STARTER = "starter"
    PROFESSIONAL = "professional"
    ENTERPRISE = "enterprise"
