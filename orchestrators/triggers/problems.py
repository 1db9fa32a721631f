"""Problem documents: what every refused or failed request answers, and the one table from error to problem.

Owns the stable `type` of each problem. Never lets a value, a token or a stack into a document.
Source: GW-06, design §7 (RFC 9457).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from pydantic import ValidationError

from shared.adapters.records.tickets import MessageIdReused
from shared.domain import errors
from shared.domain.ids import is_id

TYPE_PREFIX: Final = "/problems/"
"""Where the relative URIs of problem types live. Source: RFC 9457 §3.1.1; value ours."""
RETRY_AFTER_S: Final = 2
"""Seconds a caller is asked to wait when a dependency does not answer. Value ours."""
MAX_FIELD_ERRORS: Final = 20
"""Most field errors one document lists. Value ours."""


class ProblemKind(Enum):
    """The closed set of problems: slug, status, title."""

    MALFORMED_JSON = ("malformed-json", 400, "The body is not the JSON this call takes")
    INVALID_ID = ("invalid-id", 400, "An id in the path is malformed")
    INVALID_QUERY = ("invalid-query", 400, "The query is malformed")
    INVALID_HEADER = ("invalid-header", 400, "A header is malformed")
    SECRET_INVALID = ("conversation-secret-invalid", 400, "The conversation secret is malformed")
    UNAUTHENTICATED = ("unauthenticated", 401, "A valid API key is needed")
    SIGNATURE_INVALID = ("signature-invalid", 401, "The signature proves nothing")
    TOKEN_INVALID = ("customer-token-invalid", 401, "The customer token proves nothing")
    SECRET_REQUIRED = ("conversation-secret-required", 401, "An anonymous visitor needs a conversation secret")
    SCOPE = ("scope-not-allowed", 403, "This key may not do that")
    IDENTITY_NOT_ALLOWED = ("identity-not-allowed", 403, "This key cannot name a customer")
    SUSPENDED = ("tenant-suspended", 403, "The tenant is not being served")
    ORIGIN = ("origin-not-allowed", 403, "This origin is not one of the tenant's")
    NOT_FOUND = ("not-found", 404, "There is no such thing")
    METHOD = ("method-not-allowed", 405, "This path does not know the method")
    CONFLICT = ("conflict", 409, "The thing has changed or cannot do that now")
    MESSAGE_ID_REUSED = ("message-id-reused", 409, "The message id was used with another body")
    TOO_LARGE = ("body-too-large", 413, "The body is too large")
    MEDIA_TYPE = ("unsupported-media-type", 415, "The body is of a type this call does not take")
    INVALID_REQUEST = ("invalid-request", 422, "The request does not have the required shape")
    RATE_LIMITED = ("rate-limited", 429, "Too many requests")
    INTERNAL = ("internal", 500, "Something failed on our side")
    UNAVAILABLE = ("unavailable", 503, "Something we need does not answer")

    def __init__(self, slug: str, status: int, title: str) -> None:
        self.slug = slug
        self.status = status
        self.title = title

    @property
    def type(self) -> str:
        """The stable relative URI of this kind of problem."""
        return TYPE_PREFIX + self.slug


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field that is wrong; the field's path, never its value."""

    field: str
    message: str


class Problem(Exception):
    """A request that ends in a problem document."""

    def __init__(
        self,
        kind: ProblemKind,
        detail: str,
        *,
        errors: Sequence[FieldError] = (),
        headers: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__(kind.slug)
        self.kind = kind
        self.detail = detail
        self.errors = tuple(errors)[:MAX_FIELD_ERRORS]
        self.headers = tuple(headers)


NO_CONVERSATION: Final = "There is no conversation with this id that you may see."
"""The one answer for absent and foreign conversations, so that nobody learns which it is. Source: design §7."""

ERROR_TABLE: Final[tuple[tuple[type[Exception], ProblemKind, str], ...]] = (
    (MessageIdReused, ProblemKind.MESSAGE_ID_REUSED, "Send another message_id, or the very same body."),
    (errors.NotFound, ProblemKind.NOT_FOUND, "Nothing with that id exists here."),
    (
        errors.StalenessError,
        ProblemKind.CONFLICT,
        "It was changed meanwhile, or its state does not allow this; read it again.",
    ),
    (errors.RateLimited, ProblemKind.RATE_LIMITED, "A service we depend on asks us to wait."),
    (errors.AuthorityError, ProblemKind.SCOPE, "This key has no right to that."),
    (errors.GroundingError, ProblemKind.INTERNAL, "A check failed closed."),
    (errors.AgentTimeout, ProblemKind.UNAVAILABLE, "An agent did not answer in time."),
    (errors.Unavailable, ProblemKind.UNAVAILABLE, "A dependency does not answer; the same request may succeed later."),
    (errors.IntegrationError, ProblemKind.UNAVAILABLE, "A system outside answered something unusable."),
    (errors.SchemaError, ProblemKind.INVALID_REQUEST, "The request does not have the required shape."),
)
"""First match wins, so subclasses stand above their bases. Anything absent is an internal problem."""

_SAYS_WHAT: Final = (errors.SchemaError,)
"""Errors whose own words help the caller: they name fields, kinds and ids, never text (shared.domain.errors)."""
MAX_DETAIL_CHARS: Final = 300
"""Longest detail taken from an error. Value ours."""


def to_problem(error: Exception) -> Problem:
    """Return the problem an error becomes at the edge."""
    if isinstance(error, Problem):
        return error
    for kind_of_error, kind, detail in ERROR_TABLE:
        if isinstance(error, kind_of_error):
            said = str(error)[:MAX_DETAIL_CHARS] if kind_of_error in _SAYS_WHAT else ""
            return Problem(kind, said or detail, headers=_retry_headers(error, kind))
    return Problem(ProblemKind.INTERNAL, "The failure is recorded under the trace id.")


def rate_limited(what: str, retry_after_s: float) -> Problem:
    """Return the problem of a spent rate limit."""
    return Problem(
        ProblemKind.RATE_LIMITED,
        f"The rate limit of this {what} is spent.",
        headers=(("Retry-After", str(whole_seconds(retry_after_s))),),
    )


def not_found(detail: str = "Nothing with that id exists here.") -> Problem:
    """Return the problem of an absent thing."""
    return Problem(ProblemKind.NOT_FOUND, detail)


def invalid_request(error: ValidationError, kind: ProblemKind = ProblemKind.INVALID_REQUEST) -> Problem:
    """Return the problem of a request whose fields are wrong: which fields and why, never what was sent."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return Problem(
        kind,
        "Some fields are missing, unknown or malformed.",
        errors=[FieldError(_field(e["loc"]), e["msg"].removeprefix("Value error, ")) for e in found],
    )


def whole_seconds(seconds: float) -> int:
    """Return the seconds of a Retry-After header: rounded up, at least one."""
    return max(1, int(-(-seconds // 1)))


def _field(path: tuple[int | str, ...]) -> str:
    """Return the field's path; a part that only the caller can have chosen is not repeated."""
    return ".".join(str(p) if isinstance(p, int) or is_id(p) else "(unnamed)" for p in path) or "(root)"


def _retry_headers(error: Exception, kind: ProblemKind) -> tuple[tuple[str, str], ...]:
    if isinstance(error, errors.RateLimited):
        return (("Retry-After", str(whole_seconds(error.retry_after_s))),)
    if kind is ProblemKind.UNAVAILABLE:
        return (("Retry-After", str(RETRY_AFTER_S)),)
    return ()
