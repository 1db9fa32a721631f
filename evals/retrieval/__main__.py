"""`python -m evals.retrieval [--data FOLDER] [--diagram FILE]`: print both tables and every demand.

Exits with 1 when a demand is not met.
"""

import argparse
import asyncio
import os
import sys
from pathlib import Path

from evals.retrieval import gating, ranking
from evals.retrieval.fitting import confidences, cross_validated
from evals.retrieval.ranking import Check
from evals.retrieval.reliability import draw
from evals.retrieval.searching import Row, ask_everything
from evals.retrieval.sets import load_corpora
from shared.adapters.embedded.onnx_embedder import OnnxEmbedder, find_minilm
from shared.domain.sources import RetrievalPath
from shared.retrieval.confidence import Calibration, load_calibration
from shared.retrieval.embedding_text import embedding_key


async def measured(folder: Path) -> tuple[list[Row], Calibration]:
    """Return every row of the folder's sets, and the table that is shipped for the model."""
    embedder = OnnxEmbedder(find_minilm(), threads=2)
    table = load_calibration(embedding_key(embedder.model, embedder.dimension))
    rows = await ask_everything(load_corpora(folder), embedder, table)
    embedder.close()
    return rows, table


def report(rows: list[Row], table: Calibration) -> tuple[list[Check], gating.Gate]:
    """Print both tables; return every demand, and the gate of questions the table was not fitted on."""
    found = ranking.results(rows)
    shipped = confidences(rows, table)
    held_out = cross_validated(rows, table.model, languages=table.languages)
    words = RetrievalPath.KEYWORD_ONLY
    words_shipped = confidences(rows, table, path=words)
    words_held_out = cross_validated(rows, table.model, languages=table.languages, path=words)
    print(ranking.table(found), gating.table(rows, shipped, held_out), sep="\n\n")
    print("\nConfidence with the embedder down, by words alone:\n")
    print(gating.table(rows, words_shipped, words_held_out, is_short=True), end="\n\n")
    gates = {
        "shipped table": gating.official(rows, shipped),
        "cross-validated": gating.official(rows, held_out),
    }
    demands = ranking.checks(found) + [check for name, gate in gates.items() for check in gating.checks(gate, name)]
    return demands, gates["cross-validated"]


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m evals.retrieval", description="Quality of article search.")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("VOUCH_DATA", "../shared/data")))
    parser.add_argument("--diagram", type=Path, help="write the reliability diagram there (SVG)")
    arguments = parser.parse_args()
    demands, gate = report(*asyncio.run(measured(arguments.data)))
    for demand in demands:
        print(f"{'PASS' if demand.is_met else 'FAIL'}  {demand.what}")
    if arguments.diagram is not None:
        arguments.diagram.write_text(draw(gate.bins), encoding="utf-8")
    return 0 if all(demand.is_met for demand in demands) else 1


if __name__ == "__main__":
    sys.exit(main())
