"""What dispatch, handlers, OpenAPI and tests agree on: an operation, a caller, a call.

Holds no logic beyond typed access. Source: design §7, GW-07.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeVar

from pydantic import BaseModel

from orchestrators.triggers.models import NoQuery, QueryModel
from orchestrators.triggers.parsing import MESSAGE_BYTES
from orchestrators.triggers.responses import Answer
from shared.container import Services
from shared.domain.api_key import DeskRole, KeyScope
from shared.domain.errors import AuthorityError
from shared.domain.ids import CustomerId, KeyId, TraceId
from shared.domain.policy import TenantPolicy
from shared.ports.documents import TenantScope

M = TypeVar("M", bound=BaseModel)


class Starter(Protocol):
    """The part of the Durable client the surface uses."""

    async def start_new(
        self, orchestration_function_name: str, instance_id: str | None = None, client_input: object = None
    ) -> str:
        """Start an instance; raises a bare Exception when the host refuses, also for an id that is active."""
        ...

    async def get_status(self, instance_id: str) -> object:
        """Return the instance's status; falsy when there is none."""
        ...

    async def raise_event(self, instance_id: str, event_name: str, event_data: object = None) -> None:
        """Hand the instance an event; raises a bare Exception when there is no such instance."""
        ...


class Signature(StrEnum):
    """What a call shows in place of a key: Shopify's signature of its body, or of its query."""

    BODY = "shopifyBody"
    QUERY = "shopifyQuery"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who holds the key, or came through the shop's App Proxy."""

    key_id: KeyId
    scope: KeyScope
    tenant: TenantScope | None
    """None for an operator, who has no tenant."""
    policy: TenantPolicy | None
    owner: str
    """The person or system the key was issued to."""
    role: DeskRole | None = None
    customer: CustomerId | None = None
    """Whom the App Proxy's signature names; None for a visitor and for every key."""
    mount: str = "/api"
    """Where the caller finds the surface."""


@dataclass(frozen=True, slots=True)
class Call:
    """One admitted request as its handler sees it."""

    services: Services
    trace_id: TraceId
    ids: Mapping[str, str]
    """Well-formed ids of the path."""
    headers: Mapping[str, str]
    raw_body: bytes
    body: BaseModel | None
    query: QueryModel
    caller: Caller | None = None
    starter: Starter | None = None
    take_conversation_token: Callable[[str], None] = field(default=lambda _: None)
    """Charges the conversation's rate limit. Raises: Problem (429)."""

    @property
    def by(self) -> Caller:
        """The caller of an operation that needs a key."""
        if self.caller is None:
            raise AuthorityError("this operation needs a key")
        return self.caller

    @property
    def tenant(self) -> TenantScope:
        """The tenant the key belongs to."""
        if self.by.tenant is None:
            raise AuthorityError("this operation needs a tenant's key")
        return self.by.tenant

    @property
    def policy(self) -> TenantPolicy:
        """The tenant's policy in force."""
        if self.by.policy is None:
            raise AuthorityError("this operation needs a tenant's key")
        return self.by.policy

    def body_as(self, kind: type[M]) -> M:
        """Return the validated body as the operation's request model."""
        if not isinstance(self.body, kind):
            raise TypeError(f"the operation reads no {kind.__name__}")
        return self.body

    def query_as(self, kind: type[M]) -> M:
        """Return the validated query as the operation's query model."""
        if not isinstance(self.query, kind):
            raise TypeError(f"the operation reads no {kind.__name__}")
        return self.query


Handler = Callable[[Call], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of the HTTP surface: everything dispatch and the OpenAPI document need to know."""

    name: str
    """Stable operation id: a verb."""
    method: str
    path: str
    """Route below the prefix, as Functions spells it."""
    summary: str
    handler: Handler
    responses: Mapping[int, type[BaseModel] | None]
    scopes: frozenset[KeyScope] = frozenset()
    """Keys that may call it; empty means no key at all."""
    signature: Signature | None = None
    """Stands in place of a key."""
    request: type[BaseModel] | None = None
    is_body_optional: bool = False
    media_types: tuple[str, ...] = ()
    """What the body may be instead of a JSON model; the handler reads it raw."""
    max_body_bytes: int = MESSAGE_BYTES
    query: type[QueryModel] = NoQuery
    has_identity: bool = False
    """Reads the customer headers of design §7."""
    has_preference: bool = False
    """Reads `Prefer`."""
    is_conditional: bool = False
    """Reads `If-None-Match`."""
