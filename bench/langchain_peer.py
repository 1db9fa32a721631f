"""LangChain's EnsembleRetriever over the texts and vectors of a bench: FAISS flat and rank_bm25, fused as ours is.

Imported in the environment of requirements-bench.txt only. Source: libraries table "peers of hybrid search".
"""

from typing import Any, Final

from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.retrievers import BM25Retriever
from langchain_community.vectorstores import FAISS
from langchain_core.embeddings import Embeddings

from bench.search_world import World
from shared.ports.models import Vector

POOL: Final = 15
"""Candidates each retriever gives: three times five. Source: KB-07."""


class GivenVectors(Embeddings):
    """Vectors by text, made beforehand."""

    def __init__(self, known: dict[str, Vector]) -> None:
        self._known = known

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Never needed: the store is given its vectors."""
        raise AssertionError("vectors are given")

    def embed_query(self, text: str) -> list[float]:
        """Return the question's."""
        return list(map(float, self._known[text]))


class Peer:
    """LangChain's EnsembleRetriever over the same texts and vectors."""

    def __init__(self, world: World, known: dict[str, Vector]) -> None:
        self.texts = [f"{a.title.value}\n{a.content.value}" for a in world.articles]
        self._meta = [{"id": a.article_id} for a in world.articles]
        self.store = FAISS.from_embeddings(
            zip(self.texts, world.matrix.tolist(), strict=True), GivenVectors(known), metadatas=self._meta
        )
        self._assemble()

    def add(self, text: str, vector: Vector) -> None:
        """Take in one text: its vector joins the index, the keyword side knows no addition and is built anew."""
        self.texts.append(text)
        self._meta.append({"id": "new"})
        self.store.add_embeddings([(text, vector.tolist())], metadatas=[{"id": "new"}])
        self._assemble()

    def ask(self, question: str) -> list[Any]:
        """Return its best five."""
        return list(self.retriever.invoke(question)[:5])

    def _assemble(self) -> None:
        words = BM25Retriever.from_texts(self.texts, metadatas=self._meta, k=POOL)
        vectors = self.store.as_retriever(search_kwargs={"k": POOL})
        self.retriever = EnsembleRetriever(retrievers=[vectors, words], weights=[0.7, 0.3], c=60)
