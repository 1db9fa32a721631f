"""The error taxonomy every layer raises from: schema, timeout, grounding, authority, integration, staleness.

Messages name ids, never customer text, tokens or secrets. Source: S2 §9 "Failure tracking" (OB-02).
"""

from enum import StrEnum


class ErrorClass(StrEnum):
    """The closed set of failure causes that are counted, alerted on and shown to operators."""

    SCHEMA = "schema"
    TIMEOUT = "timeout"
    GROUNDING = "grounding"
    AUTHORITY = "authority"
    INTEGRATION = "integration"
    STALENESS = "staleness"


class VouchError(Exception):
    """Any failure this product names; `error_class` says which of the six kinds it is."""

    error_class: ErrorClass = ErrorClass.INTEGRATION
    is_transient: bool = False


class SchemaError(VouchError):
    """A value does not have the shape its contract demands."""

    error_class = ErrorClass.SCHEMA


class AgentTimeout(VouchError):
    """An agent invocation passed its deadline."""

    error_class = ErrorClass.TIMEOUT
    is_transient = True


class GroundingError(VouchError):
    """A claim has no source that supports it."""

    error_class = ErrorClass.GROUNDING


class AuthorityError(VouchError):
    """A write, read or delivery was attempted without the right that it needs."""

    error_class = ErrorClass.AUTHORITY


class ScopeError(AuthorityError):
    """A read or write lacks a tenant or customer scope, or reaches outside the one it has."""


class IntegrationError(VouchError):
    """A system outside this process failed or answered something unusable."""

    error_class = ErrorClass.INTEGRATION


class Unavailable(IntegrationError):
    """A dependency did not answer; the identical call may succeed later."""

    is_transient = True


class RateLimited(IntegrationError):
    """A dependency asked us to wait `retry_after_s` seconds."""

    is_transient = True

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Refused(IntegrationError):
    """The other system understood the call and will not do it: nothing happened, and the same call fails again.

    `codes` and `fields` are the other system's own words for why and where; its messages are not kept, since they may
    quote a customer.
    """

    def __init__(self, message: str, *, codes: tuple[str, ...] = (), fields: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.codes = codes
        self.fields = fields


class OutcomeUnknown(IntegrationError):
    """A write was sent and no answer came back that tells whether it happened.

    Not transient: repeating it blindly may do it twice. Read back first (AX-02).
    """


class StalenessError(VouchError):
    """A value was computed from, or written over, a version that is no longer the current one."""

    error_class = ErrorClass.STALENESS


class VersionConflict(StalenessError):
    """A conditional write lost: somebody else changed the document first."""


class AlreadyExists(StalenessError):
    """A create-if-absent write found the document present."""


class NotFound(VouchError):
    """Nothing with that id exists in the scope that was asked."""

    error_class = ErrorClass.SCHEMA
