"""A privacy request the shop platform passed on: kept until it is carried out, with the day by which it must be.

Owns the shape; who acts on it and how it is proven is the erasure's matter. Source: apis.md §1.7, faults 054, 057, 059.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from pydantic import Field

from shared.domain.ids import CustomerId, TenantId
from shared.domain.shop_events import Topic
from shared.domain.wire_model import Wire

COMPLIANCE_TERM: Final = timedelta(days=30)
"""Time to carry a request out. Source: apis.md §1.7 (within 30 days of receipt)."""


class ComplianceStatus(StrEnum):
    """How far a request is."""

    RECEIVED = "received"
    """Stored and acknowledged; nothing was done yet."""


class ComplianceRequest(Wire):
    """One request, by id; what names the person beyond their id is sealed."""

    id: str
    kind: str = "compliance"
    tenant_id: TenantId
    topic: Topic
    shop_domain: str
    customer_id: CustomerId | None = None
    """None for a whole shop, and for a person named by e-mail or telephone alone."""
    sealed_body: str = Field(default="", repr=False)
    """Ciphertext of the signed body: e-mail, telephone, orders; under the tenant's key, bound to this row."""
    status: ComplianceStatus = ComplianceStatus.RECEIVED
    received_at: datetime
    due_at: datetime
