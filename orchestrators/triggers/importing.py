"""Import of many articles in one call: JSONL, CSV, or a Shopify product export.

Every record stands alone: one that cannot be used is reported with its line and why, the others go in. Sending the same
file again changes nothing that is already there, so a broken-off import is repeated, not repaired.
Source: KB-01, KB-04, design §7.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Final

from orchestrators.triggers.contract import Call
from orchestrators.triggers.knowledge_models import ImportedRecord, ImportOutcome, ImportReport
from orchestrators.triggers.problems import Problem, ProblemKind
from orchestrators.triggers.responses import Answer, json_answer
from shared.domain.errors import SchemaError, StalenessError
from shared.retrieval.import_articles import CSV_MEDIA, JSONL_MEDIA, Prepared, Refused, UnusableFile, read_articles
from shared.retrieval.shopify_table import Withdrawn

MEDIA_TYPES: Final = (JSONL_MEDIA, CSV_MEDIA)
MAX_RECORDS: Final = 500
"""Most records of one call, so that it ends well inside the host's limit of 230 s. Value ours (40 ms a record)."""


async def import_articles(call: Call) -> Answer:
    """Publish every usable record of the body and report on the others."""
    records = await asyncio.to_thread(_records, call)
    done = [await _import_one(call, record) for record in records]
    counts = Counter(record.outcome for record in done)
    return json_answer(
        ImportReport(
            created=counts[ImportOutcome.CREATED],
            updated=counts[ImportOutcome.UPDATED],
            unchanged=counts[ImportOutcome.UNCHANGED],
            withdrawn=counts[ImportOutcome.WITHDRAWN],
            skipped=counts[ImportOutcome.SKIPPED],
            flagged=sum(bool(record.flags) for record in done),
            records=tuple(r for r in done if r.reasons or r.flags or r.outcome is ImportOutcome.SKIPPED),
        )
    )


def _records(call: Call) -> list[Prepared | Refused | Withdrawn]:
    """Return the body's records. Raises: Problem (413, 422) for a body that as a whole is none."""
    is_csv = call.headers.get("content-type", "").strip().lower().startswith(CSV_MEDIA)
    try:
        text = call.raw_body.decode("utf-8")
        found = list(_at_most(MAX_RECORDS, read_articles(text, is_csv=is_csv, currency=call.policy.currency)))
    except UnicodeDecodeError:
        raise Problem(ProblemKind.INVALID_REQUEST, "The body is not valid UTF-8.") from None
    except UnusableFile as error:
        raise Problem(ProblemKind.INVALID_REQUEST, f"The file cannot be imported: {error}.") from None
    return found


def _at_most(n: int, records: Iterator[Prepared | Refused | Withdrawn]) -> Iterator[Prepared | Refused | Withdrawn]:
    for count, record in enumerate(records):
        if count == n:
            raise Problem(ProblemKind.TOO_LARGE, f"At most {n} records are read; send the file in parts.")
        yield record


async def _import_one(call: Call, record: Prepared | Refused | Withdrawn) -> ImportedRecord:
    match record:
        case Refused():
            return _skipped(record.line, record.article_id, record.reason)
        case Withdrawn():
            await call.services.articles.delete(call.tenant, record.article_id)
            return ImportedRecord(
                line=record.line,
                article_id=record.article_id,
                outcome=ImportOutcome.WITHDRAWN,
                reasons=(f"the product is not for sale ({record.status})",),
            )
        case Prepared():
            return await _publish(call, record)


async def _publish(call: Call, record: Prepared) -> ImportedRecord:
    articles, id = call.services.articles, record.article.article_id
    try:
        before = await articles.current_version(call.tenant, id)
        article = await articles.put(call.tenant, record.article, hidden=record.hidden)
    except StalenessError:
        return _skipped(record.line, id, "is being changed by somebody else; import it again")
    except SchemaError:
        return _skipped(record.line, id, "cannot be stored")
    outcome = ImportOutcome.UNCHANGED if before == article.version else ImportOutcome.UPDATED
    return ImportedRecord(
        line=record.line,
        article_id=id,
        outcome=ImportOutcome.CREATED if before is None else outcome,
        reasons=record.notes,
        flags=article.flags,
    )


def _skipped(line: int, article_id: str, reason: str) -> ImportedRecord:
    return ImportedRecord(line=line, article_id=article_id or None, outcome=ImportOutcome.SKIPPED, reasons=(reason,))
