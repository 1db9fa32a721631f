"""What binds the host to this product and to no other app: its data directory and its store's change log.

Imports the container late and only when the host runs the product itself. Source: design §8.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from local.change_feed import ChangeSource
from local.serve import default_app_dir


class ProductChanges:
    """The change log of the product's embedded store; another store has feeds of its own and yields nothing here."""

    def read(self, container: str, after_seq: int, limit: int) -> Sequence[tuple[int, dict[str, Any]]]:
        """Return the changes of a container after a sequence number, in order."""
        from shared.container import services

        read_changes = getattr(services().documents, "read_changes", None)
        if read_changes is None:
            return ()
        changes: Sequence[tuple[int, dict[str, Any]]] = read_changes(container, after_seq, limit)
        return changes


def bind_product(app_dir: Path, data_dir: Path) -> ChangeSource | None:
    """Point the product's stores at the host's data directory and return their change log; None for another app."""
    if app_dir.resolve() != default_app_dir():
        return None
    os.environ["VOUCH_DATA_DIR"] = str(data_dir)
    return ProductChanges()
