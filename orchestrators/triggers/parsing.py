"""Reading a request strictly: size, encoding, depth, duplicates, then the model. In that order.

Everything hostile ends here as a 4xx problem, before a store or a model sees it. Never repeats what was sent.
Source: GW-06, design §7.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Final, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from orchestrators.triggers.problems import FieldError, Problem, ProblemKind, invalid_request
from shared.domain.ids import ID_PATTERN, is_id

KIB: Final = 1024
MESSAGE_BYTES: Final = 64 * KIB
"""Largest body of every call but those below. Unit: bytes. Value ours (8,000 characters of four bytes, doubled)."""
ARTICLE_BYTES: Final = 1024 * KIB
"""Largest body of an article, a policy or an agent's snapshot. Unit: bytes. Value ours."""
IMPORT_BYTES: Final = 4096 * KIB
"""Largest body of one import; a longer file is sent in parts. Unit: bytes. Value ours."""
MAX_DEPTH: Final = 32
"""Deepest nesting of arrays and objects. Source: GW-06 "JSON depth"; value ours."""

M = TypeVar("M", bound=BaseModel)

_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.S)
"""A JSON string, or its unfinished rest: linear in the text, whatever the text."""
_UTF_8: Final = frozenset({"", "utf-8", "utf8"})
_BRACKET: Final = re.compile(r"[\[\]{}]")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(body: bytes, *, max_bytes: int) -> bytes:
    """Return the body when it is one strict JSON object: UTF-8, shallow, no duplicate key, no NaN, whole characters.

    Raises: Problem (413, 400).
    """
    if len(body) > max_bytes:
        raise Problem(ProblemKind.TOO_LARGE, f"At most {max_bytes} bytes are read.")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise _malformed("The body is not valid UTF-8.") from None
    _refuse_depth(text)
    try:
        value: object = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError):
        raise _malformed("The body is not well-formed JSON.") from None
    if not isinstance(value, dict):
        raise _malformed("The body must be a JSON object.")
    if _SURROGATE.search(text):
        _refuse_halves(value)
    return body


def read_body(kind: type[M], body: bytes, *, max_bytes: int, content_type: str, is_optional: bool) -> M:
    """Return the request model. Raises: Problem (413, 415, 400, 422)."""
    if not body and is_optional:
        body = b"{}"
    else:
        _check_media_type(content_type)
    checked = read_json(body, max_bytes=max_bytes)
    try:
        return kind.model_validate_json(checked, strict=True)
    except ValidationError as error:
        raise invalid_request(error) from None


def check_raw_body(body: bytes, *, max_bytes: int, content_type: str, media_types: tuple[str, ...]) -> None:
    """Refuse a raw body that is too large, not of one of the media types. Raises: Problem (413, 415)."""
    if len(body) > max_bytes:
        raise Problem(ProblemKind.TOO_LARGE, f"At most {max_bytes} bytes are read.")
    media, charset = _media_type(content_type)
    if media not in media_types or charset not in _UTF_8:
        raise Problem(ProblemKind.MEDIA_TYPE, f"Send {' or '.join(media_types)} in UTF-8.")


def read_query(kind: type[M], params: Mapping[str, str]) -> M:
    """Return the query model; unknown parameters are refused. Raises: Problem (400)."""
    if any(_has_halves(value) for value in params.values()):
        raise Problem(ProblemKind.INVALID_QUERY, "The query is not valid text.")
    try:
        return kind.model_validate(dict(params))
    except ValidationError as error:
        raise invalid_request(error, ProblemKind.INVALID_QUERY) from None


def read_ids(params: Mapping[str, str]) -> Mapping[str, str]:
    """Return the path's ids. Raises: Problem (400) naming the parameter."""
    wrong = [name for name, value in params.items() if not is_id(value)]
    if wrong:
        raise Problem(
            ProblemKind.INVALID_ID,
            f"An id must match {ID_PATTERN}.",
            errors=[FieldError(name, f"must match {ID_PATTERN}") for name in wrong],
        )
    return params


def _check_media_type(content_type: str) -> None:
    media, charset = _media_type(content_type)
    is_json = not media or media == "application/json" or media.endswith("+json")
    if not is_json or charset not in _UTF_8:
        raise Problem(ProblemKind.MEDIA_TYPE, "Send application/json in UTF-8.")


def _media_type(content_type: str) -> tuple[str, str]:
    """Return media type and charset in lower case; both may be empty."""
    media, _, parameters = content_type.lower().partition(";")
    charset = re.search(r'charset\s*=\s*"?([^";\s]+)', parameters)
    return media.strip(), charset[1] if charset else ""


def _refuse_depth(text: str) -> None:
    """Refuse deep nesting before any parser recurses into it."""
    depth = 0
    for bracket in _BRACKET.finditer(_STRING.sub("", text)):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > MAX_DEPTH:
            raise _malformed(f"The body nests deeper than {MAX_DEPTH} levels.")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _malformed("A key stands twice in one object.")
    return value


def _no_constant(_: str) -> NoReturn:
    raise _malformed("NaN and Infinity are not JSON.")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _malformed("A number is out of range.")
    return value


def _refuse_halves(value: dict[str, object]) -> None:
    if _has_halves(json.dumps(value, ensure_ascii=False)):
        raise _malformed("A string holds half a character.")


def _has_halves(text: str) -> bool:
    """Tell whether the text holds a lone surrogate, which no store can write."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _malformed(detail: str) -> Problem:
    return Problem(ProblemKind.MALFORMED_JSON, detail)
