"""Retrieval confidence: an absolute estimate that some article answers the question. It is not a rank.

A logistic model of what evidence.py measures; coefficients come from `calibration/*.json`, one file an embedding model,
fitted by `make calibrate`. 0.5 parts "an article answers this" from "none does".
Source: design §4 "Confidence is not rank", RT-06, fault 024.
"""

import math
from functools import cache
from pathlib import Path
from typing import Final, Protocol

from pydantic import Field

from shared.domain.sources import RetrievalPath
from shared.domain.wire_model import Wire
from shared.retrieval.evidence import Evidence

CALIBRATION_DIR: Final = Path(__file__).parent / "calibration"
"""One JSON file of coefficients an embedding model, and `provisional.json` for every other."""
PROVISIONAL: Final = "provisional"
"""Name of the conservative table of models nobody has calibrated. Source: design §4."""


class Judge(Protocol):
    """Turns measurements into a confidence."""

    @property
    def is_calibrated(self) -> bool:
        """Tell whether it was fitted for the embedding model at hand."""
        ...

    def confidence(self, path: RetrievalPath, evidence: Evidence) -> float:
        """Return the probability, 0–1, that some result answers the question."""
        ...

    def understands(self, language: str) -> bool:
        """Tell whether the embedding model's vectors help in this language; an unknown one (empty) is tried."""
        ...


class Coefficients(Wire):
    """One logistic model: log-odds = bias + Σ weight × measurement."""

    bias: float
    similarity: float = 0.0
    coverage: float = 0.0
    matched: float = 0.0
    title: float = 0.0
    exact: float = 0.0


class Calibration(Wire):
    """The table of one embedding model."""

    model: str
    """Embedding key the table was fitted for, or `provisional`."""
    hybrid: Coefficients
    vector_only: Coefficients
    keyword_only: Coefficients
    languages: tuple[str, ...] = ()
    """Languages in which vectors were measured to help; empty trusts the model with all."""
    fitted_on: dict[str, int] = Field(default_factory=dict)
    """Rows an evaluation set contributed."""

    @property
    def is_calibrated(self) -> bool:
        """False for the provisional table: readiness then says `uncalibrated`."""
        return self.model != PROVISIONAL

    def confidence(self, path: RetrievalPath, evidence: Evidence) -> float:
        """Return the probability, 0–1, that some result answers the question."""
        match path:
            case RetrievalPath.HYBRID:
                model = self.hybrid
            case RetrievalPath.VECTOR_ONLY:
                model = self.vector_only
            case RetrievalPath.KEYWORD_ONLY:
                model = self.keyword_only
            case RetrievalPath.EMPTY:
                return 0.0
        odds = (
            model.bias
            + model.similarity * evidence.similarity
            + model.coverage * evidence.coverage
            + model.matched * evidence.matched
            + model.title * evidence.title
            + model.exact * evidence.is_exact
        )
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, odds))))

    def understands(self, language: str) -> bool:
        """Tell whether the embedding model's vectors help in this language; an unknown one (empty) is tried."""
        return not language or not self.languages or language in self.languages


@cache
def load_calibration(embedding_key: str, directory: Path = CALIBRATION_DIR) -> Calibration:
    """Return the model's table, or the provisional one when nobody has calibrated it."""
    name = calibration_file(embedding_key)
    path = directory / name
    if not path.is_file():
        path = CALIBRATION_DIR / calibration_file(PROVISIONAL)
    return Calibration.model_validate_json(path.read_text(encoding="utf-8"))


def calibration_file(embedding_key: str) -> str:
    """Return the file name of a model's table."""
    return "".join(c if c.isalnum() or c in "-." else "_" for c in embedding_key) + ".json"
