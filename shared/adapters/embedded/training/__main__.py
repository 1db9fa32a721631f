"""`python -m shared.adapters.embedded.training`: rebuild every head from the utterances, the same bytes each time."""

import sys

from shared.adapters.embedded.onnx_embedder import OnnxEmbedder, find_minilm
from shared.adapters.embedded.training.heads import train_all


def main() -> None:
    """Train all heads and write them where the classifiers read them."""
    embedder = OnnxEmbedder(find_minilm())
    for name, head in train_all(embedder.embed_now, embedder.model).items():
        path = head.save(name)
        sys.stdout.write(f"{path.name}: {len(head.labels)} labels, temperature {head.temperature}\n")
    embedder.close()


if __name__ == "__main__":
    main()
