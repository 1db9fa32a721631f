"""`python -m local import catalog.csv`: a file of articles into a running product, part by part.

Talks HTTP with the admin key like any client would. After each part it notes where it stands, so that whatever stops it
(a key press, a crash, an answer that is none) costs at most the part under way, which may be sent again without harm.
Source: KB-01, design §7 (POST /v1/articles/import).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TextIO

from local.client import CallFailed, Door, Json, NoAnswer, as_list, call, find_tenant, in_words, is_object, read_demo
from local.data_dir import default_data_dir
from local.import_file import BadFile, Finding, ImportFile, Part, open_file
from local.import_mark import Mark, Report
from local.import_progress import Progress
from shared.retrieval.import_articles import ImportFormat

NAME: Final = "import"
"""The subcommand."""
HELP: Final = "publish a file of articles: JSONL, CSV or a Shopify product export"
"""Its line in the help."""
KEY_VARIABLE: Final = "VOUCH_ADMIN_KEY"
"""Environment variable with the admin key of a product other than the demo; a command line shows in process lists."""
PATH: Final = "/api/v1/articles/import"
TRIES: Final = 6
"""Times one part is sent before the import stops. Value ours: about a minute of an outage."""
FIRST_WAIT_S: Final = 1.0
"""Wait before the second try; doubled each time. Unit: seconds. Value ours."""
LONGEST_WAIT_S: Final = 60.0
"""Longest wait the product may ask for. Unit: seconds. Value ours."""
OUTCOMES: Final = ("created", "updated", "unchanged", "withdrawn", "skipped")

_LATER: Final = frozenset({409, 429, 500, 502, 503, 504})
_TOO_LARGE: Final = 413

_EPILOG: Final = """\
formats (guessed from the file's ending and header; --format says it):
  jsonl        one article a line: {"id": …, "type": "product|faq|policy", "title": …, "content": …,
               "tags": […], "attributes": {…}, "language": …}
  csv          header id,type,title,content and optionally tags,language,attr:NAME…
  shopify-csv  the product export of Shopify's admin; rows of one handle become one article

A row that cannot be used is skipped, reported with its line, and stops nothing. Articles that are there already and say
the same stay as they are, so an import may be repeated at any time. A product that is no longer for sale is withdrawn.
Exit code: 0 when the whole file was read, 1 when the import stopped; then go on with --resume.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.description = "Publish a file of articles into the running product; `python -m local serve` starts it."
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", type=Path, metavar="FILE", help="the file to import")
    parser.add_argument("--format", choices=[f.value for f in ImportFormat], help="what the file is (guessed)")
    parser.add_argument("--resume", action="store_true", help="go on where the last import of this file stopped")
    parser.add_argument("--report", type=Path, metavar="PATH", help="where skipped rows are written (in the data dir)")
    parser.add_argument("--encoding", default="utf-8", metavar="NAME", help="encoding of the file (utf-8)")
    parser.add_argument("--tenant", metavar="TENANT", help="tenant id (the first demo shop)")
    parser.add_argument(
        "--data", type=Path, default=default_data_dir(), metavar="DIR", help="data directory (VOUCH_DATA_DIR or .local)"
    )
    parser.add_argument("--url", help=f"address of another product (as in demo.json); its admin key in {KEY_VARIABLE}")


def run(arguments: argparse.Namespace) -> int:
    """Import, report, and return the exit code."""
    try:
        format = None if arguments.format is None else ImportFormat(arguments.format)
        file = open_file(arguments.file, format, arguments.encoding)
        door, target = _door(arguments)
        mark = Mark.of(file, arguments.data, target)
        if arguments.resume and not mark.load():
            print("vouch import: there is nothing to resume; starting at the first line", file=sys.stderr)
        report = Report(arguments.report or mark.report)
    except (BadFile, CallFailed) as error:
        print(f"vouch import: {error}", file=sys.stderr)
        return 1
    return import_file(file, door, mark, report)


def import_file(
    file: ImportFile,
    door: Door,
    mark: Mark,
    report: Report,
    *,
    pause: Callable[[float], None] = time.sleep,
    errors: TextIO = sys.stderr,
) -> int:
    """Send the file from the mark on; return the exit code."""
    progress = Progress(file.path.name, file.n_lines, errors)
    try:
        report.begin(kept_before=mark.next_line)
        for part in file.parts(from_line=mark.next_line):
            for _ in _sent(part, file, door, mark, report, pause):
                progress.show(mark.next_line, mark.counts)
        mark.remove()
    except KeyboardInterrupt:
        return _stopped(progress, "interrupted", mark, errors)
    except (BadFile, CallFailed) as error:
        return _stopped(progress, str(error), mark, errors)
    progress.end()
    print(_summary(mark, report))
    return 0


def _stopped(progress: Progress, why: str, mark: Mark, errors: TextIO) -> int:
    progress.end()
    print(f"vouch import: {why}", file=errors)
    print(f"vouch import: stopped at line {mark.next_line}; go on with --resume", file=errors)
    return 1


def _sent(
    part: Part, file: ImportFile, door: Door, mark: Mark, report: Report, pause: Callable[[float], None]
) -> Iterator[None]:
    """Send the part, in halves where it is too large; note each piece that is in and yield."""
    findings = list(part.unreadable)
    if part.units:
        answer = _posted(part, file, door, pause)
        if answer is None and len(part.units) > 1:
            for half in part.halves():
                yield from _sent(half, file, door, mark, report, pause)
            return
        findings += [_too_large(part)] if answer is None else _findings(part, answer)
        mark.counts.update(
            {name: _count(answer, name) for name in (*OUTCOMES, "flagged")} if answer else {"skipped": 1}
        )
        mark.next_line = part.next_line
    mark.counts["skipped"] += len(part.unreadable)
    report.add(sorted(findings, key=lambda finding: finding.line))
    mark.save()
    yield


def _posted(part: Part, file: ImportFile, door: Door, pause: Callable[[float], None]) -> Json | None:
    """Return the product's report of the part; None when the part is too large for it. Raises: CallFailed."""
    wait_s = FIRST_WAIT_S
    for attempt in range(1, TRIES + 1):
        try:
            answer = call(door, "POST", PATH, {"Content-Type": f"{file.format.media_type}; charset=utf-8"}, part.body())
            if answer.status == _TOO_LARGE:
                return None
            if answer.status == 200:
                return _checked(answer.body, len(part.units))
            failure, asked_s = CallFailed(in_words(answer)), answer.retry_after_s
            if answer.status not in _LATER:
                raise failure
        except NoAnswer as error:
            failure, asked_s = error, None
        if attempt == TRIES:
            raise failure
        pause(min(max(wait_s, asked_s or 0.0), LONGEST_WAIT_S))
        wait_s *= 2
    raise AssertionError("a part is sent at least once")


def _checked(report: Json, n_units: int) -> Json:
    """Return the report if it accounts for every record sent. Raises: NoAnswer."""
    if sum(_count(report, name) for name in OUTCOMES) < n_units:
        raise NoAnswer("the answer does not account for every record; is this the product's address?")
    return report


def _count(report: Json, name: str) -> int:
    value = report.get(name)
    return value if isinstance(value, int) else 0


def _findings(part: Part, report: Json) -> Iterator[Finding]:
    lines = part.lines()
    for record in as_list(report.get("records")):
        if is_object(record):
            at = record.get("line")
            flags = [f"flagged: {flag}" for flag in as_list(record.get("flags"))]
            reason = "; ".join(map(str, [*as_list(record.get("reasons")), *flags]))
            line = lines.get(at, 0) if isinstance(at, int) else 0
            yield Finding(line, str(record.get("article_id") or ""), str(record.get("outcome")), reason)


def _too_large(part: Part) -> Finding:
    return Finding(part.units[0][0].line, "", "skipped", "is too large for one call")


def _summary(mark: Mark, report: Report) -> str:
    said = ", ".join(f"{mark.counts[name]} {name}" for name in OUTCOMES)
    lines = [f"imported: {said}"]
    if mark.counts["flagged"]:
        lines.append(
            f"{mark.counts['flagged']} of these speak to the assistant and answer nobody until they are changed"
        )
    if mark.counts["skipped"] or mark.counts["flagged"] or mark.counts["withdrawn"]:
        lines.append(f"what was skipped and why: {report.path}")
    return "\n".join(lines)


def _door(arguments: argparse.Namespace) -> tuple[Door, str]:
    """Return address and admin key, and a name for both that is no secret. Raises: CallFailed."""
    key = os.environ.get(KEY_VARIABLE)
    if key and arguments.url:
        return Door(arguments.url, {"X-Api-Key": key}), f"{arguments.url} {arguments.tenant or ''}"
    demo = read_demo(arguments.data)
    tenant, keys = find_tenant(demo, arguments.tenant)
    url = arguments.url or str(demo.get("url", ""))
    return Door(url, {"X-Api-Key": str(keys.get("admin"))}), f"{url} {tenant.get('tenant_id')}"
