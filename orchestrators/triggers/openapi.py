"""The OpenAPI 3.1 document of the surface, built from the operation table and the models it names.

Owns the translation only: what is not in the table is not in the document. Source: GW-07.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from orchestrators.triggers.contract import Call, Operation, Signature
from orchestrators.triggers.models import ProblemShown, QueryModel
from orchestrators.triggers.problems import ProblemKind
from orchestrators.triggers.responses import JSON, PROBLEM_JSON, Answer
from shared.domain.api_key import KeyScope
from shared.domain.ids import ID_PATTERN

OPENAPI_VERSION: Final = "3.1.0"
"""Source: GW-07."""
API_VERSION: Final = "1"
"""Version of the surface; the `v1` of its paths."""
ROUTE_PREFIX: Final = "/api/"
"""Where the host mounts the routes. Source: host.json `routePrefix`."""

Doc = dict[str, object]

_MODELS_AT: Final = "#/components/schemas/{model}"
_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_ANY_KEY: Final = (ProblemKind.UNAUTHENTICATED, ProblemKind.SCOPE, ProblemKind.RATE_LIMITED)
_ALWAYS: Final = (ProblemKind.INVALID_QUERY, ProblemKind.METHOD, ProblemKind.INTERNAL, ProblemKind.UNAVAILABLE)
_WITH_BODY: Final = (ProblemKind.TOO_LARGE, ProblemKind.MEDIA_TYPE, ProblemKind.INVALID_REQUEST)

_IDENTITY_HEADERS: Final = {
    "X-Customer-Token": "The merchant's signed statement of who the customer is: JWT, HS256, aud tenant, sub customer.",
    "X-Customer-Id": "The customer a server acts for; with a secret key only.",
    "X-Conversation-Secret": "An anonymous visitor's own 256-bit secret, URL-safe base64; needed again for every call.",
}
_WEBHOOK_HEADERS: Final = {
    "X-Shopify-Topic": "What happened.",
    "X-Shopify-Shop-Domain": "The shop, unless the signed body names it.",
    "X-Shopify-Event-Id": "The event; the same for every delivery of it.",
    "X-Shopify-Webhook-Id": "The delivery.",
    "X-Shopify-Triggered-At": "When it happened.",
}
_SIGNATURES: Final = {
    Signature.BODY: {
        "type": "apiKey",
        "in": "header",
        "name": "X-Shopify-Hmac-Sha256",
        "description": "Base64 HMAC-SHA256 of the raw body under the app's client secret.",
    },
    Signature.QUERY: {
        "type": "apiKey",
        "in": "query",
        "name": "signature",
        "description": "Hex HMAC-SHA256 of the query, as Shopify's App Proxy adds it together with shop, timestamp, "
        "path_prefix and logged_in_customer_id.",
    },
}
_PREFER: Final = "`wait=SECONDS` (25 unless said, at most 60) or `respond-async`."
_IF_NONE_MATCH: Final = "The ETag the caller has."


async def get_openapi(call: Call) -> Answer:
    """Return the document."""
    return Answer(200, document_text(), JSON, (("Cache-Control", "public, max-age=300"),))


@cache
def document_text() -> bytes:
    """Return the document of the operation table as JSON text."""
    # The table names this module's handler, so it can only be looked at once both exist.
    from orchestrators.triggers.operations import OPERATIONS

    return json.dumps(build_document(OPERATIONS), sort_keys=True).encode()


def build_document(operations: Iterable[Operation]) -> Doc:
    """Return the OpenAPI document of the operations."""
    table = tuple(operations)
    refs, schemas = _schemas(table)
    paths: dict[str, Doc] = {}
    for operation in table:
        paths.setdefault(ROUTE_PREFIX + operation.path, {})[operation.method.lower()] = _operation(operation, refs)
    return {
        "openapi": OPENAPI_VERSION,
        "info": {
            "title": "Vouch",
            "version": API_VERSION,
            "description": "Customer support in which every claim is vouched for by a source, or a person takes over.",
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "apiKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-Api-Key",
                    "description": "The roles of a requirement are the scopes that may call it: "
                    + ", ".join(scope.value for scope in KeyScope)
                    + ".",
                },
                **{signature.value: scheme for signature, scheme in _SIGNATURES.items()},
            },
        },
    }


_Refs = Mapping[tuple[type[BaseModel], JsonSchemaMode], Doc]


def _schemas(table: tuple[Operation, ...]) -> tuple[_Refs, object]:
    wanted: dict[tuple[type[BaseModel], JsonSchemaMode], None] = {(ProblemShown, "serialization"): None}
    for operation in table:
        if operation.request is not None:
            wanted[operation.request, "validation"] = None
        for model in operation.responses.values():
            if model is not None:
                wanted[model, "serialization"] = None
    refs, definitions = models_json_schema(list(wanted), ref_template=_MODELS_AT)
    known = {(model, mode): refs[model, mode] for model, mode in wanted}
    return known, definitions.get("$defs", {})


def _operation(operation: Operation, refs: _Refs) -> Doc:
    described: Doc = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": _parameters(operation),
        "responses": _responses(operation, refs),
        "security": _security(operation),
    }
    if operation.signature is Signature.BODY:
        described["requestBody"] = {"required": True, "content": {JSON: {"schema": {"type": "object"}}}}
    if operation.request is not None:
        described["requestBody"] = {
            "required": not operation.is_body_optional,
            "content": {JSON: {"schema": refs[operation.request, "validation"]}},
        }
    elif operation.media_types:
        text: Doc = {"schema": {"type": "string"}}
        described["requestBody"] = {"required": True, "content": dict.fromkeys(operation.media_types, text)}
    return described


def _security(operation: Operation) -> list[Doc]:
    if operation.signature is not None:
        return [{operation.signature.value: []}]
    return [{"apiKey": sorted(s.value for s in operation.scopes)}] if operation.scopes else []


def _parameters(operation: Operation) -> list[Doc]:
    found: list[Doc] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "pattern": ID_PATTERN}}
        for name in _PARAMETER.findall(operation.path)
    ]
    found += _query_parameters(operation.query)
    if operation.has_identity:
        found += [_header(name, said) for name, said in _IDENTITY_HEADERS.items()]
    if operation.signature is Signature.BODY:
        found += [_header(name, said) for name, said in _WEBHOOK_HEADERS.items()]
    if operation.has_preference:
        found.append(_header("Prefer", _PREFER))
    if operation.is_conditional:
        found.append(_header("If-None-Match", _IF_NONE_MATCH))
    return found


def _query_parameters(model: type[QueryModel]) -> list[Doc]:
    schema = model.model_json_schema(ref_template=_MODELS_AT)
    properties: Mapping[str, Doc] = schema.get("properties", {})
    definitions: Mapping[str, Doc] = schema.get("$defs", {})
    return [
        {"name": name, "in": "query", "required": False, "schema": _inlined(described, definitions)}
        for name, described in properties.items()
    ]


def _inlined(schema: object, definitions: Mapping[str, Doc]) -> object:
    """Return the schema with its references replaced: a parameter's few enums are not worth a component."""
    if isinstance(schema, dict):
        ref = schema.get("$ref")
        if isinstance(ref, str):
            return _inlined(definitions[ref.rpartition("/")[2]], definitions)
        return {key: _inlined(value, definitions) for key, value in schema.items()}
    return [_inlined(item, definitions) for item in schema] if isinstance(schema, list) else schema


def _header(name: str, said: str) -> Doc:
    return {"name": name, "in": "header", "required": False, "description": said, "schema": {"type": "string"}}


def _responses(operation: Operation, refs: _Refs) -> Doc:
    responses: Doc = {}
    for status, model in sorted(operation.responses.items()):
        described: Doc = {"description": _SAID.get(status, "Done.")}
        if model is not None:
            described["content"] = {JSON: {"schema": refs[model, "serialization"]}}
        responses[str(status)] = described
    problem = {PROBLEM_JSON: {"schema": refs[ProblemShown, "serialization"]}}
    kinds_by_status: dict[int, list[ProblemKind]] = {}
    for kind in problems_of(operation):
        kinds_by_status.setdefault(kind.status, []).append(kind)
    for status, kinds in sorted(kinds_by_status.items()):
        if str(status) not in responses:
            said = "; ".join(f"`{kind.type}`: {kind.title}" for kind in kinds)
            responses[str(status)] = {"description": said, "content": problem}
    return responses


def problems_of(operation: Operation) -> tuple[ProblemKind, ...]:
    """Return the problems the operation may answer, in declaration order."""
    kinds = {*_ALWAYS}
    if operation.scopes:
        kinds |= {*_ANY_KEY, ProblemKind.SUSPENDED, ProblemKind.CONFLICT, ProblemKind.INVALID_REQUEST}
    if operation.signature is not None:
        kinds |= {ProblemKind.SIGNATURE_INVALID, ProblemKind.RATE_LIMITED, ProblemKind.CONFLICT}
    if operation.signature is Signature.QUERY:
        kinds |= {ProblemKind.SUSPENDED, ProblemKind.INVALID_REQUEST}
    if operation.signature is Signature.BODY:
        kinds |= {ProblemKind.TOO_LARGE, ProblemKind.MALFORMED_JSON, ProblemKind.INVALID_HEADER}
    if KeyScope.PUBLISHABLE in operation.scopes:
        kinds.add(ProblemKind.ORIGIN)
    if _PARAMETER.search(operation.path):
        kinds |= {ProblemKind.INVALID_ID, ProblemKind.NOT_FOUND}
    if operation.has_identity:
        kinds |= {ProblemKind.TOKEN_INVALID, ProblemKind.SECRET_INVALID, ProblemKind.SECRET_REQUIRED}
        kinds |= {ProblemKind.IDENTITY_NOT_ALLOWED, ProblemKind.INVALID_HEADER}
    if operation.has_preference:
        kinds.add(ProblemKind.MESSAGE_ID_REUSED)
    if operation.request is not None:
        kinds |= {*_WITH_BODY, ProblemKind.MALFORMED_JSON}
    if operation.media_types:
        kinds |= {*_WITH_BODY}
    return tuple(kind for kind in ProblemKind if kind in kinds)


_SAID: Final = {
    200: "Done.",
    201: "Created.",
    202: "Accepted; it goes on by itself, `Location` says where to look.",
    204: "Done; there is nothing to say.",
    304: "Not modified.",
    503: "Not ready.",
}
