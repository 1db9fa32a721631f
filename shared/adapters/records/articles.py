"""Article records: the current article with its vector, immutable snapshots, and the tenant's knowledge version.

Owns the order of writes: snapshot first, then the article and the knowledge version in one batch. A crash in between
leaves a snapshot nobody refers to, never a current article without one, and never a change an index cannot see.
Embeds only what has no vector of its present text. Source: KB-02, KB-04, KB-10, design §6, faults 022, 023, 029.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from shared import wire
from shared.adapters.records.article_coverage import CoverageCount
from shared.adapters.records.article_screen import find_flags
from shared.adapters.records.codec import to_document, to_moment
from shared.domain.article import (
    Article,
    ArticleFlag,
    ArticleInput,
    ArticleStatus,
    content_hash,
    parse_article_ref,
)
from shared.domain.errors import AlreadyExists, IntegrationError, NotFound, VersionConflict
from shared.domain.ids import ArticleId, SourceRef
from shared.domain.text import PublishedText
from shared.ports.articles import ArticlePage, IndexCoverage, KnowledgeHead
from shared.ports.clock import Clock
from shared.ports.documents import (
    Container,
    Create,
    Delete,
    Documents,
    Operation,
    Query,
    Replace,
    Stored,
    TenantScope,
    Where,
)
from shared.ports.models import Embedder, Vector
from shared.retrieval.embedding_text import (
    build_embedding_text,
    embedding_key,
    fit_of,
    text_hash,
)

CAS_ATTEMPTS: Final = 32
"""Times a write is tried against fresh state before it is reported as a conflict. Value ours: all writers of a tenant
move one knowledge version."""
INDEX_PAGE: Final = 500
"""Articles of one page of changes. Value ours: 1 MB at the usual 2 KB an article."""
MAX_PURGED: Final = 1_000
"""Tombstones after which one purge ends: the next goes on. Value ours: seconds, within a timer's time."""
HEAD_ID: Final = "~head"
"""Id of the knowledge version's document; the tilde keeps it apart from every article id."""

_KIND: Final = "article"
_ARTICLE_FIELDS: Final = tuple(Article.model_fields)


@dataclass(frozen=True, slots=True)
class _Row:
    """The article as stored, with what a conditional write needs."""

    article: Article
    etag: str
    vector: NDArray[np.float32] | None


@dataclass(frozen=True, slots=True)
class _Head:
    """The knowledge version as stored; no ETag before the first write."""

    at: KnowledgeHead
    etag: str | None


class ArticleRecords:
    """ArticleReader, ArticleIndexSource, ArticleWriter and PinnedArticles over the document port."""

    def __init__(self, documents: Documents, *, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    # -- reading -----------------------------------------------------------------------------------------------------

    async def get(self, scope: TenantScope, article: ArticleId) -> Article | None:
        """Return the published article, or None when it is absent or deleted."""
        row = await self._row(scope, article)
        return row.article if row is not None and row.article.is_published else None

    async def list(self, scope: TenantScope, *, limit: int = 100, continuation: str | None = None) -> ArticlePage:
        """Return published articles by id, a page at a time."""
        where = (Where("kind", "=", _KIND), Where("status", "=", ArticleStatus.PUBLISHED.value))
        return await self._page(scope, where, "id", limit, continuation)

    async def version(self, scope: TenantScope, ref: SourceRef) -> Article | None:
        """Return the snapshot a reference pins, also long after the article changed or went (KB-10)."""
        if parse_article_ref(ref) is None:
            return None
        stored = await self._documents.read(
            Container.ARTICLE_VERSIONS, scope, scope.tenant_id, ref.removeprefix("article:")
        )
        return None if stored is None else _to_article(stored)

    async def stale_refs(self, scope: TenantScope, refs: Sequence[SourceRef]) -> tuple[SourceRef, ...]:
        """Return the article refs among `refs` whose article has changed or gone since; a malformed one is stale."""
        of_articles = [ref for ref in dict.fromkeys(refs) if ref.startswith("article:")]
        current = await asyncio.gather(*(self._is_current(scope, ref) for ref in of_articles))
        return tuple(ref for ref, is_current in zip(of_articles, current, strict=True) if not is_current)

    async def current_version(self, scope: TenantScope, article: ArticleId) -> int | None:
        """Return the published version, or None."""
        found = await self.get(scope, article)
        return None if found is None else found.version

    async def head(self, scope: TenantScope) -> KnowledgeHead:
        """Return where the tenant's knowledge stands: one point read."""
        return (await self._head(scope)).at

    async def changes(self, scope: TenantScope, after_seq: int, *, continuation: str | None = None) -> ArticlePage:
        """Return articles written after that knowledge version, oldest first, tombstones included, without vectors."""
        where = (Where("kind", "=", _KIND), Where("seq", ">", after_seq))
        return await self._page(scope, where, "seq", INDEX_PAGE, continuation)

    async def nearest(
        self, scope: TenantScope, vector: Vector, *, embedding_key: str, top_k: int
    ) -> tuple[tuple[ArticleId, float], ...]:
        """Return (id, cosine) of the published articles nearest to the vector, best first, of that model only."""
        where = (Where("embedded_model", "=", embedding_key), Where("status", "=", ArticleStatus.PUBLISHED.value))
        found = await self._documents.nearest(
            Container.ARTICLES, scope, scope.tenant_id, vector, top_k=top_k, where=where
        )
        return tuple((ArticleId(id), similarity) for id, similarity in found)

    async def coverage(self, scope: TenantScope, embedding_key: str) -> IndexCoverage:
        """Return how many articles have a vector of that model, stale and missing ones apart (fault 023)."""
        count = CoverageCount(embedding_key)
        continuation: str | None = None
        while True:
            page = await self.list(scope, limit=INDEX_PAGE, continuation=continuation)
            for article in page.items:
                count.add(article)
            continuation = page.continuation
            if continuation is None:
                return count.result()

    async def pending(
        self, scope: TenantScope, embedding_key: str, *, limit: int = 100, before: datetime | None = None
    ) -> tuple[ArticleId, ...]:
        """Return articles without a vector of their present text by that model: those written before, if given."""
        where: tuple[Where, ...] = (
            Where("kind", "=", _KIND),
            Where("status", "=", ArticleStatus.PUBLISHED.value),
            Where("embedded_model", "!=", embedding_key),
        )
        if before is not None:
            where += (Where("updated_at", "<", to_moment(before)),)
        page = await self._documents.query(
            Container.ARTICLES, scope, Query(scope.tenant_id, where, limit=limit, fields=("id",))
        )
        return tuple(ArticleId(str(item.body["id"])) for item in page.items)

    # -- writing -----------------------------------------------------------------------------------------------------

    async def put(self, scope: TenantScope, article: ArticleInput, *, hidden: str = "") -> Article:
        """Publish the article: a new version and its immutable snapshot, or nothing when it says what it said.

        The vector stays while the text it was made of stays; otherwise the article is found by its words until the
        change feed has embedded it. One that holds instructions, `hidden` words included, is stored with its flag.
        Raises: VersionConflict after CAS_ATTEMPTS lost races.
        """
        # Up to 0.2 s of work for the longest article: other requests go on meanwhile.
        flags = await asyncio.to_thread(find_flags, article, hidden=hidden)
        for _ in range(CAS_ATTEMPTS):
            row, head = await asyncio.gather(self._row(scope, article.article_id), self._head(scope))
            given = _published(scope, article, flags, self._clock.now())
            if row is not None and row.article.says_the_same_as(given):
                return row.article
            snapshot = await self._write_snapshot(scope, given, row)
            new, vector = _over(row, snapshot.model_copy(update={"seq": head.at.seq + 1}))
            if await self._commit(scope, new, vector, row, head):
                return new
        raise VersionConflict(f"article {article.article_id!r} is being changed by too many writers")

    async def delete(self, scope: TenantScope, article: ArticleId) -> bool:
        """Take the article out of every answer now; False when it was not published. Snapshots stay for audit.

        What remains is a tombstone without text or vector, from which the change feed and every index learn of it.
        """
        for _ in range(CAS_ATTEMPTS):
            row, head = await asyncio.gather(self._row(scope, article), self._head(scope))
            if row is None or not row.article.is_published:
                return False
            tombstone = Article(
                article_id=article,
                tenant_id=scope.tenant_id,
                version=row.article.version,
                seq=head.at.seq + 1,
                type=row.article.type,
                title=PublishedText(""),
                content=PublishedText(""),
                status=ArticleStatus.DELETED,
                updated_at=self._clock.now(),
            )
            if await self._commit(scope, tombstone, None, row, head):
                return True
        raise VersionConflict(f"article {article!r} is being changed by too many writers")

    async def purge_deleted(self, scope: TenantScope, before: datetime) -> int:
        """Remove the tombstones of articles deleted before the moment, at most MAX_PURGED; return how many.

        Indexes that have not seen them yet are told, by `purged_seq`, to start anew.
        """
        where = (
            Where("kind", "=", _KIND),
            Where("status", "=", ArticleStatus.DELETED.value),
            Where("updated_at", "<", to_moment(before)),
        )
        purged = 0
        while purged < MAX_PURGED:
            page = await self._documents.query(
                Container.ARTICLES, scope, Query(scope.tenant_id, where, order_by="seq", fields=_ARTICLE_FIELDS)
            )
            removed = sum([await self._purge(scope, _to_article(item), item.etag) for item in page.items])
            if not removed:
                break
            purged += removed
        return purged

    async def reembed(self, scope: TenantScope, article: ArticleId, embedder: Embedder) -> bool:
        """Give the article the vector of its present text; False when it has it already or is gone.

        Safe to call for every change the feed delivers, its own writes included: they find nothing to do.
        Raises: Unavailable, RateLimited from the embedder; VersionConflict after CAS_ATTEMPTS lost races.
        """
        key = embedding_key(embedder.model, embedder.dimension)
        made_of, vector = "", None
        for _ in range(CAS_ATTEMPTS):
            row, head = await asyncio.gather(self._row(scope, article), self._head(scope))
            if row is None or not row.article.is_published or _has_vector(row, key):
                return False
            now = row.article
            text = build_embedding_text(now.type, now.title, now.tags, now.content, fit=fit_of(embedder))
            if vector is None or made_of != now.text_hash:
                vector, made_of = (await embedder.embed([text.text]))[0], now.text_hash
                if vector.shape != (embedder.dimension,):
                    raise IntegrationError(f"{embedder.model!r} gave a vector of shape {vector.shape}")
            at = self._clock.now()
            is_first = now.embedded_hash != now.text_hash
            embedded = now.model_copy(
                update={
                    "seq": head.at.seq + 1,
                    "embedded_hash": now.text_hash,
                    "embedded_model": key,
                    "embedded_chars": text.content_chars,
                    "embedded_at": at,
                    # Another model's vector of an old text says nothing of how fast it became searchable.
                    "lag_ms": _ms_between(now.waiting_since, at) if is_first else now.lag_ms,
                }
            )
            if await self._commit(scope, embedded, vector, row, head):
                return True
        raise VersionConflict(f"article {article!r} is being changed by too many writers")

    # -- helpers -----------------------------------------------------------------------------------------------------

    async def _row(self, scope: TenantScope, article: ArticleId) -> _Row | None:
        stored = await self._documents.read(Container.ARTICLES, scope, scope.tenant_id, article)
        if stored is None or stored.body.get("kind") != _KIND:
            return None
        return _Row(_to_article(stored), stored.etag, stored.vector)

    async def _head(self, scope: TenantScope) -> _Head:
        stored = await self._documents.read(Container.ARTICLES, scope, scope.tenant_id, HEAD_ID)
        if stored is None:
            return _Head(KnowledgeHead(), None)
        return _Head(KnowledgeHead(_number(stored.body["at_seq"]), _number(stored.body["purged_seq"])), stored.etag)

    async def _page(
        self, scope: TenantScope, where: tuple[Where, ...], order_by: str, limit: int, continuation: str | None
    ) -> ArticlePage:
        page = await self._documents.query(
            Container.ARTICLES,
            scope,
            Query(
                scope.tenant_id,
                where,
                order_by=order_by,
                limit=limit,
                continuation=continuation,
                fields=_ARTICLE_FIELDS,
            ),
        )
        return ArticlePage(tuple(_to_article(item) for item in page.items), page.continuation)

    async def _is_current(self, scope: TenantScope, ref: SourceRef) -> bool:
        pinned = parse_article_ref(ref)
        return pinned is not None and await self.current_version(scope, pinned[0]) == pinned[1]

    async def _write_snapshot(self, scope: TenantScope, given: Article, row: _Row | None) -> Article:
        """Return the article at its version, whose snapshot is new or was left behind by an interrupted attempt."""
        last = row.article.version if row is not None else await self._last_version(scope, given.article_id)
        version = last + 1
        while True:
            snapshot = given.model_copy(update={"version": version})
            try:
                await self._documents.create(
                    Container.ARTICLE_VERSIONS, scope, scope.tenant_id, _to_snapshot_document(snapshot)
                )
            except AlreadyExists:
                existing = await self.version(scope, snapshot.ref)
                if existing is None or not existing.says_the_same_as(given):
                    version += 1
                    continue
            return snapshot

    async def _last_version(self, scope: TenantScope, article: ArticleId) -> int:
        """Return the newest snapshot's version of an article that has no current document, or 0."""
        where = (Where("kind", "=", "article_version"), Where("article_id", "=", article))
        page = await self._documents.query(
            Container.ARTICLE_VERSIONS,
            scope,
            Query(scope.tenant_id, where, order_by="version", is_descending=True, limit=1, fields=("version",)),
        )
        return _number(page.items[0].body["version"]) if page.items else 0

    async def _commit(
        self, scope: TenantScope, article: Article, vector: NDArray[np.float32] | None, row: _Row | None, head: _Head
    ) -> bool:
        """Write the article and the knowledge version together; False when somebody else was faster."""
        document = _to_document(article)
        write = Create(document, vector=vector) if row is None else Replace(document, row.etag, vector=vector)
        moved = _move_head(scope, head, KnowledgeHead(article.seq, head.at.purged_seq))
        return await self._try_batch(scope, (write, moved))

    async def _purge(self, scope: TenantScope, tombstone: Article, etag: str) -> bool:
        for _ in range(CAS_ATTEMPTS):
            head = await self._head(scope)
            moved = KnowledgeHead(head.at.seq, max(head.at.purged_seq, tombstone.seq))
            if await self._try_batch(scope, (Delete(tombstone.article_id, etag), _move_head(scope, head, moved))):
                return True
            row = await self._row(scope, tombstone.article_id)
            if row is None or row.etag != etag:
                return False
        return False

    async def _try_batch(self, scope: TenantScope, operations: tuple[Operation, ...]) -> bool:
        try:
            await self._documents.batch(Container.ARTICLES, scope, scope.tenant_id, operations)
        except (VersionConflict, AlreadyExists, NotFound):
            return False
        return True


def _published(scope: TenantScope, article: ArticleInput, flags: tuple[ArticleFlag, ...], now: datetime) -> Article:
    return Article(
        article_id=article.article_id,
        tenant_id=scope.tenant_id,
        version=1,
        type=article.type,
        title=article.title,
        content=article.content,
        tags=article.tags,
        attributes=article.attributes,
        language=article.language,
        flags=flags,
        content_hash=content_hash(article.title, article.content),
        text_hash=text_hash(article.type, article.title, article.tags, article.content),
        updated_at=now,
    )


def _over(row: _Row | None, new: Article) -> tuple[Article, NDArray[np.float32] | None]:
    """Return the article as it replaces the row's, with the vector that is still true of it."""
    if row is None:
        return new, None
    old = row.article
    if old.text_hash == new.text_hash:
        new = new.model_copy(update={"text_at": old.waiting_since})
    if not old.embedded_hash:
        return new, None
    new = new.model_copy(update={"embedded_hash": old.embedded_hash})
    if row.vector is None or old.embedded_hash != new.text_hash:
        return new, None
    kept = ("embedded_model", "embedded_chars", "embedded_at", "lag_ms")
    return new.model_copy(update={name: getattr(old, name) for name in kept}), row.vector


def _has_vector(row: _Row, key: str) -> bool:
    return (
        row.vector is not None
        and row.article.embedded_model == key
        and row.article.embedded_hash == row.article.text_hash
    )


def _move_head(scope: TenantScope, head: _Head, to: KnowledgeHead) -> Operation:
    document: dict[str, JsonValue] = {
        "id": HEAD_ID,
        "tenant_id": scope.tenant_id,
        "kind": "knowledge_head",
        "at_seq": to.seq,
        "purged_seq": to.purged_seq,
    }
    return Create(document) if head.etag is None else Replace(document, head.etag)


def _to_document(article: Article) -> dict[str, JsonValue]:
    return {"id": article.article_id, "kind": _KIND, **to_document(article)}


def _to_snapshot_document(article: Article) -> dict[str, JsonValue]:
    return {**_to_document(article), "id": article.ref.removeprefix("article:"), "kind": "article_version"}


def _to_article(stored: Stored) -> Article:
    return wire.decode(Article, {name: stored.body[name] for name in _ARTICLE_FIELDS if name in stored.body})


def _ms_between(start: datetime, end: datetime) -> int:
    return max(0, round((end - start).total_seconds() * 1000))


def _number(value: JsonValue) -> int:
    if not isinstance(value, int):
        raise IntegrationError("a stored version is not a number")
    return value
