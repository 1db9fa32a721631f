"""Where the data of the embedded host lives when nobody says: the product's own setting. Source: README, design §8."""

import os
from pathlib import Path


def default_data_dir() -> Path:
    """Return `VOUCH_DATA_DIR`, else `.local`."""
    return Path(os.environ.get("VOUCH_DATA_DIR") or ".local")
