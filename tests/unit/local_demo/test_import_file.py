"""A file cut into parts, and where an interrupted import goes on. Source: KB-01."""

import io
from collections import Counter
from pathlib import Path

import pytest

from local.import_file import PART_RECORDS, BadFile, Finding, ImportFile, open_file
from local.import_mark import Mark, Report
from local.import_progress import Progress
from shared.retrieval.import_articles import ImportFormat

SHOPIFY = "Handle,Title,Body (HTML),Option1 Name,Option1 Value,Variant Price"


def _file(tmp_path: Path, content: str | bytes, name: str = "catalog.csv", **options: str) -> ImportFile:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    format = ImportFormat(options["format"]) if "format" in options else None
    return open_file(path, format, options.get("encoding", "utf-8"))


@pytest.mark.req("KB-01")
@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.jsonl", "{}", ImportFormat.JSONL),
        ("a.csv", "id,type,title,content\n", ImportFormat.CSV),
        ("a.csv", f"\ufeff{SHOPIFY}\r\n", ImportFormat.SHOPIFY_CSV),
    ],
)
def test_a_file_says_what_it_is(tmp_path: Path, name: str, content: str, format: ImportFormat) -> None:
    """By its ending and its header."""
    assert _file(tmp_path, content, name).format is format


@pytest.mark.req("KB-01")
def test_rows_of_one_product_are_never_parted(tmp_path: Path) -> None:
    """Whatever the size of a part; the header goes with each."""
    rows = [f"p{n},Name,,Size,{size},9.00" for n in range(PART_RECORDS + 5) for size in "SML"]
    file = _file(tmp_path, "\n".join((SHOPIFY, *rows)))

    first, second = file.parts()

    assert (len(first.units), len(second.units)) == (PART_RECORDS, 5)
    assert all(part.body().decode().startswith(f"{SHOPIFY}\n") for part in (first, second))
    assert second.body().decode().splitlines()[1] == f"p{PART_RECORDS},Name,,Size,S,9.00"
    assert first.next_line == 2 + 3 * PART_RECORDS


@pytest.mark.req("KB-01")
def test_each_line_of_a_part_is_known_by_its_line_in_the_file(tmp_path: Path) -> None:
    """Past cells of several lines, empty lines and broken rows."""
    content = 'id,type,title,content\r\na,faq,T,"one\r\ntwo"\r\n\r\nbroken\r\nc,faq,T,"three\n\nfour"\nd,faq,T,x'

    (part,) = _file(tmp_path, content).parts()

    assert part.lines() == {2: 2, 4: 6, 7: 9}
    assert part.unreadable == (Finding(5, "", "skipped", "has 1 cells, the header has 4"),)
    assert (
        part.body().decode() == 'id,type,title,content\r\na,faq,T,"one\r\ntwo"\r\nc,faq,T,"three\n\nfour"\nd,faq,T,x\n'
    )


@pytest.mark.req("KB-01")
def test_a_resumed_file_begins_behind_what_is_in_and_tells_nothing_twice(tmp_path: Path) -> None:
    """Also where a broken row stands within the product at the border."""
    rows = [f"p{n},Name,,Size,S,9.00" for n in range(PART_RECORDS)]
    rows += ["q,Name,,Size,S,9.00", 'q,"torn', "q,,,Size,M,9.00", "r,Name,,Size,S,9.00"]
    file = _file(tmp_path, "\n".join((SHOPIFY, *rows)))

    first, second = file.parts()
    (resumed,) = file.parts(from_line=first.next_line)

    assert first.unreadable == ()
    assert [f.line for f in second.unreadable] == [PART_RECORDS + 3]
    assert resumed == second
    assert list(file.parts(from_line=second.next_line)) == []


@pytest.mark.req("KB-01", "GW-06")
def test_bytes_that_are_no_text_cost_their_row_alone(tmp_path: Path) -> None:
    """The encoding may be another one, and can be named."""
    content = "id,type,title,content\na,faq,Größe,x\nb,faq,T,x\n".encode("latin-1")

    (part,) = _file(tmp_path, content).parts()
    (named,) = _file(tmp_path, content, encoding="latin-1").parts()

    assert [unit[0].cells[0] for unit in part.units] == ["b"]
    assert part.unreadable[0].line == 2
    assert "Größe" in named.body().decode()


@pytest.mark.req("KB-01")
@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("", {}, "no header"),
        ("id,type,title,content\n", {"format": "shopify-csv"}, "not that of a Shopify"),
        (f"{SHOPIFY}\n", {"format": "csv"}, "header of shopify-csv"),
        ("id\n", {"encoding": "klingon"}, "no encoding 'klingon'"),
    ],
)
def test_a_file_that_cannot_be_imported_says_why(
    tmp_path: Path, content: str, options: dict[str, str], said: str
) -> None:
    """Before anything is sent."""
    with pytest.raises(BadFile, match=said):
        _file(tmp_path, content, **options)
    with pytest.raises(BadFile, match="No such file"):
        open_file(tmp_path / "absent.csv", None, "utf-8")


@pytest.mark.req("KB-01")
def test_a_mark_is_of_one_file_one_target_and_unchanged_content(tmp_path: Path) -> None:
    """Another shop's import of the same file is another import; a changed file must not be resumed."""
    file = _file(tmp_path, "id,type,title,content\n")
    mark = Mark.of(file, tmp_path, "http://a first")
    mark.next_line, mark.counts = 7, Counter(created=5)
    mark.save()

    again, other = Mark.of(file, tmp_path, "http://a first"), Mark.of(file, tmp_path, "http://a second")
    changed = Mark.of(_file(tmp_path, "id,type,title,content\nx"), tmp_path, "http://a first")

    assert again.load()
    assert (again.next_line, again.counts) == (7, Counter(created=5))
    assert not other.load()
    with pytest.raises(BadFile, match="has changed"):
        changed.load()
    again.remove()
    assert not Mark.of(file, tmp_path, "http://a first").load()


@pytest.mark.req("KB-01")
def test_a_resumed_report_keeps_what_was_told_before_the_mark(tmp_path: Path) -> None:
    """And drops what the part under way had written already."""
    report = Report(tmp_path / "skipped.csv")
    report.begin(kept_before=1)
    report.add([Finding(3, "", "skipped", "a, b"), Finding(9, "x", "updated", "flagged: instructions")])
    report.begin(kept_before=9)
    report.add([Finding(9, "x", "updated", "flagged: instructions")])

    assert report.path.read_text().splitlines() == [
        "line,article_id,outcome,reason",
        '3,,skipped,"a, b"',
        "9,x,updated,flagged: instructions",
    ]


class Terminal(io.StringIO):
    """A stream somebody looks at."""

    def isatty(self) -> bool:
        """Be a terminal."""
        return True


def test_a_terminal_gets_a_bar_and_a_log_a_line_now_and_then() -> None:
    """A log of an import of an hour has no thousand lines."""
    terminal, log, seconds = Terminal(), io.StringIO(), iter([0.0, 0.0, 1.0, 7.0, 7.0])
    counts = Counter(created=40, skipped=2, flagged=1)

    bar, lines = Progress("a.csv", 100, terminal), Progress("a.csv", 100, log, now=lambda: next(seconds))
    for next_line in (51, 76, 101):
        bar.show(next_line, counts)
        lines.show(next_line, counts)
    bar.end()
    lines.end()

    assert terminal.getvalue().startswith("\ra.csv [" + "#" * 15 + "." * 15 + "]  50%  40 in, 2 skipped")
    assert terminal.getvalue().endswith("100%  40 in, 2 skipped\x1b[K\n")
    assert log.getvalue() == "a.csv:  50%  40 in, 2 skipped\na.csv: 100%  40 in, 2 skipped\n"
