"""The nightly comparison of articles with the shop: when it is due, and what it found.

Source: SH-02, fault 068.
"""

from datetime import UTC, datetime, time, timedelta
from typing import Final

from shared.domain.ids import TenantId, digest
from shared.domain.wire_model import Wire

NIGHT: Final = time(2, 0, tzinfo=UTC)
"""When nights begin. Value ours."""
NIGHT_MINUTES: Final = 240
"""Minutes over which the tenants are spread, each at a minute of its own. Value ours."""


class CatalogReport(Wire):
    """What one comparison found and mended."""

    products: int = 0
    """Products the shop listed."""
    added: int = 0
    changed: int = 0
    removed: int = 0
    left: int = 0
    """Differences not mended: an event of the product is on its way, or mending failed."""
    is_complete: bool = True
    """False when the time was over, or the shop stopped answering, before the end."""

    @property
    def differences(self) -> int:
        """How far the articles were from the shop."""
        return self.added + self.changed + self.removed + self.left


def next_night(tenant: TenantId, after: datetime) -> datetime:
    """Return the tenant's own minute of the next night."""
    minute = int(digest("night", tenant)[:8], 16) % NIGHT_MINUTES
    due = datetime.combine(after.astimezone(UTC).date(), NIGHT) + timedelta(minutes=minute)
    return due if due > after else due + timedelta(days=1)
