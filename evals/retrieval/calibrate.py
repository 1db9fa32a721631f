"""`python -m evals.retrieval.calibrate [--data FOLDER] [--out FOLDER]`: fit the embedding model's confidence table.

The folder holds labelled sets, or a tenant's own articles (a docs file without queries: questions are then made of them
and asked against those of our own shop). Writes coefficients only: one JSON file, and the provisional table for models
nobody has calibrated where the sets are the public ones. Source: design §4.
"""

import argparse
import asyncio
import os
from pathlib import Path

from evals.retrieval.fitting import cautious, fit, understood_languages
from evals.retrieval.searching import ask_everything
from evals.retrieval.sets import load_corpora
from shared.adapters.embedded.onnx_embedder import OnnxEmbedder, find_minilm
from shared.retrieval.confidence import CALIBRATION_DIR, calibration_file, load_calibration
from shared.retrieval.embedding_text import embedding_key


async def run(folder: Path, out: Path) -> None:
    """Measure, fit and write; `make eval-retrieval` on the same folder then tells what the table does."""
    embedder = OnnxEmbedder(find_minilm(), threads=2)
    key = embedding_key(embedder.model, embedder.dimension)
    present = load_calibration(key)
    rows = await ask_everything(load_corpora(folder), embedder, present, all_languages=True)
    embedder.close()
    has_languages = any(row.corpus.language for row in rows)
    languages = understood_languages(rows) if has_languages else present.languages
    fitted = fit(rows, key, languages=languages)
    for made in (fitted, cautious(fitted)) if has_languages else (fitted,):
        path = out / calibration_file(made.model)
        path.write_text(made.model_dump_json(indent=2) + "\n", encoding="utf-8")
        print(f"wrote {path}\n{made.model_dump_json(indent=2)}")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m evals.retrieval.calibrate", description="Fit retrieval confidence."
    )
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("VOUCH_DATA", "../shared/data")))
    parser.add_argument("--out", type=Path, default=CALIBRATION_DIR, help="folder of the coefficients")
    arguments = parser.parse_args()
    asyncio.run(run(arguments.data, arguments.out))


if __name__ == "__main__":
    main()
