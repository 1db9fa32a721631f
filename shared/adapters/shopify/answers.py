"""Reading the Admin API's answers: data, errors and cost, and what each kind of error means for the caller.

Pure. Keeps codes and paths, never a message, since a message may quote a customer. Whatever does not surely say that a
write did not happen is doubt. Source: apis.md §1.10, §1.11, GraphQL specification (October 2021) §7.1.
"""

import json
import re
from dataclasses import dataclass
from typing import Final

from pydantic import Field, JsonValue, ValidationError

from shared.adapters.shopify.operations import Answer
from shared.domain.errors import IntegrationError, OutcomeUnknown, RateLimited, Refused, Unavailable, VouchError

THROTTLED: Final = "THROTTLED"
"""Code of a call the shop did not carry out for want of points; comes with status 200. Source: apis.md §1.11."""
ACCESS_DENIED: Final = "ACCESS_DENIED"
"""Code of a field the app may not read: a missing scope or approval. Source: apis.md §1.15."""
DOUBTFUL: Final = frozenset({"INTERNAL_SERVER_ERROR", "TIMEOUT", "IDEMPOTENCY_CONCURRENT_REQUEST", ""})
"""Codes (or their absence) after which a write may still have happened, or be happening. Source: apis.md §1.10."""
SETTLED: Final = frozenset({ACCESS_DENIED, "BAD_REQUEST", "IDEMPOTENCY_KEY_PARAMETER_MISMATCH"})
"""Codes of a mutation that was not carried out though the request ran. Source: apis.md §1.10, §1.15."""
LEAST_WAIT_S: Final = 0.1
"""Shortest wait asked of a throttled caller. Unit: seconds. Value ours."""

_CODE: Final = re.compile(r"[A-Za-z_]{1,64}")
_FIELD: Final = re.compile(r"[A-Za-z0-9_.]{1,128}")


class ThrottleStatus(Answer):
    """The shop's budget after the call, in points."""

    maximum_available: float = Field(gt=0, allow_inf_nan=False)
    currently_available: float = Field(allow_inf_nan=False)
    restore_rate: float = Field(gt=0, allow_inf_nan=False)
    """Points a second."""


class Cost(Answer):
    """What a call cost, in points; nothing actual when it was throttled."""

    requested_query_cost: float = Field(allow_inf_nan=False)
    actual_query_cost: float | None = Field(default=None, allow_inf_nan=False)
    throttle_status: ThrottleStatus

    @property
    def wait_s(self) -> float:
        """Seconds until the same call would be let through."""
        missing = self.requested_query_cost - self.throttle_status.currently_available
        return max(LEAST_WAIT_S, missing / self.throttle_status.restore_rate)


class _Extensions(Answer):
    cost: Cost


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer taken apart."""

    data: dict[str, JsonValue] | None
    is_executed: bool
    """There is a `data` entry: the request was not refused before anything ran."""
    codes: tuple[str, ...]
    """One a top-level error, empty where it has none."""
    cost: Cost | None


def read_answer(body: bytes) -> Reading | None:
    """Return what the answer says, or None when it is no GraphQL answer at all."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict) or not ("data" in answer or "errors" in answer):
        return None
    data, errors = answer.get("data"), answer.get("errors")
    if not isinstance(data, dict | None) or not isinstance(errors, list | str | None):
        return None
    listed = errors if isinstance(errors, list) else [errors] if errors else []
    return Reading(data, "data" in answer, tuple(_code(error) for error in listed), _cost(answer.get("extensions")))


def check_query(name: str, reading: Reading) -> dict[str, JsonValue]:
    """Return the data of a read; fields withheld for want of an approval are null in it.

    Raises: RateLimited, Unavailable, Refused, IntegrationError.
    """
    codes = set(reading.codes)
    if THROTTLED in codes:
        raise _throttled(name, reading.cost)
    if reading.data is not None and codes <= {ACCESS_DENIED}:
        return reading.data
    if codes & (DOUBTFUL - {""}):
        raise Unavailable(f"{name}: the shop failed ({_listed(reading.codes)})")
    if ACCESS_DENIED in codes:
        raise Refused(f"{name}: the app lacks a scope or an approval", codes=reading.codes)
    raise IntegrationError(f"{name}: the shop refused the query ({_listed(reading.codes)})")


def check_mutation(name: str, effect: str, reading: Reading) -> dict[str, JsonValue]:
    """Return the data of a write that happened.

    Raises: RateLimited or Refused when it surely did not; OutcomeUnknown otherwise.
    """
    codes = set(reading.codes)
    if THROTTLED in codes:
        raise _throttled(name, reading.cost)
    if codes & DOUBTFUL or (reading.data is None and not codes):
        raise OutcomeUnknown(f"{name}: the shop failed ({_listed(reading.codes)})")
    if codes:
        is_settled = not reading.is_executed or codes <= SETTLED
        error: VouchError = (
            Refused(f"{name}: refused ({_listed(reading.codes)})", codes=reading.codes)
            if is_settled
            else OutcomeUnknown(f"{name}: failed while running ({_listed(reading.codes)})")
        )
        raise error
    assert reading.data is not None
    for payload in reading.data.values():
        _check_payload(name, effect, payload)
    return reading.data


def _check_payload(name: str, effect: str, payload: JsonValue) -> None:
    if not isinstance(payload, dict):
        raise OutcomeUnknown(f"{name}: the answer holds no payload")
    found = [error for key, errors in payload.items() if key.lower().endswith("usererrors") for error in _list(errors)]
    if not found:
        return
    codes = tuple(dict.fromkeys(_code({"extensions": error}) for error in found))
    fields = tuple(dict.fromkeys(_path(error.get("field")) for error in found))
    if payload.get(effect) is not None or set(codes) & (DOUBTFUL - {""}):
        raise OutcomeUnknown(f"{name}: errors beside a result ({_listed(codes)})")
    raise Refused(f"{name}: refused at {', '.join(filter(None, fields)) or '(no field)'}", codes=codes, fields=fields)


def _throttled(name: str, cost: Cost | None) -> RateLimited:
    return RateLimited(f"{name}: throttled by the shop", retry_after_s=cost.wait_s if cost else 1.0)


def _code(error: JsonValue) -> str:
    """Return the error's code, empty for none or for what is no code."""
    extensions = error.get("extensions") if isinstance(error, dict) else None
    code = extensions.get("code") if isinstance(extensions, dict) else None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else ""


def _path(field: JsonValue) -> str:
    text = ".".join(str(part) for part in field) if isinstance(field, list) else ""
    return text if _FIELD.fullmatch(text) else ""


def _list(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _listed(codes: tuple[str, ...]) -> str:
    return ", ".join(code or "no code" for code in dict.fromkeys(codes)) or "no data"


def _cost(extensions: JsonValue) -> Cost | None:
    """Return the cost entry, or None when it is missing or makes no sense."""
    try:
        return _Extensions.model_validate(extensions).cost
    except ValidationError:
        return None
