"""The self-test of registered functions, and the small rules of the edge."""

import azure.durable_functions as df
import azure.functions as func
import pytest

from orchestrators.inventory import Inventory, registered_names
from orchestrators.triggers.messages import wait_seconds
from orchestrators.triggers.problems import Problem, ProblemKind, to_problem, whole_seconds
from shared.adapters.records.tickets import MessageIdReused
from shared.domain import errors


def small_app() -> df.DFApp:
    """Return an app of two functions, one of them behind a Durable client."""
    app, blueprint = df.DFApp(http_auth_level=func.AuthLevel.ANONYMOUS), df.Blueprint()

    @blueprint.route(route="one")
    async def one(req: func.HttpRequest) -> func.HttpResponse:
        return func.HttpResponse()

    @blueprint.route(route="two")
    @blueprint.durable_client_input(client_name="client")
    async def two(req: func.HttpRequest, client: df.DurableOrchestrationClient) -> func.HttpResponse:
        return func.HttpResponse()

    app.register_functions(blueprint)
    return app


@pytest.mark.req("GW-05")
def test_fault_104_readiness_is_red_when_a_function_is_missing() -> None:
    """One import error leaves no functions at all and a host that looks healthy."""
    app, inventory = small_app(), Inventory()

    inventory.declare(expected=frozenset({"one", "two", "three"}), registered=lambda: registered_names(app))
    short = inventory.check()
    inventory.declare(expected=frozenset({"one", "two"}), registered=lambda: registered_names(app))
    whole = inventory.check()

    assert (short[0], "missing three" in short[1]) == (False, True)
    assert whole[0]


@pytest.mark.req("GW-05")
def test_fault_104_readiness_is_red_before_anybody_declared_functions() -> None:
    """Fail closed."""
    assert not Inventory().check()[0]


@pytest.mark.req("GW-05")
def test_the_names_can_be_read_before_and_after_the_host_has_indexed() -> None:
    """`get_functions()` runs once an app object; the self-test must not be that once."""
    app = small_app()

    before = registered_names(app)
    app.get_functions()

    assert before == registered_names(app) == {"one", "two"}


@pytest.mark.req("GW-04")
@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        ("", 25),
        ("wait=10", 10),
        ("wait=0", 0),
        ("wait=61", 60),
        ("WAIT = 5", 5),
        ("respond-async", 0),
        ("respond-async, wait=7", 7),
        ("wait=7; foo=bar, respond-async", 7),
        ("nowait=3", 25),
        ("wait=x", 25),
        ("wait=-3", 25),
    ],
)
def test_prefer_says_how_long_to_wait(prefer: str, seconds: int) -> None:
    """Source: design §7 (default 25, at most 60), RFC 7240."""
    assert wait_seconds(prefer) == seconds


@pytest.mark.req("GW-06")
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.NotFound("x"), ProblemKind.NOT_FOUND),
        (errors.VersionConflict("x"), ProblemKind.CONFLICT),
        (errors.AlreadyExists("x"), ProblemKind.CONFLICT),
        (errors.RateLimited("x", retry_after_s=3.2), ProblemKind.RATE_LIMITED),
        (errors.Unavailable("x"), ProblemKind.UNAVAILABLE),
        (errors.AgentTimeout("x"), ProblemKind.UNAVAILABLE),
        (errors.ScopeError("x"), ProblemKind.SCOPE),
        (errors.SchemaError("x"), ProblemKind.INVALID_REQUEST),
        (errors.GroundingError("x"), ProblemKind.INTERNAL),
        (MessageIdReused("x"), ProblemKind.MESSAGE_ID_REUSED),
        (ZeroDivisionError("ana@x.example"), ProblemKind.INTERNAL),
        (Problem(ProblemKind.ORIGIN, "x"), ProblemKind.ORIGIN),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_every_error_has_its_problem(error: Exception, kind: ProblemKind) -> None:
    """One table from error to problem."""
    assert to_problem(error).kind is kind


@pytest.mark.req("GW-06")
def test_an_unknown_failure_tells_nothing_of_itself() -> None:
    """Its text may quote a customer."""
    assert "ana@x.example" not in to_problem(ValueError("ana@x.example")).detail


@pytest.mark.req("GW-08")
def test_retry_after_is_rounded_up_and_at_least_a_second() -> None:
    """A client that comes back too early is refused again."""
    assert [whole_seconds(s) for s in (0.01, 1.0, 1.2, 3.2)] == [1, 1, 2, 4]
    assert dict(to_problem(errors.RateLimited("x", retry_after_s=3.2)).headers) == {"Retry-After": "4"}
