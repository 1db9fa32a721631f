"""A shop's server and a visitor's browser as clients of the product: real HTTP, nothing else.

Source: design §7.
"""

import secrets
import uuid
from dataclasses import dataclass
from typing import Any, Final

import httpx

WAIT_S: Final = 60
"""Wait a send asks for. Unit: seconds. Source: design §7 (at most 60)."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A message and what came back."""

    conversation: str
    message: str
    status: int
    body: dict[str, Any]

    @property
    def reply(self) -> str:
        """The reply, empty when there is none."""
        return self.body.get("reply") or ""

    @property
    def outcome(self) -> str:
        """The outcome, empty when there is none."""
        return str(self.body.get("outcome", ""))


class Storefront:
    """One tenant's clients. The keys are those of demo.json."""

    def __init__(
        self, http: httpx.AsyncClient, url: str, keys: dict[str, str], known_secrets: dict[str, str] | None = None
    ) -> None:
        self.http = http
        self._api = f"{url}/api/v1"
        self._keys = keys
        self._secrets = dict(known_secrets or {})

    def key(self, scope: str) -> str:
        """Return the tenant's key of a scope."""
        return self._keys[scope]

    def headers(self, conversation: str, customer: str | None) -> dict[str, str]:
        """Return the headers that prove who asks: the secret key names a customer, a visitor holds a secret."""
        if customer is not None:
            return {"X-Api-Key": self._keys["secret"], "X-Customer-Id": customer}
        secret = self._secrets.setdefault(conversation, secrets.token_urlsafe(32))
        return {"X-Api-Key": self._keys["publishable"], "X-Conversation-Secret": secret}

    async def send(
        self,
        text: str,
        *,
        customer: str | None = None,
        conversation: str | None = None,
        message: str | None = None,
        wait_s: int = WAIT_S,
    ) -> Sent:
        """Send one message and wait for its turn."""
        conversation = conversation or f"c-{uuid.uuid4().hex[:16]}"
        message = message or uuid.uuid4().hex
        response = await self.http.post(
            f"{self._api}/conversations/{conversation}/messages",
            json={"text": text, "message_id": message},
            headers={**self.headers(conversation, customer), "Prefer": f"wait={wait_s}"},
        )
        return Sent(conversation, message, response.status_code, _json(response))

    async def turn(self, conversation: str, message: str, *, customer: str | None = None) -> Sent:
        """Look at a turn."""
        response = await self.http.get(
            f"{self._api}/conversations/{conversation}/turns/{message}", headers=self.headers(conversation, customer)
        )
        return Sent(conversation, message, response.status_code, _json(response))

    async def thread(self, conversation: str, *, customer: str | None = None) -> httpx.Response:
        """Read a conversation."""
        return await self.http.get(
            f"{self._api}/conversations/{conversation}", headers=self.headers(conversation, customer)
        )

    async def close(self, conversation: str, *, customer: str | None = None) -> httpx.Response:
        """Close a conversation."""
        return await self.http.post(
            f"{self._api}/conversations/{conversation}/close", headers=self.headers(conversation, customer)
        )

    async def desk(self, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        """Call the human side."""
        return await self.http.request(
            method, f"{self._api}/desk/{path}", json=body, headers={"X-Api-Key": self._keys["desk"]}
        )


def _json(response: httpx.Response) -> dict[str, Any]:
    return response.json() if "json" in response.headers.get("content-type", "") else {}
