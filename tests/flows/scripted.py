"""Scripted models: each plays the answers a test gives it, in order, and remembers an unexpected or an unused call.

They implement the ports of shared.ports.models; everything behind them in a flow test is the real product.
Source: conventions "Tests" (fakes, not patches).
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from inspect import isawaitable
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from shared.domain.deltas import Classification, Escalation
from shared.domain.drafts import CheckVerdict, Draft
from shared.domain.errors import Unavailable
from shared.domain.retries import LADDER
from shared.ports.models import (
    ClassifyRequest,
    ComposeRequest,
    EscalationRequest,
    ReviewRequest,
    ScreenVerdict,
)
from tests.waiting import GIVE_UP_S, until

Q = TypeVar("Q")
A = TypeVar("A")

CALLS_UP_THE_LADDER: Final = 1 + sum(rung.attempts for rung in LADDER)
"""Calls of a model that stays unavailable: the first and every rung's (GO-02)."""


class Gate:
    """Holds one model call until the test lets it go; both ends live on loops of their own."""

    def __init__(self) -> None:
        self._reached: Future[None] = Future()
        self._opened: Future[None] = Future()

    async def reached(self) -> None:
        """Return once the call has come to the gate."""
        await asyncio.wait_for(asyncio.wrap_future(self._reached), GIVE_UP_S)

    def open(self) -> None:
        """Let the call go on."""
        if not self._opened.done():
            self._opened.set_result(None)

    async def pass_through(self) -> None:
        """Announce the call and wait for the gate to open."""
        if not self._reached.done():
            self._reached.set_result(None)
        await asyncio.wrap_future(self._opened)


class Script(Generic[Q, A]):
    """What one model answers: a value, an error, or a function of the request; behind a gate when one is given."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seen: list[Q] = []
        self._steps: deque[tuple[Gate | None, A | Exception | Callable[[Q], A | Awaitable[A]]]] = deque()
        self._standing: A | Callable[[Q], A] | None = None
        self._unexpected = 0

    def then(self, *steps: A | Exception | Callable[[Q], A | Awaitable[A]], gate: Gate | None = None) -> "Script[Q, A]":
        """Add answers, one a call; the gate holds each of them."""
        self._steps.extend((gate, step) for step in steps)
        return self

    def always(self, answer: A | Callable[[Q], A]) -> "Script[Q, A]":
        """Answer every call beyond the script like this: for a model the test is not about."""
        self._standing = answer
        return self

    async def play(self, request: Q) -> A:
        """Return the next answer, or raise it."""
        self.seen.append(request)
        if not self._steps:
            if self._standing is not None:
                return self._standing(request) if callable(self._standing) else self._standing
            self._unexpected += 1
            raise AssertionError(f"unexpected call of {self.name}")
        gate, step = self._steps.popleft()
        if gate is not None:
            await gate.pass_through()
        if isinstance(step, Exception):
            raise step
        if callable(step):
            answer = step(request)
            return await answer if isawaitable(answer) else answer
        return step

    async def asked(self, times: int) -> None:
        """Return once the model has been asked that often."""
        await until(lambda: len(self.seen) >= times, f"{self.name} was asked {times} times")

    def problems(self) -> list[str]:
        """Return what the script and the calls do not agree on."""
        found = [f"{self.name}: {self._unexpected} unexpected calls"] if self._unexpected else []
        return found + ([f"{self.name}: {len(self._steps)} answers never asked for"] if self._steps else [])


class ScriptedClassifier(Script[ClassifyRequest, Classification]):
    """IntentClassifier."""

    async def classify(self, request: ClassifyRequest) -> Classification:
        """Play the script."""
        return await self.play(request)


class ScriptedEscalation(Script[EscalationRequest, Escalation]):
    """EscalationModel."""

    async def assess(self, request: EscalationRequest) -> Escalation:
        """Play the script."""
        return await self.play(request)


class ScriptedScreen(Script[tuple[str, ...], ScreenVerdict]):
    """SafetyScreen."""

    async def screen(self, texts: object) -> ScreenVerdict:
        """Play the script."""
        return await self.play(tuple(str(text) for text in texts))  # type: ignore[attr-defined]  # a sequence of texts


class ScriptedComposer(Script[ComposeRequest, Draft]):
    """ComposerModel."""

    async def compose(self, request: ComposeRequest) -> Draft:
        """Play the script."""
        return await self.play(request)


class ScriptedReviewer(Script[ReviewRequest, tuple[CheckVerdict, ...]]):
    """ReviewModel."""

    async def review(self, request: ReviewRequest) -> tuple[CheckVerdict, ...]:
        """Play the script."""
        return await self.play(request)


class DownEmbedder:
    """An Embedder whose endpoint does not answer; its name is the real one's, so that stored vectors stay valid."""

    def __init__(self, model: str, dimension: int) -> None:
        self.model = model
        self.dimension = dimension

    async def embed(self, texts: object) -> NDArray[np.float32]:
        """Raise as an endpoint that is down."""
        raise Unavailable("the embedding endpoint is down")


class Cast:
    """The models of one test. Words are calm and screens clean unless the test says otherwise."""

    def __init__(self) -> None:
        self.classifier = ScriptedClassifier("classifier")
        self.escalation = ScriptedEscalation("escalation model").always(Escalation())
        self.screen = ScriptedScreen("safety screen").always(ScreenVerdict(is_blocked=False))
        self.composer = ScriptedComposer("composer")
        self.reviewer = ScriptedReviewer("reviewer")

    @property
    def calls(self) -> int:
        """How often the three models that cost something were asked."""
        return len(self.classifier.seen) + len(self.composer.seen) + len(self.reviewer.seen)

    def assert_complete(self) -> None:
        """Fail on an unexpected call and on an answer nobody asked for."""
        scripts: tuple[Script[object, object], ...] = (
            self.classifier,
            self.escalation,
            self.screen,
            self.composer,
            self.reviewer,
        )  # type: ignore[assignment]  # scripts of different questions
        problems = [problem for script in scripts for problem in script.problems()]
        assert not problems, problems
