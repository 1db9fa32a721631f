"""Fits the confidence table of an embedding model, and judges a table on questions it was not fitted on.

scikit-learn is needed to fit only: the product never imports it. Source: design §4, RT-06.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np
from sklearn.linear_model import LogisticRegression

from evals.retrieval.ranking import hit
from evals.retrieval.searching import Kind, Leg, Row
from evals.retrieval.sets import Corpus
from shared.domain.sources import RetrievalPath
from shared.retrieval.confidence import PROVISIONAL, Calibration, Coefficients
from shared.retrieval.evidence import Evidence

KIND_WEIGHTS: Final = {Kind.RELEVANT: 1.0, Kind.OFF_TOPIC: 1.0, Kind.REMOVED: 0.02}
"""Weight a kind of question has in the fit, whatever its number of rows. Removed ones hardly count: what is left is on
the topic, and often an article nobody labelled answers; the supervisor's grounding judges those, not this."""
REGULARISATION: Final = 30.0
"""Inverse strength of the ridge penalty: keeps the weight of exact matches finite, which separate perfectly."""
CAUTION: Final = 1.0
"""Log-odds by which the provisional table is harder to convince; every language is trusted to an unknown model."""
TOLERATED_LOSS: Final = 0.02
"""Loss of hit@5 against words alone up to which a language's questions are still searched by meaning."""
FOLDS: Final = 5

Features = Callable[[Evidence], Sequence[float]]
_FEATURES: Final[dict[str, tuple[str, ...]]] = {
    "hybrid": ("similarity", "coverage", "title", "exact"),
    "vector_only": ("similarity",),
    "keyword_only": ("coverage", "matched", "title", "exact"),
}
"""What each rung's model sees. Beside vectors `matched` adds nothing that holds on a set left out of the fit."""


def fit(rows: Sequence[Row], key: str, *, languages: tuple[str, ...]) -> Calibration:
    """Return the confidence table of the model the rows were made with.

    `languages` are those the model understands; vectors are judged on their questions only, words on all.
    """
    known = [row for row in rows if not languages or (row.corpus.language or "en") in languages]
    return Calibration(
        model=key,
        hybrid=_logistic("hybrid", known, [row.evidence for row in known]),
        vector_only=_logistic("vector_only", known, [row.evidence for row in known]),
        keyword_only=_logistic("keyword_only", rows, [row.by_words for row in rows]),
        languages=languages,
        fitted_on=dict(Counter(row.corpus.name for row in rows)),
    )


def cautious(table: Calibration) -> Calibration:
    """Return the provisional table for models nobody has calibrated: the fitted one, harder to convince."""

    def harder(model: Coefficients) -> Coefficients:
        return model.model_copy(update={"bias": round(model.bias - CAUTION, 3)})

    return Calibration(
        model=PROVISIONAL,
        hybrid=harder(table.hybrid),
        vector_only=harder(table.vector_only),
        keyword_only=harder(table.keyword_only),
    )


def understood_languages(rows: Iterable[Row]) -> tuple[str, ...]:
    """Return the languages in which adding vectors to words loses no answers; rows of searches that tried them all."""
    asked = [row for row in rows if row.kind is Kind.RELEVANT and row.corpus.language]
    helped = []
    for language in sorted({row.corpus.language for row in asked}):
        own = [row for row in asked if row.corpus.language == language]
        hybrid, words = (
            np.mean([hit(r.ranked[leg].five, r.question.answers, 5) for r in own]) for leg in (Leg.HYBRID, Leg.WORDS)
        )
        if hybrid - words >= -TOLERATED_LOSS:
            helped.append(language)
    return tuple(helped)


def confidences(rows: Sequence[Row], table: Calibration, *, path: RetrievalPath | None = None) -> list[float]:
    """Return each row's confidence on the rung that served it, or on the one given."""
    return [_confidence(row, table, path) for row in rows]


def cross_validated(
    rows: Sequence[Row], key: str, *, languages: tuple[str, ...], path: RetrievalPath | None = None
) -> list[float]:
    """Return each row's confidence by a table fitted without its question, in whatever corpus that was asked."""
    folds = [row.question.fold(FOLDS) for row in rows]
    tables = [
        fit([row for row, fold in zip(rows, folds, strict=True) if fold != held], key, languages=languages)
        for held in range(FOLDS)
    ]
    return [_confidence(row, tables[fold], path) for row, fold in zip(rows, folds, strict=True)]


def _confidence(row: Row, table: Calibration, path: RetrievalPath | None) -> float:
    served = path or row.path
    return table.confidence(served, row.by_words if served is RetrievalPath.KEYWORD_ONLY else row.evidence)


def _logistic(name: str, rows: Sequence[Row], evidence: Sequence[Evidence]) -> Coefficients:
    """Return the model whose every weight is positive: more evidence never lowers confidence.

    A measurement that would count against is left out, the one that counts most against first: on little data it has
    only learnt what the other measurements say.
    """
    names = list(_FEATURES[name])
    sizes = Counter(map(_group, rows))
    weights = [KIND_WEIGHTS[row.kind] * _share(row.corpus) / sizes[_group(row)] * 100 for row in rows]
    is_answerable = [row.kind is Kind.RELEVANT for row in rows]
    while True:
        model = LogisticRegression(C=REGULARISATION, max_iter=5_000)
        table = np.array([[_value(one, feature) for feature in names] for one in evidence])
        model.fit(table, is_answerable, sample_weight=weights)
        fitted = {feature: round(float(value), 3) for feature, value in zip(names, model.coef_[0], strict=True)}
        worst = min(names, key=lambda feature: fitted[feature])
        if fitted[worst] >= 0 or len(names) == 1:
            return Coefficients(bias=round(float(model.intercept_[0]), 3), **fitted)
        names.remove(worst)


def _value(evidence: Evidence, feature: str) -> float:
    return float(evidence.is_exact if feature == "exact" else getattr(evidence, feature))


def _group(row: Row) -> tuple[str, Kind]:
    return row.corpus.name, row.kind


def _share(corpus: Corpus) -> float:
    """Return what the corpus counts: the languages of one set count together as one and a half."""
    return 1.0 if not corpus.language else 0.5 if corpus.language == "en" else 0.2
