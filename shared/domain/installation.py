"""A shop's consent to our app: which shop it is, what it granted, and until when the tokens hold.

Holds ciphertext only; opening it is the store's. Source: apis.md §1.14 (expiring offline tokens), SH-01, design §6 row
`vault_keys` (integration tokens, encrypted).
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from pydantic import Field

from shared.domain.ids import TenantId
from shared.domain.wire_model import Wire

INSTALLATION: Final = "installation:shopify"
"""Id of a tenant's installation; a tenant has one shop."""


@dataclass(frozen=True, slots=True)
class TokenGrant:
    """Tokens as the shop issued them; shown nowhere."""

    access_token: str = field(repr=False)
    scopes: tuple[str, ...]
    expires_in_s: int | None = None
    """None: the token does not expire (custom apps)."""
    refresh_token: str = field(default="", repr=False)
    refresh_expires_in_s: int | None = None


class Installation(Wire):
    """One tenant's connection to its shop."""

    id: str = INSTALLATION
    kind: str = "installation"
    tenant_id: TenantId
    shop_domain: str
    sealed_access_token: str = Field(default="", repr=False)
    sealed_refresh_token: str = Field(default="", repr=False)
    """Empty where the access token does not expire."""
    scopes: tuple[str, ...] = ()
    expires_at: datetime | None = None
    refresh_expires_at: datetime | None = None
    installed_at: datetime
    refreshed_at: datetime
    """When the tokens were last issued."""
    uninstalled_at: datetime | None = None
    is_rejected: bool = False
    """The shop refuses the tokens for good: the merchant must connect it again."""
    lease_id: str = ""
    """Whoever holds it is refreshing the tokens; nobody else may until `lease_until`."""
    lease_until: datetime | None = None

    @property
    def is_connected(self) -> bool:
        """Whether calls with its tokens may be tried."""
        return self.uninstalled_at is None and not self.is_rejected

    def is_fresh_at(self, moment: datetime) -> bool:
        """Tell whether the access token still holds then."""
        return self.expires_at is None or moment < self.expires_at
