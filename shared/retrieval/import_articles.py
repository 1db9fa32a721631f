"""Records of an import file as articles: JSONL lines and rows of a plain CSV table.

Owns the columns and what makes a record unusable; says why in words that never quote it. Pure.
Source: KB-01, design §7 (POST /v1/articles/import).
"""

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from shared.domain.article import ArticleInput
from shared.domain.ids import ArticleId, is_id
from shared.domain.intents import ArticleType
from shared.domain.text import PublishedText
from shared.retrieval.html_text import is_html, plain_line, read_html
from shared.retrieval.import_records import Record, Table, read_jsonl, read_table, to_lines
from shared.retrieval.shopify_table import Withdrawn, is_shopify, read_products

ATTRIBUTE_PREFIX: Final = "attr:"
"""Begins the name of a column that is one attribute of the article. Value ours."""
JSONL_MEDIA: Final = "application/x-ndjson"
CSV_MEDIA: Final = "text/csv"
RESERVED_IDS: Final = frozenset({"import"})
"""Ids whose path is a call of its own. Source: design §7."""
MAX_REASON_CHARS: Final = 200
"""Longest reason given for one record. Unit: characters. Value ours."""
_REQUIRED: Final = frozenset({"id", "type", "title", "content"})
_COLUMNS: Final = _REQUIRED | {"tags", "language"}


class ImportFormat(StrEnum):
    """What an import file is."""

    JSONL = "jsonl"
    CSV = "csv"
    SHOPIFY_CSV = "shopify-csv"

    @property
    def media_type(self) -> str:
        """Its content type on the wire; the header tells one table from the other."""
        return JSONL_MEDIA if self is ImportFormat.JSONL else CSV_MEDIA


class UnusableFile(ValueError):
    """The file as a whole cannot be imported; the message says why and names no content."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """An article ready to be published."""

    line: int
    article: ArticleInput
    hidden: str = ""
    notes: tuple[str, ...] = ()
    """What of the record did not make it into the article."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A record that becomes no article."""

    line: int
    reason: str
    article_id: str = ""
    """Where the record has a well-formed one."""


class _Line(BaseModel):
    """One line of JSONL."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: str
    type: Annotated[ArticleType, Field(strict=False)]
    title: str
    content: str
    tags: Annotated[tuple[str, ...], Field(strict=False)] = ()
    attributes: dict[str, str] = Field(default_factory=dict)
    language: Annotated[str, StringConstraints(pattern=r"^([A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3})?$")] = ""


def read_articles(text: str, *, is_csv: bool, currency: str) -> Iterator[Prepared | Refused | Withdrawn]:
    """Yield what each record of the file comes to, in the file's order.

    A CSV file with the columns of a Shopify product export is read as one; `currency` is that of its prices.
    Raises: UnusableFile at once when the header is missing or not understood.
    """
    lines = to_lines(text)
    if not is_csv:
        return (_from_line(record) for record in read_jsonl(lines))
    table = read_table(lines)
    if table is None:
        raise UnusableFile("the file has no header row")
    if is_shopify(table.header.cells):
        return _from_products(table, currency)
    columns = _columns(table.header.cells)
    return (_from_row(record, columns) for record in table.rows)


def _from_line(record: Record) -> Prepared | Refused:
    try:
        value = json.loads(record.text)
    except (ValueError, RecursionError):
        return Refused(record.line, "is not a line of JSON")
    if not isinstance(value, dict):
        return Refused(record.line, "is not a JSON object")
    return _prepared(record.line, value)


def _columns(header: Sequence[str]) -> tuple[str, ...]:
    """Return the columns' names. Raises: UnusableFile naming the column that is missing, unknown or there twice."""
    names = tuple(plain_line(cell) for cell in header)
    known = tuple(name if name.startswith(ATTRIBUTE_PREFIX) else name.lower() for name in names)
    if missing := sorted(_REQUIRED - set(known)):
        raise UnusableFile(f"the header lacks {', '.join(missing)}; it needs id, type, title and content")
    for position, name in enumerate(known, start=1):
        is_attribute = name.startswith(ATTRIBUTE_PREFIX) and len(name) > len(ATTRIBUTE_PREFIX)
        if name not in _COLUMNS and not is_attribute:
            raise UnusableFile(f"column {position} is not known; a column of attributes is called attr:NAME")
        if known.index(name) != position - 1:
            raise UnusableFile(f"column {position} stands there twice")
    return known


def _from_row(record: Record, columns: Sequence[str]) -> Prepared | Refused:
    if record.error:
        return Refused(record.line, record.error)
    cells = dict(zip(columns, record.cells, strict=True))
    tags = cells.pop("tags", "")
    attributes = {
        name.removeprefix(ATTRIBUTE_PREFIX): value
        for name, value in cells.items()
        if name.startswith(ATTRIBUTE_PREFIX) and value.strip()
    }
    fields: dict[str, object] = {name: cells[name] for name in _COLUMNS & set(cells)}
    fields["type"] = cells["type"].strip().lower()
    fields["id"] = cells["id"].strip()
    fields["language"] = cells.get("language", "").strip()
    fields["tags"] = tags.split("|" if "|" in tags else ",")
    return _prepared(record.line, {**fields, "attributes": attributes})


def _prepared(line: int, fields: Mapping[str, object]) -> Prepared | Refused:
    given_id = fields.get("id")
    id = given_id if isinstance(given_id, str) and is_id(given_id) else ""
    if id in RESERVED_IDS:
        return Refused(line, "the id is reserved")
    try:
        read = _Line.model_validate(fields)
        page = read_html(read.content) if is_html(read.content) else None
        article = ArticleInput(
            article_id=ArticleId(read.id),
            type=read.type,
            title=PublishedText(plain_line(read.title)),
            content=PublishedText(page.text if page else _checked(read.content)),
            tags=tuple(dict.fromkeys(filter(None, map(plain_line, read.tags)))),
            attributes={plain_line(name): plain_line(value) for name, value in read.attributes.items()},
            language=read.language,
        )
    except ValidationError as error:
        return Refused(line, _reason(error), id)
    except ValueError as error:
        return Refused(line, str(error), id)
    notes = ("the end of the content was cut",) if page and page.is_cut else ()
    return Prepared(line, article, page.hidden if page else "", notes)


def _checked(content: str) -> str:
    """Return the content with one kind of line end. Raises: ValueError for what no store or page can hold."""
    text = content.replace("\r\n", "\n").replace("\r", "\n")
    if any(c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cs") for c in text):
        raise ValueError("the content holds a control character")
    return text


def _reason(error: ValidationError) -> str:
    """Return which fields are wrong and how, without their values."""
    wrong = error.errors(include_input=False, include_url=False, include_context=False)
    said = (f"{'.'.join(map(str, e['loc'][:1])) or 'record'}: {e['msg'].removeprefix('Value error, ')}" for e in wrong)
    return "; ".join(dict.fromkeys(said))[:MAX_REASON_CHARS]


def _from_products(table: Table, currency: str) -> Iterator[Prepared | Refused | Withdrawn]:
    for made in read_products(table, currency):
        match made:
            case Record():
                yield Refused(made.line, made.error)
            case Withdrawn():
                yield made
            case _:
                line, product = made
                yield Prepared(
                    line, product.article, product.hidden, tuple(f"left out: {note}" for note in product.cut)
                )
