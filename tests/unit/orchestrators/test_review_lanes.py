"""Reviews in parallel: the critical lane stays clear, each lane is first come first served, no slot is ever lost."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from shared.domain.errors import Unavailable
from shared.domain.human_triggers import Severity
from shared.domain.priority import TIER
from shared.review_lanes import MAX_WAITING, SLOTS, Hold, ReviewLanes

CRITICAL, HIGH, NORMAL, LOW = Severity.CRITICAL, Severity.HIGH, Severity.NORMAL, Severity.LOW
ONE_EACH = dict.fromkeys(Severity, 1)


class Reviews:
    """Reviews that hold their slot until the test ends them."""

    def __init__(self, lanes: ReviewLanes) -> None:
        self.lanes = lanes
        self.begun: list[str] = []
        self.holds: dict[str, Hold] = {}
        self.ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, name: str, severity: Severity) -> None:
        """Begin a review, and let it come as far as it can."""
        self.ends[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._review(name, severity))
        await self.settle()

    async def end(self, name: str) -> None:
        """Let a review end, and let whoever it made room for come in."""
        self.ends[name].set()
        await self.settle()

    async def cancel(self, name: str) -> None:
        """Call a review off."""
        self.tasks[name].cancel()
        await self.settle()

    async def settle(self) -> None:
        """Run everything that can run now."""
        for _ in range(5):
            await asyncio.sleep(0)

    async def _review(self, name: str, severity: Severity) -> None:
        async with self.lanes.slot(severity) as hold:
            self.begun.append(name)
            self.holds[name] = hold
            await self.ends[name].wait()


@asynccontextmanager
async def reviews(lanes: ReviewLanes) -> AsyncIterator[Reviews]:
    """Reviews, of which none is left behind."""
    running = Reviews(lanes)
    yield running
    for task in running.tasks.values():
        task.cancel()
    await asyncio.gather(*running.tasks.values(), return_exceptions=True)


async def room(lanes: ReviewLanes) -> int:
    """Return how many critical reviews get a slot at once: all that are free."""
    async with AsyncExitStack() as stack:
        count = 0
        while True:
            try:
                async with asyncio.timeout(0):
                    await stack.enter_async_context(lanes.slot(CRITICAL))
            except TimeoutError:
                return count
            count += 1


@pytest.mark.req("SU-06")
async def test_a_critical_review_enters_at_once_however_many_others_run_and_wait() -> None:
    async with reviews(ReviewLanes(ONE_EACH)) as running:
        for n in range(20):
            await running.start(f"other{n}", (HIGH, NORMAL, LOW)[n % 3])

        await running.start("critical", CRITICAL)

        assert len(running.begun) == 4
        assert running.begun[-1] == "critical"
        assert running.holds["critical"] == Hold(0, 0)


@pytest.mark.req("SU-06")
async def test_each_lane_is_first_come_first_served() -> None:
    async with reviews(ReviewLanes({NORMAL: 1})) as running:
        for name in "abcd":
            await running.start(name, NORMAL)
        for name in "abc":
            await running.end(name)

        assert running.begun == list("abcd")
        assert [running.holds[name].depth for name in "abcd"] == [0, 0, 1, 2]


@pytest.mark.req("SU-06", "RT-07")
async def test_a_more_severe_review_may_use_a_free_slot_of_a_less_severe_lane_and_never_the_other_way() -> None:
    async with reviews(ReviewLanes(ONE_EACH)) as running:
        for n in range(4):
            await running.start(f"critical{n}", CRITICAL)
        await running.start("low", LOW)
        await running.end("critical0")

        assert running.begun == [f"critical{n}" for n in range(4)]

    async with reviews(ReviewLanes(ONE_EACH)) as running:
        for n in range(2):
            await running.start(f"low{n}", LOW)

        assert running.begun == ["low0"]


@pytest.mark.req("RT-07")
async def test_a_slot_given_back_goes_to_the_most_severe_review_that_may_use_it() -> None:
    async with reviews(ReviewLanes({CRITICAL: 1, NORMAL: 1})) as running:
        for name, severity in [("a", CRITICAL), ("b", NORMAL), ("normal", NORMAL), ("critical", CRITICAL)]:
            await running.start(name, severity)
        await running.end("b")
        await running.end("critical")

        assert running.begun == ["a", "b", "critical", "normal"]


@pytest.mark.req("SU-06")
async def test_a_review_that_is_called_off_while_it_waits_costs_nobody_a_place() -> None:
    lanes = ReviewLanes({NORMAL: 1})
    async with reviews(lanes) as running:
        for name in "abc":
            await running.start(name, NORMAL)
        await running.cancel("b")
        await running.end("a")

        assert running.begun == ["a", "c"]
        assert lanes.figures()[NORMAL].waiting == 0


@pytest.mark.req("SU-06")
async def test_a_review_called_off_in_the_moment_it_is_given_a_slot_passes_it_on() -> None:
    """The slot is given and the cancellation arrives before the review could run."""
    async with reviews(ReviewLanes({NORMAL: 1})) as running:
        for name in "abc":
            await running.start(name, NORMAL)
        running.ends["a"].set()
        await asyncio.sleep(0)
        running.tasks["b"].cancel()
        await running.settle()

        assert running.begun == ["a", "c"]


@pytest.mark.req("SU-06")
async def test_a_review_that_fails_gives_its_slot_back() -> None:
    lanes = ReviewLanes({NORMAL: 1})
    for _ in range(3):
        with pytest.raises(ValueError, match="broken"):
            async with lanes.slot(NORMAL):
                raise ValueError("broken")

    async with lanes.slot(NORMAL) as hold:
        assert hold.depth == 0


@pytest.mark.req("RT-08", "SU-06")
async def test_a_full_lane_refuses_instead_of_growing_and_the_others_go_on() -> None:
    """Unavailable is transient: the ladder tries again and ends at a person."""
    lanes = ReviewLanes(ONE_EACH)
    async with reviews(lanes) as running:
        for n in range(1 + MAX_WAITING):
            running.ends[str(n)] = asyncio.Event()
            running.tasks[str(n)] = asyncio.create_task(running._review(str(n), LOW))
        await running.settle()

        with pytest.raises(Unavailable):
            async with lanes.slot(LOW):
                pass
        await running.start("high", HIGH)

        assert running.begun[-1] == "high"
        assert (lanes.figures()[LOW].waiting, lanes.figures()[LOW].refused) == (MAX_WAITING, 1)


@pytest.mark.req("OB-03")
async def test_depth_and_hold_are_counted_by_lane() -> None:
    at = [0.0]
    lanes = ReviewLanes({NORMAL: 1}, now=lambda: at[0])
    async with reviews(lanes) as running:
        for name in "abc":
            await running.start(name, NORMAL)
        at[0] = 0.25
        await running.end("a")
        at[0] = 0.40
        await running.end("b")

        found = lanes.figures()[NORMAL]
        assert (found.served, found.deepest, found.waited_ms, found.longest_ms) == (3, 1, 650, 400)
        assert running.holds["c"] == Hold(1, 400)


@pytest.mark.req("SU-06")
@pytest.mark.parametrize("seed", range(20))
async def test_whatever_comes_ends_and_is_called_off_every_slot_comes_back(seed: int) -> None:
    """Random arrivals, ends and cancellations; afterwards as much is free as at the beginning."""
    dice, lanes = random.Random(seed), ReviewLanes(dict.fromkeys(Severity, 2))
    async with reviews(lanes) as running:
        for n in range(60):
            await running.start(str(n), dice.choice(list(Severity)))
            for name in dice.sample(sorted(running.tasks), k=min(2, len(running.tasks))):
                if dice.random() < 0.5:
                    running.ends[name].set()
                else:
                    running.tasks[name].cancel()
            if dice.random() < 0.5:
                await running.settle()

    assert all(figures.waiting == 0 for figures in lanes.figures().values())
    assert await room(lanes) == 2 * len(Severity)


@pytest.mark.req("SU-06")
def test_every_severity_has_a_lane() -> None:
    assert set(SLOTS) == set(TIER) == set(Severity)
    assert all(count > 0 for count in SLOTS.values())
