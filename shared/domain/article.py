"""An article: what the merchant published, at one version, with what its vector was made of.

Owns the shape and its limits; which version is current, and when a vector is out of date, is decided by the records.
Source: KB-01, KB-04, KB-10, faults 023, 029.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

from pydantic import Field, field_validator

from shared.domain.ids import ID_PATTERN, ArticleId, SourceRef, TenantId, article_ref, digest, is_id
from shared.domain.intents import ArticleType
from shared.domain.read_only import FrozenMap, ReadOnlyMap
from shared.domain.text import PublishedText
from shared.domain.wire_model import Wire

MAX_TITLE_CHARS: Final = 300
"""Longest title. Unit: characters. Source: value ours (Shopify product titles: 255)."""
MAX_CONTENT_CHARS: Final = 100_000
"""Longest content; only the first 8,000 reach the vector (KB-03). Unit: characters. Source: value ours."""
MAX_TAGS: Final = 250
"""Most tags. Source: Shopify's limit of tags on one product."""
MAX_TAG_CHARS: Final = 255
"""Longest tag. Unit: characters. Source: Shopify's limit."""
MAX_ATTRIBUTES: Final = 200
"""Most attributes. Source: value ours (100 variants' SKUs fit into one value)."""
MAX_ATTRIBUTE_CHARS: Final = 4_000
"""Longest attribute value. Unit: characters. Source: value ours."""


class ArticleStatus(StrEnum):
    """Whether the article stands."""

    PUBLISHED = "published"
    """Current, and unless flagged it answers questions."""
    DELETED = "deleted"
    """A tombstone without text: it tells every index to forget the article, then goes."""


class ArticleFlag(StrEnum):
    """Why an article is stored but answers nobody."""

    INSTRUCTIONS = "instructions"
    """It speaks to the assistant: nothing in it can be told from what its author wants done (design §9)."""


class ArticleInput(Wire):
    """What a merchant or a catalog sync hands in."""

    article_id: ArticleId
    type: ArticleType
    title: PublishedText
    content: PublishedText
    tags: tuple[str, ...] = Field(default=(), max_length=MAX_TAGS)
    attributes: ReadOnlyMap[str, str] = Field(default_factory=FrozenMap, max_length=MAX_ATTRIBUTES)
    """Typed facts: price, sku, barcode, availability and the like."""
    language: str = Field(default="", max_length=35)
    """BCP 47 tag; empty when nobody said."""

    @field_validator("article_id")
    @classmethod
    def _is_an_id(cls, value: ArticleId) -> ArticleId:
        if not is_id(value):
            raise ValueError(f"an article id must match {ID_PATTERN}")
        return value

    @field_validator("title")
    @classmethod
    def _has_a_title(cls, value: PublishedText) -> PublishedText:
        if not value.value.strip() or len(value.value) > MAX_TITLE_CHARS:
            raise ValueError(f"a title has 1 to {MAX_TITLE_CHARS} characters")
        return value

    @field_validator("content")
    @classmethod
    def _is_not_too_long(cls, value: PublishedText) -> PublishedText:
        if len(value.value) > MAX_CONTENT_CHARS:
            raise ValueError(f"content has at most {MAX_CONTENT_CHARS} characters")
        return value

    @field_validator("tags")
    @classmethod
    def _tags_are_short(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(not tag.strip() or len(tag) > MAX_TAG_CHARS for tag in value):
            raise ValueError(f"a tag has 1 to {MAX_TAG_CHARS} characters")
        return value

    @field_validator("attributes")
    @classmethod
    def _attributes_are_short(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        if any(not key.strip() or len(key) > MAX_TAG_CHARS or len(v) > MAX_ATTRIBUTE_CHARS for key, v in value.items()):
            raise ValueError(f"an attribute has a name and at most {MAX_ATTRIBUTE_CHARS} characters")
        return value


class Article(Wire):
    """One version of an article as stored; the current one, or a snapshot of an earlier one."""

    article_id: ArticleId
    tenant_id: TenantId
    version: int = Field(ge=1)
    seq: int = Field(default=0, ge=0)
    """The tenant's knowledge version this was last written at; an index asks for everything above its own."""
    type: ArticleType
    title: PublishedText
    content: PublishedText
    tags: tuple[str, ...] = ()
    attributes: ReadOnlyMap[str, str] = Field(default_factory=FrozenMap)
    language: str = ""
    status: ArticleStatus = ArticleStatus.PUBLISHED
    flags: tuple[ArticleFlag, ...] = ()
    """Found when this version was published; no search gives a flagged article."""
    content_hash: str = ""
    """SHA-256 of title and content (KB-04)."""
    text_hash: str = ""
    """SHA-256 of the text a vector of this version is made of: label, title, tags, content."""
    embedded_hash: str = ""
    """`text_hash` the last vector was made of; empty before the first one."""
    embedded_model: str = ""
    """Model and dimension of the vector on this document; empty while it has none."""
    embedded_chars: int | None = None
    """Characters of the content the vector knows; None when it knows all (fault 029)."""
    embedded_at: datetime | None = None
    lag_ms: int | None = Field(default=None, ge=0)
    """Time from the present text's publication to its first vector; None before it (KB-13)."""
    text_at: datetime | None = None
    """When the present text was first published; a price may have changed since. None: at `updated_at`."""
    updated_at: datetime

    @property
    def ref(self) -> SourceRef:
        """The reference that pins this version."""
        return article_ref(self.article_id, self.version)

    @property
    def is_published(self) -> bool:
        """Tell whether the article stands: it was not deleted."""
        return self.status is ArticleStatus.PUBLISHED

    @property
    def may_answer(self) -> bool:
        """Tell whether a reply may rest on the article."""
        return self.is_published and not self.flags

    @property
    def waiting_since(self) -> datetime:
        """Since when a vector of the present text is due."""
        return self.text_at or self.updated_at

    def says_the_same_as(self, other: "Article") -> bool:
        """Tell whether publishing the other over this one would change nothing a reader or an index can see."""
        return self.is_published and all(getattr(self, name) == getattr(other, name) for name in _PUBLISHED_FIELDS)


_PUBLISHED_FIELDS: Final = ("type", "title", "content", "tags", "attributes", "language", "flags")


def content_hash(title: PublishedText, content: PublishedText) -> str:
    """Return the SHA-256 that tells whether title or content changed (KB-04)."""
    return digest(title.value, content.value)


def parse_article_ref(ref: SourceRef) -> tuple[ArticleId, int] | None:
    """Return article id and version of an article reference; None for any other or malformed reference."""
    kind, colon, rest = ref.partition(":")
    id, at, version = rest.rpartition("@")
    if kind != "article" or not colon or not at or not version.isascii() or not version.isdigit():
        return None
    return ArticleId(id), int(version)
