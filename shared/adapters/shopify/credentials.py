"""What a shop is called with. Never shown: its representation names the shop only. Source: apis.md §1.1, §1.14."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ShopCredentials:
    """A shop and the access token to call it with."""

    shop_domain: str
    access_token: str = field(repr=False)
