"""How well each leg ranks, beside what it must reach. Source: the targets of the knowledge issue, data README."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evals.retrieval.searching import Kind, Leg, Ranked, Row
from evals.retrieval.sets import IDENTIFIER, OWN_SHOP

NEAR_BETTER: Final = 0.03
"""Most that hybrid may stay behind the better leg."""
KNOWN_ITEMS: Final = "shopify_known_item"
"""Set of titles and article numbers: no natural language, the identifier tier answers it."""
TARGETS: Final[dict[str, tuple[str, float]]] = {
    "stackfaq": ("nDCG@10", 0.92),
    "covidfaq": ("hit@5", 0.88),
    "tau_product": ("hit@5", 0.90),
    "tau_banking": ("hit@5", 0.45),
    KNOWN_ITEMS: ("hit@1", 0.98),
}
"""What hybrid must reach, by set."""


def hit(ranked: Sequence[str], answers: frozenset[str], n: int) -> float:
    """Return 1 when one of the first n answers, else 0."""
    return float(any(id in answers for id in ranked[:n]))


def ndcg(ranked: Sequence[str], answers: frozenset[str], n: int) -> float:
    """Return the normalised discounted gain of the first n, 0–1."""
    gain = sum(1 / np.log2(i + 2) for i, id in enumerate(ranked[:n]) if id in answers)
    return float(gain / sum(1 / np.log2(i + 2) for i in range(min(n, len(answers)))))


METRICS: Final[dict[str, Callable[[Ranked, frozenset[str]], float]]] = {
    "hit@1": lambda ranked, answers: hit(ranked.five, answers, 1),
    "hit@5": lambda ranked, answers: hit(ranked.five, answers, 5),
    "nDCG@10": lambda ranked, answers: ndcg(ranked.ten, answers, 10),
}
"""Hits of a search for five results, gain of one for ten."""
COMPARED: Final = ("hit@5", "nDCG@10")
"""Metrics in which hybrid is held against its legs."""


@dataclass(frozen=True, slots=True)
class Check:
    """One demand, and whether it was met."""

    what: str
    is_met: bool


@dataclass(frozen=True, slots=True)
class SetResult:
    """What the legs reached on one set, by leg and metric."""

    name: str
    set: str
    n: int
    values: dict[tuple[Leg, str], float]

    def behind(self, metric: str) -> float:
        """Return how far hybrid is behind the better leg; negative when ahead of it."""
        return max(self.values[leg, metric] for leg in (Leg.WORDS, Leg.VECTORS)) - self.values[Leg.HYBRID, metric]

    def above(self, metric: str) -> float:
        """Return how far hybrid is above the weaker leg."""
        return self.values[Leg.HYBRID, metric] - min(self.values[leg, metric] for leg in (Leg.WORDS, Leg.VECTORS))


def results(rows: Iterable[Row]) -> list[SetResult]:
    """Return one result a corpus, over all its labelled questions."""
    relevant = [row for row in rows if row.kind is Kind.RELEVANT and row.question.kind != "sentence"]
    found = []
    for name in dict.fromkeys(row.corpus.name for row in relevant):
        own = [row for row in relevant if row.corpus.name == name]
        values = {
            (leg, metric): float(np.mean([measure(row.ranked[leg], row.question.answers) for row in own]))
            for leg in Leg
            for metric, measure in METRICS.items()
        }
        found.append(SetResult(name, own[0].corpus.set, len(own), values))
    return found


def checks(found: Iterable[SetResult]) -> list[Check]:
    """Return every demand on ranking: the targets, near the better leg, above the weaker one."""
    demands = []
    for result in found:
        if result.set == OWN_SHOP:
            continue
        if result.set in TARGETS:
            metric, least = TARGETS[result.set]
            value = result.values[Leg.HYBRID, metric]
            demands.append(Check(f"{result.name} {metric} {value:.3f} ≥ {least:g}", value >= least))
        if result.set == KNOWN_ITEMS:
            continue
        for metric in COMPARED:
            behind, above = result.behind(metric), result.above(metric)
            demands.append(
                Check(f"{result.name} {metric} {behind:+.3f} behind the better ≤ {NEAR_BETTER}", behind <= NEAR_BETTER)
            )
            demands.append(Check(f"{result.name} {metric} {above:+.3f} above the weaker > 0", above > 0))
    return demands


def table(found: Iterable[SetResult]) -> str:
    """Return the table: each leg's hit@1, hit@5 and nDCG@10, and what hybrid loses against the better one."""
    lines = [
        "| set | n | BM25 h@1 / h@5 / nDCG@10 | vectors | hybrid | behind the better leg h@5 / nDCG@10 |",
        "|---|---|---|---|---|---|",
    ]
    for result in found:
        legs = [" / ".join(f"{result.values[leg, metric]:.3f}" for metric in METRICS) for leg in Leg]
        behind = " / ".join(f"{result.behind(metric):+.3f}" for metric in COMPARED)
        lines.append(f"| {result.name} | {result.n} | {' | '.join(legs)} | {behind} |")
    return "\n".join(lines)


def is_identifier_only(row: Row) -> bool:
    """Tell whether the question is an article number of the corpus and nothing else."""
    return row.kind is Kind.RELEVANT and row.question.kind == IDENTIFIER
