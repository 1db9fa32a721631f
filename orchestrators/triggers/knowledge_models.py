"""Requests and responses about knowledge: articles, search, and agents called alone.

Source: KB-01, KB-05, KB-13, PR-05, design §7.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from orchestrators.triggers.models import Language, Line, Request, Shown, Text, clean_line_ends, one_line
from shared.domain.article import MAX_ATTRIBUTES, MAX_CONTENT_CHARS, MAX_TAGS, MAX_TITLE_CHARS, ArticleFlag
from shared.domain.deltas import Snapshot
from shared.domain.drafts import Draft
from shared.domain.intents import ArticleType, CustomerIntent
from shared.domain.read_only import ReadOnlyMap
from shared.domain.sources import RetrievalPath

MAX_TOP_K: Final = 20
"""Most search results. Source: KB-07."""
DEFAULT_TOP_K: Final = 5
"""Search results unless asked otherwise. Source: KB-07."""


class ArticleIn(Request):
    """What an article says; its id is in the path."""

    type: ArticleType
    title: Annotated[str, AfterValidator(one_line)] = Field(min_length=1, max_length=MAX_TITLE_CHARS)
    content: Annotated[str, AfterValidator(clean_line_ends)] = Field(max_length=MAX_CONTENT_CHARS)
    tags: tuple[Line, ...] = Field(default=(), max_length=MAX_TAGS)
    attributes: dict[Line, Line] = Field(default_factory=dict, max_length=MAX_ATTRIBUTES)
    language: Language | None = None


class ArticleShown(Shown):
    """A published article."""

    article_id: str
    ref: str
    version: int
    type: str
    title: str
    content: str
    tags: tuple[str, ...]
    attributes: ReadOnlyMap[str, str]
    language: str
    is_searchable_by_meaning: bool
    """Its vector was made of its present text."""
    embedded_chars: int | None
    """Characters of the content the vector knows; null when it knows all."""
    flags: tuple[ArticleFlag, ...]
    """Why it answers nobody; empty when it may answer."""
    updated_at: datetime


class ArticleList(Shown):
    """A page of articles."""

    articles: tuple[ArticleShown, ...]
    continuation: str | None


class ImportOutcome(StrEnum):
    """What became of one record of an import."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    WITHDRAWN = "withdrawn"
    """A product that is not for sale: its article, if there was one, is gone."""
    SKIPPED = "skipped"


class ImportedRecord(Shown):
    """One record there is something to say about."""

    line: int
    """Its first line in the body, from 1."""
    article_id: str | None
    outcome: ImportOutcome
    reasons: tuple[str, ...]
    """Why it was skipped, or what of it was left out."""
    flags: tuple[ArticleFlag, ...] = ()
    """Why the article is stored but answers nobody."""


class ImportReport(Shown):
    """What an import came to; records that went in whole and unflagged are only counted."""

    created: int
    updated: int
    unchanged: int
    withdrawn: int
    skipped: int
    flagged: int
    """Articles of those stored that answer nobody."""
    records: tuple[ImportedRecord, ...]


class CoverageShown(Shown):
    """How much of the tenant's knowledge search by meaning can see, and how fast it gets there."""

    model: str
    """Embedding model and dimension in force."""
    published: int
    current: int
    """Articles whose vector was made of their present text by this model."""
    stale: int
    """Articles with a vector of an older text or another model; it is not searched."""
    missing: int
    """Articles never embedded."""
    flagged: int
    """Articles that answer nobody."""
    waiting_s: float
    """How long the oldest text without its vector waits; 0 when none does."""
    lag_p50_ms: int | None
    """Median time from publishing a text to its vector; null before the first."""
    lag_p95_ms: int | None


class FailedEmbedding(Shown):
    """An article that could not be embedded again."""

    article_id: str
    error: str
    """Kind of the error."""
    attempts: int
    """Failed attempts so far."""


class ReplayReport(Shown):
    """What became of the articles the change feed had given up on; repeat it while it embeds any."""

    embedded: tuple[str, ...]
    """Ids whose vector is of their present text again, or that are gone."""
    failed: tuple[FailedEmbedding, ...]


class SearchIn(Request):
    """A search over the tenant's published articles."""

    query: Text
    intent: CustomerIntent | None = None
    top_k: int = Field(default=DEFAULT_TOP_K, ge=1, le=MAX_TOP_K)


class SearchHit(Shown):
    """One result."""

    ref: str
    title: str
    relevance: float
    strong: bool


class SearchShown(Shown):
    """Search results, the rung that served, and how sure retrieval is of them."""

    results: tuple[SearchHit, ...]
    confidence: float
    path: RetrievalPath
    cache: str


class AgentIn(Request):
    """A pipeline message for one agent alone; `draft` is what the supervisor is to review."""

    snapshot: Snapshot
    draft: Draft | None = None


class AgentShown(Shown):
    """The agent's delta."""

    agent: str
    delta: dict[str, object]
    took_ms: int
