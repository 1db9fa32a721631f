"""The shipped heads come from the utterances in the repository and from nothing else."""

from pathlib import Path

import numpy as np
import pytest

from shared.adapters.embedded.artefacts import ARTEFACTS, read_head, shipped_head
from shared.adapters.embedded.onnx_embedder import OnnxEmbedder
from shared.adapters.embedded.training.corpus import corpus_hash, read_examples
from shared.adapters.embedded.training.heads import BUILDERS, train_all, train_sentiment
from shared.domain.errors import IntegrationError


@pytest.mark.req("CL-03")
@pytest.mark.parametrize("name", sorted(BUILDERS))
def test_each_head_names_the_utterances_it_was_trained_on(name: str) -> None:
    """A changed utterance without `make train` fails here."""
    assert read_head(name).corpus == corpus_hash()


@pytest.mark.req("CL-03")
def test_every_artefact_has_a_builder() -> None:
    assert {path.stem for path in ARTEFACTS.glob("*.npz")} == set(BUILDERS)


@pytest.mark.req("CL-03")
def test_a_retrained_head_equals_the_shipped_one(embedder: OnnxEmbedder) -> None:
    """One head in every run; all of them in `make soak`."""
    shipped, again = read_head("sentiment"), train_sentiment(embedder.embed_now, embedder.model)

    assert again.labels == shipped.labels
    assert np.allclose(again.weights, shipped.weights, atol=1e-2)
    assert again.temperature == pytest.approx(shipped.temperature, rel=0.1)


@pytest.mark.soak
@pytest.mark.req("CL-03")
def test_all_retrained_heads_equal_the_shipped_ones(embedder: OnnxEmbedder) -> None:
    for name, again in train_all(embedder.embed_now, embedder.model).items():
        shipped = read_head(name)
        assert again.labels == shipped.labels
        assert np.allclose(again.weights, shipped.weights, atol=1e-2)
        assert np.allclose(again.thresholds, shipped.thresholds, atol=1e-2)


@pytest.mark.req("CL-03")
def test_a_head_is_stored_as_the_same_bytes_each_time(tmp_path: Path) -> None:
    head = read_head("severity")

    stored = head.save("severity", folder=tmp_path)

    assert stored.read_bytes() == (ARTEFACTS / "severity.npz").read_bytes()


@pytest.mark.req("CL-03")
def test_a_head_refuses_another_models_vectors() -> None:
    with pytest.raises(IntegrationError, match="make train"):
        shipped_head("intents", "some-other-model")


@pytest.mark.req("CL-03")
def test_slots_are_filled_the_same_way_each_time_and_completely() -> None:
    first = read_examples("intents", "order_status")

    assert first == read_examples("intents", "order_status")
    assert not any("{" in example.text for example in first)
