"""One running product with the demo shops a module: starting it costs seconds, a conversation costs milliseconds."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.surface.product.product import RunningProduct, running_product
from tests.surface.product.storefront import Storefront


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningProduct]:
    """The product, without any plan of faults."""
    async with running_product(tmp_path_factory.mktemp("product")) as product:
        yield product


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shops(running: RunningProduct) -> tuple[Storefront, Storefront]:
    """The clients of both demo shops."""
    return await running.demo_storefronts()


@pytest_asyncio.fixture(loop_scope="module")
async def product(running: RunningProduct) -> AsyncIterator[RunningProduct]:
    """The product; faults a test plans end with it."""
    yield running
    for plan in reversed(running.plans):
        plan.detach()
    running.plans.clear()


@pytest.fixture
def hollin(shops: tuple[Storefront, Storefront]) -> Storefront:
    """The clients of the first demo shop."""
    return shops[0]


@pytest.fixture
def tidewater(shops: tuple[Storefront, Storefront]) -> Storefront:
    """The clients of the second demo shop."""
    return shops[1]
