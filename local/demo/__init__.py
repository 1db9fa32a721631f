"""The demo shop of `python -m local serve`: seeded before the ready line, unless `--no-demo` says otherwise.

Owns the command-line hook alone; the shops are in `shops`, the seeding in `seed`. Source: design §8.
"""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol


class RunningHost(Protocol):
    """What the hook needs of a started host."""

    url: str

    def poke(self, container: str) -> None:
        """Have the change feeds of a container read at once."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--no-demo` to `serve`."""
    parser.add_argument("--no-demo", action="store_true", help="start without the demo shop")


def before_ready(
    arguments: argparse.Namespace,
) -> Sequence[Callable[[RunningHost], Awaitable[Mapping[str, object]]]]:
    """Return the hook that seeds the demo shop and writes `demo.json` into the data directory."""
    if arguments.no_demo:
        return []

    async def seed_demo(host: RunningHost) -> Mapping[str, object]:
        from local.demo.seed import seed, write_demo_file
        from shared.adapters.records.shop import ShopRecords
        from shared.container import services

        parts = services()
        seeded = await seed(parts, ShopRecords(parts.documents), wake_feed=lambda: host.poke("articles"))
        return {"demo": str(write_demo_file(parts.settings.data_dir, host.url, seeded))}

    return [seed_demo]
