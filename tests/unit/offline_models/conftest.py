"""One real embedder for all tests of the offline models: loading it takes 0.2 s."""

from collections.abc import Iterator

import pytest

from shared.adapters.embedded.onnx_embedder import OnnxEmbedder, find_minilm


@pytest.fixture(scope="session")
def embedder() -> Iterator[OnnxEmbedder]:
    """The packaged MiniLM."""
    real = OnnxEmbedder(find_minilm())
    yield real
    real.close()
