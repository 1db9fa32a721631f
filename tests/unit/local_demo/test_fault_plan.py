"""The fault plan strikes where it says, repeatably, and leaves no trace when it is off. Source: design §8."""

import asyncio
import json

import pytest

from local.fault_plan import GARBAGE, BadFaultPlan, FaultPlan, PlanFile, parse_plan
from shared.domain.errors import RateLimited, Unavailable


class Port:
    """A port with two operations, one of which uses the other."""

    def __init__(self) -> None:
        self.calls = 0

    async def one(self) -> int:
        self.calls += 1
        return self.calls

    async def two(self) -> int:
        return await self.one() + await self.one()

    def count(self) -> int:
        return self.calls


class Container:
    def __init__(self) -> None:
        self.port = Port()


def plan(*faults: dict[str, object], seed: int = 0) -> str:
    return json.dumps({"seed": seed, "faults": list(faults)})


async def outcomes(container: Container, n: int) -> list[object]:
    found: list[object] = []
    for _ in range(n):
        try:
            found.append(await container.port.one())
        except (Unavailable, RateLimited) as error:
            found.append(type(error).__name__)
    return found


@pytest.mark.req("GO-01")
async def test_an_error_falls_on_the_named_calls_only() -> None:
    """`calls` counts from 1."""
    container = Container()
    parse_plan(
        plan({"port": "port", "operation": "one", "fault": "error", "error": "rate_limited", "calls": [2]})
    ).attach(container)

    found = await outcomes(container, 3)

    assert found == [1, "RateLimited", 2]


@pytest.mark.req("GO-01")
async def test_a_rate_gives_the_same_faults_for_the_same_seed() -> None:
    """A run that failed can be run again."""
    runs = []
    for seed in (5, 5, 6):
        container = Container()
        parse_plan(plan({"port": "port", "operation": "one", "fault": "error", "rate": 0.4}, seed=seed)).attach(
            container
        )
        runs.append([value for value in await outcomes(container, 30) if isinstance(value, str)])
        runs[-1] += [str(container.port.calls)]

    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


@pytest.mark.req("GO-01")
async def test_an_error_after_the_call_leaves_its_effect() -> None:
    """The ambiguous failure: done, yet reported as failed."""
    container = Container()
    parse_plan(plan({"port": "port", "operation": "one", "fault": "error_after"})).attach(container)

    with pytest.raises(Unavailable):
        await container.port.one()

    assert container.port.calls == 1


@pytest.mark.req("GO-01")
async def test_garbage_replaces_the_answer_and_a_crash_calls_the_killer() -> None:
    """Kinds that no port may produce by itself."""
    struck: list[str] = []
    container = Container()
    rules = PlanFile.model_validate(
        {
            "faults": [
                {"port": "port", "operation": "one", "fault": "garbage", "calls": [1]},
                {"port": "port", "operation": "one", "fault": "crash", "calls": [2]},
            ]
        }
    )
    FaultPlan(rules, crash=lambda: struck.append("killed")).attach(container)

    first = await container.port.one()
    await container.port.one()

    assert first == GARBAGE
    assert struck == ["killed"]


@pytest.mark.req("GO-01")
async def test_a_delay_is_served_once_for_a_port_that_calls_itself() -> None:
    """A batch that is made of creates is one call of the store."""
    container = Container()
    parse_plan(plan({"port": "port", "operation": "*", "fault": "delay", "delay_ms": 20})).attach(container)
    loop = asyncio.get_running_loop()
    began = loop.time()

    total = await container.port.two()

    assert total == 3
    assert 0.02 <= loop.time() - began < 0.035


@pytest.mark.req("GO-01")
async def test_detaching_gives_the_port_its_own_methods_back() -> None:
    """A plan is of one run."""
    container = Container()
    active = parse_plan(plan({"port": "port", "operation": "*", "fault": "error"})).attach(container)
    with pytest.raises(Unavailable):
        container.port.count()

    active.detach()

    assert await container.port.one() == 1
    assert vars(container.port) == {"calls": 1}
    assert active.struck == {"port.count": 1}


@pytest.mark.req("GO-01")
async def test_two_plans_on_one_port_both_strike_and_come_off_one_by_one() -> None:
    """A test may add a fault to a port that is slow already."""
    container = Container()
    first = parse_plan(plan({"port": "port", "operation": "one", "fault": "error", "calls": [1]})).attach(container)
    second = parse_plan(plan({"port": "port", "operation": "one", "fault": "garbage"})).attach(container)

    with pytest.raises(Unavailable):
        await container.port.one()
    assert await container.port.one() == GARBAGE

    second.detach()
    assert await container.port.one() == 2
    first.detach()
    assert vars(container.port) == {"calls": 2}


@pytest.mark.req("GO-01")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "malformed"),
        ('{"faults": [{"port": "port", "fault": "explode"}]}', "malformed"),
        ('{"faults": [{"port": "port", "fault": "error", "calls": [1], "rate": 0.5}]}', "not both"),
        ('{"faults": [{"port": "nowhere", "fault": "error"}]}', "nowhere"),
        ('{"faults": [{"port": "port", "operation": "three", "fault": "error"}]}', "count, one, two"),
    ],
    ids=["no-json", "unknown-fault", "calls-and-rate", "unknown-port", "unknown-operation"],
)
def test_a_plan_that_could_never_strike_is_refused(text: str, says: str) -> None:
    """A fault test that injects nothing would pass for the wrong reason."""
    with pytest.raises(BadFaultPlan, match=says):
        parse_plan(text).attach(Container())
