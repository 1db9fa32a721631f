"""Answers as the edge writes them: JSON models, problem documents, bare statuses.

Source: design §7.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from orchestrators.triggers.problems import Problem

JSON: Final = "application/json"
PROBLEM_JSON: Final = "application/problem+json"
"""Media type of a problem document. Source: RFC 9457 §3."""
ETAG_HEX: Final = 32
"""Hex characters of an ETag's digest. Value ours."""

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole response."""

    status: int
    body: bytes = b""
    media_type: str = JSON
    headers: Headers = ()

    def with_headers(self, *headers: tuple[str, str]) -> "Answer":
        """Return the same answer with further headers."""
        return Answer(self.status, self.body, self.media_type, (*self.headers, *headers))


def json_answer(model: BaseModel, *, status: int = 200, headers: Headers = ()) -> Answer:
    """Return the model as a JSON answer."""
    return Answer(status, model.model_dump_json().encode(), JSON, headers)


def cached_answer(model: BaseModel, if_none_match: str) -> Answer:
    """Return the model under an ETag, or 304 when the caller has exactly that already."""
    body = model.model_dump_json().encode()
    etag = f'"{hashlib.sha256(body).hexdigest()[:ETAG_HEX]}"'
    known = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    headers = (("ETag", etag), ("Cache-Control", "private, no-cache"))
    if etag in known or "*" in known:
        return Answer(304, headers=headers)
    return Answer(200, body, JSON, headers)


def empty_answer(status: int = 204) -> Answer:
    """Return an answer without a body."""
    return Answer(status)


def problem_answer(problem: Problem, trace_id: str) -> Answer:
    """Return the problem document (RFC 9457)."""
    document: dict[str, object] = {
        "type": problem.kind.type,
        "title": problem.kind.title,
        "status": problem.kind.status,
        "detail": problem.detail,
        "trace_id": trace_id,
    }
    if problem.errors:
        document["errors"] = [{"field": e.field, "message": e.message} for e in problem.errors]
    return Answer(problem.kind.status, json.dumps(document).encode(), PROBLEM_JSON, problem.headers)
