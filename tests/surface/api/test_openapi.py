"""The OpenAPI document, the operation table and the registered functions say the same. Source: GW-07."""

import importlib
import re

import pytest

from local.indexing import index
from orchestrators.inventory import EXPECTED_FUNCTIONS, LOADED_ON_USE
from orchestrators.names import METHODS, ActivityName
from orchestrators.triggers.contract import Operation
from orchestrators.triggers.openapi import build_document, problems_of
from orchestrators.triggers.operations import BY_PATH, OPERATIONS
from orchestrators.triggers.problems import ProblemKind
from shared.domain.api_key import KeyScope
from tests.surface.api.conftest import ROOT, Api


def http_functions() -> dict[str, dict[str, object]]:
    """Return the triggers of the app's HTTP functions by name, as the host indexes them."""
    return {name: dict(fn.trigger) for name, fn in index(ROOT).items() if fn.kind == "httpTrigger"}


@pytest.mark.req("GW-07")
def test_the_served_document_describes_exactly_the_operation_table(api: Api) -> None:
    """Each path, method and operation id; nothing more."""
    document = api.http.get("/api/openapi.json").json()

    described = {
        (path.removeprefix("/api/"), method.upper(), operation["operationId"])
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    assert document["openapi"].startswith("3.1")
    assert described == {(o.path, o.method, o.name) for o in OPERATIONS}


@pytest.mark.req("GW-07")
def test_every_path_of_the_table_has_one_function_with_every_method_mapped() -> None:
    """And no HTTP function serves a path of v1 that the table does not know."""
    served = {str(trigger["route"]): trigger for trigger in http_functions().values()}

    assert set(BY_PATH) <= set(served)
    assert {route for route in served if route.startswith("v1/")} <= set(BY_PATH)
    for route in BY_PATH:
        assert set(served[route]["methods"]) == set(METHODS), route
        assert served[route]["authLevel"] == "anonymous"


@pytest.mark.req("GW-07")
def test_operation_ids_are_unique_and_each_method_of_a_path_once() -> None:
    """A generated client has one method for each."""
    names = [operation.name for operation in OPERATIONS]

    assert len(set(names)) == len(names)
    assert sum(len(methods) for methods in BY_PATH.values()) == len(OPERATIONS)


@pytest.mark.req("GW-07")
def test_every_reference_of_the_document_resolves() -> None:
    """A document a tool can read."""
    document = build_document(OPERATIONS)
    components = document["components"]
    assert isinstance(components, dict)

    references = set(re.findall(r"'#/components/schemas/([^']+)'", str(document)))

    assert references
    assert references <= set(components["schemas"])


@pytest.mark.req("GW-07", "GW-02")
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda o: o.name)
def test_every_operation_says_its_keys_and_its_problems(operation: Operation) -> None:
    """Security from the scopes; a problem document for each status that is one."""
    described = build_document([operation])["paths"][f"/api/{operation.path}"][operation.method.lower()]  # type: ignore[index]

    scopes = [role for need in described["security"] for role in need.get("apiKey", ())]
    assert {KeyScope(role) for role in scopes} == set(operation.scopes)
    for kind in problems_of(operation):
        assert str(kind.status) in described["responses"]
    assert set(map(str, operation.responses)) <= set(described["responses"])


@pytest.mark.req("GW-07", "GW-06")
def test_problem_types_are_stable() -> None:
    """Clients branch on them: adding one is fine, changing one is not."""
    assert {kind.type: kind.status for kind in ProblemKind} == {
        "/problems/malformed-json": 400,
        "/problems/invalid-id": 400,
        "/problems/invalid-query": 400,
        "/problems/invalid-header": 400,
        "/problems/conversation-secret-invalid": 400,
        "/problems/unauthenticated": 401,
        "/problems/signature-invalid": 401,
        "/problems/customer-token-invalid": 401,
        "/problems/conversation-secret-required": 401,
        "/problems/scope-not-allowed": 403,
        "/problems/identity-not-allowed": 403,
        "/problems/tenant-suspended": 403,
        "/problems/origin-not-allowed": 403,
        "/problems/not-found": 404,
        "/problems/method-not-allowed": 405,
        "/problems/conflict": 409,
        "/problems/message-id-reused": 409,
        "/problems/body-too-large": 413,
        "/problems/unsupported-media-type": 415,
        "/problems/invalid-request": 422,
        "/problems/rate-limited": 429,
        "/problems/internal": 500,
        "/problems/unavailable": 503,
    }


@pytest.mark.req("GW-05")
def test_fault_104_the_expected_functions_are_the_registered_ones() -> None:
    """The list readiness compares with is complete and holds nothing that is gone."""
    assert set(index(ROOT)) == set(EXPECTED_FUNCTIONS)


@pytest.mark.req("GW-05")
def test_fault_104_what_is_loaded_on_first_use_can_be_loaded() -> None:
    """Readiness imports it all; a step for every activity is among it."""
    for name in LOADED_ON_USE:
        importlib.import_module(name)

    assert set(importlib.import_module("orchestrators.activities.steps").STEPS) == set(ActivityName)
