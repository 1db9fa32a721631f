"""The utterances the offline heads learn from: our own words, one a line, with slots.

Owns reading and expanding them. A `{slot}` is filled in turn from `slots.txt`, so that no class owns a product, a
place or an order number. Source: CL-01, design §8 "a classifier trained on our own utterances".
"""

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

UTTERANCES: Final = Path(__file__).parent / "utterances"
"""Folder of the text files: `intents/{label}.txt` and `signals/{label}.txt`."""
FILLS: Final = 3
"""Sentences made of one line with slots. Value ours: more adds length, not variety."""

_SLOT = re.compile(r"{(\w+)}")


@dataclass(frozen=True, slots=True)
class Example:
    """One training sentence."""

    text: str
    label: str
    group: str
    """Sentences made of one line share it: they never stand on both sides of a fold."""


def read_examples(kind: str, label: str, *, folder: Path = UTTERANCES) -> tuple[Example, ...]:
    """Return the sentences of one file, slots filled; the same every time.

    Raises: KeyError for a slot that slots.txt does not have.
    """
    slots = _read_slots(folder)
    used: Counter[str] = Counter()

    def fill(match: re.Match[str]) -> str:
        values = slots[match[1]]
        used[match[1]] += 1
        return values[(used[match[1]] * _stride(len(values))) % len(values)]

    return tuple(
        Example(_SLOT.sub(fill, line), label, f"{kind}/{label}/{number}")
        for number, line in enumerate(_lines(folder / kind / f"{label}.txt"))
        for _ in range(FILLS if _SLOT.search(line) else 1)
    )


def labels(kind: str, *, folder: Path = UTTERANCES) -> tuple[str, ...]:
    """Return the labels that have a file, sorted."""
    return tuple(sorted(path.stem for path in (folder / kind).glob("*.txt")))


def corpus_hash(*, folder: Path = UTTERANCES) -> str:
    """Return the SHA-256 over every utterance file's name and lines; line ends of the checkout do not matter."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.txt"), key=lambda p: p.relative_to(folder).as_posix()):
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update("\n".join(_lines(path)).encode())
    return digest.hexdigest()


def _lines(path: Path) -> list[str]:
    stripped = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in stripped if line and not line.startswith("# ")]


def _read_slots(folder: Path) -> dict[str, list[str]]:
    named = (line.partition(":") for line in _lines(folder / "slots.txt"))
    return {name.strip(): [value.strip() for value in values.split(" | ")] for name, _, values in named}


def _stride(n: int) -> int:
    """Return a step that visits every value of a list of n before repeating one."""
    return next(step for step in (7, 5, 3, 1) if n % step or step == 1)
