"""One tenant's index as bytes and back: sections of flat arrays and JSON behind a digest, nothing that could run.

Refuses what is damaged, of another tenant, or made by other code: terms that were cut by another tokeniser would
silently find nothing. Source: design §6 "Keyword index", fault 022.
"""

import hashlib
import json
import pkgutil
import struct
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
import Stemmer
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, ValidationError

from shared.domain.article import Article
from shared.domain.errors import SchemaError
from shared.domain.ids import TenantId
from shared.domain.wire_model import Wire
from shared.retrieval.bm25 import KeywordIndex
from shared.retrieval.postings import IndexParts
from shared.retrieval.tenant_index import Card, TenantIndex

FORMAT: Final = 1
"""Layout of the sections."""
MAGIC: Final = b"VOUCHKW1"
"""First bytes of every file."""

_MADE_BY: Final = ("bm25", "function_words", "identifiers", "languages", "postings", "tenant_index", "tokens")
"""What decides which terms an article has: a changed line there makes every snapshot a stranger's."""
_HEAD: Final = struct.Struct("<8s32sI")
_PARTS: Final[Mapping[str, str]] = {
    "ends": "<i8", "slots": "<i4", "counts": "<f4", "lengths": "<f8", "held_ends": "<i8", "held": "<i4",
}  # fmt: skip
"""The arrays of IndexParts and how a cell of each is written."""


class DamagedSnapshot(SchemaError):
    """The bytes are not a whole snapshot of this tenant made by this code."""


class _Header(Wire):
    format: int
    made_by: str
    tenant_id: TenantId
    seq: int = Field(ge=0)
    sections: dict[str, NonNegativeInt]
    """Length of each section in order. Unit: bytes."""


class _Names(Wire):
    """Everything that is text: identifiers, terms, and by what else an article is found."""

    slots: tuple[str, ...]
    terms: tuple[str, ...]
    articles: tuple[str, ...]
    cards: tuple[Card, ...]


def to_bytes(tenant: TenantId, index: TenantIndex) -> bytes:
    """Return the index as it stands; nothing may change it meanwhile."""
    parts = index.keywords.to_parts()
    ids = tuple(index.packed)
    names = _Names(
        slots=tuple(parts.ids),
        terms=tuple(parts.terms),
        articles=ids,
        cards=tuple(index.cards[id] for id in ids),
    )
    sections = {name: getattr(parts, name).astype(kind, copy=False).tobytes() for name, kind in _PARTS.items()}
    sections["names"] = names.model_dump_json().encode()
    sections["packed_ends"] = np.cumsum([len(index.packed[id]) for id in ids], dtype="<i8").tobytes()
    sections["packed"] = b"".join(index.packed.values())
    header = _Header(
        format=FORMAT,
        made_by=made_by(),
        tenant_id=tenant,
        seq=index.seq,
        sections={name: len(data) for name, data in sections.items()},
    )
    head = header.model_dump_json().encode()
    body = b"".join((head, *sections.values()))
    return _HEAD.pack(MAGIC, hashlib.sha256(body).digest(), len(head)) + body


def of_bytes(tenant: TenantId, data: bytes) -> TenantIndex:
    """Return the index the bytes hold. Raises: DamagedSnapshot."""
    header, sections = _opened(data)
    if (header.format, header.made_by, header.tenant_id) != (FORMAT, made_by(), tenant):
        raise DamagedSnapshot("a snapshot of another format, code or tenant")
    try:
        names = _Names.model_validate_json(sections["names"].tobytes())
        parts: dict[str, NDArray[Any]] = {
            name: np.frombuffer(sections[name], dtype=kind) for name, kind in _PARTS.items()
        }
        keywords = KeywordIndex.of_parts(IndexParts(ids=names.slots, terms=names.terms, **parts))
        ends = np.frombuffer(sections["packed_ends"], dtype="<i8")
        return _rebuilt(header.seq, names, keywords, ends.tolist(), sections["packed"])
    except (ValidationError, SchemaError, ValueError, KeyError) as error:
        raise DamagedSnapshot(f"a snapshot that does not fit together: {type(error).__name__}") from None


@cache
def made_by() -> str:
    """Return a digest of the code, the stemmer and the Unicode data that decide what a snapshot holds."""
    digest = hashlib.sha256()
    for name in _MADE_BY:
        digest.update(pkgutil.get_data("shared.retrieval", f"{name}.py") or b"")
    digest.update(json.dumps(Article.model_json_schema(), sort_keys=True).encode())
    digest.update(f"{Stemmer.version()} {unicodedata.unidata_version}".encode())
    return digest.hexdigest()


def _opened(data: bytes) -> tuple[_Header, dict[str, memoryview]]:
    if len(data) < _HEAD.size:
        raise DamagedSnapshot("a snapshot that is cut short")
    magic, digest, n_head = _HEAD.unpack_from(data)
    body = memoryview(data)[_HEAD.size :]
    if magic != MAGIC or hashlib.sha256(body).digest() != digest:
        raise DamagedSnapshot("a snapshot that is not what was written")
    try:
        header = _Header.model_validate_json(body[:n_head].tobytes())
    except ValidationError:
        raise DamagedSnapshot("a snapshot without a header") from None
    sections, start = {}, n_head
    for name, length in header.sections.items():
        sections[name] = body[start : start + length]
        start += length
    if start != len(body):
        raise DamagedSnapshot("a snapshot whose sections do not fill it")
    return header, sections


def _rebuilt(seq: int, names: _Names, keywords: KeywordIndex, ends: Sequence[int], packed: memoryview) -> TenantIndex:
    starts = [0, *ends][:-1]
    articles = {id: packed[a:b].tobytes() for id, a, b in zip(names.articles, starts, ends, strict=True)}
    cards = dict(zip(names.articles, names.cards, strict=True))
    if sum(map(len, articles.values())) != len(packed) or set(articles) != {id for id in names.slots if id}:
        raise DamagedSnapshot("articles and keywords that are not the same")
    return TenantIndex.restored(seq, keywords, articles, cards)
