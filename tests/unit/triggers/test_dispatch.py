"""The edge called directly, with the real services and a Durable client of the test's own."""

import json
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import azure.durable_functions as df
import azure.functions as func
import pytest

from orchestrators.triggers.dispatch import serve
from orchestrators.triggers.limits import ADDRESS_RATE_PER_MINUTE
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.container import Services, build
from shared.domain.api_key import KeyScope
from shared.domain.errors import Unavailable
from shared.domain.ids import ConversationId, MessageId, TenantId
from shared.domain.ticket import TurnStatus
from shared.ports.documents import TenantScope
from shared.settings import Settings
from tests.conftest import FixedClock

TENANT = TenantScope(TenantId("t1"))
MESSAGES = "v1/conversations/{cid}/messages"
SEARCH = "v1/search"


class Client:
    """A Durable client that starts nothing: it refuses, or says the instance is there."""

    def __init__(self, *, refuses: bool = False, knows: bool = False) -> None:
        self.started: list[tuple[str, str | None, object]] = []
        self._refuses = refuses
        self._knows = knows

    async def start_new(self, name: str, instance_id: str | None = None, client_input: object = None) -> str:
        """Note the start, or refuse it as the SDK does."""
        if self._refuses:
            raise Exception("the host says no")
        self.started.append((name, instance_id, client_input))
        return str(instance_id)

    async def get_status(self, instance_id: str) -> object:
        """Return a status when the instance is known."""
        return _Running() if self._knows else None

    async def raise_event(self, instance_id: str, event_name: str, event_data: object = None) -> None:
        """Take any event."""


class _Running:
    runtime_status = df.OrchestrationRuntimeStatus.Running


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    """The embedded services with one tenant."""
    built = build(Settings(data_dir=tmp_path))
    await built.tenants.create(TENANT.tenant_id, name="T1")
    yield built
    assert isinstance(built.documents, SqliteDocuments)
    await built.documents.close()


async def request(services: Services, scope: KeyScope, body: object, **headers: str) -> func.HttpRequest:
    """Return a POST with a fresh key of the scope."""
    _, key = await services.keys.issue(TENANT, scope, owner="test")
    return func.HttpRequest(
        "POST",
        "http://127.0.0.1/api/v1",
        headers={"X-Api-Key": key, "Content-Type": "application/json", **headers},
        route_params={"cid": "c1"},
        body=json.dumps(body).encode(),
    )


async def status_of(services: Services, message: str) -> TurnStatus:
    """Return where the turn's row stands."""
    row = await services.tickets.turn(TENANT, ConversationId("c1"), MessageId(message))
    assert row is not None
    return row.status


@pytest.mark.req("GW-04", "GW-06")
async def test_a_message_whose_start_fails_is_kept_for_the_sweeper(services: Services) -> None:
    """Accept first: nothing is lost when the host cannot start the flow."""
    sent = await request(services, KeyScope.SECRET, {"text": "hi", "message_id": "m1"}, Prefer="wait=0")

    answer = await serve(MESSAGES, sent, services, Client(refuses=True))

    assert answer.status_code == 202
    assert await status_of(services, "m1") is TurnStatus.ACCEPTED
    assert [row.message_id for row in await services.tickets.accepted_not_started(services.clock.now(), 10)] == ["m1"]


@pytest.mark.req("GW-04")
async def test_an_instance_that_is_there_already_counts_as_started(services: Services) -> None:
    """Two starters raced; the loser is content."""
    sent = await request(services, KeyScope.SECRET, {"text": "hi", "message_id": "m1"}, Prefer="wait=0")

    await serve(MESSAGES, sent, services, Client(refuses=True, knows=True))

    assert await status_of(services, "m1") is TurnStatus.STARTED


@pytest.mark.req("GW-04", "PV-01")
async def test_fault_045_the_flow_is_started_with_ids_only(services: Services) -> None:
    """A durable input is stored history: no text, no contact."""
    client = Client()
    sent = await request(
        services, KeyScope.SECRET, {"text": "mail ana@mail.example", "message_id": "m1"}, Prefer="respond-async"
    )

    await serve(MESSAGES, sent, services, client)

    ((name, instance, payload),) = client.started
    assert name == "answer_message"
    assert instance is not None
    assert instance.startswith("t-")
    assert payload == {"tenant_id": "t1", "conversation_id": "c1", "message_id": "m1", "seq": 1}


class _Broken:
    """A search with a defect."""

    async def search(self, *args: object, **kwargs: object) -> NoReturn:
        """Fail with a customer's words."""
        raise ZeroDivisionError("the customer wrote: ana@mail.example")


class _Down:
    """A search that does not answer."""

    async def search(self, *args: object, **kwargs: object) -> NoReturn:
        """Fail as a dependency does."""
        raise Unavailable("search of t1 does not answer")


@pytest.mark.req("GW-06", "PV-05")
async def test_an_unknown_failure_is_a_500_problem_and_its_text_is_nowhere(
    services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    """Logged by type, place and trace; never with its words."""
    caplog.set_level(logging.DEBUG)
    broken = replace(services, search=_Broken())

    answer = await serve(SEARCH, await request(broken, KeyScope.SECRET, {"query": "size"}), broken)

    said = json.loads(answer.get_body())
    assert (answer.status_code, said["type"]) == (500, "/problems/internal")
    assert said["trace_id"] in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert "ana@mail.example" not in caplog.text + answer.get_body().decode()


@pytest.mark.req("GW-06")
async def test_a_dependency_that_is_down_is_a_503_that_says_when_to_return(services: Services) -> None:
    """The identical call may succeed later."""
    down = replace(services, search=_Down())

    answer = await serve(SEARCH, await request(down, KeyScope.SECRET, {"query": "size"}), down)

    assert (answer.status_code, answer.mimetype) == (503, "application/problem+json")
    assert int(answer.headers["Retry-After"]) >= 1


@pytest.mark.req("GW-08")
async def test_an_addresss_rate_is_spent_by_browsers_and_not_by_servers(services: Services, clock: FixedClock) -> None:
    """Behind one trusted proxy the last hop is the client; a server's requests are given back."""
    proxied = replace(services, settings=replace(services.settings, trusted_hops=1), clock=clock)
    hops = {"X-Forwarded-For": "198.51.100.1, 203.0.113.77"}
    guess = func.HttpRequest("POST", "/", headers={**hops, "X-Api-Key": "guess"}, body=b"{}")
    server = await request(proxied, KeyScope.SECRET, {"query": "size"}, **hops)

    served = {(await serve(SEARCH, server, proxied)).status_code for _ in range(5)}
    guessed = [(await serve(SEARCH, guess, proxied)).status_code for _ in range(ADDRESS_RATE_PER_MINUTE + 1)]

    assert served == {200}
    assert guessed == [401] * ADDRESS_RATE_PER_MINUTE + [429]
